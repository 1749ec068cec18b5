"""What programs are told, so that they ask a gateway."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from contextwright.errors import UsageError
from contextwright.serve.programs import launch, passing_settings

ADDRESS = "http://127.0.0.1:9999"


def test_every_program_gets_the_addresses(tmp_path: Path) -> None:
    command, environment, _ = launch(["claude", "-p", "x"], ADDRESS, {"NO_PROXY": "a"}, tmp_path)
    assert command == ["claude", "-p", "x"]
    assert environment["ANTHROPIC_BASE_URL"] == ADDRESS
    assert environment["OPENAI_BASE_URL"] == f"{ADDRESS}/v1"
    assert environment["GOOGLE_GEMINI_BASE_URL"] == ADDRESS
    assert environment["GEMINI_API_BASE"] == f"{ADDRESS}/v1beta"
    assert environment["NO_PROXY"] == "a,127.0.0.1,localhost"


def test_codex_is_told_by_an_argument(tmp_path: Path) -> None:
    command, *_ = launch(["/usr/bin/codex", "exec", "hi"], ADDRESS, {}, tmp_path)
    assert command == ["/usr/bin/codex", "-c", f'openai_base_url="{ADDRESS}/v1"', "exec", "hi"]


def test_opencode_is_told_by_a_configuration(tmp_path: Path) -> None:
    _, environment, _ = launch(["opencode"], ADDRESS, {}, tmp_path)
    told = json.loads(environment["OPENCODE_CONFIG_CONTENT"])
    assert told["provider"]["google"]["options"]["baseURL"] == f"{ADDRESS}/v1beta"


def test_what_opencode_was_told_before_stays(tmp_path: Path) -> None:
    own = """{"model": "x/y", // mine: /* {
      /* "model": "/* none",
      */ "provider": {"openai": {"options": {"apiKey": "k"}}, "x": {}},}"""
    given = {"OPENCODE_CONFIG_CONTENT": own}
    told = json.loads(launch(["opencode"], ADDRESS, given, tmp_path)[1]["OPENCODE_CONFIG_CONTENT"])
    assert (told["model"], told["provider"]["x"]) == ("x/y", {})
    options = {"apiKey": "k", "baseURL": f"{ADDRESS}/v1"}
    assert told["provider"]["openai"]["options"] == options
    with pytest.raises(UsageError, match="OPENCODE_CONFIG_CONTENT is not valid JSON"):
        launch(["opencode"], ADDRESS, {"OPENCODE_CONFIG_CONTENT": "{"}, tmp_path)


def test_shell_gpt_is_told_by_a_variable_of_its_own(tmp_path: Path) -> None:
    assert launch(["sgpt"], ADDRESS, {}, tmp_path).environment["API_BASE_URL"] == f"{ADDRESS}/v1"
    assert "API_BASE_URL" not in launch(["other"], ADDRESS, {}, tmp_path).environment


@pytest.mark.skipif(sys.platform == "win32", reason="needs symbolic links")
def test_pi_keeps_its_own_settings(tmp_path: Path) -> None:
    own, copy = tmp_path / "own", tmp_path / "copy"
    own.mkdir()
    copy.mkdir()
    (own / "auth.json").write_text("{}")
    held = {"providers": {"mine": {"baseUrl": "x"}, "openai": {"apiKey": "k"}}}
    (own / "models.json").write_text(json.dumps(held))
    _, environment, _ = launch(["pi"], ADDRESS, {"PI_CODING_AGENT_DIR": str(own)}, copy)
    assert environment["PI_CODING_AGENT_DIR"] == str(copy)
    assert (copy / "auth.json").resolve() == (own / "auth.json").resolve()
    providers = json.loads((copy / "models.json").read_text())["providers"]
    assert providers["mine"] == {"baseUrl": "x"}
    assert providers["openai"] == {"apiKey": "k", "baseUrl": f"{ADDRESS}/v1"}
    assert json.loads((own / "models.json").read_text()) == held


def test_pis_settings_are_read_as_pi_reads_them(tmp_path: Path) -> None:
    own, copy = tmp_path / "own", tmp_path / "copy"
    own.mkdir()
    copy.mkdir()
    text = r"""{ // mine
      "providers": {"mine": {"baseUrl": "http://x", "apiKey": "a,}\"//b",},}, // ,}
    }"""
    (own / "models.json").write_text(text)
    launch(["pi"], ADDRESS, {"PI_CODING_AGENT_DIR": str(own)}, copy)
    providers = json.loads((copy / "models.json").read_text())["providers"]
    assert providers["mine"] == {"baseUrl": "http://x", "apiKey": 'a,}"//b'}
    (own / "models.json").write_text("{")
    with pytest.raises(UsageError, match=r"models\.json is not valid JSON"):
        launch(["pi"], ADDRESS, {"PI_CODING_AGENT_DIR": str(own)}, copy)


@pytest.mark.skipif(sys.platform == "win32", reason="needs symbolic links")
def test_pi_finds_the_sessions_that_it_began_while_it_was_recorded(tmp_path: Path) -> None:
    """Its folder is not there yet, or holds no sessions; a file may be written as a new one."""
    own, copy = tmp_path / "own", tmp_path / "copy"
    for run in ("first", "second"):
        copy.mkdir()
        launched = launch(["pi"], ADDRESS, {"PI_CODING_AGENT_DIR": str(own)}, copy)
        assert launched.copy is not None
        (copy / "sessions").mkdir(exist_ok=True)
        (copy / "sessions" / f"{run}.jsonl").write_text(run)
        (copy / "part").write_text(run)
        (copy / "part").replace(copy / "auth.json")
        launched.copy.give_back()
        shutil.rmtree(copy)
        assert (own / "auth.json").read_text() == run
    assert sorted(path.name for path in (own / "sessions").iterdir()) == [
        "first.jsonl",
        "second.jsonl",
    ]
    assert not (own / "models.json").exists()


def test_requests_go_where_they_would_have_gone() -> None:
    given = {"OPENAI_BASE_URL": "http://other/v1/", "GOOGLE_GEMINI_BASE_URL": "http://third"}
    settings = passing_settings(given)
    for api in ("anthropic", "gemini", "openai-chat", "openai-responses"):
        assert settings.route_for("any", api).is_open(api)
    chat, gemini = (settings.route_for("any", api) for api in ("openai-chat", "gemini"))
    assert chat.host("openai-chat").base_url == "http://other/v1"
    assert gemini.host("gemini").base_url == "http://third/v1beta"
    assert settings.route_for("any", "anthropic").base_url is None
    [_, _, other, *_] = passing_settings({"GEMINI_API_BASE": "http://third/v1beta"}).routes
    assert (other.api, other.base_url) == ("gemini", "http://third/v1beta")
