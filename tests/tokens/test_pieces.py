"""What is counted of a request: every piece of it, with its place."""

from typing import Any

import pytest

from contextwright.tokens.pieces import pieces

SCHEMA = {"type": "object"}
ARGUMENTS = '{"a": 1}'
ASKED: dict[str, Any] = {"role": "user", "content": "q"}
CHAT: dict[str, tuple[dict[str, Any], list[tuple[str, str, str]]]] = {
    "a schema of the answer": (
        {"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}},
        [("schema", "response_format", '{"type":"object"}')],
    ),
    "JSON without a schema": ({"response_format": {"type": "json_object"}}, []),
    "a refusal": (
        {"messages": [ASKED, {"role": "assistant", "content": None, "refusal": "No."}]},
        [
            ("message", "messages[1]", "assistant"),
            ("text", "messages[1]", "No."),
            ("untried", "messages[1]", ""),
        ],
    ),
    "words that were spoken": (
        {"messages": [ASKED, {"role": "assistant", "audio": {"id": "a"}}]},
        [("message", "messages[1]", "assistant"), ("unseen", "messages[1]", "")],
    ),
    "a call of a custom tool beside another": (
        {
            "messages": [
                ASKED,
                {
                    "role": "assistant",
                    "content": "Hm.",
                    "tool_calls": [
                        {"id": "a", "type": "custom", "custom": {"name": "f", "input": ARGUMENTS}},
                        {"id": "b", "function": {"name": "g", "arguments": ARGUMENTS}},
                    ],
                },
            ]
        },
        [
            ("message", "messages[1]", "assistant"),
            ("answer", "messages[1]", ""),
            ("text", "messages[1]", "Hm."),
            ("untried", "messages[1]", ""),
            ("call", "messages[1]", "f"),
            ("arguments", "messages[1]", ARGUMENTS),
            ("untried", "messages[1]", ""),
            ("call", "messages[1]", "g"),
            ("arguments", "messages[1]", '{"a":1}'),
            ("parallel", "messages[1]", ""),
        ],
    ),
    "a document that is not sent along": (
        {
            "messages": [
                ASKED,
                {
                    "role": "user",
                    "name": "ann",
                    "content": [{"type": "document_url", "document_url": "https://x.org/a.pdf"}],
                },
            ]
        },
        [
            ("message", "messages[1]", "user"),
            ("name", "messages[1]", "ann"),
            ("unseen", "messages[1]", ""),
        ],
    ),
}


@pytest.mark.parametrize("name", CHAT)
def test_what_is_counted_of_a_chat_request(name: str) -> None:
    body, expected = CHAT[name]
    plain = [("request", "request", ""), *asked("messages[0]")]
    assert found({"messages": [ASKED], **body}, "openai-chat") == [*plain, *expected]


def test_what_is_counted_of_a_responses_request() -> None:
    body = {"input": [ASKED], "text": {"format": {"type": "json_schema", "schema": SCHEMA}}}
    schema = ("schema", "text", '{"type":"object"}')
    plain = [("request", "request", ""), *asked("input[0]")]
    assert found(body, "openai-responses") == [*plain, schema]


def test_what_is_counted_of_a_file_that_claude_only_gets_by_its_id() -> None:
    upload = {"type": "container_upload", "file_id": "f"}
    body = {"messages": [{"role": "user", "content": [upload]}]}
    assert ("unseen", "messages[0]", "") in found(body, "anthropic")


def asked(place: str) -> list[tuple[str, str, str]]:
    return [("message", place, "user"), ("text", place, "q")]


def found(body: dict[str, Any], format: str) -> list[tuple[str, str, str]]:
    return [(piece.kind, piece.place, str(piece.value)) for piece in pieces(body, format)]
