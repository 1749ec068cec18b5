"""Chat Completions requests: repairs, round trips, real recordings."""

import json
from datetime import UTC, datetime

import msgspec
import pytest

import contextwright as cw
from contextwright.wire.openai_chat.types import RequestMessage
from samples.chat_payloads import (
    GPT,
    JSON,
    assistant,
    body,
    call,
    calling,
    result,
    system,
    user,
)

# --- the context builder of spec 013 ----------------------------------------------------------

PROMPT = cw.system("You are helpful.")

ROWS: list[JSON] = [
    {
        "id": "1",
        "conversation_id": "c",
        "role": "user",
        "content": "2 + 2?",
        "tool_calls": None,
        "tool_results": None,
        "created_at": "2025-12-13T10:00:00Z",
    },
    {
        "id": "2",
        "conversation_id": "c",
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "a", "function": {"name": "calc", "arguments": {"x": 2}}},
            {"id": "b", "function": {"name": "calc", "arguments": ""}},
        ],
        "tool_results": None,
        "created_at": "2025-12-13T10:00:01Z",
    },
    {
        "id": "3",
        "conversation_id": "c",
        "role": "tool",
        "content": None,
        "tool_calls": None,
        "tool_results": [
            {"tool_call_id": "a", "content": "4"},
            {"tool_call_id": "b", "content": "0"},
        ],
        "created_at": "2025-12-13T10:00:02Z",
    },
    {
        "id": "4",
        "conversation_id": "c",
        "role": "assistant",
        "content": "4",
        "tool_calls": None,
        "tool_results": None,
        "created_at": "2025-12-13T10:00:03Z",
    },
    {
        "id": "5",
        "conversation_id": "c",
        "role": "user",
        "content": "Thanks",
        "tool_calls": None,
        "tool_results": None,
        "created_at": "2025-12-13T10:00:04Z",
    },
]

BUILT = [
    system("You are helpful."),
    user("2 + 2?"),
    assistant(None, tool_calls=[call("a", arguments='{"x":2}'), call("b")]),
    result("a"),
    result("b", "0"),
    assistant("4"),
    user("Thanks"),
]


@pytest.mark.parametrize("model", [GPT, "claude-sonnet-4-6", "some-model"])
def test_stored_rows_cb_1_to_9(model: str) -> None:
    """CB-1…4, CB-6…9: order, roles, system first, types, one message a result, null content."""
    parsed = cw.parse(ROWS, "openai-chat")
    assert [message.meta["id"] for message in parsed.messages] == ["1", "2", "3", "4", "5"]
    assert parsed.messages[0].sent_at == "2025-12-13T10:00:00Z"
    assert parsed.changes == ()
    conversation = cw.Conversation((PROMPT, *parsed.messages), source="openai-chat")
    rendered = cw.render(conversation, "openai-chat", model=model)
    assert rendered.payload["messages"] == BUILT
    assert {change.code for change in rendered.changes} == {"loss.envelope"}


@pytest.mark.parametrize("column", ["tool_calls", "tool_results"])
def test_json_columns_may_be_text_cb_4_and_8(column: str) -> None:
    """Some database drivers give the text of a JSON column, and `null` for an empty one."""
    texts = [{**row, column: json.dumps(row[column])} for row in ROWS]
    assert cw.parse(texts, "openai-chat") == cw.parse(ROWS, "openai-chat")
    for wrong in ("[{", "{}x", 5, {"id": "a"}):
        with pytest.raises(cw.ParseError, match=rf"\[\d\].{column}: must be a list, not"):
            cw.parse([{**row, column: wrong} for row in ROWS[1:3]], "openai-chat")


def test_a_json_column_as_text_makes_a_row_cb_8() -> None:
    """Also without the columns that a request does not need."""
    bare = [user("2 + 2?"), assistant(None, tool_calls=[call("a")]), result("a")]
    texts = [{**row, "tool_calls": json.dumps(row.get("tool_calls"))} for row in bare]
    assert cw.parse(texts, "openai-chat") == cw.parse(bare, "openai-chat")


@pytest.mark.parametrize(
    ("created_at", "sent_at"),
    [
        ("2025-12-13T10:00:00Z", "2025-12-13T10:00:00Z"),
        (datetime(2025, 12, 13, 10, tzinfo=UTC), "2025-12-13T10:00:00+00:00"),
        (datetime(2025, 12, 13, 10), "2025-12-13T10:00:00"),
        (1765620000, "1765620000"),
        (None, None),
    ],
)
def test_cb_15_the_time_of_a_row(created_at: object, sent_at: str | None) -> None:
    rows = [{**ROWS[0], "created_at": created_at}]
    assert [message.sent_at for message in cw.parse(rows, "openai-chat").messages] == [sent_at]


def test_empty_conversation_cb_3() -> None:
    rendered = cw.render(cw.Conversation((PROMPT,)), "openai-chat", model=GPT)
    assert rendered.payload == body(system("You are helpful."))


def test_typed_messages_cb_14a() -> None:
    typed = msgspec.convert(BUILT, list[RequestMessage])
    assert [type(message).__name__ for message in typed[:4]] == [
        "SystemMessage",
        "UserMessage",
        "AssistantMessage",
        "ToolMessage",
    ]


def test_missing_result_cb_11() -> None:
    rendered = cw.convert([user("q"), calling("a")], "openai-chat", "openai-chat", model=GPT)
    assert rendered.payload["messages"][:2] == [user("q"), calling("a")]
    assert rendered.payload["messages"][2]["tool_call_id"] == "a"
    assert "invent.result" in [change.code for change in rendered.changes]
    as_it_is = cw.convert(
        [user("q"), calling("a")], "openai-chat", "openai-chat", model=GPT, repair=False
    )
    assert as_it_is.payload["messages"] == [user("q"), calling("a")]


@pytest.mark.parametrize("role", ["user", "assistant", "system"])
def test_only_a_tool_answers_calls(role: str) -> None:
    """A field of another role is kept as what it is: one that we do not know."""
    message = {"role": role, "content": "hi", "tool_call_id": "a"}
    (read,) = cw.parse({"messages": [message]}, "openai-chat").messages
    assert (read.role, read.results, read.text) == (role, (), "hi")
    assert read.extra == {"openai-chat": {"tool_call_id": "a"}}
