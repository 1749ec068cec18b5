"""Gemini's replies and streams, laws over any value, and recorded requests."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright import models, streams
from contextwright.errors import ParseError
from contextwright.formats.replies.events import ReplyStart
from contextwright.formats.replies.streams import read_stream
from contextwright.wire.gemini.types import Request
from contextwright.wire.spelling import camel_case
from gemini_sdk import types
from samples.formats.gemini import NEW, OLD, call, model, validate
from strategies.messages import conversations, json_values

# --- replies ---------------------------------------------------------------------------------

REPLY = {
    "candidates": [
        {
            "content": model({"text": "hm", "thought": True}, "Hello", call("f", "a", "c2ln", x=1)),
            "finishReason": "STOP",
            "index": 0,
        },
        {"content": model("other")},
    ],
    "modelVersion": "gemini-3-flash-preview",
    "responseId": "r1",
    "usageMetadata": {"promptTokenCount": 3},
}


def test_a_reply() -> None:
    reply = cw.parse_reply(REPLY, "gemini")
    assert reply.messages == (
        cw.assistant(
            [
                cw.Thinking("hm", origin="gemini"),
                "Hello",
                cw.ToolCall("f", {"x": 1}, "a", extra={"gemini": {"thoughtSignature": "c2ln"}}),
            ]
        ),
    )
    assert reply.model == "gemini-3-flash-preview"
    assert reply.extra["gemini"]["finishReason"] == "STOP"
    assert [change.code for change in reply.changes] == ["loss.candidate"]


def test_a_reply_of_the_sdk() -> None:
    reply = types.GenerateContentResponse.model_validate_json(json.dumps(REPLY))
    assert cw.parse_reply(reply, "gemini").messages == cw.parse_reply(REPLY, "gemini").messages


def test_replies_without_words() -> None:
    blocked = cw.parse_reply({"promptFeedback": {"blockReason": "SAFETY"}}, "gemini")
    assert blocked.finish == "filter"
    assert blocked.refusal == ""
    (said,) = blocked.messages
    assert said.text == "[no answer: the provider's filter withheld the answer: SAFETY]"
    assert said.meta == {"finish": "filter"}
    assert blocked.extra["gemini"]["promptFeedback"] == {"blockReason": "SAFETY"}
    cut = cw.parse_reply({"candidates": [{"content": {}, "finishReason": "MAX_TOKENS"}]}, "gemini")
    assert cut.finish == "length"
    assert cut.messages[0].text == "[no answer: the output limit was reached: MAX_TOKENS]"


def chunk(*parts: Any, **more: Any) -> dict[str, Any]:
    return {
        "candidates": [{"content": model(*parts), **more}],
        "modelVersion": "gemini-3-flash-preview",
    }


GROWING = [
    chunk("a", citationMetadata={"citationSources": [{"endIndex": 1, "uri": "https://a.b"}]}),
    chunk("b", logprobsResult={"chosenCandidates": [{"token": "b"}]}),
    chunk("b", logprobsResult={"chosenCandidates": [{"token": "b"}]}),
    chunk("c", groundingMetadata={"webSearchQueries": ["q"], "groundingChunks": [{"web": 1}]}),
    chunk(
        "d",
        citationMetadata={"citationSources": [{"startIndex": 3, "uri": "https://c.d"}]},
        groundingMetadata={"groundingChunks": [{"web": 1}, {"web": 2}]},
        finishReason="STOP",
    ),
]


def test_what_several_chunks_say_beside_their_parts_is_kept() -> None:
    reply = cw.parse_stream(GROWING, "gemini")
    assert reply.messages == (cw.assistant("abbcd"),)
    assert reply.extra["gemini"]["candidates[0]"] == {
        "citationMetadata": {
            "citationSources": [
                {"endIndex": 1, "uri": "https://a.b"},
                {"startIndex": 3, "uri": "https://c.d"},
            ]
        },
        "logprobsResult": {"chosenCandidates": [{"token": "b"}, {"token": "b"}]},
        "groundingMetadata": {
            "webSearchQueries": ["q"],
            "groundingChunks": [{"web": 1}, {"web": 2}],
        },
    }


CHUNKS = [
    chunk({"text": "h", "thought": True}),
    chunk({"text": "m", "thought": True}, {"text": "Hel"}),
    chunk("lo"),
    chunk(" you"),
    chunk(call("f", "a", "c2ln", x=1), call("f", "b", None)),
    chunk({"text": "", "thoughtSignature": "ZW5k"}, finishReason="STOP"),
    {"usageMetadata": {"promptTokenCount": 3}},
]

STREAMED = cw.assistant(
    [
        cw.Thinking("hm", origin="gemini"),
        "Hello you",
        cw.ToolCall("f", {"x": 1}, "a", extra={"gemini": {"thoughtSignature": "c2ln"}}),
        cw.ToolCall("f", {}, "b"),
        cw.Text("", extra={"gemini": {"thoughtSignature": "ZW5k"}}),
    ]
)


@pytest.mark.parametrize("sdk", [False, True])
def test_a_stream(sdk: bool) -> None:
    chunks: list[Any] = CHUNKS
    if sdk:
        chunks = [types.GenerateContentResponse.model_validate_json(json.dumps(c)) for c in CHUNKS]
    reply = cw.parse_stream(chunks, "gemini")
    assert reply.messages == (STREAMED,)
    assert reply.changes == ()
    assert reply.extra["gemini"]["finishReason"] == "STOP"
    assert reply.model == "gemini-3-flash-preview"


def test_a_reply_begins_with_its_id() -> None:
    usage = {"usageMetadata": {"promptTokenCount": 3}}
    chunks = [usage, {"responseId": "r1"}, {"responseId": "r2"}]
    starts = [one for one in read_stream(chunks, "gemini") if isinstance(one, ReplyStart)]
    assert [start.id for start in starts] == ["r1"]


def test_what_is_not_a_part_is_left_out_of_a_stream() -> None:
    chunks: list[Any] = [chunk("Hel"), chunk("lo"), chunk("!", finishReason="STOP")]
    chunks[1]["candidates"][0]["content"]["parts"] += [5, None, "x", []]
    assert cw.parse_stream(chunks, "gemini").messages == (cw.assistant("Hello!"),)


def test_a_stream_that_breaks_off() -> None:
    reply = cw.parse_stream(CHUNKS[:3], "gemini")
    assert reply.messages[0].text == "Hello"
    assert [change.code for change in reply.changes] == ["repair.interrupted"]


def test_streamed_arguments() -> None:
    def piece(path: str, more: bool = True, **value: Any) -> dict[str, Any]:
        return {
            "functionCall": {"partialArgs": [{"jsonPath": path, **value}], "willContinue": more}
        }

    chunks = [
        chunk(
            {
                "functionCall": {"name": "f", "id": "a", "willContinue": True},
                "thoughtSignature": "c2ln",
            }
        ),
        chunk(piece("$.city", stringValue="New ")),
        chunk(piece("$.city", stringValue="York"), piece("$.days[1].n", numberValue=2)),
        chunk(piece("$.dry", False, boolValue=True)),
        chunk(call("g", "b", None), finishReason="STOP"),
    ]
    calls = cw.parse_stream(chunks, "gemini").messages[0].calls
    assert [(call.name, call.arguments) for call in calls] == [
        ("f", {"city": "New York", "days": [None, {"n": 2}], "dry": True}),
        ("g", {}),
    ]


# --- laws ------------------------------------------------------------------------------------


@given(conversations, st.sampled_from((OLD, NEW)))
def test_google_s_own_types_take_every_payload(conversation: cw.Conversation, asked: str) -> None:
    payload = cw.render(conversation, "gemini", model=asked).payload
    if "not base64" not in json.dumps(payload):
        validate(payload)


KEYS = st.sampled_from(
    "contents parts role text functionCall function_call functionResponse inlineData inline_data "
    "fileData name args response id tools functionDeclarations parameters systemInstruction "
    "thought generationConfig toolConfig candidates content config history user_parts".split()
)

BODIES = st.recursive(
    json_values | st.sampled_from(("user", "model", "tool", "[meta] a=1")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("format", ["gemini", "gryag"])
def test_any_json_value_is_read_or_refused(format: str) -> None:
    @given(BODIES, st.booleans())
    def law(data: Any, strict: bool) -> None:
        before = json.dumps(data)
        cw.check(data, format, model=NEW)
        for shape in (
            data,
            {"contents": [data]},
            {"history": [data]},
            [{"role": "user", "parts": [data]}],
        ):
            try:
                conversation = cw.parse(shape, format, strict=strict)
            except ParseError:
                continue
            payload = cw.render(conversation, format, model=NEW).payload
            assert [p for p in cw.check(payload, format, model=NEW) if p.level == "error"] == []
        assert json.dumps(data) == before

    law()


@given(st.lists(BODIES, max_size=4))
def test_any_stream_is_read_or_refused(chunks: list[Any]) -> None:
    try:
        cw.parse_stream(chunks, "gemini")
    except ParseError:
        pass


# --- recorded requests -----------------------------------------------------------------------


def recorded(folder: Path) -> list[dict[str, Any]]:
    with (folder / "wire" / "requests.jsonl").open(encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        return [row for row in rows if row["api"] == "gemini.generateContent"]


def meaning(value: Any, key: str = "") -> Any:
    """A body in one spelling and one base64 alphabet."""
    if isinstance(value, dict):
        return {name: meaning(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [meaning(item) for item in value]
    if isinstance(value, str) and key in ("data", "thoughtSignature"):
        return value.replace("-", "+").replace("_", "/").rstrip("=")
    return value


def test_recorded_requests(data_folder: Path) -> None:
    """What the real API took is checked without errors and comes back equal in meaning."""
    rows = recorded(data_folder)
    assert rows
    for row in rows:
        body, facts = row["request"], models.find(row["model"])
        errors = [p for p in cw.check(body, "gemini", model=row["model"]) if p.level == "error"]
        assert errors == [], row["source"]
        conversation = cw.parse(body, "gemini", strict=True)
        made = cw.render(conversation, "gemini", model=facts.id)
        assert meaning(made.payload) == meaning(camel_case(body, Request)[0]), row["source"]
        assert made.changes == ()


@pytest.mark.parametrize(
    "call", [{"name": "f"}, {"name": "f", "args": {}}, {"name": "f", "id": "a"}]
)
def test_a_streamed_call_has_the_fields_of_a_whole_one(call: dict[str, Any]) -> None:
    content = {"role": "model", "parts": [{"functionCall": call}]}
    body = {"candidates": [{"content": content, "finishReason": "STOP"}]}
    assert cw.parse_stream([body], "gemini") == cw.parse_reply(body, "gemini")


@pytest.mark.parametrize(
    ("signature", "sent"), [(None, {}), ("", {}), ("c2ln", {"thoughtSignature": "c2ln"})]
)
def test_thinking_of_a_reply_is_a_thought(signature: str | None, sent: dict[str, str]) -> None:
    """Signed or not: an empty signature is none."""
    reply = cw.assistant(cw.Thinking("Hm.", signature=signature, origin="gemini"))
    body = streams.write_reply(reply, "gemini").body
    assert body["candidates"][0]["content"]["parts"] == [{"text": "Hm.", "thought": True, **sent}]
