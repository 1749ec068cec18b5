"""Chats of Google's SDK, which send an answer back in the pieces in which it was streamed."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from google import genai
from google.genai import types

import contextwright as cw
from contextwright.formats.replies.reply import ModelReply
from providers.standin import Request, StandIn, said, serving
from serve.gateways import TOKEN, running
from serve.upstreams import ENVIRONMENT, FORMATS, settings_for

QUESTIONS = ("Print both words.", "And now?", "Goodbye.")


def print_word(word: str) -> str:
    """Print a word."""
    return f"42-{word}"


@pytest.mark.parametrize("upstream", FORMATS)
def test_a_streamed_chat_goes_on(upstream: str) -> None:
    servers: list[StandIn] = []
    histories: list[Any] = []

    def answer(request: Request) -> ModelReply:
        messages = cw.parse(request.body, request.format).messages
        histories.append(lines_of(messages))
        if any(message.results for message in messages):
            return said("That is all.")
        first, second = (
            cw.ToolCall("print_word", {"word": word}, f"call_{word}") for word in ("a", "b")
        )
        if request.format == "openai-chat":
            return said(first, second)
        signature = servers[0].sign(request.format, request.model)
        if request.format == "gemini":
            extra = {"gemini": {"thoughtSignature": signature}}
            return said(cw.ToolCall(first.name, first.arguments, first.id, extra=extra), second)
        return said(cw.Thinking("Hm.", signature, request.format), first, second)

    with serving(answer) as server:
        servers.append(server)
        settings = settings_for(upstream, server)
        with running(settings, environment=ENVIRONMENT) as gateway:
            options = types.HttpOptions(base_url=gateway.address)
            config = types.GenerateContentConfig(tools=[print_word])
            with genai.Client(api_key=TOKEN, http_options=options) as client:
                chat = client.chats.create(model="gemini-3.8-flash", config=config)
                for question in QUESTIONS:
                    chunks = chat.send_message_stream(question)
                    told = "".join(chunk.text or "" for chunk in chunks)
                    assert told.split() == ["That", "is", "all."]
    exchange = [
        ("user", QUESTIONS[0]),
        ("assistant", "print_word a", "print_word b"),
        ("tool", "42-a", "42-b"),
        ("assistant", "That is all."),
        ("user", QUESTIONS[1]),
        ("assistant", "That is all."),
        ("user", QUESTIONS[2]),
    ]
    assert histories == [exchange[:1], exchange[:3], exchange[:5], exchange]
    assert server.refused == []
    assert set(server.signed) == server.returned


def lines_of(messages: Sequence[cw.Message]) -> list[tuple[str, ...]]:
    """What was said, a line for each message; the results of one answer are one line."""
    lines: list[tuple[str, ...]] = []
    for message in messages:
        text = [message.text.strip()] if message.text.strip() else []
        calls = [f"{call.name} {call.arguments['word']}" for call in message.calls]
        words = (*text, *calls, *(json.loads(result.text)["result"] for result in message.results))
        if message.role == "tool" and lines[-1][0] == "tool":
            lines[-1] += words
        else:
            lines.append((message.role, *words))
    return lines
