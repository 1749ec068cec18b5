"""The README and the pages cannot lie: their examples run here, and print what stands there.

`python tests/pages.py` writes the outputs again; read the difference.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from contextwright.recall import ranking, signals
from pages import EXAMPLE, README, RUN, with_real_outputs
from paths import ROOT

WEIGHTS = re.compile(r"^\| `(\w+)` \| [^|]+ \| ([-.\d]*) ?\| ([-.\d]*) ?\|$", re.MULTILINE)
COMMANDS = re.compile(r"^pip install uv && .*?(?=  |$)", re.MULTILINE)


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.name)
def test_examples_print_what_the_page_says(page: Path) -> None:
    if page.name == "vectors.md":
        pytest.importorskip("numpy", reason="the extra vectors is not installed")
    text = page.read_text("utf-8")
    assert len(EXAMPLE.findall(text)) == RUN[page]
    assert text == with_real_outputs(text)


def test_the_first_example_is_a_file_that_runs() -> None:
    first = EXAMPLE.search(README.read_text("utf-8"))
    assert first is not None
    assert first["code"] == (ROOT / "examples" / "first.py").read_text("utf-8")


def test_the_documented_weights_are_those_in_use() -> None:
    rows = WEIGHTS.findall((ROOT / "docs" / "recall.md").read_text("utf-8"))
    documented = {name: (alone, meaning) for name, alone, meaning in rows}
    both = (ranking.WORDS_ALONE, ranking.WITH_MEANING)
    expected = {
        name: tuple(shown_weight(getattr(weights.signals, name)) for weights in both)
        for name in signals.Signals._fields
    }
    expected["base"] = tuple(shown_weight(weights.bias) for weights in both)
    assert documented == expected


def shown_weight(weight: float) -> str:
    return f"{weight:.2f}" if weight else ""


def test_ci_runs_the_commands_of_the_readme() -> None:
    commands = COMMANDS.findall(README.read_text("utf-8"))
    assert len(commands) == 2
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert [line for line in lines if line in commands] == commands
