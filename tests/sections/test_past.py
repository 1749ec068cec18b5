"""Past messages: as many of the best as fit."""

from __future__ import annotations

from typing import Any

import pytest
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


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        ({"at": "2026-01-01"}, {"at": "2026-02-01"}, "second"),
        ({"at": "2026-02-01"}, {"at": "2026-01-01"}, "first"),
        ({"meta": {"seq": 3}}, {"meta": {"seq": 12}}, "second"),
        ({"score": 0.2}, {"score": 0.9}, "second"),
        ({"author": "Ada"}, {"author": "Bo"}, "first second"),
    ],
)
def test_of_excerpts_nearly_alike_the_newest_is_shown(
    first: dict[str, Any], second: dict[str, Any], shown: str
) -> None:
    words = "tea is served in the large room on the third floor at noon, says the plan of {}"

    class Found:
        def recall(self, wanted: cw.recall.MemoryQuery) -> list[cw.Memory]:
            return [
                cw.Memory(
                    "passage", words.format(name), **{"author": "Ada", "score": 0.5, **fields}
                )
                for name, fields in (("first", first), ("second", second))
            ]

    moment = SectionInput(question=cw.user("tea?"), memories=Found())
    text = cw.sections.PastExcerpts().write(moment) or ""
    assert {line.rsplit(" ", 1)[1] for line in text.splitlines()} == {*shown.split()}
