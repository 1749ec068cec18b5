"""Stored conversations that episodes are made of."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import contextwright as cw
from contextwright.store.recall.source import StoreMemorySource
from samples.talks import GARDEN, TRAIN

START = datetime(2026, 11, 15, 9, tzinfo=UTC)
LATER = START + timedelta(days=99)
ALICE, BOB = cw.Author(id="1", name="Alice"), cw.Author(id="2", name="Bob")
CARL = cw.Author(id="3", name="Carl")


def said(
    texts: Sequence[str], hours: float, people: Sequence[cw.Author] = (ALICE, BOB)
) -> list[cw.Message]:
    """People in turns, a message a minute, so many hours after the start."""
    return [
        cw.user(
            text,
            author=people[place % len(people)],
            sent_at=START + timedelta(hours=hours, minutes=place),
        )
        for place, text in enumerate(texts)
    ]


def two_talks(store: cw.Store) -> cw.Chat:
    """On a garden by Alice and Bob (1 to 6), on a train by Bob and Carl (7 to 12)."""
    chat = store.conversation("lunch")
    chat.add(said(GARDEN, 0))
    chat.add(said(TRAIN, 2, (BOB, CARL)))
    return chat


def told(chat: cw.Chat) -> list[tuple[int, int, str]]:
    found = [stored.memory for stored in chat.episodes()]
    return [(memory.meta["first"], memory.meta["last"], memory.key) for memory in found]


# --- what is hidden ------------------------------------------------------------------------------


def recalled(chat: cw.Chat, query: str, asker: str | None = "1", **asked: Any) -> list[str]:
    wanted = cw.recall.MemoryQuery(kind="episode", query=query, asker=asker, **asked)
    return [memory.text for memory in StoreMemorySource(chat.state, chat.id).recall(wanted)]


RECIPE = cw.Recipe(
    system=(cw.sections.Episodes(least=0.5),), window=cw.windows.KeepRecent(messages=2)
)


def asked(chat: cw.Chat, **options: Any) -> str:
    return str(chat.context(RECIPE, model="gpt-4o", **options).payload)
