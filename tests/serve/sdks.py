"""The vendors' own SDKs as clients of a gateway: they send a body, and read what comes back."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import anthropic
import httpx2
import openai
from google import genai

import contextwright as cw
from contextwright.formats.replies.reply import ModelReply

ERRORS = (openai.APIError, anthropic.APIError, genai.errors.APIError)
BROKEN = (httpx2.TransportError,)
"""How the SDKs tell of a connection that broke off."""


def ask(
    format: str,
    address: str,
    body: Mapping[str, Any],
    *,
    key: str,
    model: str = "any",
    streams: bool = True,
) -> ModelReply:
    """The answer to a body, as the SDK of its format reads it.

    Raises:
        ERRORS: the SDK tells of an error.
    """
    rest = {name: value for name, value in body.items() if name not in ("model", "stream")}
    return SDKS[format](address, rest, key, model, streams)


def ask_chat(
    address: str, body: Mapping[str, Any], key: str, model: str, streams: bool
) -> ModelReply:
    with openai_client(address, key) as client:
        got: Any = client.chat.completions.create(
            model=model, messages=[], stream=streams, extra_body=body
        )
        return read(list(got) if streams else got, "openai-chat")


def ask_responses(
    address: str, body: Mapping[str, Any], key: str, model: str, streams: bool
) -> ModelReply:
    with openai_client(address, key) as client:
        got: Any = client.responses.create(model=model, input=[], stream=streams, extra_body=body)
        return read(list(got) if streams else got, "openai-responses")


def ask_claude(
    address: str, body: Mapping[str, Any], key: str, model: str, streams: bool
) -> ModelReply:
    with anthropic.Anthropic(base_url=address, api_key=key, max_retries=0) as client:
        given: dict[str, Any] = {"model": model, "max_tokens": 1, "messages": []}
        if not streams:
            return read(client.messages.create(**given, extra_body=body, timeout=60), "anthropic")
        with client.messages.stream(**given, extra_body=body) as events:
            return read(events.get_final_message(), "anthropic")


def ask_gemini(
    address: str, body: Mapping[str, Any], key: str, model: str, streams: bool
) -> ModelReply:
    client = genai.Client(api_key=key, http_options={"base_url": address})
    config: Any = {"http_options": {"extra_body": dict(body)}}
    try:
        if not streams:
            got: Any = client.models.generate_content(model=model, contents="x", config=config)
            return read(got, "gemini")
        return read(
            list(client.models.generate_content_stream(model=model, contents="x", config=config)),
            "gemini",
        )
    finally:
        client.close()


SDKS: dict[str, Callable[[str, Mapping[str, Any], str, str, bool], ModelReply]] = {
    "anthropic": ask_claude,
    "gemini": ask_gemini,
    "openai-chat": ask_chat,
    "openai-responses": ask_responses,
}


@contextmanager
def openai_client(address: str, key: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{address}/v1", api_key=key, max_retries=0) as client:
        yield client


def read(got: Any, format: str) -> ModelReply:
    """The message in the SDK's own objects."""
    return cw.parse_stream(got, format) if isinstance(got, list) else cw.parse_reply(got, format)
