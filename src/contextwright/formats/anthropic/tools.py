"""Anthropic's tool definitions, read and written."""

from __future__ import annotations

from typing import Any, cast

from contextwright.errors import shown
from contextwright.formats.anthropic.read import NAME
from contextwright.formats.base import keep_extra, without
from contextwright.formats.reader import Reader
from contextwright.formats.rules import clean_name, tool_with_cache_mark
from contextwright.formats.schemas import (
    COMBINERS,
    object_schema,
    output_schema,
    valid_schema,
)
from contextwright.formats.target import Target
from contextwright.formats.tools import (
    foreign_fields,
    hosted_equals,
    is_first_of_name,
    sent_arguments,
)
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Tool
from contextwright.messages.parts import Opaque
from contextwright.wire.anthropic.hosted import hosted_name, name_problems
from contextwright.wire.anthropic.rules import is_deferred
from contextwright.wire.anthropic.strict import beyond_limits
from contextwright.wire.anthropic.types import CustomTool
from contextwright.wire.shapes import shape_problems
from contextwright.wire.values import Object

__all__ = ["tool_of", "tools_wire"]


def tool_of(tool: dict[str, Any], path: str, reader: Reader) -> Tool | Opaque:
    """Read one tool: the caller's own, or one that the provider hosts."""
    if tool.get("type") not in (None, "custom"):
        return Opaque(NAME, tool)
    schema = tool.get("input_schema")
    if not isinstance(schema, dict):
        reader.fault(f"{path}.input_schema", f"must be an object, not {shown(schema)}")
        schema = None
    strict = tool.get("strict")
    read = ("name", "description", "input_schema", "strict")
    return Tool(
        reader.text(tool, "name", path),
        reader.optional_text(tool, "description", path),
        cast("dict[str, Any] | None", schema),
        strict if isinstance(strict, bool) else None,
        keep_extra(NAME, {key: value for key, value in tool.items() if key not in read}),
    )


def tools_wire(
    conversation: Conversation, target: Target, changes: list[Change]
) -> list[dict[str, Any]]:
    """Write the tools. Tools hosted by another provider are left out."""
    wire: list[dict[str, Any]] = []
    paths: list[str] = []
    taken: set[str] = set()
    for index, tool in enumerate(conversation.tools):
        path = f"tools[{index}]"
        if isinstance(tool, Tool):
            tool = tool_with_cache_mark(tool, target)
            definitions = [tool_wire(tool, target, path, changes)]
        elif tool.format == NAME:
            definitions = named(tool.data, path, changes)
        else:
            definitions = hosted_equals(tool, NAME, path, changes)
        for definition in definitions:
            if is_first_of_name(definition.get("name"), taken, path, changes):
                wire.append(definition)
                paths.append(path)
    if wire and all(map(is_deferred, wire)):
        wire = [without(definition, "defer_loading") for definition in wire]
        changes.append(Change("repair.tools", "tools", "not all of them may be deferred"))
    for index, reason in beyond_limits(list(enumerate(wire))):
        wire[index] = {**wire[index], "strict": False}
        changes.append(Change("loss.strict", paths[index], reason))
    return wire


def named(tool: dict[str, Any], path: str, changes: list[Change]) -> list[dict[str, Any]]:
    """Return a hosted tool under the only name that its type may have; none if that is no text."""
    problem = next(name_problems(tool, path), None)
    only = hosted_name(tool["type"])
    if problem is None:
        return [tool]
    if only is None:
        changes.append(Change("loss.tool", path, f"its name is {shown(tool['name'])}"))
        return []
    changes.append(Change("repair.tool", f"{path}.name", problem.message))
    return [{**tool, "name": only}]


def tool_wire(tool: Tool, target: Target, path: str, changes: list[Change]) -> dict[str, Any]:
    """Write one tool's definition. The API requires an object at the root of its schema."""
    wire: dict[str, Any] = {"name": target.tool_names.get(tool.name, tool.name)}
    if tool.description is not None:
        wire["description"] = tool.description
    given = tool.parameters or {"type": "object"}
    schema = valid_schema(given, f"{path}.parameters", changes)
    schema, reworked = object_schema(schema, refused=COMBINERS)
    if reworked:
        reason = f"{', '.join(reworked)} not allowed at the root of a schema"
        changes.append(Change("repair.schema", f"{path}.parameters", reason))
    wire["input_schema"] = schema = with_sent_arguments(schema, path, changes)
    if tool.strict is not None:
        wire["strict"] = tool.strict
        if tool.strict and not target.same_format and output_schema(schema) != (schema, []):
            wire["strict"] = False
            reason = "strict requires closed objects, without bounds or recursion"
            changes.append(Change("loss.strict", path, reason))
    extra = tool.extra.get(NAME, {})
    lost = foreign_fields(tool, NAME)
    if extra and shape_problems({**extra, **wire}, CustomTool):
        lost.extend(extra)
        extra = {}
    if lost:
        reason = f"{NAME} has no place for {', '.join(map(clean_name, lost))}"
        changes.append(Change("loss.extra", path, reason))
    return {**extra, **wire}


def with_sent_arguments(schema: Object, path: str, changes: list[Change]) -> Object:
    """Return a schema without the names of arguments that the API refuses."""
    names = sent_arguments(schema)
    if not names:
        return schema
    for name, sent in names.items():
        reason = f"sent as {sent}; its calls come back under its own name"
        changes.append(Change("repair.schema", f"{path}.parameters.properties.{name}", reason))
    properties = {names.get(name, name): one for name, one in schema["properties"].items()}
    required = [names.get(name, name) for name in schema.get("required", ())]
    return {**schema, "properties": properties, **({"required": required} if required else {})}
