"""Calls of a stream come home: under the name and kind of the client's own tool."""

import pytest

import contextwright as cw
from contextwright.formats.replies.events import (
    ArgumentsDelta,
    CallStart,
    Event,
    PartEnd,
    TextDelta,
)
from contextwright.formats.replies.home import HomeCalls

API = "openai-responses"
FREE = {API: {"type": "custom"}}
SPACE = {API: {"namespace": {"name": "maps"}}}
REQUEST = cw.Conversation(
    (),
    (cw.Tool("get weather"), cw.Tool("patch", extra=FREE), cw.Tool("maps__find", extra=SPACE)),
    source=API,
)
CALLED = {API: {"type": "custom_tool_call"}}
FOUND = {API: {"namespace": "maps", "name": "find"}}


def sent(*events: Event) -> list[Event]:
    home = HomeCalls(REQUEST, {"get_weather": "get weather"})
    return [one for event in events for one in home.pass_on(event)]


def test_a_name_is_the_client_s_own() -> None:
    given, own = (cw.ToolCall(name, {"at": 1}, "c1") for name in ("get_weather", "get weather"))
    delta, text = ArgumentsDelta(0, '{"at":1}'), TextDelta(1, "Hi")
    assert sent(CallStart(0, "get_weather", "c1"), delta, PartEnd(0, given), text) == [
        CallStart(0, "get weather", "c1"),
        delta,
        PartEnd(0, own),
        text,
    ]


def test_a_tool_that_takes_text_gets_text() -> None:
    """Its arguments wait for the end of the call, because they came as JSON."""
    call = cw.ToolCall("patch", {"input": "*** x"}, "c1")
    pieces = (ArgumentsDelta(0, '{"input": '), ArgumentsDelta(0, '"*** x"}'))
    own = cw.ToolCall("patch", {"input": "*** x"}, "c1", extra=CALLED)
    assert sent(CallStart(0, "patch", "c1"), *pieces, PartEnd(0, call), ArgumentsDelta(0, "x")) == [
        CallStart(0, "patch", "c1", custom=True, extra=CALLED),
        ArgumentsDelta(0, "*** x"),
        PartEnd(0, own),
        ArgumentsDelta(0, "x"),
    ]
    free = ArgumentsDelta(0, "*** x")
    assert sent(CallStart(0, "patch", "c1", custom=True), free, PartEnd(0, call)) == [
        CallStart(0, "patch", "c1", custom=True, extra=CALLED),
        free,
        PartEnd(0, own),
    ]


def test_a_tool_that_anthropic_calls_custom_gets_its_arguments() -> None:
    """As every tool of a client may be called there; none of them takes free text."""
    tools = tuple(cw.Tool(name, extra={"anthropic": {"type": "custom"}}) for name in ("at", "say"))
    home = HomeCalls(cw.Conversation((), tools, source="anthropic"), {})
    calls = (cw.ToolCall("at", {"city": "Riga"}, "c1"), cw.ToolCall("say", {"input": "Hi"}, "c2"))
    for index, call in enumerate(calls):
        events = [
            CallStart(index, call.name, call.id),
            ArgumentsDelta(index, call.json),
            PartEnd(index, call),
        ]
        assert [one for event in events for one in home.pass_on(event)] == events


def test_a_tool_of_a_namespace_is_in_it() -> None:
    call = cw.ToolCall("maps__find", {}, "c1")
    assert sent(CallStart(0, "maps__find", "c1"), PartEnd(0, call)) == [
        CallStart(0, "maps__find", "c1", extra=FOUND),
        PartEnd(0, cw.ToolCall("maps__find", {}, "c1", extra=FOUND)),
    ]


@pytest.mark.parametrize(
    ("id", "stays"),
    [("c-1_A", True), ("c" * 40, True), ("c" * 41, False), ("c 1", False), ("", False)],
)
def test_an_id_that_some_api_refuses_is_new_and_stays_so(id: str, stays: bool) -> None:
    start, end = sent(CallStart(0, "f", id), PartEnd(0, cw.ToolCall("f", {}, id)))
    assert isinstance(start, CallStart)
    assert isinstance(end, PartEnd)
    assert isinstance(end.part, cw.ToolCall)
    assert (start.id == id) is stays
    assert start.id
    assert end.part.id == start.id
    other, _ = sent(CallStart(0, "f", id), PartEnd(0, cw.ToolCall("f", {}, id)))
    assert (other == start) is stays


def test_a_call_without_a_beginning_keeps_its_id() -> None:
    call = cw.ToolCall("f", {}, "c 1")
    assert sent(PartEnd(0, call)) == [PartEnd(0, call)]


def test_arguments_have_the_client_s_own_names() -> None:
    """They wait for the end of the call, because a name may come in pieces."""
    schema = {"type": "object", "properties": {"filter[id]": {}, "n": {}}}
    home = HomeCalls(cw.Conversation((), (cw.Tool("list", parameters=schema),), source=API), {})
    pieces = (ArgumentsDelta(0, '{"filter_i'), ArgumentsDelta(0, 'd":1,"n":2}'))
    call = cw.ToolCall("list", {"filter_id": 1, "n": 2}, "c1")
    own = cw.ToolCall("list", {"filter[id]": 1, "n": 2}, "c1")
    events = [CallStart(0, "list", "c1"), *pieces, PartEnd(0, call)]
    assert [one for event in events for one in home.pass_on(event)] == [
        CallStart(0, "list", "c1"),
        ArgumentsDelta(0, '{"filter[id]":1,"n":2}'),
        PartEnd(0, own),
    ]
    cut = cw.ToolCall.from_json("list", '{"filter_i', id="c2")
    events = [CallStart(1, "list", "c2"), ArgumentsDelta(1, '{"filter_i'), PartEnd(1, cut)]
    assert [one for event in events for one in home.pass_on(event)] == [
        CallStart(1, "list", "c2"),
        ArgumentsDelta(1, '{"filter_i'),
        PartEnd(1, cut),
    ]
