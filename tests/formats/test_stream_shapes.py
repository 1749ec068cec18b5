"""Streams in the shapes that the vendors' SDKs are tested with: read whole, and read in pieces."""

import json
from typing import Any

import pytest

import contextwright as cw
from contextwright.formats.replies.reply import gather
from contextwright.formats.replies.streams import read_stream


def chunk(delta: dict[str, Any], index: int = 0, finish: str | None = None) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {"id": "chat_1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def claude(*events: dict[str, Any], stop: str | None, **details: Any) -> list[dict[str, Any]]:
    usage = {"input_tokens": 9, "output_tokens": 1}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    begin = {"type": "message_start", "message": {**head, "stop_reason": None, "usage": usage}}
    delta = {"type": "message_delta", "delta": {"stop_reason": stop, **details}}
    ended = [{**delta, "usage": {"output_tokens": 4}}] if stop else []
    return [begin, {"type": "ping"}, *events, *ended, {"type": "message_stop"}]


def block(
    content: dict[str, Any], *deltas: dict[str, Any], index: int = 0, closed: bool = True
) -> list[dict[str, Any]]:
    start = {"type": "content_block_start", "index": index, "content_block": content}
    pieces = [{"type": "content_block_delta", "index": index, "delta": one} for one in deltas]
    return [start, *pieces, *([{"type": "content_block_stop", "index": index}] if closed else [])]


def said(*words: str) -> list[dict[str, Any]]:
    return [{"type": "text_delta", "text": word} for word in words]


EMPTY = {"type": "text", "text": ""}
CALL = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
HOSTED = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
FALLBACK = {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}}
HALF = {"type": "input_json_delta", "partial_json": '{"lines": ["one", "tw'}


def response(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "response": {"id": "r1", "model": "m", **fields}}


SHAPES: dict[str, tuple[str, list[Any], str, str, list[str]]] = {
    "several choices": (
        "openai-chat",
        [chunk({"role": "assistant", "content": ""}), chunk({"content": "Two"}, 1),
         chunk({"content": "One"}), chunk({"content": "Three"}, 2), chunk({}, 0, "stop")],
        "stop", "One", ["loss.candidate"],
    ),
    "a refusal, piece by piece": (
        "openai-chat",
        [chunk({"role": "assistant", "content": None, "refusal": ""}), chunk({"refusal": "No, "}),
         chunk({"refusal": "sorry."}), chunk({}, 0, "stop")],
        "refusal", "No, sorry.", [],
    ),
    "one token": (
        "openai-chat",
        [chunk({"role": "assistant", "content": "{"}), chunk({}, 0, "length"),
         {**chunk({}), "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 1}}],
        "length", "{", ["repair.interrupted"],
    ),
    "a refusal after an empty text": (
        "anthropic",
        claude(*block(EMPTY), stop="refusal",
               stop_details={"type": "refusal", "explanation": "Not allowed."}),
        "refusal", "[no answer: the model declined: Not allowed.]", ["invent.text"],
    ),
    "a refusal in the middle": (
        "anthropic",
        claude(*block(EMPTY, *said("Hi")), stop="refusal",
               stop_details={"type": "refusal", "explanation": None}),
        "refusal", "Hi", [],
    ),
    "arguments that the limit cut": (
        "anthropic",
        claude(*block(EMPTY, *said("I ", "write.")), *block(CALL, HALF, index=1),
               stop="max_tokens"),
        "length", "I write.", ["repair.arguments", "repair.interrupted"],
    ),
    "a hosted search without arguments": (
        "anthropic",
        claude(*block(HOSTED), *block(FOUND, index=1), *block(EMPTY, *said("So."), index=2),
               stop="end_turn"),
        "stop", "So.", [],
    ),
    "another model went on": (
        "anthropic",
        claude(*block(FALLBACK), *block(EMPTY, *said("Hi"), index=1), stop="end_turn"),
        "stop", "Hi", [],
    ),
    "a block that is never closed": (
        "anthropic", claude(*block(EMPTY, *said("Hi"), index=1, closed=False), stop="end_turn"),
        "stop", "Hi", [],
    ),
    "a filter": (
        "openai-responses",
        [response("created", status="in_progress", output=[]),
         response("incomplete", status="incomplete", output=[],
                  incomplete_details={"reason": "content_filter"})],
        "filter", "[no answer: the provider's filter withheld the answer: content_filter]",
        ["repair.interrupted", "invent.text"],
    ),
    "a blocked question": (
        "gemini", [{"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "m"}],
        "filter", "[no answer: the provider's filter withheld the answer: SAFETY]",
        ["repair.interrupted", "invent.text"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_a_stream_of_the_sdks_shape_is_read(name: str) -> None:
    format, events, finish, text, codes = SHAPES[name]
    reply = cw.parse_stream(events, format)
    assert (reply.finish, reply.messages[0].text) == (finish, text)
    assert [change.code for change in reply.changes] == codes
    lines = "".join(f"event: {one.get('type')}\ndata: {json.dumps(one)}\n\n" for one in events)
    pieces = [bytes([byte]) for byte in lines.encode()]
    assert gather(read_stream(pieces, format), format).messages == reply.messages
