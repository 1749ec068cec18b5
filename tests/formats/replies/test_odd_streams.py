"""Streams of hosts that break the rules of their API, and lose nothing by it."""

import json
from typing import Any

import pytest

import contextwright as cw
from contextwright.formats.replies.events import ArgumentsDelta
from contextwright.formats.replies.reply import ModelReply, gather
from contextwright.formats.replies.streams import read_stream

DEEP = json.loads('{"a":' * 150 + "1" + "}" * 150)
DEEP_TEXT = json.dumps(DEEP)
START: dict[str, Any] = {"type": "message_start", "message": {"model": "m", "role": "assistant"}}
END: list[Any] = [
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    {"type": "message_stop"},
]


def block(begun: dict[str, Any], *deltas: dict[str, Any], stop: bool = True) -> list[Any]:
    """The events of a block, all of them with the index 0."""
    events: list[Any] = [{"type": "content_block_start", "index": 0, "content_block": begun}]
    events += [{"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas]
    return [*events, {"type": "content_block_stop", "index": 0}] if stop else events


def text_block(text: str, *, stop: bool = True) -> list[Any]:
    return block({"type": "text", "text": ""}, {"type": "text_delta", "text": text}, stop=stop)


def call_block(arguments: str) -> list[Any]:
    delta = {"type": "input_json_delta", "partial_json": arguments}
    return block({"type": "tool_use", "id": "c1", "name": "f", "input": {}}, delta)


def read(format: str, *events: Any) -> ModelReply:
    return gather(read_stream(events, format), format)


@pytest.mark.parametrize("stop", [True, False], ids=["ended", "left open"])
def test_blocks_with_the_same_index_are_parts_of_their_own(stop: bool) -> None:
    events = (START, *text_block("One", stop=stop), *text_block("Two", stop=stop))
    reply = read("anthropic", *events, *call_block('{"a":1}'), *END)
    assert [part.text for part in reply.message.parts if isinstance(part, cw.Text)] == [
        "One",
        "Two",
    ]
    assert [call.arguments for call in reply.message.calls] == [{"a": 1}]


DEEPLY: dict[str, list[Any]] = {
    "anthropic": [START, *call_block(DEEP_TEXT), *END],
    "gemini": [
        {
            "candidates": [
                {
                    "content": {
                        "role": "model",
                        "parts": [{"functionCall": {"name": "f", "args": DEEP}}],
                    },
                    "finishReason": "STOP",
                }
            ]
        }
    ],
    "openai-chat": [
        {
            "choices": [
                {
                    "index": 0,
                    "delta": {
                        "tool_calls": [
                            {
                                "index": 0,
                                "id": "c1",
                                "function": {"name": "f", "arguments": DEEP_TEXT},
                            }
                        ]
                    },
                    "finish_reason": "tool_calls",
                }
            ]
        }
    ],
    "openai-responses": [
        {
            "type": "response.completed",
            "response": {
                "id": "r",
                "status": "completed",
                "output": [
                    {
                        "type": "function_call",
                        "call_id": "c1",
                        "name": "f",
                        "arguments": DEEP_TEXT,
                    }
                ],
            },
        }
    ],
}


@pytest.mark.parametrize("format", DEEPLY)
def test_arguments_nested_too_deeply_are_kept_as_text(format: str) -> None:
    reply = read(format, *DEEPLY[format])
    (call,) = reply.message.calls
    assert json.loads(call.arguments["_raw"]) == DEEP
    assert "repair.arguments" in {change.code for change in reply.changes}


def test_an_answer_that_nobody_can_read_does_not_end_well() -> None:
    choice = {"index": 0, "delta": {"content": 7}, "finish_reason": "stop"}
    reply = read("openai-chat", {"choices": [choice]})
    assert reply.finish == "error"
    assert reply.error is not None


@pytest.mark.parametrize(("kind", "finish"), [("completed", "stop"), ("incomplete", "length")])
def test_the_last_event_of_a_response_says_its_status(kind: str, finish: str) -> None:
    response = {"id": "r", "status": "in_progress", "model": "m"}
    content = [{"type": "output_text", "text": "Hi"}]
    item = {"type": "message", "role": "assistant", "content": content}
    details = {"reason": "max_output_tokens"} if kind == "incomplete" else None
    events = [
        {"type": "response.created", "response": response},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": f"response.{kind}", "response": {"id": "r", "incomplete_details": details}},
    ]
    reply = read("openai-responses", *events)
    assert (reply.message.text, reply.finish) == ("Hi", finish)


WHOLE: dict[str, Any] = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "c1",
    "name": "f",
    "arguments": '{"a":1}',
}
AT_ONCE: dict[str, tuple[str, list[Any]]] = {
    "a block with its arguments": (
        "anthropic",
        [START, *block({"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}), *END],
    ),
    "and with their pieces": (
        "anthropic",
        [
            START,
            *block(
                {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}},
                {"type": "input_json_delta", "partial_json": '{"a":1}'},
            ),
            *END,
        ],
    ),
    "an item with its arguments, and their pieces": (
        "openai-responses",
        [
            {"type": "response.output_item.added", "output_index": 0, "item": WHOLE},
            {
                "type": "response.function_call_arguments.delta",
                "output_index": 0,
                "delta": '{"a":1}',
            },
            {"type": "response.output_item.done", "output_index": 0, "item": WHOLE},
            {"type": "response.completed", "response": {"id": "r", "status": "completed"}},
        ],
    ),
}


@pytest.mark.parametrize("name", AT_ONCE)
def test_arguments_that_come_twice_are_handed_on_once(name: str) -> None:
    format, sent = AT_ONCE[name]
    events = list(read_stream(sent, format))
    pieces = [event.text for event in events if isinstance(event, ArgumentsDelta)]
    assert "".join(pieces) == '{"a":1}'
    assert [call.arguments for call in gather(events, format).message.calls] == [{"a": 1}]


def test_a_delta_of_an_unknown_kind_is_named_once() -> None:
    words = {"type": "text_delta", "text": "Hi"}
    new = {"type": "mood_delta", "mood": "glad"}
    reply = read("anthropic", START, *block({"type": "text", "text": ""}, words, new, new), *END)
    assert reply.message.text == "Hi"
    said = [str(change) for change in reply.changes]
    assert said == ["loss.extra content[0]: unknown delta: 'mood_delta'"]
