"""Calls of tools and their definitions, as Chat Completions and the Hugging Face list have them."""

from __future__ import annotations

from typing import Any, cast

from contextwright.errors import shown
from contextwright.formats.base import keep_extra
from contextwright.formats.reading import Reader
from contextwright.messages import Opaque, Tool, ToolCall, encode_json

__all__ = ["block_call", "call_of", "function_of", "leftover", "tool_of"]


def leftover(entry: dict[str, Any], *read: str) -> dict[str, Any]:
    """The fields that no field of ours took."""
    return {key: entry[key] for key in entry if key not in read}


def call_of(call: dict[str, Any], path: str, reader: Reader) -> ToolCall:
    """A call of a function, or of a custom tool, whose free text becomes the argument `input`."""
    id = reader.optional_text(call, "id", path)
    if call.get("type") == "custom" and isinstance(call.get("custom"), dict):
        return custom_call(call, id, f"{path}.custom", reader)
    function = call.get("function")
    if isinstance(function, dict):
        held = leftover(call, "id", "type", "function")
        function, path = cast("dict[str, Any]", function), f"{path}.function"
        inner = leftover(function, "name", "arguments")
        if inner:
            held["function"] = inner
    else:
        reader.repair("repair.call", path, "a call without its function object")
        held = leftover(call, "id", "type", "function", "name", "arguments")
        function = call
    name = reader.text(function, "name", path)
    return with_arguments(name, function.get("arguments"), id, path, reader, held)


def custom_call(call: dict[str, Any], id: str | None, path: str, reader: Reader) -> ToolCall:
    custom = cast("dict[str, Any]", call["custom"])
    held = {"type": "custom", **leftover(call, "id", "type", "custom")}
    arguments = {"input": reader.text(custom, "input", path)}
    return ToolCall(reader.text(custom, "name", path), arguments, id, None, {reader.format: held})


def with_arguments(
    name: str, given: Any, id: str | None, path: str, reader: Reader, held: dict[str, Any]
) -> ToolCall:
    """A call from arguments in any of the spellings in use: JSON text, or an object."""
    extra = keep_extra(reader.format, held)
    if isinstance(given, dict):
        return ToolCall(name, cast("dict[str, Any]", given), id, None, extra)
    if given is None:
        return ToolCall(name, {}, id, None, extra)
    try:
        text = given if isinstance(given, str) else encode_json(given).decode()
        call = ToolCall.from_json(name, text, id=id, extra=extra)
    except (UnicodeEncodeError, RecursionError):
        reader.fault(f"{path}.arguments", "cannot be written as JSON")
        return ToolCall(name, {}, id)
    if call.raw is not None and "_raw" in call.arguments:
        reason = f"no JSON object: {shown(given)}"
        reader.repair("repair.arguments", f"{path}.arguments", reason)
    return call


def block_call(block: dict[str, Any], path: str, reader: Reader) -> ToolCall:
    """A call spelled as a content block, as another provider has it."""
    reader.repair("repair.call", path, "a tool_use block; calls belong in tool_calls")
    id = reader.optional_text(block, "id", path)
    return with_arguments(
        reader.text(block, "name", path), block.get("input"), id, path, reader, {}
    )


def tool_of(tool: dict[str, Any], path: str, reader: Reader) -> Tool | Opaque:
    """A function or custom tool of the caller's, or one that the host runs."""
    kind, function = tool.get("type"), tool.get("function")
    if kind == "custom" and isinstance(tool.get("custom"), dict):
        return custom_of(tool, f"{path}.custom", reader)
    if isinstance(kind, str) and kind != "function":
        return Opaque(reader.format, tool)
    if not isinstance(function, dict):
        if isinstance(tool.get("name"), str):
            reader.repair("repair.tool", path, "a function without its function object")
            return function_of(tool, path, reader, {})
        reader.fault(f"{path}.function", f"must be an object, not {shown(function)}")
        return Opaque(reader.format, tool)
    held = leftover(tool, "type", "function")
    if "type" not in tool:
        held["type"] = False
    return function_of(cast("dict[str, Any]", function), f"{path}.function", reader, held)


def custom_of(tool: dict[str, Any], path: str, reader: Reader) -> Tool:
    """A tool that takes free text; told to others as a function with one text argument."""
    custom = cast("dict[str, Any]", tool["custom"])
    held = {
        **leftover(tool, "type", "custom"),
        "type": "custom",
        "custom": leftover(custom, "name", "description"),
    }
    return Tool(
        reader.text(custom, "name", path),
        reader.optional_text(custom, "description", path),
        CUSTOM_SCHEMA,
        extra={reader.format: held},
    )


CUSTOM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
    "additionalProperties": False,
}


def function_of(function: dict[str, Any], path: str, reader: Reader, held: dict[str, Any]) -> Tool:
    """A function's definition; `held` is what stood beside it."""
    rest = leftover(function, "name", "description", "parameters", "strict", "type", "function")
    parameters, strict = function.get("parameters"), function.get("strict")
    if parameters is not None and not isinstance(parameters, dict):
        reader.fault(f"{path}.parameters", f"must be an object, not {shown(parameters)}")
        parameters = None
    for key in ("description", "parameters", "strict"):
        if key in function and function[key] is None:
            rest[key] = None
    if rest:
        held = {**held, "function": rest}
    return Tool(
        reader.text(function, "name", path),
        reader.optional_text(function, "description", path),
        cast("dict[str, Any] | None", parameters),
        strict if isinstance(strict, bool) else None,
        keep_extra(reader.format, held),
    )
