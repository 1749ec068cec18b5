"""Rules that remove from `extra` what OpenAI's own models refuse.

Hosts that imitate the API add their own fields; OpenAI refuses every unknown field. A type of items
or tools that may be new is left alone, because a later version of the API may accept it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from contextwright.errors import shown
from contextwright.formats.base import Options, keep_extra, without
from contextwright.formats.openai_responses.media import NAME
from contextwright.formats.rules import (
    Draft,
    Ruled,
    clean_name,
    is_plain_text,
    keeping,
    path_to,
)
from contextwright.formats.target import Target
from contextwright.messages.changes import Change
from contextwright.messages.message import Message, Role, Tool
from contextwright.messages.parts import (
    Extra,
    Media,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from contextwright.models import Model
from contextwright.text.json import convert
from contextwright.wire.openai_responses import items as wire
from contextwright.wire.openai_responses.rules import is_reasoning
from contextwright.wire.openai_responses.tools import (
    CustomTool,
    FunctionTool,
    Namespace,
    definition_problems,
)
from contextwright.wire.openai_responses.tools import Tool as AnyTool
from contextwright.wire.openai_responses.types import Request, item_shape, kind_of, unless_new
from contextwright.wire.shapes import EXTRA, shape_problems, trimmed, unknown_fields

__all__ = [
    "fitted_definition",
    "fitted_settings",
    "holds_reference",
    "is_exact",
    "is_namespace",
    "is_whole",
    "leave_out_refused",
    "accepts_extra",
    "accepts_items",
    "accepts_more",
]


def types_of(*shapes: type[msgspec.Struct], **marks: type) -> dict[str, Any]:
    """Return the fields of wire types by wire name, and our own marks."""
    fields = {
        field.encode_name: field.type for shape in shapes for field in msgspec.structs.fields(shape)
    }
    return fields | marks


SAID = {
    **without(types_of(wire.MessageItem, wire.OutputText, refusal=bool, continued=bool), "text"),
    # Further fields of a part are written to its message, and must not become its structure.
    "role": None,
    "content": None,
}
ADDRESSED = types_of(wire.MessageItem, role=str)
FIELDS: dict[type[Part], dict[str, Any]] = {
    Text: types_of(wire.InputText),
    Media: types_of(wire.InputFile),
    Thinking: types_of(wire.Reasoning),
}
IMAGE = types_of(wire.InputImage)
CALLS = {"custom_tool_call": types_of(wire.CustomToolCall, type=str)}
CALL = types_of(wire.FunctionCall)
OUTPUTS = {"custom_tool_call_output": types_of(wire.CustomToolCallOutput, type=str)}
OUTPUT = types_of(wire.FunctionCallOutput)
TOOL_MARKS: dict[str, Any] = {"namespace": Namespace, "additional_tools": bool}
TOOLS = {"custom": types_of(CustomTool, type=str) | TOOL_MARKS}
TOOL = types_of(FunctionTool) | TOOL_MARKS

replace = msgspec.structs.replace


def is_exact(model: Model, options: Options) -> bool:
    """Whether the host refuses unknown fields and ids, and repairs are enabled."""
    return model.provider == "openai" and options.repair


def leave_out_refused(draft: Draft, target: Target) -> Ruled:
    """Drop items and fields that the host refuses.

    OpenAI refuses every field that it does not know; other hosts may have fields of their own.
    """
    exact = is_exact(target.model, target.options)
    changes: list[Change] = []
    fitted: Draft = []
    for place, message in draft:
        if is_plain_text(message):
            fitted.append((place, message))
            continue
        extra = own_fields(message.extra, ADDRESSED, path_to(place), changes, exact=exact)
        parts: list[tuple[int, Part]] = []
        for index, part in enumerate(message.parts):
            path = path_to(place, index)
            kept = fitted_part(part, message.role, path, changes, exact=exact)
            if kept is not None:
                parts.append((index, kept))
        fitted.append(keeping((place, replace(message, extra=extra)), parts))
    return fitted, changes


def accepts_extra(holder: Part | Message, role: Role, model: Model, *, exact: bool = True) -> bool:
    """Whether `leave_out_refused` would not change a part or the fields of a message."""
    if isinstance(holder, Message):
        return own_fields(holder.extra, ADDRESSED, "", [], exact=exact) == holder.extra
    return fitted_part(holder, role, "", [], exact=exact) == holder


accepts_more = partial(accepts_extra, exact=False)
"""The same for a host that may have fields of its own."""


def accepts_items(holder: Part | Message, role: Role, model: Model) -> bool:
    """The same if nothing is repaired: fields stay as they are."""
    return not isinstance(holder, Opaque) or is_item(holder, "", [])


def fitted_part(
    part: Part, role: Role, path: str, changes: list[Change], *, exact: bool
) -> Part | None:
    """Return a part with only the fields that its item accepts; None if there is no such item."""
    if isinstance(part, Opaque):
        return fitted_item(part, path, changes)
    if isinstance(part, ToolResult) and isinstance(part.content, tuple):
        content = fitted_pieces(part, path, changes, exact=exact)
        return replace(with_fields(part, path, changes, exact=exact), content=content)
    return with_fields(part, path, changes, spoken=role == "assistant", exact=exact)


def fitted_item(part: Opaque, path: str, changes: list[Change]) -> Opaque | None:
    """Return an item of the API's own without unknown fields; None if it is not accepted."""
    is_known = part.format == NAME and isinstance(part.data.get("type"), str)
    fields = unknown_fields(item_shape(part.data, "")) if is_known else []
    known = replace(part, data=trimmed(part.data, fields)) if fields else part
    if not is_item(known, path, changes):
        return None
    if fields:
        names = ", ".join(map(clean_name, fields))
        changes.append(Change("loss.extra", path, f"{NAME} has no place for {names}"))
    return known


def is_item(part: Opaque, path: str, changes: list[Change]) -> bool:
    """Whether the API accepts an item of its own."""
    found = item_shape(part.data, "") if part.format == NAME else ()
    problem = next((problem for problem in found if problem.level == "error"), None)
    if problem is None:
        return True
    reason = f"the API does not accept it: {problem.path} {problem.message}"
    if problem.path == "type":
        reason = f"the API has no item {shown(part.data.get('type'))}"
    changes.append(Change("loss.opaque", path, reason))
    return False


def holds_reference(message: Message) -> bool:
    """Whether a message refers to a stored item that may be the partner of another.

    Reasoning is not: it is left out where the item that it led to is missing.
    """
    return any(
        type(part) is Opaque
        and part.format == NAME
        and kind_of(part.data) == "item_reference"
        and not is_reasoning("item_reference", part.data)
        and is_item(part, "", [])
        for part in message.parts
    )


def with_fields(
    part: Any, path: str, changes: list[Change], *, spoken: bool = False, exact: bool
) -> Any:
    """Return a part with only the fields that the API accepts."""
    if NAME not in part.extra:
        return part
    extra = own_fields(part.extra, types_for(part, spoken=spoken), path, changes, exact=exact)
    return part if extra is part.extra else replace(part, extra=extra)


def fitted_pieces(
    result: ToolResult, path: str, changes: list[Change], *, exact: bool
) -> tuple[Any, ...]:
    """Return the content of a tool result with only the fields the API accepts."""
    return tuple(
        piece
        if isinstance(piece, Opaque)
        else with_fields(piece, f"{path}.content[{index}]", changes, exact=exact)
        for index, piece in enumerate(result.content)
        if not isinstance(piece, str)
    )


def types_for(part: Part, *, spoken: bool) -> Mapping[str, Any]:
    """Return the fields that a part's wire form accepts."""
    match part:
        case Text() if spoken:
            return SAID
        case Media(kind="image"):
            return IMAGE
        case ToolCall():
            return CALLS.get(str(part.extra[NAME].get("type")), CALL)
        case ToolResult():
            return OUTPUTS.get(str(part.extra[NAME].get("type")), OUTPUT)
        case _:
            return FIELDS[type(part)]


def own_fields(
    extra: Extra,
    types: Mapping[str, Any],
    path: str,
    changes: list[Change],
    *,
    exact: bool,
) -> Extra:
    """Return the extra with only this format's fields that the API accepts.

    Those that it does not know are left out if it is `exact`.
    """
    own = extra.get(NAME)
    if not own:
        return extra
    kept = {
        key: value
        for key, value in own.items()
        if (fits(value, types[key], exact=exact) if key in types else not exact)
    }
    if len(kept) == len(own):
        return extra
    lost = ", ".join(clean_name(key) for key in own if key not in kept)
    refused = "OpenAI's own models refuse" if exact else "the API refuses the value of"
    changes.append(Change("loss.extra", path, f"{refused} {lost}"))
    others = {name: fields for name, fields in extra.items() if name != NAME}
    return others | keep_extra(NAME, kept)


def fits(value: Any, type: Any, *, exact: bool) -> bool:
    """Whether a value has the type the API requires; further fields are faults if `exact`."""
    try:
        convert(value, type)
    except msgspec.ValidationError:
        return not exact and all(one.code == EXTRA for one in shape_problems(value, type))
    except RecursionError:
        return False
    return True


def is_namespace(fields: dict[str, Any], *, exact: bool) -> bool:
    """Whether the API accepts the fields of a namespace besides its tools."""
    return fits(fields, Namespace, exact=exact)


def fitted_settings(
    wire: dict[str, Any], changes: list[Change], *, exact: bool = True
) -> dict[str, Any]:
    """Keep the settings whose type this API accepts, and if `exact` only those that it knows."""
    if not shape_problems(wire, Request):
        return wire
    kept: dict[str, Any] = {}
    for field, value in wire.items():
        problems = shape_problems({field: value}, Request)
        if any(exact or problem.code != EXTRA for problem in problems):
            changes.append(Change("loss.setting", field, f"{NAME} refuses {shown(value)}"))
        else:
            kept[field] = value
    return kept


def fitted_definition(tool: Tool, path: str, changes: list[Change], *, exact: bool) -> Tool:
    """Return one of the caller's tools with only the fields its kind accepts."""
    types = TOOLS.get(str(tool.extra.get(NAME, {}).get("type")), TOOL)
    return replace(tool, extra=own_fields(tool.extra, types, path, changes, exact=exact))


def is_whole(tool: dict[str, Any], path: str, changes: list[Change], *, exact: bool) -> bool:
    """Whether the definition of a hosted tool is complete; its schema too, if that is `exact`."""
    problems = shape_problems(tool, AnyTool)
    if not problems and exact:
        found = definition_problems(tool, "", "error")
        problems = [problem for problem in found if problem.level == "error"]
    if not problems:
        return True
    first, kind = problems[0], tool.get("type")
    if first.path == "type" and unless_new(first, kind).level == "warning":
        return True
    reason = f"the API does not accept it: {first.path.lstrip('.')} {first.message}"
    changes.append(Change("loss.tool", path, reason))
    return False
