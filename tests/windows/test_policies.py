"""What every window keeps to, on histories priced by their letters; and the seeds' own tables."""

from collections.abc import Callable, Iterable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.context import recipe_files as recipes
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
from contextwright.windows.ruler import length_of
from strategies.windows import PICTURE, clearings, histories, limits, price, sizes, windows


def decided(
    messages: Iterable[cw.Message] | Log,
    window: Window,
    limit: int = 10**9,
    clearing: Clearing | None = None,
    *,
    skip_system: bool = False,
) -> Decisions:
    """What a window decides about messages that cost a token a letter."""
    history = History(messages, price=price, clearing=clearing, skip_system=skip_system)
    return decide(window, history.view(width=limit), limit)


def cost(decisions: Decisions) -> float:
    """What is sent costs."""
    return sum(price(message) for _, message in decisions.messages())


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


@given(histories, windows, limits, clearings)
def test_one_decision_for_each_message(
    messages: list[cw.Message], window: Window, limit: int, clearing: Clearing
) -> None:
    decisions = decided(messages, window, limit, clearing)
    assert [one.index for one in decisions] == list(range(len(messages)))
    assert kept_places(decisions) == list(decisions.kept())
    assert [
        (index, run.action, run.reason)
        for run in decisions.runs
        for index in range(run.start, run.stop)
    ] == [(one.index, one.action, one.reason) for one in decisions]
    left_out = [one for one in decisions if one.action == "dropped" and one.reason != HIDDEN]
    assert decisions.omitted == len(left_out)
    cleared = any(one.action == "cleared" for one in decisions)
    assert decisions.is_changed == bool(left_out or cleared)
    hidden = {index for index, one in enumerate(messages) if one.visibility != "public"}
    assert hidden == {one.index for one in decisions if one.reason == HIDDEN}


HIDDEN = "hidden from context"


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
    log.hidden = list(whole.hidden)
    for index in sorted(index for index in loaded if index < start):
        log.add_apart(index, messages[index], since=0, begin=whole.begin(index))
    log.begin_at(start, whole.begin(start))
    for index in range(start, len(messages)):
        log.append(messages[index], end=whole.begin(index + 1))
    log.task = whole.task
    return log


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
    assert list(decisions.messages()) == list(whole.messages())
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


@given(histories, limits, clearings, st.sampled_from((0.1, 0.4, 0.9)), sizes)
def test_a_stepped_window_is_no_emptier_than_its_step(
    messages: list[cw.Message], limit: int, clearing: Clearing, step: float, most: int | None
) -> None:
    newest = decided(messages, KeepRecent(most), limit, clearing)
    stepped = decided(messages, Stepped(step, most, task=False), limit, clearing)
    assert cost(stepped) >= (1 - step) * cost(newest) - 1e-6


@given(histories, windows, clearings)
def test_what_fits_whole_stays_whole(
    messages: list[cw.Message], window: Window, clearing: Clearing
) -> None:
    whole = decided(messages, KeepAll(), 0, clearing)
    limited = decided(messages, window, int(cost(whole)), clearing)
    count = len([one for one in messages if one.visibility == "public" and one.role != "system"])
    most = max(window.recent, window.immediate) if isinstance(window, Layers) else window.messages
    if most is None or count <= most:
        assert list(limited.kept()) == list(whole.kept())


@given(histories, windows, limits, st.integers(1, 60))
def test_a_larger_limit_never_keeps_fewer_messages(
    messages: list[cw.Message], window: Window, limit: int, more: int
) -> None:
    smaller, larger = (decided(messages, window, each) for each in (limit, limit + more))
    if isinstance(window, Stepped):
        assert cost(larger) >= (1 - window.step) * cost(smaller) - 1e-6
    else:
        assert len(kept_places(larger)) >= len(kept_places(smaller))


short = st.integers(0, 12).map(lambda length: "x" * length)
runs = st.lists(
    st.one_of(
        short.map(lambda text: [cw.user(text)]),
        st.tuples(short, st.integers(0, 400)).map(
            lambda drawn: [
                cw.assistant(cw.ToolCall("search", {"q": drawn[0]}, "a")),
                cw.tool_result("a", "r" * drawn[1]),
            ]
        ),
        short.map(lambda text: [cw.assistant(text)]),
        short.map(lambda text: [cw.user(text, pinned=True)]),
        short.map(lambda text: [cw.system(text)]),
        short.map(lambda text: [cw.user(text, visibility="hidden")]),
    ),
    max_size=30,
).map(lambda groups: [message for group in groups for message in group])


@given(runs, st.sampled_from((0.2, 0.5)), st.integers(60, 900))
def test_the_stepped_cut_never_moves_back(
    messages: list[cw.Message], step: float, limit: int
) -> None:
    """Questions are short and results long, as in the run of an agent; pins come and go."""
    history = History(price=price)
    cut = 0
    for message in messages:
        history.append(message)
        decisions = decide(Stepped(step), history.view(width=limit), limit)
        assert decisions.cut >= cut
        cut = decisions.cut


@given(runs, st.sampled_from((0.2, 0.5)), st.integers(60, 900), st.data())
def test_hiding_a_message_moves_no_line_of_the_ruler(
    messages: list[cw.Message], step: float, limit: int, data: st.DataObject
) -> None:
    if messages:
        hidden = data.draw(st.integers(0, len(messages) - 1))
        other = list(messages)
        other[hidden] = msgspec.structs.replace(other[hidden], visibility="hidden")
        ends = [Log(each).begin(len(messages)) for each in (messages, other)]
        assert ends[0] == ends[1] == sum(map(length_of, messages))


@given(histories, windows, limits, clearings)
def test_deciding_is_pure(
    messages: list[cw.Message], window: Window, limit: int, clearing: Clearing
) -> None:
    history = History(messages, price=price, clearing=clearing)
    decisions = decide(window, history.view(width=limit), limit)
    made = list(decisions)
    assert made == list(decide(window, history.view(width=limit), limit))
    grown = History(price=price, clearing=clearing)
    for message in messages:
        grown.append(message)
        decide(window, grown.view(width=limit), limit)
    assert made == list(decide(window, grown.view(width=limit), limit))


@given(histories, windows, limits)
def test_a_note_never_parts_a_call_from_its_result(
    messages: list[cw.Message], window: Window, limit: int
) -> None:
    decisions = decided(messages, window, limit)
    gap, kept = decisions.gap, set(decisions.kept())
    assert (gap is None) == (decisions.omitted == 0 or not kept)
    if gap is not None:
        assert gap in kept
        assert not any(call < gap <= result for call, result in pairs(messages) if call in kept)


# --- examples --------------------------------------------------------------------------------


def talk(count: int) -> list[cw.Message]:
    """A user and an assistant in turns, ten tokens each, the last word the user's."""
    speakers: list[Callable[[str], cw.Message]] = [cw.user, cw.assistant]
    return [
        speakers[(count - 1 - number) % 2](f"m{number + 1}".ljust(9)) for number in range(count)
    ]


def kept_of(messages: list[cw.Message], window: Window, limit: int = 10**9) -> list[int]:
    return list(decided(messages, window, limit).kept())


@pytest.mark.parametrize(
    ("total", "sent", "told", "told_by_port42"),
    [
        (20, 20, 0, 0),
        (21, 19, 2, 1),
        (29, 19, 10, 9),
        (30, 19, 11, 10),
        (31, 19, 12, 11),
        (100, 19, 81, 80),
    ],
    ids=lambda value: str(value),
)
def test_p42_3_to_6_the_table(total: int, sent: int, told: int, told_by_port42: int) -> None:
    """Where more than 10 are left out, the note is one message more: 31 and 100 send 20."""
    decisions = decided(talk(total), FirstAndRecent())
    kept = list(decisions.kept())
    assert kept == ([0, 1] + list(range(total - 17, total)) if total > 20 else list(range(20)))
    assert len(kept) == sent
    assert decisions.omitted == told
    assert decisions.gap == (total - 17 if total > 20 else None)
    for note, number in (
        (cw.OmissionNote("{omitted}"), told),
        (cw.OmissionNote("{omitted}", count_beyond=20), told_by_port42),
    ):
        message = note.message(decisions.omitted, total)
        assert (message.text if message else "0") == str(number)


@pytest.mark.parametrize(
    ("total", "said", "said_by_port42"),
    [
        (20, None, None),
        (21, None, None),
        (29, None, None),
        (30, 11, None),
        (31, 12, 11),
        (100, 81, 80),
    ],
)
def test_p42_7_and_8_the_note_in_the_request(
    total: int, said: int | None, said_by_port42: int | None
) -> None:
    ours = recipes.find("port42")
    assert ours.note is not None
    counted = msgspec.structs.replace(ours.note, count_beyond=20)
    exact = msgspec.structs.replace(ours, note=counted)
    for recipe, omitted in ((ours, said), (exact, said_by_port42)):
        context = recipe.build(talk(total), model="claude-sonnet-4-5")
        sent = str(context.payload["messages"])
        note = f"[Session context: {omitted} messages omitted...]"
        assert (note in sent) if omitted else ("Session context" not in sent)
        assert not cw.check(context.payload, "anthropic")


@pytest.mark.parametrize(
    ("window", "kept"),
    [
        pytest.param(FirstAndRecent(40), [0, 1, *range(63, 100)], id="P42-5 max 40: 2 + 37"),
        pytest.param(FirstAndRecent(4), [0, 1, 99], id="P42-5b max 4"),
        pytest.param(FirstAndRecent(3), [0, 99], id="P42-5b max 3: the head shrinks first"),
        pytest.param(FirstAndRecent(2), [99], id="P42-5b max 2"),
        pytest.param(FirstAndRecent(1), [99], id="P42-5b max 1"),
        pytest.param(FirstAndRecent(0), [99], id="P42-5b max 0"),
        pytest.param(FirstAndRecent(20, 0), list(range(81, 100)), id="no head"),
        pytest.param(KeepRecent(), list(range(100)), id="everything fits"),
        pytest.param(KeepRecent(3), [97, 98, 99], id="three"),
        pytest.param(KeepRecent(0), [99], id="the newest question stays"),
        pytest.param(KeepAll(), list(range(100)), id="all"),
        pytest.param(Stepped(0.5, 10), list(range(94, 100)), id="ten, in steps"),
    ],
)
def test_windows_of_a_hundred(window: Window, kept: list[int]) -> None:
    assert kept_of(talk(100), window) == kept


@pytest.mark.parametrize(
    ("limit", "kept"),
    [
        (10_000, list(range(20))),
        (200, list(range(20))),
        (199, [0, 1, *range(3, 20)]),
        (60, [0, 1, *range(16, 20)]),
        (30, [0, 1, 19]),
        (29, [0, 19]),
        (19, [19]),
        (0, [19]),
    ],
)
def test_p42_5b_within_tokens_the_head_gives_way_before_the_question(
    limit: int, kept: list[int]
) -> None:
    assert kept_of(talk(20), FirstAndRecent(), limit) == kept


def test_p42_9_a_head_that_ends_inside_an_exchange_leaves_it_out() -> None:
    call = [cw.assistant(cw.ToolCall("t", {}, "a")), cw.tool_result("a", "r")]
    messages = [cw.user("hi"), *call, *talk(30)]
    assert kept_of(messages, FirstAndRecent()) == [0, *range(16, 33)]
    assert kept_of(messages, FirstAndRecent(first=3)) == [0, 1, 2, *range(17, 33)]


def test_p42_9_the_recent_part_does_not_begin_with_a_result() -> None:
    call = [cw.assistant(cw.ToolCall("t", {}, "a")), cw.tool_result("a", "r")]
    messages = [*talk(10), *call, *talk(16)]
    kept = kept_of(messages, FirstAndRecent())
    assert kept == [0, 1, *range(12, 28)]


def test_gry_33_layers_hold_each_message_once_and_in_order() -> None:
    decisions = decided(talk(40), Layers(), 10**9)
    assert list(decisions.kept()) == list(range(10, 40))
    assert [(run.start, run.stop, run.reason) for run in decisions.runs] == [
        (0, 10, "older than the layers reach"),
        (10, 35, "recent layer"),
        (35, 40, "immediate layer"),
    ]


def test_gry_34_over_budget_the_oldest_go() -> None:
    assert kept_of(talk(40), Layers(), 100) == list(range(30, 40))


def test_gry_39_the_current_message_is_there_once() -> None:
    messages = talk(40)
    decisions = decided(messages, Layers(), 55)
    sent = [message for _, message in decisions.messages()]
    assert sent.count(messages[-1]) == 1
    assert sent[-1] == messages[-1]


def test_gry_40_what_is_hidden_never_stays_and_takes_no_place() -> None:
    messages = talk(40)
    for place, visibility in ((39, "hidden"), (38, "internal"), (20, "deleted")):
        gone = cw.Message("user", (cw.Text("no"),), visibility=visibility, pinned=True)  # pyright: ignore
        messages.insert(place, gone)
    decisions = decided([cw.system("be kind"), *messages], Layers(), skip_system=True)
    kept = [message.text.strip() for _, message in decisions.messages()]
    assert kept == [f"m{number}" for number in range(11, 41)]
    assert decisions[0].reason == "system messages of the history are left out"
    assert decisions.omitted == 10


def test_cb_10_a_window_never_starts_with_a_result() -> None:
    turn = [
        cw.user("u" * 9),
        cw.assistant(cw.ToolCall("t", {}, "a")),
        cw.tool_result("a", "r" * 9),
        cw.assistant("a" * 9),
    ]
    messages = [*turn, *turn, cw.user("q" * 9)]
    for limit in range(200):
        kept = kept_of(messages, KeepRecent(), limit)
        assert not messages[kept[0]].results
        assert kept[-1] == 8


@pytest.mark.parametrize(
    ("limit", "kept"), [(60, [0, 4, 5, 6, 7]), (36, [0, 6, 7]), (0, [0, 6, 7])]
)
def test_in_a_tool_loop_question_and_unfinished_exchange_stay(limit: int, kept: list[int]) -> None:
    messages = [cw.user("q" * 9)]
    for number in range(2):
        calls = [cw.ToolCall("t", {}, f"{number}a"), cw.ToolCall("t", {}, f"{number}b")]
        messages += [cw.assistant(calls), cw.tool_result(f"{number}b", "r" * 9)]
        messages += [cw.tool_result(f"{number}a", "r" * 9)]
    messages.pop()  # the last result is still missing
    messages.insert(4, cw.assistant("a" * 9))
    messages.insert(4, cw.user("q" * 9, visibility="hidden"))
    assert kept_of(messages, KeepRecent(), limit) == [place for place in kept if place != 4]


def test_words_beside_results_do_not_push_out_the_question() -> None:
    """Some harnesses put a reminder into every message with results."""
    messages = [cw.user("q" * 9)]
    for number in range(5):
        messages.append(cw.assistant(cw.ToolCall("t", {}, f"{number}")))
        reminded = [cw.ToolResult(f"{number}", "r" * 9), cw.Text("go on")]
        messages.append(cw.Message("user", tuple(reminded)))
    assert kept_of(messages, KeepRecent(), 0) == [0, 9, 10]
    messages.append(cw.assistant("done"))
    assert kept_of(messages, KeepRecent(), 0) == [0, 9, 10, 11]


def test_a_doubled_result_at_the_end_does_not_end_the_exchange() -> None:
    answer = cw.tool_result("a", "r" * 9)
    messages = [cw.user("q"), cw.assistant(cw.ToolCall("t", {}, "a")), answer, answer]
    assert kept_of([cw.user("old"), *messages], KeepRecent(), 0) == [1, 2, 3, 4]


def test_a_result_far_behind_its_call_keeps_it_while_it_is_the_newest() -> None:
    messages = [cw.assistant(cw.ToolCall("t", {}, "a")), *talk(20), cw.tool_result("a", "late")]
    assert kept_of(messages, KeepRecent(), 28) == [0, 20, 21]
    assert kept_of([*messages, cw.user("thanks")], KeepRecent(), 30) == [19, 20, 22]


def test_pins_and_system_messages_stay_where_they_are() -> None:
    messages = talk(20)
    messages[3] = cw.user("pinned".ljust(9), pinned=True)
    messages.insert(10, cw.system("rule".ljust(9)))
    messages[6:6] = [
        cw.assistant(cw.ToolCall("t", {}, "a")),
        cw.tool_result("a", "r" * 9, pinned=True),
    ]
    decisions = decided(messages, KeepRecent(2), 10**9)
    assert [(one.index, one.reason) for one in decisions if one.action == "kept"] == [
        (3, "pinned"),
        (6, "belongs to an exchange that stays"),
        (7, "pinned"),
        (12, "system"),
        (21, "recent"),
        (22, "recent"),
    ]
    # What stays anyway is paid for before anything else.
    assert kept_of(messages, KeepRecent(), 54) == [3, 6, 7, 12, 21, 22]
    assert kept_of(messages, KeepRecent(), 53) == [3, 6, 7, 12, 22]


def test_keep_recent_fills_the_limit_to_the_token() -> None:
    for limit in range(10, 210):
        assert len(kept_of(talk(20), KeepRecent(), limit)) == min(limit // 10, 20)


def cuts_of(messages: list[cw.Message], window: Window, limit: int) -> list[int]:
    """Where the window begins after each message."""
    history = History(price=price)
    cuts: list[int] = []
    for message in messages:
        history.append(message)
        cuts.append(decide(window, history.view(width=limit), limit).cut)
    return cuts


def test_the_stepped_cut_stays_put_for_a_whole_step() -> None:
    """A message is 25 long on the ruler, and 80 of 200 tokens 200: eight messages a step."""
    messages = talk(60)
    assert {length_of(message) for message in messages} == {25}
    history = History(messages, price=price)
    cuts: list[int] = []
    for count in range(1, 61):
        view = History(messages[:count], price=price).view(width=500)
        cuts.append(decide(Stepped(0.4), view, 200).cut)
    assert len(history) == 60
    assert cuts == [0] * 20 + [8] * 8 + [16] * 8 + [24] * 8 + [32] * 8 + [40] * 8


def test_a_limit_in_messages_moves_in_steps_too() -> None:
    cuts = cuts_of(talk(30), Stepped(0.5, 10), 10**6)
    assert cuts[:10] == [0] * 10
    assert len(set(cuts)) <= 8
    assert all(count - 10 <= cut <= count - 5 for count, cut in enumerate(cuts[10:], 11))


def test_an_exchange_wider_than_a_step_is_kept_where_it_fits() -> None:
    """A large result across a line of the ruler does not take everything before it along."""
    messages = [cw.user("do it")]
    for number in range(9):
        messages += [
            cw.assistant(cw.ToolCall("read", {}, str(number))),
            cw.tool_result(str(number), "r" * (500 if number % 3 == 0 else 20)),
        ]
        for limit in (600, 700, 1_100):
            kept = decided(messages, Stepped(), limit)
            assert cost(kept) >= 0.4 * cost(decided(messages, KeepRecent(), limit))


def test_the_task_of_an_agent_stays() -> None:
    messages = [cw.system("be brief"), cw.user("build the house")]
    for number in range(40):
        messages += [
            cw.assistant(cw.ToolCall("lay", {}, str(number))),
            cw.tool_result(str(number), "brick " * 5),
        ]
    messages += [cw.assistant("the wall stands"), cw.user("go on"), cw.assistant("yes")]
    decisions = decided(messages, Stepped(), 400)
    assert (decisions[1].action, decisions[1].reason) == ("kept", "task")
    assert decisions.omitted > 40
    assert decided(messages, Stepped(task=False), 400)[1].action == "dropped"
    # A chat without tools has no task, and one that fills the window is no task to keep.
    assert decided(talk(60), Stepped(), 200)[0].action == "dropped"
    messages[1] = cw.user("build the house " * 20)
    assert decided(messages, Stepped(), 400)[1].action == "dropped"


def test_what_an_answered_question_frees_does_not_bring_older_messages_back() -> None:
    """The old question outside the window took room; once it is answered, the cut stays."""
    loop = [cw.user("Q" * 50)]
    for number in range(20):
        loop += [
            cw.assistant(cw.ToolCall("t", {}, f"{number}")),
            cw.tool_result(f"{number}", "r" * 15),
        ]
    before = decided(loop, Stepped(0.3, task=False), 250)
    assert before[0].action == "kept"
    after = decided([*loop, cw.user("next")], Stepped(0.3, task=False), 250)
    assert after.cut == before.cut
    assert after[0].action == "dropped"
    assert decided([*loop, cw.user("next")], KeepRecent(), 250).cut < before.cut


def test_a_cap_on_media_clears_the_oldest_first() -> None:
    pictures = [cw.user([cw.Text(str(number)), PICTURE]) for number in range(12)]
    decisions = decided(pictures, KeepAll(), 10**6, Clearing(most_media=4))
    cleared = [one.index for one in decisions if one.action == "cleared"]
    assert cleared in (list(range(8)), list(range(9)))


@pytest.mark.parametrize("step", [0, 1])
def test_clearing_keeps_the_newest_results_and_moves_in_steps(step: int) -> None:
    history = History(price=price, clearing=Clearing(results=4, step=step))
    lines: list[int] = []
    for number in range(40):
        history.append(cw.assistant(cw.ToolCall("t", {}, str(number))))
        history.append(cw.tool_result(str(number), "r" * 90))
        view = history.view()
        kept = [index for index in range(1, len(history), 2) if not view.is_cleared(index)]
        assert kept == list(range(1, len(history), 2))[-len(kept) :]
        assert min(4, number + 1) <= len(kept) <= 4 * (1 + step)
        lines.append(view.cleared_until)
    assert lines == sorted(lines)
    assert len(set(lines)) <= (40 if step == 0 else 16)


class Watched(Log):
    """A log that counts how often one of its messages is looked at."""

    looked = 0

    def __getitem__(self, index: int) -> cw.Message:
        self.looked += 1
        return super().__getitem__(index)


@pytest.mark.parametrize(
    "window", [KeepRecent(), Stepped(), FirstAndRecent(200), Layers(5, 200), KeepRecent(100)]
)
def test_old_messages_are_not_looked_at(window: Window) -> None:
    looked: list[int] = []
    for turns in (100, 4_000):
        messages: list[cw.Message] = []
        for number in range(turns):
            hidden = cw.user("no", visibility="hidden")
            id = str(number)
            call, result = cw.assistant(cw.ToolCall("t", {}, id)), cw.tool_result(id, "r" * 90)
            messages += [cw.user("u" * 30), call, hidden, result, cw.assistant("a" * 30)]
        log = Watched(messages)
        decisions = decided(log, window, 1_000, Clearing(results=8))
        assert len(list(decisions.kept())) < 110
        assert decisions.gap is not None
        assert decisions.is_changed
        looked.append(log.looked)
    assert looked[1] <= looked[0] * 1.2
