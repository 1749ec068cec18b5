"""From messages to a context: plan, fit, finish."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime
from functools import partial
from typing import Any, cast

import msgspec

from contextwright import formats
from contextwright.context.cache_marks import CacheBreakpoints, mark_cache
from contextwright.context.context import Context
from contextwright.context.fitting.attempt import Attempt, Fitted
from contextwright.context.fitting.draft import STAND_INS, Draft, path_of
from contextwright.context.fitting.filling import with_filling
from contextwright.context.fitting.fit import fit, with_summary
from contextwright.context.fitting.plan import Given, Messages, Plan, plan
from contextwright.context.fitting.priced_history import PricedHistory
from contextwright.context.fitting.recent import RECENT
from contextwright.context.receipt import (
    Figures,
    HashChain,
    Ledger,
    Unit,
    apportioned,
    encoded_steps,
    units_of,
)
from contextwright.context.recipe_data import RecipeData
from contextwright.errors import BudgetError, UsageError, require, shown
from contextwright.formats import FormatName
from contextwright.formats.given import as_given, as_tools, is_messages
from contextwright.messages.message import Tool
from contextwright.messages.parts import Opaque, Text, ToolResult
from contextwright.messages.times import require_time
from contextwright.messages.validation import naming_faults
from contextwright.models import Model, as_model
from contextwright.recall.memories import MemorySource
from contextwright.sections import SectionInput
from contextwright.sections.budget import costs
from contextwright.summaries.summary import SummarySource
from contextwright.tokens.count import Count
from contextwright.windows.log import Unloaded

__all__ = ["build"]

replace = msgspec.structs.replace


def build(
    conversation: Given,
    recipe: RecipeData,
    *,
    model: str | Model,
    format: FormatName | str | None = None,
    tools: Sequence[Tool | Opaque | Mapping[str, Any]] | None = None,
    now: datetime | None = None,
    budget: int | None = None,
    memories: MemorySource | None = None,
    summaries: SummarySource | None = None,
) -> Context:
    """Build the best valid request within the budget, with its receipt.

    Sections only see the time and the memories passed in. `summaries` provides summaries that are
    not made here.

    Raises:
        BudgetError: the required parts do not fit; it names the smallest budget that works.
    """
    facts = as_model(model)
    require_arguments(recipe, now, budget, memories)
    name = formats.find(facts.format if format is None else format).name
    offered = None if tools is None else as_tools(tools)
    if isinstance(conversation, PricedHistory) and conversation.fits(name, facts, recipe):
        known = conversation
    else:
        known = RECENT.take(conversation, name, facts, recipe)
    given, read = cast("Messages", conversation), ()
    if known is None and not (isinstance(conversation, PricedHistory) or is_messages(conversation)):
        given = as_given(conversation)
        read = () if given is conversation else given.changes
    input = SectionInput(now and require_time(now), memories=memories)
    with nullcontext() if isinstance(given, PricedHistory) else naming_faults(given):
        planned = plan(recipe, given, known, facts, name, offered, input, summaries)
        try:
            tokens = recipe.tokens(facts, budget, planned.frame.settings.max_tokens)
            context = within(planned, tokens)
        finally:
            if planned.history is not conversation:
                RECENT.keep(planned.history)
    return replace(context, changes=(*read, *context.changes))


def require_arguments(recipe: Any, now: Any, budget: Any, memories: Any) -> None:
    """Check the types of the arguments.

    Raises:
        UsageError: one of them has the wrong type, or `now` is at an end of the calendar.
    """
    require(recipe, RecipeData, "a recipe", "pass a Recipe")
    require(now, datetime | None, "now", "pass a datetime")
    if now is not None:
        require_time(now)
    require(budget, int | None, "a budget", "a number of tokens")
    if memories is not None and not callable(getattr(memories, "recall", None)):
        raise UsageError(f"memories cannot be {shown(memories)}", hint="pass a MemoryList")


def within(planned: Plan, budget: int) -> Context:
    """Return the best request within a budget; reads more of a long list if a window needs it."""
    while True:
        try:
            found = fit(planned, budget)
            if isinstance(found, Count):
                raise BudgetError(budget, smallest_budget(planned, budget, found), found.places)
            return finish(with_summary(with_filling(found)))
        except Unloaded:
            if not planned.history.read_more():
                raise


def smallest_budget(planned: Plan, budget: int, count: Count) -> int:
    """Find the smallest budget that works, given one that does not.

    The smallest request under one budget is only a good guess. A larger budget may give sections a
    larger share, and an omitted message may cost less than the note about it.
    """
    least = count.most + planned.recipe.reserve(count)
    while isinstance(found := fit(planned, least), Count):
        least = max(found.most + planned.recipe.reserve(found), least + 1)
    short, step = budget, 1
    while least - short > 1:
        # Try near the guess first, then bisect.
        lower = max(least - step, (least + short) // 2)
        if isinstance(fit(planned, lower), Count):
            short = lower
        else:
            least, step = lower, step * 2
    return least


def finish(fitted: Fitted) -> Context:
    """Return the context of a request, with cache breakpoints and its receipt."""
    attempt, draft, rendered = fitted.attempt, fitted.draft, fitted.rendered
    plan, relaxed, payload = attempt.plan, attempt.relaxed, rendered.payload
    counted = fitted.counted
    places = [*(["system"] if relaxed.system else []), *draft.places]
    # Before our own marks are set, and before anyone can change the payload.
    steps = encoded_steps(payload) if counted.marked else counted.steps
    counts, chain = counted.count.places, plan.history.chain
    figures = Figures(
        partial(ledger_of, attempt, draft, fitted.count),
        partial(prefix_of, steps, counts, chain, places, rendered.origins),
    )
    breakpoints = CacheBreakpoints(
        relaxed.volatile, relaxed.static, plan.frame.id, cleared_texts(fitted)
    )
    changes = mark_cache(
        payload,
        plan.format,
        plan.model,
        breakpoints,
        set_marks=plan.recipe.cache,
        marked=counted.marked,
    )
    rendering = [replace(change, path=moved(change.path, places)) for change in rendered.changes]
    return Context(
        payload=payload,
        format=plan.format,
        model=plan.model,
        decisions=draft.decisions.with_tokens(figures.tokens),
        changes=(*plan.changes, *relaxed.changes, *draft.changes, *changes, *rendering),
        figures=figures,
        sections={section.name: section.text for section in relaxed.sections if section.text},
        absent=relaxed.absent,
        conversation=fitted.conversation,
        tool_names=rendered.tool_names,
    )


def cleared_texts(fitted: Fitted) -> list[str]:
    """Return the stubs of the newest result or media cleared, now and one step before."""
    decisions = fitted.draft.decisions
    view, texts = decisions.view, list[str]()
    cleared = [
        index
        for run in decisions.staying
        if run.action == "cleared"
        for index in range(run.start, run.stop)
    ]
    for line in (view.lines.end, view.lines.results_before) if cleared else ():
        index = next((one for one in reversed(cleared) if one < line), None)
        if index is not None:
            parts = zip(view.message(index).parts, view.log[index].parts, strict=True)
            changed = [part for part, old in parts if part is not old][-1]
            texts += [changed.text] if isinstance(changed, Text | ToolResult) else []
    return texts


def prefix_of(
    steps: Sequence[tuple[str, bytes]],
    counts: Mapping[str, int],
    chain: HashChain,
    places: Sequence[int | str],
    origins: Sequence[int],
) -> tuple[Unit, ...]:
    """Return the prompt as a chain of hashes, with the number of the message of each turn."""
    numbers = [seq_at(places, index) for index in origins]
    return units_of(steps, counts, chain=chain, origins=numbers)


def ledger_of(attempt: Attempt, draft: Draft, count: Count) -> tuple[Ledger, dict[int, int]]:
    """Return the tokens by purpose, and those of each message of the history.

    Sections count by their text alone. Everything that messages add to an empty request is divided
    among them by what each costs alone.
    """
    price, fixed = attempt.plan.meter.tokens, attempt.fixed
    tools = count.places.get("tools", 0)
    frame = fixed.tokens - fixed.places.get("tools", 0)
    sections = attempt.relaxed.sections
    steady = costs((one for one in sections if not one.beside), frame, price)
    room = max(count.tokens - frame - tools, 0)
    beside = costs((one for one in sections if one.beside), room, price)
    room -= sum(beside.values())
    view, history = draft.decisions.view, attempt.plan.history
    weights = [
        view.price(place) if isinstance(place, int) else history.stand_in_cost(place, message)
        for place, message in zip(draft.places, draft.messages, strict=True)
    ]
    shares = dict(zip(draft.places, apportioned(room, weights), strict=True))
    notes = sum([shares.pop(name, 0) for name in STAND_INS])
    history = sum(shares.values())
    sum_of_sections = sum(steady.values()) + sum(beside.values())
    ledger = Ledger(
        tokens=count.tokens,
        exact=count.exact,
        bound=count.bound,
        most=count.most,
        budget=attempt.budget,
        sections={**steady, **beside},
        tools=tools,
        history=history,
        notes=notes,
        wrappers=count.tokens - tools - history - notes - sum_of_sections,
        places=count.places,
        at_least=count.at_least,
        unseen=count.unseen,
    )
    return ledger, cast("dict[int, int]", shares)


def seq_at(places: Sequence[int | str], index: int) -> int | None:
    """Return the number of a rendered message; None for what stands in, or was invented alone."""
    place = places[index] if index < len(places) else None
    return place + 1 if isinstance(place, int) else None


def moved(path: str, places: Sequence[int | str]) -> str:
    """Translate a path into the rendered messages to one into the history."""
    head, bracket, rest = path.partition("]")
    number = head.removeprefix("messages[")
    if not bracket or number == head or not number.isdecimal() or int(number) >= len(places):
        return path
    return path_of(places[int(number)]) + rest
