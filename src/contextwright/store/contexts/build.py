"""Contexts from a store: load what a build needs, and more when a window asks for it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Unpack

import msgspec

from contextwright.context.build import build as build_context
from contextwright.context.build import require_arguments
from contextwright.context.context import Context
from contextwright.context.fitting.meter import meter_of
from contextwright.context.fitting.priced_history import PricedHistory
from contextwright.context.options import BuildOptions
from contextwright.context.recipe_data import RecipeData
from contextwright.context.recipe_files import as_recipe
from contextwright.errors import BudgetError, NotFound, UsageError, require, shown
from contextwright.messages.changes import Change
from contextwright.messages.lengths import BYTES_PER_TOKEN
from contextwright.models import Model, as_model
from contextwright.sections.queries import RECENT
from contextwright.sections.transcript import Transcript
from contextwright.store.contexts.builds import LoadedHistory
from contextwright.store.contexts.loader import EVERYTHING, Needs, grow, load
from contextwright.store.contexts.summaries import StoreSummarySource
from contextwright.store.engines.base import Connection
from contextwright.store.recall.source import StoreMemorySource
from contextwright.store.rows import conversations
from contextwright.store.rows.damage import damage_of
from contextwright.store.state import State
from contextwright.summaries.summary import SummarySource
from contextwright.windows.log import Log, Unloaded

__all__ = ["build", "replay"]

replace = msgspec.structs.replace

SPARE = 2
"""Multiple of a full request's length that is loaded; a shorter log would be loaded twice."""
LONGEST = 8
"""A log that has grown to this multiple of what is needed is loaded again."""


def build(
    state: State,
    id: str,
    recipe: RecipeData | str,
    *,
    at: int | None = None,
    summaries: SummarySource | None = None,
    **options: Unpack[BuildOptions],
) -> Context:
    """Build the context of a conversation, or with `at` that of an earlier moment."""
    if "model" not in options:
        raise UsageError("a context needs a model", hint='pass model="…"; see cw models')
    facts = options["model"] = as_model(options["model"])
    recipe = as_recipe(recipe)
    require_arguments(recipe, *(options.get(name) for name in ("now", "budget", "memories")))
    format = options.get("format") or facts.format
    needs = needs_of(recipe, facts, options.get("budget"))
    loaded = take(state, id, recipe, facts, format, needs, at)
    context, loaded, included = built(state, id, recipe, loaded, summaries, options)
    state.builds.keep((state.tenant, id, at), loaded)
    if at is None:
        state.builds.note_included((state.tenant, id), included)
    return context


def replay(
    state: State,
    id: str,
    recipe: RecipeData,
    moments: Iterable[tuple[int, datetime | None]],
    **options: Unpack[BuildOptions],
) -> Iterator[Context | BudgetError]:
    """Yield the contexts after some messages, in order; each message is read and counted once.

    A moment is the number of the last message, and the time for sections. Where nothing fits the
    budget, the error takes the place of the context.
    """
    facts = options["model"] = as_model(options["model"])
    format = options.get("format") or facts.format
    needs = needs_of(recipe, facts, options.get("budget"))
    loaded: LoadedHistory | None = None
    for at, now in moments:
        loaded = loaded and with_new_messages(state, loaded, at)
        loaded = loaded or take(state, id, recipe, facts, format, needs, at)
        options["now"] = now
        try:
            # What sections recall depends on the moment.
            context, loaded, _ = built(state, id, recipe, loaded, None, BuildOptions(**options))
        except BudgetError as error:
            yield error
        else:
            yield context


def built(
    state: State,
    id: str,
    recipe: RecipeData,
    loaded: LoadedHistory,
    summaries: SummarySource | None,
    options: BuildOptions,
) -> tuple[Context, LoadedHistory, Collection[str]]:
    """Return the context of a loaded conversation, what is loaded now, and the included episodes.

    It is built again if a window asks for older messages, if recalled messages turn out to be in
    the window, and if a summary was written. It ends because what is loaded and what recall leaves
    out only grows, and a summary is written once.
    """
    length = len(loaded.log)
    own = StoreMemorySource(state, id, last=max(length - max(RECENT, in_block(recipe)), 0))
    block = range(max(length - in_block(recipe), 0), length)
    stored: StoreSummarySource | None = None
    if recipe.summary is not None and summaries is None:
        summaries = stored = StoreSummarySource(state, id, recipe.summary)
    if options.get("memories") is None:
        options["memories"] = own
    while True:
        try:
            context = build_context(loaded.history, recipe, summaries=summaries, **options)
        except Unloaded:
            loaded = further(state, loaded)
            continue
        decisions = context.decisions
        if own.has_looked:
            seen = {index + 1 for index in (*decisions.kept(), *block)}
            if own.show(min(decisions.cut, block.start), seen):
                continue
        if stored is not None and stored.ask():
            continue
        damage = {change.path: change for change in damage_in(loaded.log, decisions.cut)}
        losses = [*trouble_of(own), *(own.losses | damage).values()]
        return with_losses(context, losses), loaded, own.included


def in_block(recipe: RecipeData) -> int:
    """Return how many of the newest messages the system text shows as a block."""
    sections = (section for section in recipe.system if isinstance(section, Transcript))
    return max((section.messages for section in sections), default=0)


def needs_of(recipe: RecipeData, model: Model, budget: int | None) -> Needs:
    """Return what a build needs at first."""
    window = recipe.window
    tokens = recipe.tokens(model, budget)
    length = EVERYTHING if window.is_unlimited else tokens * BYTES_PER_TOKEN * SPARE
    return Needs(length, recipe.reach, window.first_messages)


def take(
    state: State,
    id: str,
    recipe: RecipeData,
    model: Model,
    format: str,
    needs: Needs,
    at: int | None,
) -> LoadedHistory:
    """Return the conversation as the last build left it, updated; else load it."""
    # Taking it out ensures that no two threads share it.
    known = state.builds.take((state.tenant, id, at))
    if known is not None:
        if known.history.fits(format, model, recipe) and known.needs.holds(needs):
            known = with_new_messages(state, known, at)
            if known is not None:
                return known
    require(format, str, "a format")
    meter = meter_of(format, model)

    def work(connection: Connection) -> LoadedHistory:
        head = conversations.seen(connection, state.tenant, id)
        stands = conversations.state_of(connection, head.number)
        if head is conversations.NOTHING:
            stands = (0, 0)
        if stands is None:
            raise conversations.unknown(id)
        count, marked = stands
        if at is not None:
            if not 1 <= at <= count:
                hint = f"it has {count:,} message{'' if count == 1 else 's'}"
                raise NotFound(f"there is no message {at} in {shown(id)}", hint=hint)
            count = at
        log, length = load(connection, head, count, needs)
        history = PricedHistory(log, meter, recipe)
        history.frame = replace(history.frame, id=id)
        return LoadedHistory(history, head, needs, marked, length)

    return state.engine.read(work)


def with_new_messages(
    state: State, loaded: LoadedHistory, at: int | None = None
) -> LoadedHistory | None:
    """Add new messages, or those up to number `at`; None if more than the end has changed."""

    def work(connection: Connection) -> LoadedHistory | None:
        stands = conversations.state_of(connection, loaded.head.number)
        log, needs = loaded.log, loaded.needs
        if stands is None or stands[1] != loaded.marked or stands[0] < len(log):
            return None
        if log.start and loaded.length > LONGEST * max(needs.length, 1):
            return None
        more = grow(connection, loaded.head, log, stands[0] if at is None else at)
        return None if more is None else replace(loaded, length=loaded.length + more)

    return state.engine.read(work)


def further(state: State, loaded: LoadedHistory) -> LoadedHistory:
    """Return the same conversation with twice as much loaded; keeps what was counted."""
    needs, count = loaded.needs.more(), len(loaded.log)
    log, length = state.engine.read(lambda connection: load(connection, loaded.head, count, needs))
    loaded.history.history.read_from(log)
    return replace(loaded, needs=needs, length=length)


def trouble_of(source: StoreMemorySource) -> Iterator[Change]:
    """Yield why less was recalled than possible."""
    if source.trouble:
        reason = f"recalled by words only: {source.trouble}"
        yield Change("loss.meaning", "memories", reason)


def damage_in(log: Log, cut: int) -> Iterator[Change]:
    """Yield the damaged messages after the cut, which are left out."""
    for index in log.hidden[bisect_left(log.hidden, max(cut, log.start)) :]:
        damage = damage_of(log[index], index + 1)
        if damage:
            yield Change("loss.damaged", f"messages[{index}]", f"{damage}; left out")


def with_losses(context: Context, losses: Sequence[Change]) -> Context:
    """Return a context whose changes include what the store could not provide."""
    return replace(context, changes=(*context.changes, *losses)) if losses else context
