"""Draws values, and what the bodies of all APIs share."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, TypeAlias

Body: TypeAlias = dict[str, Any]


MODELS = {
    "anthropic": ("claude-sonnet-4-5", "claude-opus-4-7", "claude-opus-5", "claude-sonnet-5-5"),
    "gemini": ("gemini-2.5-flash", "gemini-3.1-pro-preview", "gemini-3.8-flash"),
    "openai-chat": (
        "gpt-4o",
        "gpt-5.6-sol",
        "deepseek-chat",
        "anthropic/claude-opus-4.6",
        "gemini-3.8-flash",
    ),
    "openai-responses": ("gpt-4o", "gpt-5.6-sol", "deepseek-v4-flash"),
}
IDS = ("a", "a", "b", "call_1", "call:2", "")


PEOPLE = ("Ada", "Ada", "Olena_K")


SCHEMAS: tuple[Body, ...] = (
    {"type": "object", "properties": {}},
    {
        "type": "object",
        "properties": {"q": {"type": "string", "description": "what"}, "n": {"type": "integer"}},
        "required": ["q", "n"],
        "additionalProperties": False,
    },
    {
        "type": "object",
        "properties": {
            "node": {"$ref": "#/$defs/Node"},
            "kind": {"const": "tree"},
            "when": {"type": ["string", "null"], "format": "date"},
            "size": {"anyOf": [{"type": "integer", "exclusiveMinimum": 0}, {"type": "null"}]},
        },
        "required": ["node"],
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {
                    "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                },
            }
        },
    },
    {"anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"type": "object"}]},
)


PROTO: Body = {
    "type": "OBJECT",
    "properties": {"q": {"type": "STRING", "nullable": True, "enum": ["a", "b"]}},
    "propertyOrdering": ["q"],
}


class Pen:
    """Draws one body, piece by piece."""

    def __init__(self, choose: Callable[[int], int]) -> None:
        self.choose = choose
        """Chooses a number from 0 to below the given one."""
        self.numbers = count(1)
        self.tools: list[tuple[str, str | None, str]] = []
        """The caller's tools that the request defines: name, namespace, kind."""
        self.hosted = False
        """Whether the request is to another host of its API than the vendor."""

    def words(self, before: str = "Words") -> str:
        return f"{before} ¶{next(self.numbers)}"

    def name(self, before: str = "tool") -> str:
        return f"{before}_{next(self.numbers)}"

    def chance(self, one_in: int) -> bool:
        return self.choose(one_in) == one_in - 1

    def one(self, *options: Any) -> Any:
        return options[self.choose(len(options))]

    def some(self, options: dict[str, Any], most: int = 6) -> Body:
        """Some of the fields, each with one of its values; texts among them are numbered."""
        left = sorted(options)
        count = self.choose(min(most, len(left)) + 1)
        names = [left.pop(self.choose(len(left))) for _ in range(count)]
        return {name: self.value(options[name]) for name in names}

    def value(self, values: Any) -> Any:
        chosen = self.one(*values) if isinstance(values, tuple) else values
        return chosen(self) if callable(chosen) else chosen

    def later(self, turns: list[Body]) -> list[Body]:
        """The turns; now and then without the first ones, as a window or a cache leaves them."""
        return turns[self.one(1, 2) :] or turns if self.chance(8) else turns

    def extra(self) -> Body:
        """A field that nobody knows, rarely."""
        return {"x_trace": self.words("trace")} if self.chance(12) else {}

    def id(self) -> str:
        return self.one(*IDS) if self.chance(3) else f"call_{next(self.numbers)}"

    def called(self) -> tuple[str, str | None, str]:
        """A tool to call: one that is defined, or one that no longer is."""
        gone = ("gone", None, "function"), ("gone: long ago", None, "function")
        return self.one(*self.tools, *gone)


def schema(pen: Pen) -> Body:
    return pen.one(*SCHEMAS)
