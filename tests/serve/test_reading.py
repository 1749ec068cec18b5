"""Readings: what a client has sent before is not read again, and reads the same."""

from collections.abc import Callable, Mapping
from operator import is_
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec import Raw

import contextwright as cw
from contextwright.errors import ParseError
from contextwright.serve import reading
from contextwright.serve.reading import Reading, Readings, read_fields
from contextwright.store.rows.recorded.places import Trail
from contextwright.text.json import encode_json
from profiles import FAULT, examples
from samples.native import PAYLOADS
from strategies.messages import PROVIDERS
from strategies.traffic import traffic

TURNS = {"gemini": "contents", "openai-responses": "input"}
LINE = ("session", "format", "model")


def payloads(format: str) -> st.SearchStrategy[dict[str, Any]]:
    """Requests of a client: its own, rendered ones, and ones with something wrong in a turn."""
    rendered = traffic(format).map(lambda said: cw.render(said, format).payload)
    return st.one_of(rendered, st.just(PAYLOADS[format]))


@st.composite
def two_requests(draw: st.DrawFn, format: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A request, and another that goes on from some of its turns."""
    first, other = draw(payloads(format)), draw(payloads(format))
    name = TURNS.get(format, "messages")
    assume(isinstance(first.get(name), list) and isinstance(other.get(name), list))
    at = draw(st.integers(0, len(first[name])))
    odd = draw(st.lists(st.sampled_from(({"role": "nobody"}, 1, {"role": "user", "content": 1}))))
    second = {**(first if draw(st.booleans()) else other)}
    for field in draw(st.sets(st.sampled_from((*reading.SYSTEM, *reading.TOOLS, "model")))):
        second.pop(field, None)
    return first, {**second, name: [*first[name][:at], *other[name], *odd]}


@pytest.mark.parametrize("format", PROVIDERS)
@examples(FAULT)
@given(data=st.data())
def test_a_request_reads_the_same_after_any_other(data: st.DataObject, format: str) -> None:
    readings = Readings()
    spell = data.draw(st.sampled_from((bytes, msgspec.json.format)))
    for payload in data.draw(two_requests(format)):
        body = encode_json(payload)
        fields = spell(body)
        found = outcome(lambda body=fields: readings.read(LINE, format, read_fields(body)))
        if isinstance(found, Reading):
            assert encode_json(found.payload) == body
            messages = found.said.messages
            assert found.trail.digests == Trail("").followed_by(messages).digests
            found = found.said
        said = outcome(lambda payload=payload: cw.parse(payload, format))
        assert found == said
        assert encode_json(found) == encode_json(said)


def outcome(read: Callable[[], Any]) -> Any:
    """What was read, or why it cannot be."""
    try:
        return read()
    except ParseError as error:
        return str(error)


def asked(*texts: str, **fields: Any) -> Mapping[str, Raw]:
    turns = [{"role": "user", "content": text} for text in texts]
    return read_fields(
        encode_json({"model": "m", "system": "Be kind.", "messages": turns} | fields)
    )


def test_messages_of_the_request_before_are_taken_from_it() -> None:
    readings = Readings()
    tools = [{"name": "look", "input_schema": {"type": "object"}}]
    first = readings.read(LINE, "anthropic", asked("One?", "Two?", tools=tools))
    second = readings.read(LINE, "anthropic", asked("One?", "Two?", "Three?", tools=tools))
    known = zip(first.said.messages, second.said.messages, strict=False)
    assert all(one is other for one, other in known)
    assert second.said.tools is first.said.tools
    others = [{**tools[0], "name": "find"}]
    third = readings.read(LINE, "anthropic", asked("One?", "Two?", "Four?", tools=others))
    assert third.said.tools == cw.parse({"messages": [], "tools": others}, "anthropic").tools
    assert readings.read(LINE, "anthropic", asked("One?", "Two?", "Five?")).said.tools == ()


def test_items_of_the_request_before_are_taken_from_it() -> None:
    """A message of Responses may be several items."""
    items: list[dict[str, Any]] = [{"role": "developer", "content": "Be kind."}]
    items += [{"role": "user", "content": "Look at both."}]
    readings = Readings()
    before: Reading | None = None
    for number in range(3):
        news: list[dict[str, Any]] = [{"type": "reasoning", "id": f"r{number}", "summary": []}]
        calls = [f"c{number}{place}" for place in range(2)]
        news += [
            {"type": "function_call", "call_id": id, "name": "look", "arguments": "{}"}
            for id in calls
        ]
        news += [{"type": "function_call_output", "call_id": id, "output": "x"} for id in calls]
        items += news
        body = {"model": "m", "instructions": "Short.", "input": items}
        found = readings.read(LINE, "openai-responses", read_fields(encode_json(body)))
        assert found.said == cw.parse(body, "openai-responses")
        if before is not None:
            known = before.said.messages
            assert all(map(is_, found.said.messages[1:], known[1:]))
            assert len(found.said.messages) == len(known) + 2
        before = found


def test_one_is_not_true() -> None:
    readings = Readings()
    call = {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": 1}}
    for value in (1, True, 1.0):
        turn = {"role": "assistant", "content": [{**call, "input": {"at": value}}]}
        fields = read_fields(encode_json({"model": "m", "messages": [turn]}))
        said = readings.read(LINE, "anthropic", fields).said
        assert repr(said.messages[0].calls[0].arguments) == repr({"at": value})


def test_readings_longest_unused_are_forgotten() -> None:
    readings = Readings(max_bytes=1_000)
    first = readings.read(("a",), "anthropic", asked("One?" * 100))
    readings.read(("b",), "anthropic", asked("Two?" * 200))
    again = readings.read(("a",), "anthropic", asked("One?" * 100))
    assert again.said == first.said
    assert again.said.messages[0] is not first.said.messages[0]


@pytest.mark.parametrize("body", [b"", b"[1]", b'{"a": [1,}', b'{"a": "\xff"}', b"[" * 100_000])
def test_a_body_that_is_not_a_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(ParseError, match="the body is not"):
        read_fields(body)
