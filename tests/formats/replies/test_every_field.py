"""What becomes of whole replies that lack any one of their fields, for clients of every API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import copy
from typing import Any

import pytest

import contextwright as cw
from contextwright import streams
from contextwright.formats.replies.reply import gather_partial
from fuzzing.readers import read_reply, read_stream
from golden_files import compare_digests

CITED = {
    "type": "char_location",
    "cited_text": "rain",
    "document_index": 0,
    "document_title": "Weather",
    "start_char_index": 0,
    "end_char_index": 4,
}
LINKED = {
    "type": "url_citation",
    "url": "https://example.com/rain",
    "title": "Rain",
    "start_index": 0,
    "end_index": 4,
}
REPLIES: dict[str, dict[str, Any]] = {
    "anthropic": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": [
            {"type": "thinking", "thinking": "Is it wet?", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "aGlkZGVu"},
            {"type": "text", "text": "It rains.", "citations": [CITED]},
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "a"}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
            {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": 1}},
        ],
        "stop_reason": "stop_sequence",
        "stop_sequence": "END",
        "container": {"id": "c1", "expires_at": "2026-11-18T00:00:00Z"},
        "usage": {
            "input_tokens": 9,
            "cache_creation_input_tokens": 3,
            "cache_read_input_tokens": 2,
            "cache_creation": {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 2},
            "output_tokens": 7,
            "service_tier": "standard",
            "server_tool_use": {"web_search_requests": 1},
        },
    },
    "gemini": {
        "responseId": "r1",
        "modelVersion": "gemini-3.8-flash",
        "candidates": [
            {
                "index": 0,
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "Is it wet?", "thought": True},
                        {"text": "It rains.", "thoughtSignature": "c2ln"},
                        {"executableCode": {"language": "PYTHON", "code": "1 + 1"}},
                        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
                        {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
                        {"functionCall": {"id": "f1", "name": "look", "args": {"at": 1}}},
                    ],
                },
                "finishReason": "STOP",
                "finishMessage": "done",
                "safetyRatings": [{"category": "HARM", "probability": "LOW"}],
                "groundingMetadata": {"webSearchQueries": ["rain"]},
            }
        ],
        "promptFeedback": {"safetyRatings": []},
        "usageMetadata": {
            "promptTokenCount": 9,
            "cachedContentTokenCount": 2,
            "toolUsePromptTokenCount": 1,
            "candidatesTokenCount": 7,
            "thoughtsTokenCount": 3,
            "totalTokenCount": 20,
        },
    },
    "openai-chat": {
        "id": "chat_1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "gpt-5.6-sol",
        "service_tier": "flex",
        "system_fingerprint": "fp_1",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "logprobs": {"content": [], "refusal": None},
                "message": {
                    "role": "assistant",
                    "content": "It rains.",
                    "reasoning_content": "Is it wet?",
                    "refusal": "No more.",
                    "annotations": [{"type": "url_citation", "url_citation": LINKED}],
                    "audio": {"id": "a1", "data": "aGk=", "transcript": "Hi", "expires_at": 1},
                    "tool_calls": [
                        {
                            "id": "c1",
                            "type": "function",
                            "function": {"name": "look", "arguments": '{"at": 1}'},
                        },
                        {"id": "c2", "type": "custom", "custom": {"name": "run", "input": "ls"}},
                    ],
                },
            }
        ],
        "usage": {
            "prompt_tokens": 9,
            "completion_tokens": 7,
            "total_tokens": 16,
            "prompt_tokens_details": {"cached_tokens": 2, "audio_tokens": 1},
            "completion_tokens_details": {"reasoning_tokens": 3, "audio_tokens": 1},
        },
    },
    "openai-responses": {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": "gpt-5.6-sol",
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "service_tier": "flex",
        "metadata": {"user": "U1"},
        "output": [
            {
                "id": "rs_1",
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": "Is it wet?"}],
                "content": [{"type": "reasoning_text", "text": "Wet."}],
                "encrypted_content": "c2ln",
                "status": "completed",
            },
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "phase": "commentary",
                "content": [
                    {
                        "type": "output_text",
                        "text": "It rains.",
                        "annotations": [LINKED],
                        "logprobs": [],
                    },
                    {"type": "refusal", "refusal": "No more."},
                ],
            },
            {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {}},
            {
                "id": "fc_1",
                "type": "function_call",
                "call_id": "c1",
                "name": "look",
                "arguments": '{"at": 1}',
                "status": "completed",
            },
            {
                "id": "ct_1",
                "type": "custom_tool_call",
                "call_id": "c2",
                "name": "run",
                "input": "ls",
                "status": "completed",
            },
        ],
        "usage": {
            "input_tokens": 9,
            "input_tokens_details": {"cached_tokens": 2},
            "output_tokens": 7,
            "output_tokens_details": {"reasoning_tokens": 3},
            "total_tokens": 16,
        },
    },
}


def lacking(reply: Any) -> Iterator[tuple[str, Any]]:
    """The reply, and the reply without each of its fields and entries, with the place of it."""
    yield "", reply
    for path in places(reply):
        yield ".".join(map(str, path)), without(reply, *path)


def without(value: Any, key: Any, *below: Any) -> Any:
    """A copy of a value that lacks what is at a path."""
    other = copy(value)
    if below:
        other[key] = without(value[key], *below)
    else:
        del other[key]
    return other


def places(value: Any) -> Iterator[tuple[Any, ...]]:
    """The path of every field and entry in a value."""
    found = value.items() if isinstance(value, dict) else enumerate(value)
    for key, below in found:
        yield (key,)
        if isinstance(below, dict | list):
            yield from ((key, *path) for path in places(below))


@pytest.mark.parametrize("api", REPLIES)
def test_what_becomes_of_a_reply(api: str) -> None:
    compare_digests(
        f"replies-{api}", ((place, outcome(api, one)) for place, one in lacking(REPLIES[api]))
    )


def outcome(api: str, reply: dict[str, Any]) -> list[object]:
    """The reply read and written for everyone; the same of its stream."""
    outcomes: list[object] = []
    data = json.dumps(reply).encode()
    try:
        outcomes.extend(read_reply(api, data))
        events = list(streams.events_of(cw.parse_reply(reply, api)))
        outcomes.extend(read_stream(api, b"".join(streams.write_stream(events, api))))
        outcomes.extend(losses(events, target) for target in REPLIES)
    except cw.ContextwrightError as error:
        outcomes.append(error)
    return outcomes


def losses(events: list[streams.Event], target: str) -> list[cw.Change]:
    """What is lost of a stream on the way to another API's clients."""
    writer = streams.stream_writer(target)
    for event in events:
        writer.write(event)
    return writer.changes


@pytest.mark.parametrize("api", REPLIES)
def test_what_becomes_of_a_stream(api: str) -> None:
    """An event may lack a field, or be missing; the stream may end with the one that does."""
    writer = streams.stream_writer(api, "m", id="id_1", created=7)
    reply = cw.parse_reply(REPLIES[api], api)
    frames = [frame for event in streams.events_of(reply) for frame in writer.write(event)]
    sent = [frame.data for frame in frames if isinstance(frame.data, dict)]
    compare_digests(
        f"streams-{api}",
        ((place, [*read(events, api)]) for place, events in lacking(sent)),
    )
    compare_digests(
        f"streams-cut-{api}",
        (
            (f"{number}.{place}", [*read([*sent[:number], last], api)])
            for number, event in enumerate(sent)
            for place, last in lacking(event)
        ),
    )


def read(sent: list[Any], api: str) -> Iterator[object]:
    """The events of a stream as they are read, and the reply they make up, or the error."""
    try:
        events = [*streams.read_stream(sent, api)]
        yield events
        yield gather_partial(events, api)
    except cw.ContextwrightError as error:
        yield error
