"""The tools of Responses and ours, each way."""

from __future__ import annotations

from typing import Any

from contextwright.changes import Change
from contextwright.errors import shown
from contextwright.formats.base import Conversation
from contextwright.formats.openai_responses.fitting import fitted_definition, is_whole
from contextwright.formats.openai_responses.parts import NAME, is_exact, leftover
from contextwright.formats.reading import Reader
from contextwright.formats.target import Target
from contextwright.messages import Opaque, Tool
from contextwright.wire.openai_responses.tools import is_strict
from contextwright.wire.values import is_object

__all__ = ["tool_of", "tools_wire"]

CUSTOM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
    "additionalProperties": False,
}
"""What a custom tool takes, told to providers that know only functions: one text."""
NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}


def tool_of(tool: dict[str, Any], path: str, reader: Reader) -> Tool | Opaque:
    """A function or custom tool of the caller's, or one the provider hosts."""
    kind = tool.get("type")
    if kind not in ("function", "custom"):
        return Opaque(NAME, tool)
    nested = tool.get("function")
    if is_object(nested):
        reader.repair("repair.tool", path, "a tool in the shape of Chat Completions is flattened")
        tool = {**tool, **nested}
        del tool["function"]
    name = reader.text(tool, "name", path)
    description = reader.optional_text(tool, "description", path)
    if kind == "custom":
        return Tool(name, description, CUSTOM_SCHEMA, extra=leftover(tool, "name", "description"))
    schema, strict = tool.get("parameters"), tool.get("strict")
    if schema is not None and not is_object(schema):
        reader.fault(f"{path}.parameters", f"must be an object, not {shown(schema)}")
    return Tool(
        name,
        description,
        schema if is_object(schema) else None,
        strict if isinstance(strict, bool) else None,
        leftover(tool, "type", "name", "description", "parameters", "strict"),
    )


def tools_wire(
    conversation: Conversation, target: Target, changes: list[Change]
) -> list[dict[str, Any]]:
    """The tools the model may call; hosted tools only of this provider."""
    exact = is_exact(target.model, target.options)
    wire: list[dict[str, Any]] = []
    for index, tool in enumerate(conversation.tools):
        path = f"tools[{index}]"
        if not isinstance(tool, Opaque):
            wire.append(tool_wire(tool, target, path, changes))
        elif tool.format != NAME:
            changes.append(Change("loss.tool", path, f"hosted by {tool.format}"))
        elif not exact or is_whole(tool.data, path, changes):
            wire.append(tool.data)
    return wire


def tool_wire(tool: Tool, target: Target, path: str, changes: list[Change]) -> dict[str, Any]:
    """A tool's definition, flat; strict only where its schema is."""
    if is_exact(target.model, target.options):
        tool = fitted_definition(tool, path, changes)
    held = tool.extra.get(NAME, {})
    wire: dict[str, Any] = {"type": "function", "name": target.tool_names.get(tool.name, tool.name)}
    if tool.description is not None:
        wire["description"] = tool.description
    lost = [field for name, fields in tool.extra.items() if name != NAME for field in fields]
    if lost:
        changes.append(Change("loss.extra", path, f"{NAME} has no {', '.join(lost)}"))
    if held.get("type") == "custom":
        return {**wire, **held}
    if tool.parameters is not None or not target.faithful:
        wire["parameters"] = tool.parameters or NO_PARAMETERS
    strict = tool.strict
    if not target.faithful:
        # Left out, it would count as true here and as false almost everywhere else.
        strict = bool(strict) and is_strict(wire["parameters"])
        if tool.strict and not strict:
            reason = "strict wants every property required and additionalProperties: false"
            changes.append(Change("loss.strict", path, reason))
    if strict is not None:
        wire["strict"] = strict
    return {**wire, **held}
