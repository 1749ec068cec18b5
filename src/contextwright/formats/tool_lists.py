"""Lists of tools, in the spelling of any provider."""

from __future__ import annotations

from typing import Any, cast

from contextwright.errors import ParseError
from contextwright.formats import api
from contextwright.messages.message import Tool
from contextwright.messages.parts import Opaque
from contextwright.wire.values import is_object

__all__ = ["parse_tools"]

REQUESTS: dict[str, dict[str, Any]] = {
    "anthropic": {"messages": []},
    "openai-chat": {"messages": []},
    "openai-responses": {"input": []},
    "gemini": {"contents": []},
    "contextwright": {"messages": []},
}
"""Requests without messages, to read tools from."""


def parse_tools(data: Any) -> tuple[Tool | Opaque, ...]:
    """Read a list of tools as Anthropic, OpenAI, Gemini or this package spells them.

    Raises:
        ParseError: the data is not a list of objects, or one of them is not a tool.
    """
    if not isinstance(data, list) or not all(map(is_object, cast("list[Any]", data))):
        raise ParseError("not a list of tools", hint='[{"name": …, "parameters": {…}}]')
    tools = cast("list[dict[str, Any]]", data)
    format = spelling_of(tools)
    if format == "contextwright":
        tools = [{"type": "tool", **tool} for tool in tools]
    return api.parse({"tools": tools, **REQUESTS[format]}, format).tools


def spelling_of(tools: list[dict[str, Any]]) -> str:
    """The format that spells its tools this way."""
    fields = {field for tool in tools for field in tool}
    if "input_schema" in fields:
        return "anthropic"
    if "functionDeclarations" in fields or "function_declarations" in fields:
        return "gemini"
    if "function" in fields:
        return "openai-chat"
    kinds = {tool.get("type") for tool in tools}
    return "openai-responses" if kinds - {None, "tool", "opaque"} else "contextwright"
