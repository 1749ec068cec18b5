"""Stored conversations to recall from."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import strategies as st

import contextwright as cw
from contextwright.recall.packing import RecallResult
from samples import hostile

START = datetime(2023, 5, 1, 9, tzinfo=UTC)


def storable(words: str) -> bool:
    """What a store takes: it refuses NUL and halves of pairs."""
    return "\0" not in words and not any("\ud800" <= letter <= "\udfff" for letter in words)


HOSTILE = tuple(filter(storable, hostile.OWN))
WORDS = ("tea", "soup", "кава", "каву", "东京", "green", "2026", "Anna", "when", "yesterday", "my")
words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)

texts = st.one_of(
    words, words, words, st.sampled_from(HOSTILE), st.text(max_size=20).filter(storable),
    words.map(lambda text: f"{text} " * 300),
)  # fmt: skip


def told(recall: RecallResult) -> list[tuple[int, cw.Message, float, int, str]]:
    """All that is said of the items but where they stand."""
    return [(one.seq, one.message, one.score, one.tokens, one.reason) for one in recall]
