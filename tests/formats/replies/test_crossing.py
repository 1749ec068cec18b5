"""What of a reply crosses between providers, whole and as a stream."""

from typing import Any

import msgspec
import pytest

import contextwright as cw
from contextwright.formats.replies.reply import ModelReply, events_of, gather
from contextwright.formats.replies.streams import (
    read_stream,
    stream_writer,
    write_reply,
    write_stream,
)
from contextwright.wire.anthropic.types import UNSIGNED


def said(reply: cw.Conversation) -> str:
    return "".join(part.text for part in reply.messages[0].parts if isinstance(part, cw.Text))


BLOCKS = {
    "openai-chat": "See:\n[web_search_call] ships\nThere.",
    "gemini": "See:\n[web_search_call] ships\nThere.",
    "anthropic": "See:[web_search_call] shipsThere.",
}


@pytest.mark.parametrize("target", BLOCKS)
def test_a_providers_own_block_stands_on_a_line_of_its_own_where_texts_are_joined(
    target: str,
) -> None:
    """Clients of the others show each block by itself."""
    search = {"type": "web_search_call", "action": {"type": "search", "query": "ships"}}
    parts = (
        cw.Text("See:"),
        cw.Opaque("openai-responses", search, "[web_search_call] ships"),
        cw.Text("There."),
    )
    reply = ModelReply((cw.Message("assistant", parts),), finish="stop")
    assert said(cw.parse_reply(write_reply(reply, target).body, target)) == BLOCKS[target]
    events = read_stream([b"".join(write_stream(events_of(reply), target))], target)
    assert said(gather(events, target)) == BLOCKS[target]


def test_fields_of_one_provider_do_not_cross() -> None:
    """Responses tells where reasoning belongs by its item's id, chat by the name of a field."""
    thinking = cw.Thinking("Hm.", origin="openai-responses", extra={"openai-responses": ITEM})
    reply = ModelReply((cw.Message("assistant", (thinking,)),), finish="stop")
    reply = msgspec.structs.replace(reply, source="openai-responses")
    writer = stream_writer("openai-chat", "m")
    frames = [frame.data for event in events_of(reply) for frame in writer.write(event)]
    deltas = [choice["delta"] for data in frames[:-1] for choice in data["choices"]]
    assert deltas == [{"role": "assistant", "content": ""}, {"reasoning_content": "Hm."}, {}]


ITEM = {"id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]}


def test_the_numbers_of_reasoning_entries_stay() -> None:
    """OpenRouter wants its entries back as they came."""
    entries = [{"type": "reasoning.text", "text": word, "index": n} for n, word in enumerate("ab")]
    message = {"role": "assistant", "content": "c", "reasoning_details": entries}
    whole = {"id": "1", "model": "m", "choices": [{"message": message, "finish_reason": "stop"}]}
    deltas: list[dict[str, Any]] = [{"reasoning_details": [entry]} for entry in entries]
    deltas.append({"content": "c"})
    chunks = [{"id": "1", "model": "m", "choices": [{"delta": delta}]} for delta in deltas]
    chunks.append({"id": "1", "model": "m", "choices": [{"delta": {}, "finish_reason": "stop"}]})
    read = cw.parse_stream(chunks, "openai-chat")
    assert read.messages == cw.parse_reply(whole, "openai-chat").messages


@pytest.mark.parametrize("signature", [None, "c2ln"])
@pytest.mark.parametrize("origin", ["openai-chat", "openai-responses", "gemini"])
def test_thinking_of_others_has_a_signature_that_clients_of_claude_send_back(
    origin: str, signature: str | None
) -> None:
    """They take thinking with an empty one for broken; no API is sent this one."""
    thinking = cw.Thinking("Hm.", signature, origin)
    reply = ModelReply((cw.Message("assistant", (thinking, cw.Text("Yes."))),), finish="stop")
    (block, _) = write_reply(reply, "anthropic").body["content"]
    assert block == {"type": "thinking", "thinking": "Hm.", "signature": UNSIGNED}
    stream = b"".join(write_stream(events_of(reply), "anthropic"))
    assert stream.count(b"signature_delta") == 1
    assert UNSIGNED.encode() in stream
    said = {"role": "assistant", "content": [block, {"type": "text", "text": "Yes."}]}
    asked = {"role": "user", "content": "And?"}
    body = {"model": "claude-sonnet-5-5", "max_tokens": 9, "messages": [asked, said, asked]}
    assert [one.code for one in cw.check(body, "anthropic")] == ["A-signature"]
    for target in ("anthropic", "openai-chat", "openai-responses", "gemini"):
        sent = cw.convert(body, "anthropic", target)
        assert UNSIGNED.encode() not in sent.json
        assert "loss.thinking" in [change.code for change in sent.changes]


ENDS: dict[str, tuple[str, dict[str, Any], dict[str, list[str]]]] = {
    "a stop sequence": (
        "anthropic",
        {"stop_reason": "stop_sequence", "stop_sequence": "END"},
        dict.fromkeys(("gemini", "openai-chat", "openai-responses"), ["stop_sequence"]),
    ),
    "a refusal": (
        "anthropic",
        {
            "stop_reason": "refusal",
            "stop_details": {"type": "refusal", "category": "bio", "explanation": "Not this."},
        },
        {
            **dict.fromkeys(
                ("openai-chat", "openai-responses"),
                ["stop_details.category, stop_details.explanation"],
            ),
            "gemini": ["stop_details.category"],
        },
    ),
    "a filter": (
        "gemini",
        {"candidates": [{"finishReason": "SAFETY", "finishMessage": "Not this."}]},
        dict.fromkeys(("openai-chat", "openai-responses"), ["finishMessage"]),
    ),
    "a blocked question": (
        "gemini",
        {"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "Not this."}},
        dict.fromkeys(("openai-chat", "openai-responses"), ["promptFeedback.blockReasonMessage"]),
    ),
    "a call that the model spoiled": (
        "gemini",
        {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "f("}]},
        {
            **dict.fromkeys(
                ("anthropic", "openai-chat"),
                ["finishMessage, finishReason 'MALFORMED_FUNCTION_CALL'"],
            ),
            "openai-responses": ["finishMessage"],
        },
    ),
    "a turn that wants to go on": (
        "anthropic",
        {"stop_reason": "pause_turn"},
        dict.fromkeys(("gemini", "openai-chat", "openai-responses"), ["stop_reason 'pause_turn'"]),
    ),
    "an end that nobody knows": (
        "openai-chat",
        {"choices": [{"message": {"content": "Hi"}, "finish_reason": "insufficient_system"}]},
        dict.fromkeys(("anthropic", "openai-responses"), ["finish_reason 'insufficient_system'"]),
    ),
}


@pytest.mark.parametrize("target", ["anthropic", "gemini", "openai-chat", "openai-responses"])
@pytest.mark.parametrize("name", ENDS)
def test_words_about_the_end_arrive_or_are_named(name: str, target: str) -> None:
    source, body, lost = ENDS[name]
    reply = cw.parse_reply({"content": [], **body} if source == "anthropic" else body, source)
    writer = stream_writer(target, "m")
    for event in events_of(reply):
        writer.write(event)
    said = [f"loss.extra reply: {target} has no {field}" for field in lost.get(target, [])]
    for changes in (write_reply(reply, target).changes, writer.changes):
        assert [str(one) for one in changes if one.code.startswith("loss.")] == said


@pytest.mark.parametrize("target", ["anthropic", "gemini", "openai-chat", "openai-responses"])
def test_an_error_within_a_reply_is_written_or_named(target: str) -> None:
    error = {"code": "server_error", "message": "Out of paper"}
    body = {"id": "resp_1", "status": "failed", "error": error, "output": []}
    written = write_reply(cw.parse_reply(body, "openai-responses"), target)
    if target == "openai-responses":
        assert written.body["error"] == error
    said = [str(one) for one in written.changes if one.code == "loss.error"]
    reason = f"a whole reply of {target} holds no error: 'Out of paper'"
    assert said == ([] if target == "openai-responses" else [f"loss.error reply: {reason}"])
