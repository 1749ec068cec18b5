"""Past messages: as many of the best as fit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.sections import SectionInput

SECTION = cw.sections.PastMessages()
PASSAGES = st.lists(st.integers(1, 60), max_size=80).map(
    lambda sizes: [
        cw.Memory("passage", f"{number} {'x' * size}", score=1 - number / 100)
        for number, size in enumerate(sizes)
    ]
)
"""Passages of many sizes, the best first; a list of memories does not count their tokens."""


def written(best: list[cw.Memory], tokens: int | None = None) -> str:
    question = cw.user("coffee?")
    source = cw.recall.MemoryList(best)
    return SECTION.write(SectionInput(None, question, (question,), source, tokens, len)) or ""


@given(PASSAGES, st.integers(1, 3_000))
def test_the_best_stay_and_the_next_would_not_fit(best: list[cw.Memory], tokens: int) -> None:
    text = written(best, tokens)
    number = text.count("\n") + 1 if text else 0
    assert text == written(best[:number])
    assert len(text) <= tokens
    assert number == len(best) or len(written(best[: number + 1])) > tokens
