"""Contexts from a store: the only step that fetches, between a conversation and a recipe."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from contextwright.api import as_model
from contextwright.building import PricedHistory
from contextwright.changes import Change
from contextwright.context import Context
from contextwright.decisions import Decisions
from contextwright.errors import NotFound, shown
from contextwright.memories import Recollection
from contextwright.messages import Opaque, Tool
from contextwright.metering import Meter
from contextwright.models import Model
from contextwright.recipe import Recipe
from contextwright.sections.recalled import RECENT
from contextwright.store import conversations
from contextwright.store.engine import Connection
from contextwright.store.pages import Pages
from contextwright.store.reach import Reach
from contextwright.store.recollection import StoreRecollection
from contextwright.store.summaries import StoreSummaries
from contextwright.store.tally import Tally
from contextwright.summaries import Summaries
from contextwright.windows import FirstAndRecent, KeepAll

if TYPE_CHECKING:
    from contextwright.store.chat import Chat

__all__ = ["build"]

EVERYTHING = 1 << 60
MOST_REMEMBERED = 64
"""So many conversations are remembered as their last build read them."""
LONGEST = 1_000
"""A history that has grown longer is read anew: most of it lies before the window by then."""


class Remembered(Struct):
    """A conversation as the last build read it; the next one reads only what came since."""

    tally: Tally
    reach: Reach
    history: PricedHistory
    marked: int
    """How often messages of it had been hidden or pinned."""


def build(
    chat: Chat,
    recipe: Recipe,
    *,
    model: str | Model,
    format: str | None = None,
    tools: Sequence[Tool | Opaque] | None = None,
    now: datetime | None = None,
    budget: int | None = None,
    memories: Recollection | None = None,
    at: int | None = None,
    summaries: Summaries | None = None,
) -> Context:
    """The context of a conversation; reads what the window needs, and more only if it asks.

    With `at` it is the one of an earlier moment: what is counted for it is not kept, because
    totals that begin there need not meet those that are stored.
    Past words that turn out to be in the window are not recalled, and those that turn out not to be
    are: it is built again.
    Only then is the cut final and a summary asked for; where one is written, it is built with it.
    """
    facts = as_model(model)
    meter = chat.store.meter(chat.id, format or facts.format, facts)
    room = recipe.tokens(facts, budget)
    engine, memory = chat.store.engine, chat.store.remembered
    # Whoever builds takes it away, so that no two threads ever share it.
    known = memory.pop((chat.store.tenant, chat.id), None) if at is None else None
    known = engine.read(
        lambda connection: looked_up(connection, chat, recipe, meter, room, known, at)
    )
    own = StoreRecollection(chat, last=max(known.reach.length - RECENT, 0))
    stored: StoreSummaries | None = None
    if recipe.summary is not None and summaries is None:
        summaries = stored = StoreSummaries(chat, recipe.summary)
    while True:
        if known.tally.new and at is None:
            engine.write(known.tally.write, chat.id)
            known.tally.new.clear()
        context = recipe.build(
            known.history,
            model=facts,
            format=format,
            tools=tools,
            now=now,
            budget=budget,
            memories=own if memories is None else memories,
            summaries=summaries,
        )
        if not context.decisions.wanted:
            if own.has_looked and own.show(*seen(context.decisions, known.history)):
                continue
            if stored is not None and stored.ask():
                continue
            if at is None:
                memory[chat.store.tenant, chat.id] = known
                chat.store.note_told(chat.id, own.told)
            while len(memory) > MOST_REMEMBERED:
                memory.pop(next(iter(memory)), None)
            return with_trouble(context, own.trouble)
        known.reach.further()
        known.history = empty(chat, recipe, meter)
        engine.read(lambda connection: known.reach.fill(connection, known.history))


def seen(decisions: Decisions, history: PricedHistory) -> tuple[int, set[int]]:
    """The last message before the newest ones of a window, and all that it keeps."""
    return history.number(decisions.start), {number + 1 for number in decisions.kept()}


def with_trouble(context: Context, trouble: str) -> Context:
    """A context that says why less was recalled than could be."""
    if not trouble:
        return context
    change = Change("loss.meaning", "memories", f"recalled by words alone: {trouble}")
    return msgspec.structs.replace(context, changes=(*context.changes, change))


def looked_up(
    connection: Connection,
    chat: Chat,
    recipe: Recipe,
    meter: Meter,
    room: int,
    known: Remembered | None,
    at: int | None,
) -> Remembered:
    """The conversation as far as a build needs it: what is remembered and what came since."""
    if known is not None and has_grown(connection, recipe, meter, known):
        return known
    head = conversations.require(connection, chat.store.tenant, chat.id)
    state = conversations.state_of(connection, head.number)
    if state is None:
        raise conversations.unknown(chat.id)
    length, marked = state
    if at is not None:
        if not 1 <= at <= length:
            raise NotFound(f"there is no message {at} in {shown(chat.id)}")
        length = at
    window = recipe.window
    pages = Pages(head)
    tally = Tally(pages, meter.name, meter.cost)
    reach = Reach(
        pages,
        tally,
        length,
        tokens=EVERYTHING if isinstance(window, KeepAll) else room,
        first=window.first if isinstance(window, FirstAndRecent) else 0,
        newest=recipe.reach,
    )
    history = empty(chat, recipe, meter)
    reach.fill(connection, history)
    return Remembered(tally, reach, history, marked)


def has_grown(connection: Connection, recipe: Recipe, meter: Meter, known: Remembered) -> bool:
    """Whether what is remembered could be brought up to date; not if more changed than its end."""
    state = conversations.state_of(connection, known.tally.conversation)
    if state is None or state[1] != known.marked or len(known.history) >= LONGEST:
        return False
    fits = known.history.fits(meter.format, meter.model, recipe)
    fits = fits and recipe.reach <= known.reach.newest
    return fits and known.reach.grow(connection, known.history, state[0])


def empty(chat: Chat, recipe: Recipe, meter: Meter) -> PricedHistory:
    """A history of the conversation, to be filled."""
    history = recipe.history(model=meter.model, meter=meter)
    history.frame = msgspec.structs.replace(history.frame, id=chat.id)
    return history
