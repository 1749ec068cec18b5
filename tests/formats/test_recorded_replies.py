"""Recorded replies: written, streamed and read again without loss."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

import contextwright as cw
from contextwright.formats.replies.failures import read_error
from contextwright.formats.replies.reply import events_of, gather
from contextwright.formats.replies.streams import as_reply, read_stream, write_reply, write_stream

APIS = {
    "openai.chat": "openai-chat",
    "openai.responses": "openai-responses",
    "anthropic.messages": "anthropic",
    "gemini.generateContent": "gemini",
}


def lines(file: Path) -> Iterator[Any]:
    with file.open(encoding="utf-8") as stream:
        yield from map(json.loads, stream)


FRAMING = ("id", "status", "type", "cache_control")
"""Fields that only a request has, or only a reply."""


def told(message: cw.Message, format: str) -> list[Any]:
    """What a message says, without what frames it; a stream joins texts, and thoughts."""
    parts: list[Any] = []
    for part in message.parts:
        if isinstance(part, cw.Thinking):
            part = cw.Thinking(part.text, part.signature, redacted=part.redacted)
        elif not isinstance(part, cw.Opaque):
            held = part.extra.get(format, {})
            rest = {name: held[name] for name in held if held[name] and name not in FRAMING}
            part = replace(part, extra={format: rest} if rest else {})
        before = parts[-1] if parts else None
        if isinstance(part, cw.Text) and not part.text:
            continue
        if isinstance(part, cw.Text) and isinstance(before, cw.Text):
            part = cw.Text(parts.pop().text + part.text)
        elif isinstance(part, cw.Thinking) and isinstance(before, cw.Thinking):
            if before.signature is None and part.signature is None:
                part = cw.Thinking(parts.pop().text + part.text)
        parts.append(part)
    return parts


def test_recorded_answers_are_written_and_read_again(data_folder: Path) -> None:
    """The turns of the assistant in recorded requests: each was once a reply."""
    seen: Counter[str] = Counter()
    for record in lines(data_folder / "wire" / "requests.jsonl"):
        format = APIS.get(record["api"])
        if format is None or record["error"]:
            continue
        conversation = cw.parse(record["request"], format)
        for message in conversation.messages:
            if message.role != "assistant" or not message.parts or message.results:
                continue
            reply = as_reply(cw.Conversation((message,), source=format, model=record["model"]))
            body = write_reply(reply, format, created=7).body
            said = told(message, format)
            assert told(cw.parse_reply(body, format).answer, format) == said, record["source"]
            data = b"".join(write_stream(events_of(reply), format, created=7))
            pieces = (data[start : start + 7] for start in range(0, len(data), 7))
            assert told(gather(read_stream(pieces, format), format).answer, format) == said
            seen[format] += 1
    assert all(seen[format] > 10 for format in APIS.values()), seen


def test_recorded_replies_of_an_agent(data_folder: Path) -> None:
    found = 0
    for file in sorted((data_folder / "agent_logs").glob("*.jsonl")):
        for entry in lines(file):
            body = entry.get("message")
            if entry.get("type") != "assistant" or "usage" not in (body or {}):
                continue
            # The log has each block when it is complete, before anyone knows why the reply ends.
            reply = cw.parse_reply({**body, "stop_reason": "end_turn"}, "anthropic")
            assert cw.parse_reply(write_reply(reply, "anthropic").body, "anthropic") == reply
            data = b"".join(write_stream(events_of(reply), "anthropic"))
            assert gather(read_stream([data], "anthropic"), "anthropic").message == reply.message
            found += 1
    assert found > 20


def test_recorded_errors_keep_their_words(data_folder: Path) -> None:
    found = 0
    for record in lines(data_folder / "wire" / "requests.jsonl"):
        body = record["error"]
        if body and record["api"] in APIS:
            error = read_error(record["status"], {}, json.dumps(body))
            assert error.message == body["error"]["message"]
            assert error.status == record["status"]
            found += 1
    assert found > 5
