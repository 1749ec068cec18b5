"""The OpenAI Responses request, as types: `POST /v1/responses`.

Rules of order, which types cannot express, are in `rules.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import msgspec

from contextwright.errors import Problem, shown
from contextwright.text.json import convert
from contextwright.wire.openai_responses.items import Item, Message
from contextwright.wire.openai_responses.tools import Tool, ToolChoice
from contextwright.wire.shapes import Shape, objects_in, shape_problems
from contextwright.wire.values import is_object

__all__ = ["Request", "are_items", "body_shape", "item_shapes", "kind_of"]


class ReasoningConfig(Shape):
    effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None
    summary: Literal["auto", "concise", "detailed"] | None = None
    generate_summary: Literal["auto", "concise", "detailed"] | None = None
    context: Literal["auto", "current_turn", "all_turns"] | None = None
    mode: str | None = None


class PlainFormat(Shape, tag_field="type", tag="text"): ...


class JsonFormat(Shape, tag_field="type", tag="json_object"): ...


class JsonSchemaFormat(Shape, tag_field="type", tag="json_schema"):
    name: str
    schema: dict[str, Any]
    description: str | None = None
    strict: bool | None = None


class TextConfig(Shape):
    format: PlainFormat | JsonSchemaFormat | JsonFormat | None = None
    verbosity: Literal["low", "medium", "high"] | None = None


class ContextManagement(Shape):
    type: str
    compact_threshold: int | None = None


class StoredConversation(Shape):
    id: str


class StoredPrompt(Shape):
    id: str
    version: str | None = None
    variables: dict[str, Any] | None = None


class CacheOptions(Shape):
    mode: Literal["implicit", "explicit"] | None = None
    ttl: Literal["30m", "12h"] | None = None
    prewarm: bool | None = None
    comparison_response_id: str | None = None


class StreamOptions(Shape):
    include_obfuscation: bool | None = None


Includable: TypeAlias = Literal[
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "message.input_image.image_url",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
    "reasoning.encrypted_content",
    "message.output_text.logprobs",
]


class Request(Shape):
    """The body; the items of `input` are checked one by one, since messages need no `type`."""

    model: str | None = None
    input: str | list[Any] | None = None
    instructions: str | None = None
    previous_response_id: str | None = None
    conversation: str | StoredConversation | None = None
    tools: list[Tool] | None = None
    tool_choice: Literal["none", "auto", "required"] | ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    max_tool_calls: int | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_logprobs: int | None = None
    reasoning: ReasoningConfig | None = None
    text: TextConfig | None = None
    include: list[Includable] | None = None
    store: bool | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    background: bool | None = None
    truncation: Literal["auto", "disabled"] | None = None
    context_management: list[ContextManagement] | None = None
    prompt: StoredPrompt | None = None
    prompt_cache_key: str | None = None
    prompt_cache_options: CacheOptions | None = None
    prompt_cache_retention: Literal["in_memory", "in-memory", "24h"] | None = None
    metadata: dict[str, str] | None = None
    moderation: dict[str, Any] | None = None
    service_tier: (
        Literal["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"] | None
    ) = None
    safety_identifier: str | None = None
    user: str | None = None
    image: dict[str, Any] | None = None
    access_programs: dict[str, Any] | None = None
    client_metadata: dict[str, Any] | None = None
    """Codex sends it, and over a WebSocket the two below; no documentation names them."""
    generate: bool | None = None
    type: Literal["response.create"] | None = None


class Items(Shape):
    """The items of an input: messages have a `role`, others a `type`."""

    messages: list[Message]
    others: list[Item]


def kind_of(item: dict[str, Any]) -> str:
    """Return an item's `type`, or the role of a message."""
    kind = item.get("type")
    if kind is None or kind == "message":
        role = item.get("role")
        if isinstance(role, str):
            return role
        return "item_reference" if kind is None and "id" in item else "message"
    return kind if isinstance(kind, str) else ""


def body_shape(payload: Any) -> Iterator[Problem]:
    """List type errors of the body; a tool in the shape of Chat Completions is named as such."""
    problems = shape_problems(payload, Request)
    if not problems:
        return
    tools = payload.get("tools") if is_object(payload) else None
    nested = {
        f"tools[{index}]" for index, tool in objects_in(tools) if is_object(tool.get("function"))
    }
    for path in sorted(nested):
        yield Problem("OR-toolshape", f"{path}.function", "tools are flat: name is next to type")
    for problem in problems:
        place = problem.path.partition(".")[0]
        if place in nested:
            continue
        if place.startswith("tools[") and problem.path == f"{place}.type":
            problem = unless_new(problem, payload["tools"][int(place[6:-1])].get("type"))
        yield problem


NEW_KIND = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+").fullmatch
"""How the API names kinds of items and tools: a later version may accept one we do not know."""


def unless_new(problem: Problem, kind: Any) -> Problem:
    """Return the problem of an unknown type; a warning if it may be the name of a new kind."""
    if problem.code != "T-literal" or not isinstance(kind, str) or not NEW_KIND(kind):
        return problem
    return Problem("T-literal", problem.path, f"{shown(kind)} is not a known kind", "warning")


def item_shapes(items: list[Any]) -> Iterator[Problem]:
    """List type errors of the items, one by one unless all are valid."""
    if not are_items(items):
        for index, item in enumerate(items):
            yield from item_shape(item, f"input[{index}]")


def are_items(values: list[Any]) -> bool:
    """Whether all values are items."""
    messages: list[Any] = []
    others: list[Any] = []
    for value in values:
        (messages if is_message(value) else others).append(value)
    try:
        convert({"messages": messages, "others": others}, Items)
    except (msgspec.ValidationError, RecursionError):
        return False
    return True


def is_message(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type", "message") == "message"  # pyright: ignore


def item_shape(item: Any, path: str) -> Iterator[Problem]:
    if not is_object(item):
        yield Problem("T-type", path, f"must be an object, not {shown(item)}")
        return
    if item.get("type") is None:  # messages and references may omit it
        kind = "item_reference" if kind_of(item) == "item_reference" else "message"
        item = {**item, "type": kind}
    for problem in shape_problems(item, Message if is_message(item) else Item, path):
        yield renamed(problem, item, path)


def renamed(problem: Problem, item: dict[str, Any], path: str) -> Problem:
    """Report null content and parts of the wrong role under their own codes."""
    where = problem.path.removeprefix(path)
    if where.removeprefix(".") == "type":
        return unless_new(problem, item.get("type"))
    field = where[1:].partition("[")[0]
    if field not in ("content", "output") or item.get("type") == "reasoning":
        return problem
    if where == f".{field}" and field in item and item[field] is None:
        return Problem("OR-null", problem.path, "must not be null")
    if problem.code == "T-literal" and where.endswith("].type"):
        code = "OR-assistant-part" if item.get("role") == "assistant" else "OR-part"
        return Problem(code, problem.path, problem.message)
    return problem
