"""Pydantic AI: a history processor that keeps what fits a budget.

trim = history_processor("gpt-5.6-sol", budget=20_000)
agent = Agent("openai:gpt-5.6-sol", capabilities=[ProcessHistory(trim)])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from contextwright.context.recipe_data import RecipeData
from contextwright.errors import MissingExtra
from contextwright.integrations.trimming import Trimming
from contextwright.messages.message import Message, Role
from contextwright.messages.parts import (
    Media,
    MediaKind,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from contextwright.models import Model

try:
    from pydantic_ai.messages import (
        AudioUrl,
        BinaryContent,
        CachePoint,
        FileUrl,
        ImageUrl,
        ModelMessage,
        ModelResponse,
        SystemPromptPart,
        TextContent,
        TextPart,
        ThinkingPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
        VideoUrl,
    )
    from pydantic_core import to_json
except ModuleNotFoundError as error:
    raise MissingExtra("the integration of Pydantic AI", "pydantic-ai") from error

__all__ = ["history_processor"]

Place: TypeAlias = tuple[int, int]
"""A part: index of its message, index among the parts."""


def history_processor(
    model: str | Model, *, budget: int | None = None, recipe: RecipeData | str | None = None
) -> Callable[[list[ModelMessage]], list[ModelMessage]]:
    """Return a history processor that keeps the messages that fit, for a model.

    The budget is that of the messages: instructions and tools come on top. By default it is the
    recipe's, else the model's input limit. System prompts, the newest question and the newest
    exchange stay, tool returns stay with their call. Messages that stay whole are the same objects;
    of a request that stays in part, a copy has the parts that stay.

    Raises:
        BudgetError: what has to stay does not fit; it names the smallest budget that works.
        UsageError: the recipe does more than choose messages.
    """
    trimming = Trimming(model, budget=budget, recipe=recipe)

    def trim(messages: list[ModelMessage]) -> list[ModelMessage]:
        units = [
            unit for index, message in enumerate(messages) for unit in units_of(message, index)
        ]
        kept = trimming.kept([unit for unit, _ in units])
        places = {place for index in kept for place in units[index][1]}
        return list(staying(messages, places))

    return trim


def staying(messages: Sequence[ModelMessage], places: set[Place]) -> Iterable[ModelMessage]:
    """Yield the messages with the parts that stay; those without parts stay too."""
    for index, message in enumerate(messages):
        parts: list[Any] = [part for at, part in enumerate(message.parts) if (index, at) in places]
        if len(parts) == len(message.parts):
            yield message
        elif parts:
            yield replace(message, parts=parts)


def units_of(message: ModelMessage, index: int) -> list[tuple[Message, list[Place]]]:
    """Return a message as ours, with the places of the parts each stands for.

    A response is one message. A request is one for its prompts, one for its system prompts, and
    one for each tool return.
    """
    places = [(index, at) for at in range(len(message.parts))]
    if isinstance(message, ModelResponse):
        parts = tuple(response_part(part) for part in message.parts)
        return [(Message("assistant", parts), places)] if parts else []
    by_role: dict[Role, tuple[list[Part], list[Place]]] = {}
    units: list[tuple[Message, list[Place]]] = []
    for place, part in zip(places, message.parts, strict=True):
        role, read = request_parts(part)
        if role == "tool":
            units.append((Message("tool", tuple(read)), [place]))
        else:
            gathered = by_role.setdefault(role, ([], []))
            gathered[0].extend(read)
            gathered[1].append(place)
    for role in ("user", "system"):
        if role in by_role:
            parts, at = by_role[role]
            unit = (Message(role, tuple(parts)), at)
            units = [unit, *units] if role == "system" else [*units, unit]
    return units


def request_parts(part: Any) -> tuple[Role, Sequence[Part]]:
    """Return a part of a request as ours; the framework's own notices count as system text."""
    if isinstance(part, SystemPromptPart):
        return "system", [Text(part.content)]
    if isinstance(part, UserPromptPart):
        content = [part.content] if isinstance(part.content, str) else part.content
        return "user", contents(content)
    if isinstance(part, ToolReturnPart):
        text, beside = part.model_response_str_and_user_content()
        parts = (Text(text), *contents(beside)) if beside else text
        return "tool", [ToolResult(part.tool_call_id, parts, part.tool_name)]
    if part.part_kind == "retry-prompt" and part.tool_name is not None:
        return "tool", [ToolResult(part.tool_call_id, part.model_response(), part.tool_name)]
    if part.part_kind in ("retry-prompt", "retry-feedback"):
        return "user", [Text(part.model_response())]
    return "system", [as_text(part)]


def response_part(part: Any) -> Part:
    """Return a part of a response as ours."""
    if isinstance(part, TextPart):
        return Text(part.content)
    if isinstance(part, ThinkingPart):
        return Thinking(part.content)
    if isinstance(part, ToolCallPart):
        return ToolCall.from_json(part.tool_name, part.args_as_json_str(), id=part.tool_call_id)
    return as_text(part)


def contents(items: Iterable[Any]) -> list[Text | Media]:
    """Return the content of a prompt as ours, without cache points."""
    return [content_of(item) for item in items if not isinstance(item, CachePoint)]


def content_of(item: Any) -> Text | Media:
    """Return one piece of content as ours."""
    match item:
        case str():
            return Text(item)
        case TextContent():
            return Text(item.content)
        case BinaryContent():
            kind = item.media_type.partition("/")[0]
            return Media(media_kind(kind), item.media_type, item.base64)
        case FileUrl():
            kinds = ((ImageUrl, "image"), (AudioUrl, "audio"), (VideoUrl, "video"))
            named = next((name for type, name in kinds if isinstance(item, type)), "document")
            return Media(media_kind(named), url=item.url)
        case _:
            return as_text(item)


def media_kind(name: str) -> MediaKind:
    """Return the kind of media with a name; everything unknown is a document."""
    return name if name in ("image", "audio", "video") else "document"


def as_text(part: Any) -> Text:
    """Return what only the framework reads as its JSON, so that it is counted."""
    return Text(to_json(part, bytes_mode="base64", fallback=repr).decode())
