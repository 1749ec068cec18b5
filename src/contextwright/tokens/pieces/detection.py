"""Which provider's format a request body has, by its own keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contextwright.tokens.pieces.piece import Fields, fields, items

__all__ = ["body_format"]

GEMINI = frozenset(
    "contents systemInstruction system_instruction generationConfig generation_config "
    "cachedContent cached_content".split()
)
RESPONSES = frozenset(
    "input instructions previous_response_id conversation max_output_tokens".split()
)
ANTHROPIC = frozenset(
    "system anthropic_version anthropic_beta mcp_servers output_config stop_sequences "
    "context_management container".split()
)
CHAT = frozenset(
    "frequency_penalty functions max_completion_tokens modalities n presence_penalty "
    "reasoning_effort response_format stop stream_options web_search_options".split()
)
ANTHROPIC_BLOCKS = frozenset(
    "tool_use tool_result thinking redacted_thinking image document search_result "
    "server_tool_use".split()
)
THINKING = frozenset("budget_tokens display".split())
"""Fields of the setting that hosts of chat do not know; they know `type`."""
CHAT_PARTS = frozenset("image_url input_audio file".split())
CHAT_ROLES = frozenset("tool function developer".split())


def body_format(payload: Any, usual: str) -> str:
    """Return the format of a request body, or of a bare list of messages.

    `usual` decides where both `anthropic` and `openai-chat` are possible.
    """
    body = fields(payload)
    if body.keys() & GEMINI:
        return "gemini"
    if "messages" not in body and body.keys() & RESPONSES:
        return "openai-responses"
    messages = list(map(fields, items(body.get("messages")) or items(payload)))
    if any("parts" in message for message in messages):
        return "gemini"
    if "messages" not in body and any(is_item(message) for message in messages):
        return "openai-responses"
    if is_anthropic(body):
        return "anthropic"
    if is_chat(body, messages):
        return "openai-chat"
    if looks_like_anthropic(body, messages):
        return "anthropic"
    if not messages or usual == "anthropic":
        return usual
    # A list of roles and contents may be an input of Responses or a chat.
    is_input = usual == "openai-responses" and "messages" not in body
    return usual if is_input else "openai-chat"


def is_item(message: Fields) -> bool:
    """Whether a message can only be an input item of Responses."""
    return isinstance(message.get("type"), str) and (
        "role" not in message or message["type"] == "message"
    )


def is_anthropic(body: Fields) -> bool:
    """Whether the fields of a body with messages can only be Anthropic's."""
    if body.keys() & ANTHROPIC:
        return True
    return any("input_schema" in fields(tool) for tool in items(body.get("tools")))


def looks_like_anthropic(body: Fields, messages: list[Fields]) -> bool:
    """Whether a body has what Anthropic's have, although hosts of chat may take it too."""
    thinking = fields(body.get("thinking"))
    if thinking.keys() & THINKING or thinking.get("type") == "adaptive":
        return True
    return any(is_among(part.get("type"), ANTHROPIC_BLOCKS) for part in parts_of(messages))


def is_chat(body: Fields, messages: list[Fields]) -> bool:
    """Whether a body with messages can only be one of Chat Completions."""
    if body.keys() & CHAT or any("function" in fields(tool) for tool in items(body.get("tools"))):
        return True
    for message in messages:
        if is_among(message.get("role"), CHAT_ROLES) or "tool_calls" in message:
            return True
    return any(
        is_among(part.get("type"), CHAT_PARTS) or isinstance(part.get("thinking"), list)
        for part in parts_of(messages)
    )


def is_among(value: object, names: frozenset[str]) -> bool:
    """Whether a value is one of some names; what cannot be looked up is not."""
    return isinstance(value, str) and value in names


def parts_of(messages: list[Fields]) -> Iterator[Fields]:
    """Yield the content parts of messages."""
    for message in messages:
        yield from map(fields, items(message.get("content")))
