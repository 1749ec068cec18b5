"""What every window keeps to, on histories priced by their letters; and the seeds' own tables."""

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright import recipes
from contextwright.exchanges import match_results
from contextwright.history import Fading, History, Unread
from contextwright.prices import FREE, Priced
from contextwright.windows import (
    Decisions,
    FirstAndRecent,
    KeepAll,
    KeepRecent,
    Layers,
    Stepped,
    Window,
)

PICTURE = cw.Media("image", "image/png", "aGk=")


def price(message: cw.Message) -> int:
    """A letter a token, a picture forty, and one for the message."""
    return 1 + sum(map(part_price, message.parts))


def part_price(part: cw.Part) -> int:
    match part:
        case cw.Text():
            return len(part.text)
        case cw.ToolResult(content=tuple()):
            return sum(part_price(piece) for piece in part.content)
        case cw.ToolResult():
            return len(part.text)
        case cw.Media():
            return 40
        case _:
            return 3


# --- any history, any window, any limit ------------------------------------------------------

ids = st.sampled_from(("a", "b", "c", None))
words = st.integers(0, 60).map(lambda length: "x" * length)
tool_names = st.sampled_from(("search", "look"))
contents = st.one_of(words, st.just((cw.Text("see"), PICTURE)), words.map(lambda text: {"t": text}))
part = st.one_of(
    st.builds(cw.Text, words),
    st.builds(cw.ToolCall, tool_names, st.just({}), ids),
    st.builds(cw.ToolResult, ids, contents, st.none() | tool_names),
    st.just(PICTURE),
)
loose = st.builds(
    cw.Message,
    st.sampled_from(("system", "user", "user", "assistant", "assistant", "tool")),
    st.lists(part, min_size=1, max_size=3).map(tuple),
    pinned=st.sampled_from((False, False, False, False, True)),
    visibility=st.sampled_from(("public", "public", "public", "public", "hidden", "deleted")),
)


@st.composite
def exchanges(draw: st.DrawFn) -> list[cw.Message]:
    """A question, parallel calls, their results somewhere behind, words in between."""
    asked = draw(st.lists(ids, min_size=1, max_size=3, unique=True))
    results = [cw.Message("tool", (cw.ToolResult(id, draw(contents)),)) for id in asked]
    results = results[: draw(st.integers(0, 3))]
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(results)))
        results.insert(place, draw(st.sampled_from((cw.user("and?"), cw.assistant("wait")))))
    return [
        cw.user(draw(words)),
        cw.assistant([cw.ToolCall(draw(tool_names), {}, id) for id in asked]),
        *results,
    ]


histories = st.lists(st.one_of(loose.map(lambda one: [one]), exchanges()), max_size=8).map(
    lambda groups: [message for group in groups for message in group]
)
sizes = st.none() | st.integers(0, 9)
windows: st.SearchStrategy[KeepRecent | Stepped | FirstAndRecent | Layers] = st.one_of(
    st.builds(KeepRecent, sizes),
    st.builds(Stepped, st.sampled_from((0.1, 0.4, 1.0)), sizes, st.none() | st.integers(1, 99)),
    st.builds(FirstAndRecent, st.integers(0, 9), st.integers(0, 4), st.booleans()),
    st.builds(Layers, st.integers(0, 4), st.integers(0, 9)),
)
limits = st.one_of(st.integers(0, 40), st.integers(0, 600))
fadings = st.one_of(
    st.just(Fading()),
    st.builds(
        Fading,
        results=st.none() | st.integers(0, 3),
        media=st.none() | st.integers(0, 3),
        most_media=st.none() | st.integers(0, 3),
        step=st.integers(1, 3),
        spare=st.sampled_from(((), ("look",))),
    ),
)


def kept_places(decisions: Decisions) -> list[int]:
    return [one.place for one in decisions if one.action in ("kept", "cleared")]


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


@given(histories, windows, limits, fadings)
def test_one_decision_for_each_place(
    messages: list[cw.Message], window: Window, limit: int, fading: Fading
) -> None:
    decisions = window.decide(History(messages, price=price, fading=fading), limit)
    assert [one.place for one in decisions] == list(range(len(messages)))
    assert kept_places(decisions) == list(decisions.kept())
    assert [
        (place, run.action, run.reason)
        for run in decisions.runs
        for place in range(run.start, run.stop)
    ] == [(one.place, one.action, one.reason) for one in decisions]
    left_out = [one for one in decisions if one.action == "dropped" and one.reason != HIDDEN]
    assert decisions.omitted == len(left_out)
    assert decisions.changed == bool(left_out or any(one.action == "cleared" for one in decisions))
    hidden = {place for place, one in enumerate(messages) if one.visibility != "public"}
    assert hidden == {one.place for one in decisions if one.reason == HIDDEN}


HIDDEN = "hidden from context"


@given(histories, windows, limits, fadings)
def test_calls_and_results_live_or_die_together(
    messages: list[cw.Message], window: Window, limit: int, fading: Fading
) -> None:
    kept = set(window.decide(History(messages, price=price, fading=fading), limit).kept())
    for call, result in pairs(messages):
        assert (call in kept) == (result in kept)


@given(histories, windows, limits, fadings)
def test_what_must_stay_stays(
    messages: list[cw.Message], window: Window, limit: int, fading: Fading
) -> None:
    kept = set(window.decide(History(messages, price=price, fading=fading), limit).kept())
    assert must_stay(messages) <= kept


@given(histories, windows, limits, fadings)
def test_the_limit_holds_unless_only_what_must_stay_is_kept(
    messages: list[cw.Message], window: Window, limit: int, fading: Fading
) -> None:
    decisions = window.decide(History(messages, price=price, fading=fading), limit)
    kept = kept_places(decisions)
    cost = sum(decisions[place].tokens or 0 for place in kept)
    assert cost == sum(price(message) for _, message in decisions.messages())
    assert cost <= limit or set(kept) <= must_stay(messages)


def partly_read(
    messages: list[cw.Message], fading: Fading, head: int, tail: int, from_store: bool
) -> History:
    """A history of which only the two ends were read, and all that must be."""
    answered = {result for _, result in pairs(messages)}
    ends = [
        place
        for place, one in enumerate(messages)
        if one.role != "system"
        and one.visibility == "public"
        and (place in answered or len(one.results) < len(one.parts))
    ]
    cut = max((end for end in ends if end < len(messages) - tail), default=0)
    read = {*range(min(head, len(messages))), *range(cut, len(messages))}
    read |= {place for place, one in enumerate(messages) if one.role == "system" or one.pinned}
    read |= questions_of(messages[:cut])
    size = -1
    while size != len(read):
        size = len(read)
        for pair in pairs(messages):
            if read & set(pair):
                read.update(pair)
    history = History(price=price, fading=fading)
    place = 0
    while place < len(messages):
        if place in read:
            priced = Priced.of(messages[place], price) if from_store else None
            history.append(messages[place], priced)
            place += 1
            continue
        stop = min((other for other in read if other > place), default=len(messages))
        skipped = messages[place:stop]
        hidden = [one for one in range(place, stop) if messages[one].visibility != "public"]
        together = sum((Priced.of(one, price) for one in skipped), FREE)
        history.skip(Unread(len(skipped), tuple(hidden), together))
        place = stop
    return history


@given(histories, windows, limits, fadings, st.integers(0, 3), st.integers(0, 30), st.booleans())
def test_what_was_not_read_changes_no_decision(
    messages: list[cw.Message],
    window: Window,
    limit: int,
    fading: Fading,
    head: int,
    tail: int,
    from_store: bool,
) -> None:
    """Either the window asks for what was not read, or it decides as if it had read it all."""
    whole = window.decide(History(messages, price=price, fading=fading), limit)
    assert not whole.wanted
    partly = partly_read(messages, fading, head, tail, from_store)
    decisions = window.decide(partly, limit)
    assert len(decisions) == len(messages)
    public = [one for one in messages if one.visibility == "public"]
    if decisions.wanted or match_results(public).orphans:
        return  # a result that answers nothing may find another call where not all are read
    assert list(decisions.kept()) == list(whole.kept())
    assert list(decisions.messages()) == list(whole.messages())
    assert decisions.omitted == whole.omitted
    assert decisions.told == whole.told
    for mine, theirs in zip(decisions, whole, strict=True):
        assert mine.action == theirs.action
        assert (mine.reason == HIDDEN) == (theirs.reason == HIDDEN)
        assert mine.tokens is None or mine.tokens == theirs.tokens
    assert [
        (place, run.action, run.reason)
        for run in decisions.runs
        for place in range(run.start, run.stop)
    ] == [(one.place, one.action, one.reason) for one in decisions]
    for run in whole.runs:
        assert whole.tokens(run) == sum(one.tokens or 0 for one in whole[run.start : run.stop])


@given(histories, windows, limits)
def test_limits_in_messages_hold(
    messages: list[cw.Message],
    window: KeepRecent | Stepped | FirstAndRecent | Layers,
    limit: int,
) -> None:
    kept = set(window.decide(History(messages, price=price), limit).kept()) - must_stay(messages)
    most = max(window.recent, window.immediate) if isinstance(window, Layers) else window.messages
    assert most is None or len(kept) <= most


@given(histories, limits)
def test_the_newest_that_fit_leave_no_room_for_one_more(
    messages: list[cw.Message], limit: int
) -> None:
    decisions = KeepRecent().decide(History(messages, price=price), limit)
    if decisions.start:
        more = {*range(decisions.start - 1, len(messages)), *must_stay(messages)}
        public = [messages[place] for place in more if messages[place].visibility == "public"]
        assert sum(map(price, public)) > limit


@given(histories, st.sampled_from((0.1, 0.4, 1.0)), sizes, limits, fadings)
def test_the_stepped_cut_never_moves_back_and_stays_on_its_grid(
    messages: list[cw.Message], step: float, most: int | None, limit: int, fading: Fading
) -> None:
    window = Stepped(step, most)
    grid = max(1, int(limit * step))
    history = History(price=price, fading=fading)
    cut = 0
    for message in messages:
        history.append(message)
        start = window.decide(history, limit).start
        assert start >= cut
        cut = start
        lines = [history.place_settled(line * grid) for line in range(history.settled(start) + 2)]
        on_grid = history.settled(start) in map(history.settled, lines)
        assert on_grid or [start] == history.counted[-1:] or most is not None


@given(histories, windows, limits, fadings)
def test_deciding_is_pure(
    messages: list[cw.Message], window: Window, limit: int, fading: Fading
) -> None:
    history = History(messages, price=price, fading=fading)
    decisions = window.decide(history, limit)
    made = list(decisions)
    assert made == list(window.decide(history, limit))
    grown = History(price=price, fading=fading)
    for message in messages:
        grown.append(message)
        window.decide(grown, limit)
    assert made == list(window.decide(grown, limit))
    history.extend([cw.user("more"), cw.assistant([PICTURE]), cw.tool_result("a", "late")])
    assert made == list(decisions)


@given(histories, limits)
def test_a_note_never_parts_a_call_from_its_result(messages: list[cw.Message], limit: int) -> None:
    decisions = KeepRecent().decide(History(messages, price=price), limit)
    gap = decisions.gap
    if gap is not None:
        assert gap in set(decisions.kept())
        assert not any(call < decisions.start <= result == gap for call, result in pairs(messages))


# --- examples --------------------------------------------------------------------------------


def talk(count: int) -> list[cw.Message]:
    """A user and an assistant in turns, ten tokens each, the last word the user's."""
    speakers: list[Callable[[str], cw.Message]] = [cw.user, cw.assistant]
    return [
        speakers[(count - 1 - number) % 2](f"m{number + 1}".ljust(9)) for number in range(count)
    ]


def kept_of(messages: list[cw.Message], window: Window, limit: int = 10**9) -> list[int]:
    return list(window.decide(History(messages, price=price), limit).kept())


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
    """Where more than 10 are told, the note is one message more: 31 and 100 send 20."""
    for window, expected in (
        (FirstAndRecent(), told),
        (FirstAndRecent(exact=True), told_by_port42),
    ):
        decisions = window.decide(History(talk(total), price=price), 10**9)
        kept = list(decisions.kept())
        assert kept == ([0, 1] + list(range(total - 17, total)) if total > 20 else list(range(20)))
        assert len(kept) == sent
        assert decisions.omitted == told
        assert decisions.told == expected
        assert decisions.gap == (total - 17 if total > 20 else None)


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
    exact = msgspec.structs.replace(ours, window=FirstAndRecent(exact=True))
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
        pytest.param(Stepped(0.5, 10), list(range(90, 100)), id="ten"),
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
    decisions = Layers().decide(History(talk(40), price=price), 10**9)
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
    decisions = Layers().decide(History(messages, price=price), 55)
    sent = [message for _, message in decisions.messages()]
    assert sent.count(messages[-1]) == 1
    assert sent[-1] == messages[-1]


def test_gry_40_what_is_hidden_never_stays_and_takes_no_place() -> None:
    messages = talk(40)
    for place, visibility in ((39, "hidden"), (38, "internal"), (20, "deleted")):
        gone = cw.Message("user", (cw.Text("no"),), visibility=visibility, pinned=True)  # pyright: ignore
        messages.insert(place, gone)
    history = History([cw.system("be kind"), *messages], price=price, skip_system=True)
    decisions = Layers().decide(history, 10**9)
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
    assert kept_of([*messages, cw.user("thanks")], KeepRecent(), 30) == [20, 22]


def test_pins_and_system_messages_stay_where_they_are() -> None:
    messages = talk(20)
    messages[3] = cw.user("pinned".ljust(9), pinned=True)
    messages.insert(10, cw.system("rule".ljust(9)))
    messages[6:6] = [
        cw.assistant(cw.ToolCall("t", {}, "a")),
        cw.tool_result("a", "r" * 9, pinned=True),
    ]
    decisions = KeepRecent(2).decide(History(messages, price=price), 10**9)
    assert [(one.place, one.reason) for one in decisions if one.action == "kept"] == [
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


def test_the_stepped_cut_stays_put_for_a_whole_step() -> None:
    history = History(price=price)
    cuts: list[int] = []
    for message in talk(60):
        history.append(message)
        cuts.append(Stepped(0.4).decide(history, 200).start)
    assert cuts == [0] * 20 + [8] * 8 + [16] * 8 + [24] * 8 + [32] * 8 + [40] * 8


def test_a_grid_of_messages_moves_in_steps_too() -> None:
    history = History(price=price)
    cuts: list[int] = []
    for message in talk(30):
        history.append(message)
        cuts.append(Stepped(0.5, 10).decide(history, 10**9).start)
    assert cuts == [0] * 10 + [5] * 5 + [10] * 5 + [15] * 5 + [20] * 5


def test_what_an_answered_question_frees_does_not_bring_older_messages_back() -> None:
    """The old question outside the window took room; once it is answered, the cut stays."""
    loop = [cw.user("Q" * 99)]
    for number in range(20):
        loop += [
            cw.assistant(cw.ToolCall("t", {}, f"{number}")),
            cw.tool_result(f"{number}", "r" * 15),
        ]
    history = History(loop, price=price)
    before = Stepped(0.1).decide(history, 250)
    assert before[0].action == "kept"
    history.append(cw.user("next"))
    after = Stepped(0.1).decide(history, 250)
    assert after.start == before.start
    assert after[0].action == "dropped"
    assert KeepRecent().decide(history, 250).start < before.start


class Watched(list[cw.Message]):
    """Messages that count how often one of them is looked at."""

    looked = 0

    def __getitem__(self, index: int) -> cw.Message:  # pyright: ignore
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
        history = History(messages, price=price, fading=Fading(results=8))
        history.messages = watched = Watched(messages)
        decisions = window.decide(history, 1_000)
        assert len(list(decisions.kept())) < 110
        assert decisions.gap is not None
        assert decisions.changed
        looked.append(watched.looked)
    assert looked[0] == looked[1]
