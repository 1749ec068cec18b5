"""Requests to count."""

from __future__ import annotations

import itertools
from typing import Any

from contextwright.tokens.count import Count, count_pieces
from contextwright.tokens.pieces import pieces

FORMATS = {
    "openai-chat": "gpt-4o",
    "openai-responses": "gpt-5",
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-2.5-flash",
    "chatml": "qwen3",
    "forge": "gpt-4o",
}


def count(payload: Any, format: str, model: str | None = None) -> Count:
    return count_pieces(pieces(payload, format), model or FORMATS[format], format=format)


WEATHER = {
    "type": "function",
    "function": {
        "name": "get_current_weather",
        "description": "Get the current weather",
        "parameters": {
            "type": "object",
            "properties": {
                "location": {
                    "type": "string",
                    "description": "The city and state, e.g. San Francisco, CA",
                },
                "unit": {
                    "type": "string",
                    "description": "The unit of temperature to return",
                    "enum": ["celsius", "fahrenheit"],
                },
            },
            "required": ["location"],
        },
    },
}


def tool_of(parameters: Any, description: str = "Look it up.") -> dict[str, Any]:
    function = {"name": "look_up", "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def object_of(**named: Any) -> dict[str, Any]:
    return {"type": "object", "properties": named, "required": sorted(named)}


SIMPLE = tool_of(object_of(word={"type": "string"}, page={"type": "integer"}))


# The laws of a count.


def request_of(format: str, texts: list[str]) -> Any:
    roles = itertools.cycle(["user", "assistant"])
    match format:
        case "gemini":
            contents = [{"role": next(roles), "parts": [{"text": text}]} for text in texts]
            return {"contents": contents, "systemInstruction": {"parts": [{"text": "Be kind."}]}}
        case "anthropic":
            messages = [{"role": next(roles), "content": text} for text in texts]
            return {"system": "Be kind.", "messages": messages, "tools": [{"name": "f"}]}
        case "openai-responses":
            return {"input": [{"role": next(roles), "content": text} for text in texts]}
        case _:
            messages = [{"role": next(roles), "content": text} for text in texts]
            return {"messages": messages, "tools": [WEATHER]}
