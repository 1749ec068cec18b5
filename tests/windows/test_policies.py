"""What every window guarantees, on histories priced by their letters, and the seeds' own tables."""

from functools import partial
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.messages.exchanges import match_results
from contextwright.windows import decide
from contextwright.windows.clearing import Clearing
from contextwright.windows.decisions import Decisions
from contextwright.windows.history import History
from contextwright.windows.log import Log, Unloaded
from contextwright.windows.policies import (
    FirstAndRecent,
    KeepAll,
    KeepRecent,
    Layers,
    Stepped,
    Window,
)
from samples.windows import From, cost, decided
from steps import count_calls
from strategies import runs
from strategies.windows import PICTURE, clearings, histories, limits, price, sizes, windows

# --- any history, any window, any limit ------------------------------------------------------


def kept_places(decisions: Decisions) -> list[int]:
    return [one.index for one in decisions if one.action in ("kept", "cleared")]


def pairs(messages: list[cw.Message]) -> list[tuple[int, int]]:
    """The places of calls and of their results, where both may be sent."""
    public = [place for place, one in enumerate(messages) if one.visibility == "public"]
    answers = match_results([messages[place] for place in public]).answers
    return [
        (public[answer.at[0]], public[answer.result_at[0]])
        for answer in answers
        if answer.result_at is not None
    ]


def questions_of(messages: list[cw.Message]) -> set[int]:
    """The newest words of a user, and the newest that stand beside no results."""
    asked = [
        place
        for place, one in enumerate(messages)
        if one.role == "user"
        and one.visibility == "public"
        and any(not isinstance(part, cw.ToolResult) for part in one.parts)
    ]
    alone = [place for place in asked if not messages[place].results]
    return {*asked[-1:], *alone[-1:]}


def must_stay(messages: list[cw.Message]) -> set[int]:
    """System, pinned, the newest question, the last message, and all they belong to."""
    public = [place for place, one in enumerate(messages) if one.visibility == "public"]
    must = {place for place in public if messages[place].role == "system" or messages[place].pinned}
    must |= questions_of(messages)
    said = [place for place in public if messages[place].role != "system"]
    answered = {result for _, result in pairs(messages)}
    must.update(said[-1:])
    must.update(
        [
            place
            for place in said
            if place in answered or len(messages[place].results) < len(messages[place].parts)
        ][-1:]
    )
    size = -1
    while size != len(must):
        size = len(must)
        for call, result in pairs(messages):
            if call in must or result in must:
                must |= {call, result}
    return must


@given(histories, windows, limits, clearings, st.booleans())
def test_one_decision_for_each_message(
    messages: list[cw.Message], window: Window, limit: int, clearing: Clearing, skip_system: bool
) -> None:
    decisions = decided(messages, window, limit, clearing, skip_system=skip_system)
    assert [one.index for one in decisions] == list(range(len(messages)))
    assert decisions[-3:] == [*decisions][-3:]
    assert kept_places(decisions) == list(decisions.kept())
    assert [
        (index, run.action, run.reason)
        for run in decisions.runs
        for index in range(run.start, run.stop)
    ] == [(one.index, one.action, one.reason) for one in decisions]
    unseen = {
        index: SKIPPED if one.visibility == "public" else HIDDEN
        for index, one in enumerate(messages)
        if one.visibility != "public" or (skip_system and one.role == "system")
    }
    assert unseen == {one.index: one.reason for one in decisions if one.reason in (HIDDEN, SKIPPED)}
    left_out = [one for one in decisions if one.action == "dropped" and one.index not in unseen]
    assert decisions.omitted == len(left_out)
    cleared = any(one.action == "cleared" for one in decisions)
    assert decisions.is_changed == bool(left_out or cleared)


HIDDEN = "hidden from context"
SKIPPED = "system messages of the history are left out"


@given(histories, windows, limits, clearings)
def test_calls_and_results_stay_or_go_together(
    messages: list[cw.Message], window: Window, limit: int, clearing: Clearing
) -> None:
    kept = set(decided(messages, window, limit, clearing).kept())
    for call, result in pairs(messages):
        assert (call in kept) == (result in kept)


@given(histories, windows, limits, clearings)
def test_what_must_stay_stays(
    messages: list[cw.Message], window: Window, limit: int, clearing: Clearing
) -> None:
    assert must_stay(messages) <= set(decided(messages, window, limit, clearing).kept())


@given(histories, windows, limits, clearings)
def test_the_limit_holds_unless_only_what_must_stay_is_kept(
    messages: list[cw.Message], window: Window, limit: int, clearing: Clearing
) -> None:
    decisions = decided(messages, window, limit, clearing)
    assert cost(decisions) <= limit or set(decisions.kept()) <= must_stay(messages)


@pytest.mark.parametrize("window", [KeepRecent(), Stepped(), FirstAndRecent(), Layers()])
def test_deciding_takes_as_many_steps_at_any_length(window: Window) -> None:
    """Also with more pictures than one request may hold, which are cleared from some place on."""
    turn = [
        cw.user([cw.Text("x" * 30), PICTURE]),
        cw.assistant(cw.ToolCall("look", {}, "a")),
        cw.tool_result("a", "y" * 50),
        cw.assistant("z" * 40),
    ]
    clearing = Clearing(results=10, media=10, most_media=20)
    taken: list[int] = []
    for turns in (100, 1_600):
        log = Log(turn * turns)
        decided(log, window, 3_000, clearing)  # measures and matches all messages once
        taken.append(count_calls(partial(decided, log, window, 3_000, clearing)))
    assert taken[1] < 2 * taken[0]


def partly_loaded(messages: list[cw.Message], head: int, tail: int) -> Log:
    """A log of which only the two ends are loaded, and all that must be."""
    whole = Log(messages)
    start = max(len(messages) - tail, 0)
    apart = {*range(min(head, start))}
    apart |= {index for index, one in enumerate(messages) if one.role == "system" or one.pinned}
    apart |= questions_of(messages[:start])
    apart |= set() if whole.task is None else {whole.task}
    loaded = {*apart, *range(start, len(messages))}
    size = -1
    while size != len(loaded):
        size = len(loaded)
        for pair in pairs(messages):
            if loaded & set(pair):
                loaded.update(pair)
    log = Log()
    log.hide(whole.hidden)
    for index in sorted(index for index in loaded if index < start):
        log.add_apart(index, messages[index], since=0)
    log.start = start
    for index in range(start, len(messages)):
        log.append(messages[index], since=0)
    log.task = whole.task
    return log


@example([cw.Message("assistant", (PICTURE,))] * 2, KeepRecent(), 0, Clearing(most_media=1), 0, 1)
@given(histories, windows, limits, clearings, st.integers(0, 3), st.integers(0, 30))
def test_what_is_not_loaded_changes_no_decision(
    messages: list[cw.Message],
    window: Window,
    limit: int,
    clearing: Clearing,
    head: int,
    tail: int,
) -> None:
    """Either the window asks for more, or it decides as if everything were loaded."""
    public = [one for one in messages if one.visibility == "public"]
    if match_results(public).orphans:
        return  # a result that answers nothing may find another call where not all are loaded
    whole = decided(messages, window, limit, clearing)
    try:
        decisions = decided(partly_loaded(messages, head, tail), window, limit, clearing)
    except Unloaded:
        return
    assert list(decisions) == list(whole)
    assert decisions.messages() == whole.messages()
    assert decisions.omitted == whole.omitted
    assert decisions.gap == whole.gap
    assert decisions.runs == whole.runs


@given(histories, windows, limits)
def test_limits_in_messages_hold(
    messages: list[cw.Message],
    window: KeepRecent | Stepped | FirstAndRecent | Layers,
    limit: int,
) -> None:
    task = {index for index in [Log(messages).task] if index is not None}
    kept = set(decided(messages, window, limit).kept()) - must_stay(messages) - task
    most = max(window.recent, window.immediate) if isinstance(window, Layers) else window.messages
    assert most is None or len(kept) <= most


@given(histories, limits, clearings)
def test_the_newest_that_fit_leave_no_room_for_one_more(
    messages: list[cw.Message], limit: int, clearing: Clearing
) -> None:
    decisions = decided(messages, KeepRecent(), limit, clearing)
    view = decisions.view
    starts = [
        index
        for index in range(decisions.cut)
        if view.is_countable(index) and view.log.exchanges.first(index) == index
    ]
    if starts:
        more = set(range(starts[-1], len(messages))) | must_stay(messages)
        whole = {index for index in more if set(view.log.exchanges.members(index)) <= more}
        sent = [view.message(index) for index in whole if not view.log.is_hidden(index)]
        assert sum(map(price, sent)) > limit


@given(
    histories | runs.histories(),
    limits | runs.limits,
    clearings,
    st.builds(Stepped, st.sampled_from((0.1, 0.4, 0.9)), sizes, st.booleans()),
)
def test_a_stepped_window_is_no_emptier_than_its_step(
    messages: list[cw.Message], limit: int, clearing: Clearing, window: Stepped
) -> None:
    stepped = decided(messages, window, limit, clearing)
    newest = newest_beside_task(stepped, window, limit)
    assert cost(stepped) >= (1 - window.step) * cost(newest) - 1e-6


def newest_beside_task(decisions: Decisions, window: Stepped, limit: int) -> Decisions:
    """What keeping the newest to the token keeps, in the room that a task that stays leaves."""
    view = decisions.view
    task = view.log.task if window.task else None
    room = limit if task is None or not decisions.is_kept(task) else limit - view.cost(task)
    return decide(KeepRecent(window.messages), view, room)


@given(histories, windows, clearings)
def test_what_fits_whole_stays_whole(
    messages: list[cw.Message],
    window: KeepRecent | Stepped | FirstAndRecent | Layers,
    clearing: Clearing,
) -> None:
    whole = decided(messages, KeepAll(), 0, clearing)
    limited = decided(messages, window, int(cost(whole)), clearing)
    count = len([one for one in messages if one.visibility == "public" and one.role != "system"])
    most = max(window.recent, window.immediate) if isinstance(window, Layers) else window.messages
    if most is None or count <= most:
        assert list(limited.kept()) == list(whole.kept())


TORN = [cw.assistant(cw.ToolCall("search", {}, "a")), cw.tool_result("a", "x" * 60)]
"""An exchange of which a window that keeps one first message would keep only the call."""


@example([*TORN, cw.tool_result("a", "x" * 5), TORN[0]], FirstAndRecent(8, 1), 20)
@given(histories | runs.histories(4), windows, st.integers(8, 20))
def test_a_larger_limit_never_keeps_fewer_messages(
    messages: list[cw.Message], window: Window, limits: int
) -> None:
    most = int(cost(decided(messages, KeepAll(), 0)))
    each = [decided(messages, window, most * number // limits) for number in range(limits + 1)]
    for smaller, larger in pairwise(each):
        if isinstance(window, Stepped):
            assert cost(larger) >= (1 - window.step) * cost(smaller) - 1e-6
        else:
            assert len(kept_places(larger)) >= len(kept_places(smaller))


@given(
    runs.histories(),
    st.builds(Stepped, runs.steps, sizes, st.booleans()),
    st.just(Clearing()) | clearings,
    runs.limits,
)
def test_the_stepped_cut_never_moves_back(
    messages: list[cw.Message], window: Stepped, clearing: Clearing, limit: int
) -> None:
    """A message that was left out does not return, but for three good reasons: its result has come
    late; something that was sent before has been cleared since; or without it more than a step of
    the room would stay unused, as when a huge question is answered. What stays before the cut only
    for now does not count as used."""
    history = History(price=price, clearing=clearing)
    before: Decisions | None = None
    cleared: list[int] = []
    freed = False
    for message in messages:
        history.append(message)
        decisions = decide(window, history.view(), limit)
        view = decisions.view
        if cost(decisions) > limit:
            before = None
            continue
        now = [index for index in range(view.count) if view.is_cleared(index)]
        if before is not None:
            old = range(len(before))
            returned = {index for index in decisions.kept() if index in old} - set(before.kept())
            late = returned.intersection(view.log.exchanges.members(view.count - 1))
            if cleared != [index for index in now if index in old]:
                freed = True
            elif decisions.cut > before.cut:
                freed = False
            if returned - {view.log.task} and not freed and not late:
                stayed = decide(From(before.cut), view, limit)
                newest = newest_beside_task(decisions, window, limit)
                assert lasting(stayed) <= (1 - window.step) * lasting(newest) + 1e-6
        before, cleared = decisions, now


def lasting(decisions: Decisions) -> float:
    """What is sent costs, without what stays before the cut only for now."""
    passing = decisions.view.required - decisions.view.always
    sent = zip(decisions.kept(), decisions.messages(), strict=True)
    return sum(price(one) for index, one in sent if index >= decisions.cut or index not in passing)


@given(histories, windows, limits, clearings)
def test_deciding_is_pure(
    messages: list[cw.Message], window: Window, limit: int, clearing: Clearing
) -> None:
    history = History(messages, price=price, clearing=clearing)
    decisions = decide(window, history.view(), limit)
    made = list(decisions)
    assert made == list(decide(window, history.view(), limit))
    grown = History(price=price, clearing=clearing)
    for message in messages:
        grown.append(message)
        decide(window, grown.view(), limit)
    assert made == list(decide(window, grown.view(), limit))


@given(histories, windows, limits)
def test_a_note_follows_what_it_stands_for_and_never_parts_a_call_from_its_result(
    messages: list[cw.Message], window: Window, limit: int
) -> None:
    decisions = decided(messages, window, limit)
    gap, kept = decisions.gap, set(decisions.kept())
    assert (gap is None) == (decisions.omitted == 0 or not kept)
    if gap is not None:
        assert gap in kept
        assert not any(call < gap <= result for call, result in pairs(messages) if call in kept)
        omitted = [one.index for one in decisions if one.action == "dropped"]
        omitted = [index for index in omitted if messages[index].visibility == "public"]
        before = [index for index in omitted if index < gap]
        if before and gap not in {call for call, _ in pairs(messages)}:
            assert kept.isdisjoint(range(before[-1], gap))
