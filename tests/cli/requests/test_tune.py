"""`cw tune`: what it prints and writes, and its exit codes."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from commands import Run, only_line
from samples.commands import CHAT, TRAIN

ARGUMENTS = ("--model", "claude-sonnet-5-5", "--budget", "300")


def test_a_recipe_that_can_be_used(cw: Run, tmp_path: Path) -> None:
    recipe, picture = tmp_path / "mine.toml", tmp_path / "mine.svg"
    code, out, err = cw("tune", TRAIN, *ARGUMENTS, "--write", str(recipe), "--plot", str(picture))
    assert (code, err) == (0, "")
    table, _, rest = out.partition("\n\n")
    assert table.splitlines()[0].split()[:3] == ["window", "kept", "fill"]
    assert "keep-recent" in table
    assert rest.startswith("Recommended: stepped")
    assert recipe.read_text().startswith("# Chosen by cw tune on 13 requests of 1 conversation:\n")
    tuned = cw("simulate", TRAIN, *ARGUMENTS, "-r", str(recipe), "--json")
    figures = json.loads(cw("tune", TRAIN, *ARGUMENTS, "--json").out)
    [best] = [row for row in figures if row["recommended"]]
    assert best["on_frontier"]
    assert json.loads(tuned.out)[0]["dollars"] == best["dollars"]
    drawing = ElementTree.parse(picture).getroot()
    names = [text.text for text in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert {row["name"] for row in figures} <= set(names)


def test_conversations_of_a_store(cw: Run, tmp_path: Path) -> None:
    store = ("--store", str(tmp_path / "chat.db"))
    assert cw("import", TRAIN, "--as", "train", *store).code == 0
    stored = cw("tune", *store, *ARGUMENTS, "--json")
    assert (stored.code, json.loads(stored.out)[0]["requests"]) == (0, 14)
    assert cw("tune", *store, *ARGUMENTS, "--json", "--most", "9" * 25) == stored
    assert cw("import", TRAIN, "--as", "again", *store).code == 0
    _, out, err = cw("tune", *store, *ARGUMENTS, "--json", "--most", "1")
    assert json.loads(out)[0]["requests"] == 14
    assert only_line(err) == "cw: 1 conversation of 2 replayed (--most)"


def test_a_budget_too_small_for_every_window(cw: Run) -> None:
    code, _, err = cw("tune", TRAIN, "--model", "gpt-5.6-sol", "--budget", "1")
    assert (code, only_line(err)) == (
        1,
        "cw: no request fits the budget, with any window (try a larger budget)",
    )


def test_lines_that_fail_are_named(cw: Run, tmp_path: Path) -> None:
    logs = tmp_path / "logs.jsonl"
    logs.write_text(f"{json.dumps(CHAT)}\n{{\n{json.dumps(CHAT)}\n")
    code, out, err = cw("tune", str(logs), *ARGUMENTS, "--most", "1", "--json")
    assert (code, json.loads(out)[0]["requests"]) == (1, 2)
    first, second = err.splitlines()
    assert first.startswith(f"cw: {logs}: line 2")
    assert second == "cw: 1 conversation of 2 replayed (--most)"


@pytest.mark.parametrize(
    ("arguments", "code", "fault"),
    [
        ((), 2, "name either files or a store"),
        ((TRAIN, "--store", "x.db"), 2, "name either files or a store"),
        ((TRAIN, "--write", "mine.json"), 2, "does not end in .toml"),
        ((TRAIN, "--min-kept", "99"), 1, "no window keeps 99% of the messages"),
        (("nowhere.json",), 2, "cannot read 'nowhere.json'"),
    ],
)
def test_a_wrong_call(arguments: tuple[str, ...], code: int, fault: str, cw: Run) -> None:
    done = cw("tune", *arguments, *ARGUMENTS)
    assert (done.code, done.out) == (code, "")
    assert fault in only_line(done.err)
