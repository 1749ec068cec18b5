"""`cw summarise`: what it prints, and exit codes."""

import json
import sys
from pathlib import Path

import pytest

from commands import Run

pytestmark = pytest.mark.usefixtures("own_store")

RECIPE = """
window = {type = "keep-recent", messages = 2}
summary = {tokens = 200%s}
"""


def test_summarise(cw: Run, tmp_path: Path) -> None:
    (tmp_path / "digest.toml").write_text(RECIPE % "")
    asked = ("--model", "gpt-4o", "--recipe", "digest.toml")
    for text in ("I am allergic to hazelnuts.", "My train leaves at 7:40.", "Hm.", "And now?"):
        cw("add", "lunch", text)
    told = (
        "[Digest of messages 1–2: excerpts picked by a program, the rest is left out]\n"
        "> 1 user: I am allergic to hazelnuts.\n"
        "> 2 user: My train leaves at 7:40.\n"
    )
    assert cw("summarise", "lunch", *asked) == (0, told, "")
    built = json.loads(cw("build", "lunch", *asked).out)
    assert built["messages"][0]["content"] + "\n" == told
    assert "digest 200\n" + told in cw("summarise", "lunch", *asked, "--show").out
    (stored,) = json.loads(cw("summarise", "lunch", *asked, "--show", "--json").out)
    assert stored["summary"]["last"] == 2
    (tmp_path / "longer.toml").write_text((RECIPE % "").replace("200", "300"))
    others = ("--model", "gpt-4o", "--recipe", "longer.toml", "--show")
    assert cw("summarise", "lunch", *others) == (0, "", "cw: no summaries\n")
    assert told in cw("summarise", "lunch", "--model", "gpt-4o", "--show").out
    said = "cw: removed the summary of messages 1–2\n"
    assert cw("summarise", "lunch", *asked, "--undo") == (0, "", said)
    assert cw("summarise", "lunch", *asked, "--undo").code == 1
    assert cw("summarise", "lunch", *asked, "--show") == (0, "", "cw: no summaries\n")


def test_summarise_with_a_program(cw: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(RECIPE % ', model = "mine"')
    asked = ("lunch", "--model", "gpt-4o", "--recipe", "mine.toml")
    for text in ("I am allergic to hazelnuts.", "Hm.", "And now?"):
        cw("add", "lunch", text)
    assert cw("summarise", *asked).err == (
        "cw: no summary of messages 1 to 1: no summariser is set: SummaryPolicy(summariser=…)\n"
    )
    writer = f"{sys.executable} -c 'print(\"Nuts:\", len(input()))'"
    told = "[Summary of message 1, written by mine: nobody here said these words]\n> Nuts: 84\n"
    assert cw("summarise", *asked, "--summariser", writer) == (0, told, "")
    assert json.loads(cw("build", *asked).out)["messages"][0]["content"] + "\n" == told
    cw("summarise", *asked, "--undo")
    failed = cw("summarise", *asked, "--summariser", f"{sys.executable} -c 'exit(3)'")
    assert failed.code == 1
    assert "exited with 3" in failed.err
    assert cw("summarise", *asked, "--summariser", "'open").code == 2
    assert cw("summarise", *asked, "--summariser", "").code == 2
    assert cw("summarise", *asked, "--undo", "--show").code == 2


def test_nothing_to_summarise(cw: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("summary = true")
    cw("add", "lunch", "Hello.")
    asked = ("summarise", "lunch", "--model", "gpt-4o", "--recipe")
    assert cw(*asked, "mine.toml") == (0, "", "cw: nothing is left out\n")
    assert cw(*asked, "mine.toml", "--json") == (0, "null\n", "cw: nothing is left out\n")
    failed = cw(*asked, "default")
    assert failed.code == 2
    assert "summary = true" in failed.err
