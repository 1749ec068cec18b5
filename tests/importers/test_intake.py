"""Sources into a store and out again: whole or not at all, once, and the same on every engine."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contextwright import formats, importers
from contextwright.cli import main
from contextwright.errors import Conflict, ContextwrightError, ParseError, UsageError
from contextwright.importers.base import SOURCE
from contextwright.importers.intake import Intake, Outcome
from contextwright.messages.message import Message
from contextwright.store.store import Store
from samples.exports import (
    CHATGPT,
    CLAUDE,
    CLAUDE_CODE,
    CODEX,
    FINETUNING,
    PORT42,
    SLACK,
    TELEGRAM,
    node,
    read,
    write_json,
    write_lines,
    write_zip,
)


def write_all(folder: Path) -> dict[str, Path]:
    """A file of each source."""
    return {
        "chatgpt": write_json(folder / "conversations.json", CHATGPT),
        "claude": write_zip(folder / "claude.zip", {"conversations.json": CLAUDE}),
        "slack": write_zip(folder / "slack.zip", SLACK),
        "telegram": write_json(folder / "result.json", TELEGRAM),
        "claude-code": write_lines(folder / "session.jsonl", *CLAUDE_CODE),
        "codex": write_lines(folder / "rollout.jsonl", *CODEX),
        "openai-finetuning": write_lines(folder / "train.jsonl", *FINETUNING),
        "port42": write_json(folder / "session-1.json", PORT42),
        "openai-chat": write_json(folder / "chat.json", FINETUNING[0]),
    }


def take(store: Store, path: Path, **options: Any) -> Outcome:
    with importers.open_files(path) as files:
        format = options.pop("format", None) or importers.detect(files)
        return Intake(format=format, **options).into(store, files)


def held(store: Store, id: str) -> tuple[Message, ...]:
    return tuple(stored.message for stored in store.conversation(id).read(hidden=True))


def figures(outcome: Outcome) -> tuple[int, int, int]:
    return outcome.conversations, outcome.messages, outcome.known


def test_every_source_is_stored_once(place: str, tmp_path: Path) -> None:
    with Store(place) as store:
        for path in write_all(tmp_path).values():
            expected = read(path)
            number = sum(len(messages) for _, _, messages in expected)
            assert figures(take(store, path)) == (len(expected), number, 0)
            for id, title, messages in expected:
                assert held(store, id) == messages
                assert store.conversation(id).details().title == title
            assert figures(take(store, path)) == (len(expected), 0, number)
        assert [details.length for details in store.list()] == [2, 2, 2, 1, 2, 2, 2, 2, 2, 2]


def test_a_later_export_adds_what_was_said_since(place: str, tmp_path: Path) -> None:
    long = [{"role": "user", "content": str(number)} for number in range(700)]
    path = tmp_path / "chat.json"
    with Store(place) as store:
        for length, stored, known in ((10, 10, 0), (600, 590, 10), (600, 0, 600), (300, 0, 300)):
            write_json(path, long[:length])
            assert figures(take(store, path)) == (1, stored, known)
        # What was said here meanwhile, or hidden, is nobody else's business.
        store.conversation("chat").hide(3)
        write_json(path, long)
        assert figures(take(store, path)) == (1, 100, 600)
        assert [message.text for message in held(store, "chat")] == [str(n) for n in range(700)]


def test_other_messages_under_the_same_name_are_a_conflict(place: str, tmp_path: Path) -> None:
    lines = [*FINETUNING, {"messages": [{"role": "user", "content": "new"}]}]
    path = write_lines(tmp_path / "train.jsonl", *FINETUNING)
    with Store(place) as store:
        take(store, path)
        lines[1] = {"messages": [{"role": "user", "content": "other"}]}
        write_lines(path, *lines)
        with pytest.raises(Conflict) as raised:
            take(store, path)
        assert str(raised.value) == (
            f"{path}: 'train-2' is in the store with another message 1"
            " (remove it with cw rm, or import under another name with --as)"
        )
        assert [details.id for details in store.list()] == ["train-1", "train-2"]
        other = write_json(tmp_path / "x.json", lines[1])
        assert figures(take(store, other, id="mine")) == (1, 1, 0)


def test_branches_are_forks(place: str, tmp_path: Path) -> None:
    mapping = {
        one["id"]: one
        for one in (
            node("u", None, "user", "1"),
            node("a", "u", "assistant", "2"),
            node("b", "u", "assistant", "3"),
            node("c", "b", "user", "4"),
            node("d", "b", "user", "5"),
            node("e", "a", "user", "6"),
        )
    }
    chat = {"conversation_id": "c", "title": "T", "current_node": "e", "mapping": mapping}
    path = write_json(tmp_path / "conversations.json", [chat])
    with Store(place) as store:
        assert figures(take(store, path, branches=True)) == (3, 6, 0)
        texts = {
            details.id: [message.text for message in held(store, details.id)]
            for details in store.list()
        }
        assert texts == {"c": ["1", "2", "6"], "c-c": ["1", "3", "4"], "c-d": ["1", "3", "5"]}
        assert figures(take(store, path, branches=True)) == (3, 0, 6)
        assert [details.fork_at for details in store.list()] == [None, 1, 2]


def test_nothing_of_a_broken_file_is_stored(tmp_path: Path) -> None:
    with Store(tmp_path / "store.db") as store:
        for name, path in write_all(tmp_path).items():
            data = path.read_bytes()
            for cut in range(1, len(data) - 2, max(1, len(data) // 12)):
                before = sum(1 for _ in store.list())
                path.write_bytes(data[:cut])
                try:
                    outcome = take(store, path, format=name)
                except ContextwrightError:
                    assert sum(1 for _ in store.list()) == before, name
                else:  # lines that were cut at the end of one
                    assert data[cut - 1 : cut + 1].strip() != data[cut - 1 : cut + 1]
                    assert outcome.conversations <= 1


def test_one_name_needs_one_conversation(place: str, tmp_path: Path) -> None:
    files = write_all(tmp_path)
    with Store(place) as store:
        assert figures(take(store, files["codex"], id="mine")) == (1, 2, 0)
        with pytest.raises(UsageError, match="one name for several conversations"):
            take(store, files["openai-finetuning"], id="yours")
        assert [details.id for details in store.list()] == ["mine"]


def test_text_that_cannot_be_stored(place: str, tmp_path: Path) -> None:
    lines = [*FINETUNING, {"messages": [{"role": "user", "content": "a"}] * 300}]
    lines[2]["messages"].append({"role": "user", "content": "ab\x00c"})
    path = write_lines(tmp_path / "train.jsonl", *lines)
    where = r"train.jsonl: 'train-3': messages\[300\].parts\[0\].text, character 3: a NUL cannot"
    with Store(place) as store:
        with pytest.raises(ParseError, match=where):
            take(store, path)
        assert list(store.list()) == []
        outcome = take(store, path, replace=True)
        assert figures(outcome) == (3, 305, 0)
        reason = "1 characters that cannot be stored became U+FFFD"
        assert [change.reason for change in outcome.report.changes] == [reason]
        assert held(store, "train-3")[-1].text == "ab\ufffdc"


def test_a_title_that_cannot_be_stored(place: str, tmp_path: Path) -> None:
    path = write_json(tmp_path / "x.json", [{**CHATGPT[0], "title": "a\x00"}])
    with Store(place) as store, pytest.raises(ParseError, match="title, character 2: a NUL"):
        take(store, path)


def test_tools_and_settings_come_back(tmp_path: Path, cw: Callable[..., Any]) -> None:
    tool = {"type": "function", "function": {"name": "clock", "parameters": {"type": "object"}}}
    body = {"model": "gpt-4o", "temperature": 0.5, "tools": [tool], **FINETUNING[0]}
    path, place = write_json(tmp_path / "chat.json", body), str(tmp_path / "store.db")
    assert cw("import", str(path), "--store", place)[0] == 0
    code, out, err = cw("export", "chat", "-f", "openai-chat", "--store", place)
    assert (code, json.loads(out), err) == (0, body, "")
    code, out, err = cw("export", "--format", "openai-chat", "-s", place)
    assert (code, json.loads(out), err) == (0, body, "")


# --- the command line ----------------------------------------------------------------------------


@pytest.fixture
def cw(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a command in this process."""

    def run(*arguments: str, input: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(input)))
        code = main(arguments)
        out, err = capsysbinary.readouterr()
        return code, out.decode(), err.decode()

    return run


def test_import_says_what_it_took_and_what_it_left_out(
    cw: Callable[..., Any], tmp_path: Path
) -> None:
    files = write_all(tmp_path)
    place = str(tmp_path / "store.db")
    path = files["chatgpt"]
    stored = f"{path}: chatgpt: 2 messages of 1 conversation"
    skipped = (
        "cw: left out 1 × on another branch (edited or regenerated)\n"
        "cw: left out 1 × empty message\n"
    )
    code, out, err = cw("import", str(path), "--store", place, "--dry-run")
    assert (code, out) == (0, f"{path}: chatgpt: would store 2 messages of 1 conversation\n")
    assert sorted(err.splitlines()) == sorted(skipped.splitlines())
    assert not Path(place).exists()
    assert cw("import", str(path), "--store", place)[:2] == (0, stored + "\n")
    again = f"{path}: chatgpt: 0 messages of 1 conversation (2 already stored)\n"
    assert cw("import", str(path), "--store", place)[:2] == (0, again)
    code, out, _ = cw("import", str(path), "--store", place, "--json")
    assert json.loads(out) == {
        "file": str(path),
        "format": "chatgpt",
        "conversations": 1,
        "messages": 0,
        "known": 2,
        "skipped": {"on another branch (edited or regenerated)": 1, "empty message": 1},
        "changes": {},
    }


def test_a_dry_run_says_what_the_import_then_does(cw: Callable[..., Any], tmp_path: Path) -> None:
    """Also with a store that has some of it, and with one that refuses it."""
    first = [{"role": "user", "content": "one"}, {"role": "tool", "content": "orphan"}]
    grown = [*first, {"role": "user", "content": "two"}]
    other = [{"role": "user", "content": "another"}]
    path, store = tmp_path / "talk.jsonl", ("--store", str(tmp_path / "store.db"))
    for lines in (first, grown, grown, other):
        write_lines(path, *lines)
        asked = ("import", str(path), "--format", "openai-chat", "--changes", *store)
        code, out, err = cw(*asked, "--dry-run")
        assert (code, out.replace("would store ", ""), err) == cw(*asked)


def test_import_of_several_files_and_of_standard_input(
    cw: Callable[..., Any], tmp_path: Path
) -> None:
    files = write_all(tmp_path)
    place = str(tmp_path / "store.db")
    data = files["codex"].read_bytes()
    code, out, err = cw("import", str(files["claude"]), "-", "--store", place, input=data)
    assert (code, err) == (0, "")
    assert out == (
        f"{files['claude']}: claude: 2 messages of 1 conversation\n"
        "standard input: codex: 2 messages of 1 conversation\n"
    )
    _, out, _ = cw("import", str(files["claude"]), "-", "--store", place, "--json", input=data)
    told = [json.loads(line) for line in out.splitlines()]
    assert [(one["format"], one["known"]) for one in told] == [("claude", 2), ("codex", 2)]


BAD_CALLS: list[tuple[list[str], int, str]] = [
    (["nothing.json"], 2, "cw: cannot read 'nothing.json': no such file or directory"),
    ([""], 2, "cw: cannot read '': no such file or directory"),
    (["chat.json", "--format", "whatsapp"], 2, "cw: unknown format 'whatsapp' (known: anthropic"),
    (
        ["chat.json", "chat.json", "--as", "x"],
        2,
        "cw: --as names one conversation, but there are several files",
    ),
    (["train.jsonl", "--as", "x"], 2, "cw: one name for several conversations"),
    (["chat.json", "--as", "a\nb"], 2, "cw: the conversation's id"),
    (["empty.json"], 1, "cw: empty.json: line 1: the document is empty"),
    (["users.json"], 1, "cw: users.json: unknown kind of file"),
    (["chat.json", "-f", "slack"], 1, "cw: chat.json: it contains no users.json"),
    (["broken.jsonl"], 1, "cw: broken.jsonl: line 3: messages[0].role: "),
]


@pytest.mark.parametrize(("arguments", "code", "message"), BAD_CALLS)
def test_one_line_an_exit_code_and_nothing_stored(
    cw: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_all(tmp_path)
    (tmp_path / "empty.json").touch()
    write_json(tmp_path / "users.json", {"users": []})
    write_lines(tmp_path / "broken.jsonl", *FINETUNING, {"messages": [{"role": 5}]})
    found, out, err = cw("import", *arguments, "--store", "store.db")
    assert (found, out) == (code, "")
    assert err.startswith(message)
    assert err.count("\n") == 1
    with Store("store.db") as store:
        assert list(store.list()) == []


def test_replacing_while_the_format_is_detected(cw: Callable[..., Any], tmp_path: Path) -> None:
    path = write_json(tmp_path / "half.json", {"messages": [{"role": "user", "content": "\ud800"}]})
    assert cw("import", str(path), "--dry-run")[0] == 1
    code, out, err = cw("import", str(path), "--dry-run", "--replace-invalid")
    assert (code, out) == (0, f"{path}: openai-chat: would store 1 message of 1 conversation\n")
    assert err == "cw: 1 change: repair.text ×1 (--changes lists them)\n"


def test_names_cannot_move_a_terminal(cw: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[2J[red]{x}.json"
    path.write_text("{")
    _, out, err = cw("import", str(path), "--dry-run")
    write_json(path, FINETUNING[0])
    _, more, _ = cw("import", str(path), "--dry-run")
    assert "\x1b" not in out + err + more


@pytest.mark.parametrize("format", formats.NAMES)
def test_export_to_every_format(cw: Callable[..., Any], tmp_path: Path, format: str) -> None:
    place = str(tmp_path / "store.db")
    for path in write_all(tmp_path).values():
        assert cw("import", str(path), "--store", place)[0] == 0
    target = tmp_path / "all.jsonl"
    assert cw("export", "--format", format, "-o", str(target), "--store", place)[0] == 0
    assert len(target.read_bytes().splitlines()) == 10
    assert cw("export", "019a", "--format", format, "--store", place)[0] == 0


def test_our_own_format_loses_nothing(cw: Callable[..., Any], tmp_path: Path) -> None:
    first, second = str(tmp_path / "1.db"), str(tmp_path / "2.db")
    for path in write_all(tmp_path).values():
        cw("import", str(path), "--store", first)
    exported = cw("export", "--store", first)[1]
    (tmp_path / "all.jsonl").write_text(exported)
    assert cw("import", str(tmp_path / "all.jsonl"), "--store", second)[0] == 0
    assert cw("export", "--store", second)[1] == exported
    with Store(first) as one, Store(second) as two:
        kept = [[(d.id, d.title, d.agent, held(s, d.id)) for d in s.list()] for s in (one, two)]
    assert kept[0] == kept[1]


def test_export_of_nothing(cw: Callable[..., Any], tmp_path: Path) -> None:
    place = str(tmp_path / "store.db")
    code, out, err = cw("export", "x", "--store", place)
    assert (code, out) == (1, "")
    assert "there is no store at" in err
    assert cw("add", "lunch", "Hi", "--store", place)[0] == 0
    missing = (1, "", "cw: there is no conversation 'x'\n")
    assert cw("export", "x", "--store", place) == missing


def test_what_is_said_after_an_import_is_not_the_source_s(tmp_path: Path) -> None:
    from contextwright.store.frames import conversation_of

    path = write_json(tmp_path / "chat.json", FINETUNING[0])
    with Store(tmp_path / "store.db") as store:
        take(store, path)
        chat = store.conversation("chat")
        assert conversation_of(chat).source == "openai-chat"
        chat.add(Message("user"))
        assert conversation_of(chat).source is None
        assert SOURCE not in held(store, "chat")[-1].meta


# --- killed --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "grows"), [([], "store.db"), (["tea"], "store.db-wal")])
def test_an_import_that_is_killed_leaves_nothing(
    tmp_path: Path, before: list[str], grows: str
) -> None:
    """With some megabytes written: into the file while it is empty, later into its log."""
    path, place = tmp_path / "train.jsonl", tmp_path / "store.db"
    line = json.dumps({"messages": [{"role": "user", "content": "x" * 1_000}] * 40}) + "\n"
    path.write_text(line * 400)
    with Store(place) as store:
        for id in before:
            store.conversation(id).add(Message("user"))
    command = [sys.executable, "-m", "contextwright", "import", str(path), "--store", str(place)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    grown = tmp_path / grows
    deadline = time.monotonic() + 60
    while not (grown.exists() and grown.stat().st_size > 4 * 2**20):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    with Store(place) as store:
        assert [one.id for one in store.list()] == before
        assert figures(take(store, path)) == (400, 16_000, 0)
