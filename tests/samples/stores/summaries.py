"""Recipes with summaries, and chats to use them in."""

from __future__ import annotations

import msgspec

import contextwright as cw
from contextwright.store.store import Store
from samples.summaries import talk

MODEL = "gpt-4o"

DIGEST = cw.Recipe(
    window=cw.windows.Stepped(0.7, messages=8), summary=cw.SummaryPolicy(300), budget=2_500
)

WRITTEN = msgspec.structs.replace(DIGEST, summary=cw.SummaryPolicy(100, model="small"))


def filled(store: Store, turns: int = 2) -> cw.Chat:
    chat = store.conversation("lunch")
    chat.add(talk(turns))
    return chat


def with_writer(summariser: cw.summaries.Summariser, *, background: bool = False) -> cw.Recipe:
    summary = cw.SummaryPolicy(100, model="small", summariser=summariser, background=background)
    return msgspec.structs.replace(WRITTEN, summary=summary)
