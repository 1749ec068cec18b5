"""A history: messages found by their index, each priced once, and what clearing leaves of them."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import contextwright as cw
from contextwright.windows import decide
from contextwright.windows.clearing import Clearing, without_media, without_results
from contextwright.windows.history import History
from contextwright.windows.log import Log, media_in
from contextwright.windows.policies import Stepped
from strategies.windows import PICTURE, clearings, histories, price


@given(histories, clearings)
def test_clearing_leaves_everything_but_results_and_media(
    messages: list[cw.Message], clearing: Clearing
) -> None:
    view = History(messages, price=price, clearing=clearing).view()
    for index, message in enumerate(messages):
        shown = view.message(index)
        assert (shown.role, shown.pinned, shown.calls) == (
            message.role,
            message.pinned,
            message.calls,
        )
        assert [type(part) for part in shown.parts if not isinstance(part, cw.Text)] == [
            type(part)
            for part in message.parts
            if not isinstance(part, cw.Text | cw.Media)
            or (isinstance(part, cw.Media) and part in shown.parts)
        ]
        is_pinned = message.pinned and message.visibility == "public"
        if is_pinned or index in (view.question, view.asked):
            assert shown is message


@given(histories, clearings)
def test_no_more_media_are_left_than_the_cap(
    messages: list[cw.Message], clearing: Clearing
) -> None:
    """Pinned messages keep theirs, and others get what they leave, or at least one."""
    view = History(messages, price=price, clearing=clearing).view()
    left = {
        index: media_in(view.message(index))
        for index, message in enumerate(messages)
        if message.visibility == "public" and index not in {view.question, view.asked}
    }
    pinned = sum(media_in(messages[index]) for index in left if index in view.always)
    if clearing.most_media is not None:
        # One message may hold more than the cap by itself: the draft of a request clears those.
        most = max(clearing.most_media, pinned + 1)
        assert sum(left.values()) <= most or max(left.values()) > most - pinned


@given(histories, clearings)
def test_clearing_only_ever_moves_on(messages: list[cw.Message], clearing: Clearing) -> None:
    history = History(price=price, clearing=clearing)
    line, always = 0, set[int]()
    for index, message in enumerate(messages):
        history.append(message)
        view = history.view()
        # A pinned result that comes late pins its exchange, which is not cleared any more.
        if view.always - always <= {index}:
            assert view.lines.end >= line
        line, always = view.lines.end, view.always


def test_by_default_results_are_cleared_up_to_every_128th_message() -> None:
    history = History(price=price, clearing=Clearing(results=4))
    lines = {0: 0}
    for number in range(220):
        history.append(cw.assistant(cw.ToolCall("t", {}, str(number))))
        history.append(cw.tool_result(str(number), "r" * 90))
        lines.setdefault(history.view().lines.end, number)
    assert lines == {0: 0, 128: 67, 256: 131, 384: 195}


@given(histories, clearings)
def test_the_line_before_is_where_results_were_cleared_before_the_last_step(
    messages: list[cw.Message], clearing: Clearing
) -> None:
    history = History(price=price, clearing=clearing)
    lines = [0]
    for message in messages:
        history.append(message)
        found = history.view().lines
        lines.append(found.results)
        assert found.results_before == max([one for one in lines if one < lines[-1]], default=0)


@given(histories)
def test_a_log_that_grows_is_the_log_of_all(messages: list[cw.Message]) -> None:
    grown = Log()
    for message in messages:
        grown.extend((message,))
    whole = Log(messages)
    for name in ("system", "pinned", "hidden", "questions", "plain", "results", "pictured"):
        assert getattr(grown, name) == getattr(whole, name)
    assert grown.task == whole.task


def test_calls_are_matched_only_as_far_as_a_window_looks() -> None:
    run = [cw.user("go")]
    for number in range(200):
        run += [cw.assistant(cw.ToolCall("t", {}, f"{number}")), cw.tool_result(f"{number}", "r")]
    history = History(run, price=price)
    decisions = decide(Stepped(task=False), history.view(), 100)
    assert 0 < history.log.exchanges.since <= decisions.cut


def test_each_message_is_priced_once_and_only_when_asked() -> None:
    asked: list[cw.Message] = []

    def counting(message: cw.Message) -> int:
        asked.append(message)
        return price(message)

    messages = [cw.user(f"number {number}") for number in range(9)]
    history = History(messages, price=counting)
    assert asked == []
    for _ in range(2):
        view = history.view()
        assert [view.cost(index) for index in (7, 8)] == [9, 9]
    assert asked == messages[7:]


def test_what_becomes_of_results_and_media() -> None:
    result = cw.ToolResult("a", "line\n" * 100, name="read")
    message = cw.Message("tool", (result, cw.ToolResult("b", "ok")))
    cleared = without_results(message)
    assert [part.text for part in cleared.results] == ["[result cleared: 500 characters]", "ok"]
    assert without_results(message, spare=("read",)) is message
    shown = cw.Message("tool", (cw.ToolResult("a", (cw.Text("see"), PICTURE)),))
    assert without_results(shown).results[0].content == "[result cleared: 3 characters]"
    assert without_media(shown).results[0].content == (
        cw.Text("see"),
        cw.Text("[media: image/png]"),
    )
    pictures = cw.user([PICTURE, cw.Text("or"), PICTURE])
    assert [type(part).__name__ for part in without_media(pictures, 1).parts] == [
        "Text",
        "Text",
        "Media",
    ]


def test_media_stay_where_only_results_are_cleared() -> None:
    messages = [cw.user([PICTURE]), cw.assistant("A cat."), cw.user("And now?")]
    view = History(messages, price=price, clearing=Clearing(results=1)).view()
    assert [view.message(index) for index in range(3)] == messages


def test_a_pinned_message_costs_no_more_media_than_the_cap() -> None:
    messages = [cw.user([PICTURE, PICTURE], pinned=True), cw.assistant("Two."), cw.user("So?")]
    view = History(messages, price=price, clearing=Clearing(most_media=1)).view()
    sent = [without_media(messages[0], 1), *messages[1:]]
    assert [view.price(index) for index in range(3)] == [price(message) for message in sent]
    assert price(sent[0]) != price(messages[0])


def test_a_list_says_which_messages_were_edited() -> None:
    edited = replace(cw.user("Two"), meta={"edited": "2026-11-16T10:00:00Z"})
    context = cw.build([cw.user("One"), edited, cw.user("Three")], cw.Recipe(), model="gpt-4o")
    assert [run.reason for run in context.decisions.runs] == ["recent", "recent, edited", "recent"]


@given(histories, st.integers(0, 9))
def test_the_newest_are_counted_without_silent_ones(messages: list[cw.Message], most: int) -> None:
    view = History(messages, price=price).view()
    spoken = [index for index in range(len(messages)) if view.is_countable(index)]
    start = view.newest(most)
    assert [index for index in spoken if index >= start] == spoken[max(len(spoken) - most, 0) :]
    assert view.countable(start, len(messages)) == min(most, len(spoken)) == min(most, view.spoken)
