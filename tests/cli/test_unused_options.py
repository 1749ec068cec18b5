"""Options that would have no effect in a call are refused, not ignored."""

import json
from pathlib import Path

import pytest

from commands import Run, only_line
from contextwright.cli.options import RequestOptions, given
from contextwright.cli.requests.convert import RenderOptions
from samples.stores.chat import CHAT

MODEL = ("-m", "gpt-5.6-sol")
BATCH = (*MODEL, "-o", "out")
RENDERING = (
    (("--no-repair",), "repair"),
    (("--speaker-prefix",), "speaker_prefix"),
    (("--thinking", "drop"), "thinking"),
    (("--include-results",), "include_results"),
    (("--turn-rule", "user"), "turn_rule"),
    (("--legacy-meta",), "legacy_meta"),
)
REQUEST = (
    ("--format", "aya"),
    ("--budget", "900"),
    ("--max-output-tokens", "9"),
    ("--tools", "tools.json"),
    ("--agents", "agents.json"),
    ("--agent", "aya"),
)


UNUSED = {
    "convert": "recipe budget",
    "build": "options",
    "check": "target recipe budget strict options",
    "count": "target recipe budget strict options",
    "simulate": "options",
    "recall": "target recipe options",
}
"""What each operation of `cw batch` has no use for."""
OPTIONS: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {
    "target": ((("--to", "aya"), "a target (--to)"),),
    "recipe": ((("--recipe", "013"), "a recipe"),),
    "budget": ((("--budget", "900"), "a budget"),),
    "strict": ((("--strict",), "strictness (--strict)"),),
    "options": tuple((option, f"options of convert: {field}") for option, field in RENDERING),
}

CALLS: list[tuple[tuple[str, ...], str]] = [
    *(
        (("batch", operation, "x.jsonl", *BATCH, *option), f"{operation} does not take {words}")
        for operation, unused in UNUSED.items()
        for kind in unused.split()
        for option, words in OPTIONS[kind]
    ),
    (("batch", "build", "x.jsonl", *BATCH, "-r", "013", "-r", "default"), "build takes one recipe"),
    (("batch", "simulate", "x.jsonl", *BATCH, "--to", "openai-batch"), "unknown format"),
    (
        ("batch", "convert", "x.jsonl", *BATCH, "--to", "openai-batch", "--legacy-meta"),
        "--legacy-meta has no effect: it belongs to --to gryag",
    ),
    (("convert", "chat.json", "--to", "gryag", "--include-results"), "it belongs to --to aya"),
    (("convert", "chat.json", "--to", "gryag", "--turn-rule", "user"), "it belongs to --to aya"),
    (("convert", "chat.json", "--to", "aya", "--legacy-meta"), "it belongs to --to gryag"),
    (("count", "hello", *MODEL, "--format", "aya"), "plain text has no format"),
    (("count", "chat.json", *MODEL, "--text", "--format", "aya"), "plain text has no format"),
    *(
        (("diff", "1", "2", *option), f"{option[0]} has no effect on recorded requests")
        for option in (
            *REQUEST,
            ("--recipe", "013"),
            ("--models", "m.toml"),
            ("--from", "aya"),
            ("--at", "3"),
            ("--now", "2026-11-15"),
        )
    ),
    (("tune", "--store", "chat.db", *MODEL, "--from", "aya"), "--from has no effect on a store"),
    *(
        (("summarise", "lunch", *MODEL, way, *option), f"{option[0]} has no effect with {way}")
        for way in ("--undo", "--show")
        for option in (*REQUEST, ("--summariser", "cat"))
    ),
    (("show", "lunch", "--json", "--ascii"), "--ascii has no effect with --json"),
    (("show", "lunch", "--json", "--width", "9"), "--width has no effect with --json"),
    (("show", "lunch", "--json", "--color"), "--color has no effect with --json"),
    (("show", "lunch", "--json", "--no-color"), "--no-color has no effect with --json"),
    (("import", "chat.json", "--branches"), "--branches has no effect on files of openai-chat"),
    (("import", "chat.json", "--threads"), "--threads has no effect on files of openai-chat"),
    (("import", "chat.json", "--latest"), "--latest has no effect on files of openai-chat"),
    (("import", "chat.json", "--me", "aya"), "--me has no effect on files of openai-chat"),
    (("inspect", "chat.db", "--demo"), "STORE has no effect with --demo"),
    (("inspect", "--store", "chat.db", "--demo"), "--store has no effect with --demo"),
    (("inspect", "--tenant", "acme", "--demo"), "--tenant has no effect with --demo"),
    (("inspect", "-c", "lunch", "--demo"), "--conversation has no effect with --demo"),
    (("replay", "1", "--json"), "--json has no effect without --send"),
    (("replay", "1", "--send", "-o", "x.json"), "--output has no effect with --send"),
    (("show-request", "1", "--body", "reply", "--json"), "--json has no effect with --body"),
    (("doctor", "--no-backup"), "--no-backup has no effect without --repair"),
]


@pytest.fixture(autouse=True)
def chat_file(own_store: None) -> None:
    """A conversation in a file of the folder in which commands run."""
    Path("chat.json").write_text(json.dumps(CHAT))


@pytest.mark.parametrize(("arguments", "fault"), CALLS, ids=[" ".join(call) for call, _ in CALLS])
def test_an_option_without_effect_is_refused(
    arguments: tuple[str, ...], fault: str, cw: Run
) -> None:
    done = cw(*arguments)
    assert (done.code, done.out) == (2, "")
    assert fault in only_line(done.err)


def test_what_a_dry_run_would_change_is_listed_beside_json(cw: Run) -> None:
    body = {"messages": [{"role": "user", "content": "a"}, {"role": "tool", "content": "b"}]}
    Path("odd.json").write_text(json.dumps(body))
    quiet = cw("import", "odd.json", "--dry-run", "--json")
    listed = cw("import", "odd.json", "--dry-run", "--json", "--changes")
    assert (quiet.code, quiet.err, quiet.out) == (0, "", listed.out)
    assert listed.err.count("\n") == sum(json.loads(listed.out)["changes"].values())


def test_the_answer_that_tune_reserves_is_in_the_recipe(cw: Run) -> None:
    call = ("tune", "chat.json", *MODEL, "--max-output-tokens", "77", "--write", "mine.toml")
    assert cw(*call).code == 0
    assert "answer = 77\n" in Path("mine.toml").read_text()


def test_options_are_named_as_they_are_given() -> None:
    assert {field for _, field in RENDERING} == set(RenderOptions.__struct_fields__)
    assert given(RenderOptions()) == {}
    assert given(RenderOptions(repair=False, speaker_prefix=True, thinking="drop")) == {
        "--no-repair": False,
        "--speaker-prefix": True,
        "--thinking": "drop",
    }
    assert list(given(RequestOptions(model="echo", budget=9))) == ["--model", "--budget"]
