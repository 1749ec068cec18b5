"""What reaches a client while the provider still writes: arguments, and the ends of parts."""

import json
from typing import Any

import contextwright as cw
from contextwright.formats.replies.events import (
    ArgumentsDelta,
    CallStart,
    PartEnd,
    TextDelta,
    ThinkingDelta,
)
from contextwright.formats.replies.streams import read_stream


def sent(*events: dict[str, Any]) -> bytes:
    """The bytes of Anthropic's events."""
    lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
    return "".join(lines).encode()


def block(index: int, type: str, *pieces: str) -> list[dict[str, Any]]:
    """A block of a call, whose arguments come in pieces."""
    start = {"type": type, "id": f"c{index}", "name": "f", "input": {}}
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def test_arguments_come_piece_by_piece() -> None:
    """Those of the provider's own tools are its own affair."""
    message = {"id": "m", "role": "assistant", "model": "claude-opus-5", "content": []}
    stream = sent(
        {"type": "message_start", "message": message},
        *block(0, "tool_use", '{"a"', ": 1}"),
        *block(1, "server_tool_use", '{"q": 1}'),
        {"type": "message_stop"},
    )
    kinds = (CallStart, ArgumentsDelta, PartEnd)
    events = [event for event in read_stream([stream], "anthropic") if isinstance(event, kinds)]
    call = cw.ToolCall("f", {"a": 1}, "c0")
    searched = {"type": "server_tool_use", "id": "c1", "name": "f", "input": {"q": 1}}
    assert events == [
        CallStart(0, "f", "c0"),
        ArgumentsDelta(0, '{"a"'),
        ArgumentsDelta(0, ": 1}"),
        PartEnd(0, call),
        PartEnd(1, cw.Opaque("anthropic", searched)),
    ]


def test_a_part_of_chat_ends_where_another_begins() -> None:
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}
    deltas = [
        {"reasoning_content": "Hm"},
        {"refusal": "I "},
        {"refusal": "cannot"},
        {"content": "So"},
        {"tool_calls": [call]},
    ]
    lines = [json.dumps({"choices": [{"index": 0, "delta": delta}]}) for delta in deltas]
    stream = "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()
    kinds = (ThinkingDelta, TextDelta, CallStart, PartEnd)
    events = [event for event in read_stream([stream], "openai-chat") if isinstance(event, kinds)]
    thought, refused, said, called = (one.part for one in events if isinstance(one, PartEnd))
    assert isinstance(thought, cw.Thinking)
    assert (refused, said) == (
        cw.Text("I cannot", {"openai-chat": {"type": "refusal"}}),
        cw.Text("So"),
    )
    assert events == [
        ThinkingDelta(0, "Hm", slot="openai-chat/reasoning_content"),
        PartEnd(0, thought),
        TextDelta(1, "I ", refusal=True),
        TextDelta(1, "cannot", refusal=True),
        PartEnd(1, refused),
        TextDelta(2, "So"),
        PartEnd(2, said),
        CallStart(3, "f", "c"),
        PartEnd(3, called),
    ]
