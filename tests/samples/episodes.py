"""Conversations in time, for episodes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import contextwright as cw
from contextwright.recall.episodes.boundaries import NumberedMessage, segment

START = datetime(2026, 11, 15, 9, tzinfo=UTC)
ALICE, BOB = cw.Author(id="1", name="Alice"), cw.Author(id="2", name="Bob")


def talk(*said: tuple[str, float | None], first: int = 1) -> list[NumberedMessage]:
    """Alice and Bob in turns, each message so many seconds after the start."""
    return [
        (
            first + place,
            cw.user(
                text,
                author=(ALICE, BOB)[place % 2],
                sent_at=None if after is None else START + timedelta(seconds=after),
            ),
        )
        for place, (text, after) in enumerate(said)
    ]


def cuts(messages: list[NumberedMessage], **options: Any) -> list[tuple[int, int, bool]]:
    """Each stretch: its first and last number, and whether it is closed."""
    return [(one.messages[0][0], one.last, one.closed) for one in segment(messages, **options)]
