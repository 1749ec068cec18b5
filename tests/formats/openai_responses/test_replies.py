"""OpenAI Responses: replies, whole and streamed."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses import Response

import contextwright as cw
from contextwright import Text, ToolCall, ToolResult
from contextwright.streams import write_reply
from samples.responses import (
    CALL,
    MODEL,
    NAME,
    OUTPUT,
    REASONING,
    SAID,
    SEARCH,
    USER,
)

# --- replies and streams --------------------------------------------------------------------------

REPLY = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1.0,
    "model": MODEL,
    "status": "completed",
    "output": [REASONING, SEARCH, SAID, {**CALL, "id": "fc_1", "status": "completed"}],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "usage": {
        "input_tokens": 1,
        "output_tokens": 2,
        "total_tokens": 3,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    },
}


def test_reply_goes_back_as_it_came() -> None:
    reply = cw.parse_reply(REPLY, NAME)
    assert [message.role for message in reply.messages] == ["assistant"]
    assert reply.model == MODEL
    assert reply.extra[NAME]["usage"] == REPLY["usage"]
    history = [cw.user("Hi"), *reply.messages, cw.tool_result("c1", "ok")]
    rendered = cw.render(history, NAME, model=MODEL)
    assert rendered.payload["input"] == [USER, *REPLY["output"], OUTPUT]
    assert rendered.changes == ()


RAN = [CALL, OUTPUT, SAID]
"""The items of a host that runs tools itself, and tells what they gave."""


def test_a_host_that_runs_tools_itself() -> None:
    body = {**REPLY, "output": RAN}
    reply = cw.parse_reply(body, NAME)
    events = [{"type": "response.completed", "response": body}]
    assert reply == cw.parse_stream(events, NAME)
    assert [type(part) for part in reply.message.parts] == [ToolCall, ToolResult, Text]
    assert reply.finish == "stop"  # nobody else has to run the tool
    rendered = cw.render([cw.user("Hi"), reply.message, cw.user("Hi")], NAME, model=MODEL)
    assert rendered.payload["input"] == [USER, *RAN, USER]


def test_a_call_beside_those_a_host_ran() -> None:
    body = {**REPLY, "output": [*RAN, {**CALL, "call_id": "c2"}]}
    assert cw.parse_reply(body, NAME).finish == "tool_calls"


def test_the_sdks_own_reply() -> None:
    assert cw.parse_reply(Response.model_validate(REPLY), NAME) == cw.parse_reply(REPLY, NAME)


def test_incomplete_reply_says_so() -> None:
    reply = {**REPLY, "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    assert [change.code for change in cw.parse_reply(reply, NAME).changes] == ["repair.interrupted"]
    with pytest.raises(cw.ParseError, match="output"):
        cw.parse_reply({"object": "response"}, NAME)


def event(kind: str, place: int = 0, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "output_index": place, **fields}


STARTED = {**REPLY, "status": "in_progress", "output": []}
OPENED = {**SAID, "status": "in_progress", "content": []}
CALLED = {**CALL, "id": "fc_1", "status": "in_progress", "arguments": ""}
STREAM = [
    {"type": "response.created", "response": STARTED},
    event("output_item.added", item={**REASONING, "summary": []}),
    event("reasoning_summary_part.added", summary_index=0, part={"type": "summary_text"}),
    event("reasoning_summary_text.delta", summary_index=0, delta="H"),
    event("reasoning_summary_text.delta", summary_index=0, delta="m."),
    event("reasoning_summary_text.done", summary_index=0, text="Hm."),
    event("reasoning_summary_part.done", summary_index=0, part=REASONING["summary"][0]),
    event("output_item.done", item=REASONING),
    event("output_item.added", 1, item=SEARCH),
    event("web_search_call.completed", 1),
    event("output_item.done", 1, item=SEARCH),
    event("output_item.added", 2, item=OPENED),
    event("content_part.added", 2, content_index=0, part={**SAID["content"][0], "text": ""}),
    event("output_text.delta", 2, content_index=0, delta="Y"),
    event("output_text.delta", 2, content_index=0, delta="es"),
    event("output_text.done", 2, content_index=0, text="Yes"),
    event("content_part.done", 2, content_index=0, part=SAID["content"][0]),
    event("output_item.done", 2, item=SAID),
    event("output_item.added", 3, item=CALLED),
    event("function_call_arguments.delta", 3, delta='{"a"'),
    event("function_call_arguments.delta", 3, delta=": 1}"),
    event("function_call_arguments.done", 3, arguments=CALL["arguments"]),
    event("output_item.done", 3, item=REPLY["output"][3]),
    {"type": "response.completed", "response": REPLY},
]  # fmt: skip


def test_stream() -> None:
    assert cw.parse_stream(STREAM, NAME) == cw.parse_reply(REPLY, NAME)


def test_stream_that_names_its_items_only_once() -> None:
    """The last event of some hosts holds no output."""
    end = {"type": "response.completed", "response": {**REPLY, "output": []}}
    assert cw.parse_stream([*STREAM[:-1], end], NAME) == cw.parse_reply(REPLY, NAME)


def test_interrupted_stream_keeps_what_came() -> None:
    words = cw.parse_stream(STREAM[:14], NAME)
    assert [change.code for change in words.changes] == ["repair.interrupted"]
    assert words.messages[0].text == "Y"
    half = cw.parse_stream(STREAM[:20], NAME)
    assert half.messages[0].calls[0].arguments == {"_raw": '{"a"'}
    assert [change.code for change in half.changes] == ["repair.arguments", "repair.interrupted"]


def test_stream_that_ends_in_an_error_says_why() -> None:
    error = {"type": "error", "code": "server_error", "message": "Sorry"}
    (change,) = cw.parse_stream([*STREAM[:14], error], NAME).changes
    assert "Sorry" in change.reason


@pytest.mark.parametrize(
    ("code", "kind", "status"),
    [
        ("server_error", "server", 500),
        ("too_many_requests", "rate_limit", 429),
        ("server_is_overloaded", "overloaded", 529),
        ("context_length_exceeded", "invalid", 400),
    ],
)
@pytest.mark.parametrize("nested", [False, True], ids=["reference", "servers"])
def test_errors_are_read_as_in_the_reference_and_as_servers_send_them(
    code: str, kind: str, status: int, nested: bool
) -> None:
    fields = {"code": code, "message": "Sorry", "param": None}
    held = {"error": {"type": code, **fields}} if nested else fields
    error = cw.parse_stream([*STREAM[:14], {"type": "error", **held}], NAME).error
    assert error is not None
    assert (error.kind, error.message, error.status, error.type) == (kind, "Sorry", status, code)


def test_failed_stream_says_why() -> None:
    failed = {**STARTED, "status": "failed", "error": {"code": "server_error", "message": "Sorry"}}
    stream = [*STREAM[:14], {"type": "response.failed", "response": failed}]
    (change,) = cw.parse_stream(stream, NAME).changes
    assert change.code == "repair.interrupted"
    assert "Sorry" in change.reason


def test_refusals_citations_custom_tools_and_code_are_streamed_too() -> None:
    refused = event("output_item.added", 0, item=OPENED)
    custom = {"type": "custom_tool_call", "call_id": "c1", "name": "sql", "input": ""}
    stream = [
        refused,
        event("refusal.delta", content_index=0, delta="N"),
        event("refusal.delta", content_index=0, delta="o"),
        event("output_item.added", 1, item={**OPENED, "id": "msg_2"}),
        event("output_text.annotation.added", 1, content_index=0, annotation={"type": "file_path"}),
        event("output_text.delta", 1, content_index=0, delta="Yes"),
        event("output_item.added", 2, item=custom),
        event("custom_tool_call_input.delta", 2, delta="SELECT"),
    ]
    (message,) = cw.parse_stream(stream, NAME).messages
    first, second, call = message.parts
    assert isinstance(first, Text)
    assert isinstance(second, Text)
    assert isinstance(call, ToolCall)
    assert (first.text, first.extra[NAME]["refusal"]) == ("No", True)
    assert (second.text, second.extra[NAME]["annotations"]) == ("Yes", [{"type": "file_path"}])
    assert call.arguments == {"input": "SELECT"}


@given(st.lists(st.sampled_from(STREAM)))
def test_any_order_of_events_is_read(events: list[dict[str, Any]]) -> None:
    before = json.dumps(events)
    cw.parse_stream(events, NAME)
    assert json.dumps(events) == before


def test_reasoning_without_a_signature_has_no_encrypted_content() -> None:
    message = {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    reply = cw.parse_reply({"id": "x", "model": "m", "choices": [choice]}, "openai-chat")
    assert write_reply(reply, "openai-responses", created=7).body["output"][0] == {
        "type": "reasoning",
        "id": "rs_x_0",
        "summary": [{"type": "summary_text", "text": "Hm."}],
    }
