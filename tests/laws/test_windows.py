"""How much a window keeps, and that it says what it leaves out, on traffic as rich as real."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import contextwright as cw
from contextwright.context.fitting.priced_history import PricedHistory
from contextwright.context.fitting.thinking import open_turn, without_thinking
from contextwright.context.options import BuildOptions
from contextwright.context.recipe import Recipe
from contextwright.errors import BudgetError
from contextwright.windows.decisions import Decisions
from contextwright.windows.log import media_in
from contextwright.windows.policies import KeepAll, KeepRecent, Layers, Stepped, Window
from profiles import STORE, examples, often
from samples.windows import From
from strategies.runs import TARGETS, clearings, histories, shares, steps, summaries, windows

PLENTY = 10**7
MERGED = 30
"""Tokens that rendering may add to or save on what messages cost alone."""
NOTE = re.compile(r"\[(\d+) earlier messages? (?:is|are) left out here\]").findall
TOLD = re.compile(r"^> (\d+) ", re.MULTILINE).findall


class Case(NamedTuple):
    """A history priced for one model, and a recipe with a budget that works."""

    recipe: Recipe
    format: str
    model: str
    history: PricedHistory
    whole: cw.Context
    """All of it in one request."""
    budget: int

    def build(self, budget: int | None = None, **changes: Any) -> cw.Context:
        return replace(self.recipe, **changes).build(
            self.history, model=self.model, format=self.format, budget=budget or self.budget
        )


@st.composite
def cases(draw: st.DrawFn, format: str) -> Case:
    messages = draw(histories(8))
    model = draw(st.sampled_from([model for name, model in TARGETS if name == format]))
    recipe = Recipe(
        system=draw(st.sampled_from(((), ("You are kind.",)))),
        window=draw(windows),
        clearing=draw(clearings),
        summary=draw(summaries),
    )
    history = recipe.history(messages, model=model, format=format)
    everything = replace(recipe, window=KeepAll())
    whole = everything.build(history, model=model, format=format, budget=PLENTY)
    budget = max(int(whole.ledger.most * draw(shares)), 1)
    try:
        recipe.build(history, model=model, format=format, budget=budget)
    except BudgetError as error:
        budget = error.minimum
    return Case(recipe, format, model, history, whole, budget)


@pytest.mark.parametrize("format", sorted({format for format, _ in TARGETS}))
def test_laws(format: str) -> None:
    """All laws on the same histories: making and counting them costs more than holding them."""
    reached: dict[str, list[bool]] = defaultdict(list)

    @examples(STORE)
    @given(cases(format), st.sampled_from((1.003, 1.03, 1.3)))
    def laws(case: Case, more: float) -> None:
        context = case.build()
        for law in (
            what_fits_whole_stays_whole,
            no_emptier_than_it_must_be,
            said_once,
            told_or_kept,
            caps_are_caps,
        ):
            reached[law.__name__].append(law(case, context))
        reached["more"].append(more_for_more(case, context, int(case.budget * more) + 1))

    laws()
    for name, found in reached.items():
        assert often(found), name


def kept(context: cw.Context) -> set[int]:
    return set(context.decisions.kept())


def what_fits_whole_stays_whole(case: Case, context: cw.Context) -> bool:
    """With a budget of what the whole takes, to the token or a little more, nothing goes."""
    most = most_messages(case.recipe.window)
    if most is not None and context.decisions.view.spoken > most:
        return False
    least = case.whole.ledger.most
    for budget in (least, int(least * 1.01)):
        assert case.build(budget).payload == case.whole.payload
    return True


def most_messages(window: Window) -> int | None:
    if isinstance(window, Layers):
        return max(window.recent, window.immediate)
    return getattr(window, "messages", None)


def no_emptier_than_it_must_be(case: Case, context: cw.Context) -> bool:
    """A window to the token drops nothing that fits; a stepped one leaves no more than its step."""
    window = case.recipe.window
    if not context.decisions.omitted:
        return isinstance(window, KeepAll)
    task: list[int] = []
    if isinstance(window, Stepped):
        fullest = case.build(window=replace(window, step=0))
        task = [one.index for one in fullest.decisions if one.reason == "task"]
        if not kept(context).issuperset(task):
            return True  # the task may take a share of the room, and just does in the fullest
        assert context.ledger.history >= (1 - window.step) * fullest.ledger.history - MERGED
        context = fullest
        if window.task and not task and context.decisions.view.log.task is not None:
            return True  # with a little more room, the task might take it
    if case.recipe.summary is not None and len(window.alternatives) == 1:
        # Nor does the room for a summary cost more than half of what could be sent without one.
        alone = case.build(window=window.fullest, summary=None)
        assert context.ledger.history >= alone.ledger.history / 2 - MERGED
    if isinstance(window, Stepped | KeepRecent | Layers):
        before, view = next_before(context), context.decisions.view
        most = most_messages(window)
        if before is not None and (most is None or before >= view.newest(most)):
            assert not fits(case, before, task)
    return True


def next_before(context: cw.Context) -> int | None:
    """Where the newest message or exchange begins that was left out before the cut."""
    decisions, view = context.decisions, context.decisions.view
    for index in range(decisions.cut - 1, -1, -1):
        begins = view.is_countable(index) and view.log.exchanges.first(index) == index
        if begins and not decisions.is_kept(index):
            return index
    return None


def fits(case: Case, start: int, task: list[int]) -> bool:
    """Whether the task and everything from an index on fit, with a note and room for a summary."""
    policy = case.recipe.summary
    try:
        more = case.build(window=From(start, task), summary=None)
    except BudgetError:
        return False
    if any(change.code == "loss.note" for change in more.changes):
        return False
    # A summary may take as much as it wants, up to a quarter of the room for messages.
    return policy is None or more.ledger.budget - more.ledger.most >= policy.tokens


def more_for_more(case: Case, context: cw.Context, budget: int) -> bool:
    """A larger budget never keeps fewer messages; a stepped window stays within its step."""
    larger = case.build(budget)
    window = case.recipe.window
    if isinstance(window, Stepped):
        assert larger.ledger.history >= (1 - window.step) * context.ledger.history - MERGED
    else:
        assert len(kept(larger)) >= len(kept(context))
    return context.decisions.omitted > 0 or isinstance(window, KeepAll)


def said_once(case: Case, context: cw.Context) -> bool:
    """Whatever is left out is in one summary or one note that says how many; or there was no room
    for the note, and a change says so."""
    decisions = context.decisions
    untold = decisions.omitted - decisions.summarised
    said = NOTE(str(context.payload))
    lost = [change for change in context.changes if change.code == "loss.note"]
    assert len(said) + len(lost) == (untold > 0)
    assert not said or int(said[0]) == untold
    summary = [one for one in context.conversation.messages if one.kind == "summary"]
    assert len(summary) == (decisions.summarised > 0)
    return decisions.omitted > 0


def told_or_kept(case: Case, context: cw.Context) -> bool:
    """No summary tells what is in the request, and no summariser is asked to."""
    asked: list[str] = []

    def summariser(request: cw.summaries.Request) -> str:
        asked.append(request.text)
        return "They talked."

    for policy in (cw.SummaryPolicy(300), cw.SummaryPolicy(summariser=summariser)):
        asked.clear()
        try:
            found = case.build(summary=policy)
        except BudgetError:
            return False
        texts = [one.text for one in found.conversation.messages if one.kind == "summary"]
        told = {int(number) - 1 for text in (*texts, *asked) for number in TOLD(text)}
        assert not told & kept(found)
        if found.decisions.summarised:
            assert all(found.decisions[index].action == "summarised" for index in told)
    return context.decisions.omitted > 0


def caps_are_caps(case: Case, context: cw.Context) -> bool:
    """No request holds more media than the recipe or the provider allows."""
    cap = case.history.clearing.most_media
    number = sum(map(media_in, context.conversation.messages))
    assert cap is None or number <= cap
    return True


@pytest.mark.parametrize(("format", "model"), TARGETS)
@examples(STORE)
@given(histories(10), steps, summaries, shares)
def test_the_cut_moves_back_only_if_too_little_would_be_sent(
    format: str,
    model: str,
    messages: list[cw.Message],
    step: float,
    summary: cw.SummaryPolicy | None,
    share: float,
) -> None:
    """Or because a result has come late, something was cleared since, or thinking that an open tool
    loop had to keep is gone."""
    recipe = Recipe(window=Stepped(step), summary=summary)
    options = BuildOptions(model=model, format=format, budget=PLENTY)
    whole = replace(recipe, window=KeepAll()).build(messages, **options)
    options["budget"] = max(int(whole.ledger.most * share), 60)
    history = recipe.history(model=model, format=format)
    before: Decisions | None = None
    for message in messages:
        history.append(message)
        try:
            decisions = recipe.build(history, **options).decisions
        except BudgetError:
            before = None
            continue
        excepted = before and (
            is_excepted(decisions, before)
            or (history.meter.model.legacy_thinking and keeps_thinking(before))
        )
        if before and moved_back(decisions, before) and not excepted:
            task = [one.index for one in decisions if one.reason == "task"]
            stayed = replace(recipe, window=From(before.cut, task)).build(history, **options)
            fullest = replace(recipe, window=Stepped(0)).build(history, **options)
            assert lasting(stayed) < (1 - step) * lasting(fullest) + MERGED
        before = decisions


def moved_back(decisions: Decisions, before: Decisions) -> bool:
    """Whether a message that was left out is sent again; exchanges stay whole behind any cut."""
    now, then = (
        {one.index for one in each if one.action in ("dropped", "summarised")}
        for each in (decisions, before)
    )
    return decisions.cut < before.cut and bool(then - now)


def lasting(context: cw.Context) -> int:
    """The tokens of the messages, without those that stay before the cut only for now."""
    decisions, view = context.decisions, context.decisions.view
    passing = view.required - view.always
    return sum(
        tokens
        for index, tokens in decisions.tokens.items()
        if index >= decisions.cut or index not in passing
    )


def is_excepted(decisions: Decisions, before: Decisions) -> bool:
    view = decisions.view
    return bool(view.log.exchanges.late(0)) or view.lines.end > before.view.lines.end


def keeps_thinking(decisions: Decisions) -> bool:
    """Whether an open tool loop has thinking, which Claude up to 4.5 wants back."""
    sent = decisions.messages()
    return any(without_thinking(message) != message for message in sent[open_turn(sent) :])
