"""Whether a window drops anything is known before it is decided what becomes of each message."""

from hypothesis import given

import contextwright as cw
from contextwright.windows import KeepRecent, Window
from contextwright.windows.decide import decide, drops_any
from contextwright.windows.history import History
from strategies.windows import histories, limits, price, windows


@given(histories, windows, limits)
def test_what_drops_any_is_what_decides(
    messages: list[cw.Message], window: Window, limit: int
) -> None:
    view = History(messages, price=price).view()
    assert drops_any(window, view, limit) == (decide(window, view, limit).omitted > 0)


def test_what_must_stay_is_not_dropped_although_the_window_is_narrow() -> None:
    messages = [cw.user("Remember this.", pinned=True), cw.assistant("Yes."), cw.user("And now?")]
    view = History(messages, price=price).view()
    assert drops_any(KeepRecent(messages=1), view, 900)
    assert not drops_any(KeepRecent(messages=2), view, 900)


@given(histories, windows, limits)
def test_everything_since_an_index_stays_and_no_more(
    messages: list[cw.Message], window: Window, limit: int
) -> None:
    view = History(messages, price=price).view()
    narrow = {*decide(window, view, limit).kept()}
    for since in range(len(messages)):
        since = view.log.exchanges.first(since)
        wide = decide(window, view, limit, since=since)
        kept = {*wide.kept()}
        whole = {index for index in range(since, len(messages)) if view.is_countable(index)}
        torn = {index for index in whole if view.log.exchanges.first(index) < since}
        assert narrow | whole - torn <= kept | torn
        assert min(kept - narrow, default=since) >= since
        assert wide.cut <= since


def test_why_each_message_stays() -> None:
    talk = [
        cw.system("Be kind."),
        cw.user("Where?"),
        cw.assistant(cw.ToolCall("look", {}, "a"), pinned=True),
        cw.tool_result("a", "Here."),
        cw.assistant("Here."),
        cw.user("And there?"),
        cw.assistant(cw.ToolCall("look", {}, "b")),
        cw.tool_result("b", "There."),
    ]
    decisions = decide(KeepRecent(messages=1), History(talk, price=price).view(), 900)
    assert [(one.action, one.reason) for one in decisions] == [
        ("kept", "system"),
        ("dropped", "older than the newest that fit"),
        ("kept", "pinned"),
        ("kept", "belongs to an exchange that stays"),
        ("dropped", "older than the newest that fit"),
        ("kept", "newest question"),
        ("kept", "belongs to an exchange that stays"),
        ("kept", "recent"),
    ]
