"""Tool definitions and calls of Chat Completions and Hugging Face lists, read and written."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from contextwright.errors import shown
from contextwright.formats.base import keep_extra, without
from contextwright.formats.openai_chat.rules import fitted_tool
from contextwright.formats.reader import Reader
from contextwright.formats.rules import tool_with_cache_mark
from contextwright.formats.target import Target
from contextwright.formats.tools import foreign_fields, is_first_of_name
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, replaced
from contextwright.messages.message import Tool
from contextwright.messages.parts import Opaque, ToolCall
from contextwright.text.json import encode_json
from contextwright.wire.openai_chat.dialects import Dialect
from contextwright.wire.openai_chat.rules import MAX_TOOLS, NEEDING_TOOLS, forced_tool

__all__ = [
    "block_call",
    "call_of",
    "function_of",
    "settle_choice",
    "settle_tools",
    "tool_of",
    "tools_wire",
    "without_custom",
]


NAME = "openai-chat"
USUAL = ("auto", True)
"""Values of the settings of tools that ask for what happens anyway."""

# --- reading ---------------------------------------------------------------------------------


def call_of(call: dict[str, Any], path: str, reader: Reader) -> ToolCall:
    """Read a call of a function or a custom tool; free text becomes the argument `input`."""
    id = reader.optional_text(call, "id", path)
    if call.get("type") == "custom" and isinstance(call.get("custom"), dict):
        return custom_call(call, id, f"{path}.custom", reader)
    function = call.get("function")
    if isinstance(function, dict):
        fields = without(call, "id", "type", "function")
        function, path = cast("dict[str, Any]", function), f"{path}.function"
        inner = without(function, "name", "arguments")
        if inner:
            fields["function"] = inner
    else:
        reader.repair("repair.call", path, "a call without its function object")
        fields = without(call, "id", "type", "function", "name", "arguments")
        function = call
    name = reader.text(function, "name", path)
    return with_arguments(name, function.get("arguments"), id, path, reader, fields)


def custom_call(call: dict[str, Any], id: str | None, path: str, reader: Reader) -> ToolCall:
    custom = cast("dict[str, Any]", call["custom"])
    fields = {"type": "custom", **without(call, "id", "type", "custom")}
    arguments = {"input": reader.text(custom, "input", path)}
    return ToolCall(reader.text(custom, "name", path), arguments, id, None, {reader.format: fields})


def with_arguments(
    name: str, given: Any, id: str | None, path: str, reader: Reader, fields: dict[str, Any]
) -> ToolCall:
    """Build a call from arguments in any spelling in use: JSON text, or an object."""
    extra = keep_extra(reader.format, fields)
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
        reason = f"not a JSON object: {shown(given)}"
        reader.repair("repair.arguments", f"{path}.arguments", reason)
    else:
        reader.note_repeated(call.raw, call.arguments, f"{path}.arguments")
    return call


def block_call(block: dict[str, Any], path: str, reader: Reader) -> ToolCall:
    """Read a call that is a content block, as in Anthropic's format."""
    reader.repair("repair.call", path, "a tool_use block; calls belong in tool_calls")
    id = reader.optional_text(block, "id", path)
    return with_arguments(
        reader.text(block, "name", path), block.get("input"), id, path, reader, {}
    )


def tool_of(tool: dict[str, Any], path: str, reader: Reader) -> Tool | Opaque:
    """Read a function or custom tool of the caller's, or one that the host runs."""
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
    fields = without(tool, "type", "function")
    if "type" not in tool:
        fields["type"] = False
    return function_of(cast("dict[str, Any]", function), f"{path}.function", reader, fields)


def custom_of(tool: dict[str, Any], path: str, reader: Reader) -> Tool:
    """Read a custom tool; other formats see a function with one text argument."""
    custom = cast("dict[str, Any]", tool["custom"])
    fields = {
        **without(tool, "type", "custom"),
        "type": "custom",
        "custom": without(custom, "name", "description"),
    }
    return Tool(
        reader.text(custom, "name", path),
        reader.optional_text(custom, "description", path),
        CUSTOM_SCHEMA,
        extra={reader.format: fields},
    )


CUSTOM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
    "additionalProperties": False,
}


def function_of(
    function: dict[str, Any], path: str, reader: Reader, fields: dict[str, Any]
) -> Tool:
    """Read a function's definition; `fields` are the fields next to it."""
    rest = without(function, "name", "description", "parameters", "strict", "type", "function")
    parameters, strict = function.get("parameters"), function.get("strict")
    if parameters is not None and not isinstance(parameters, dict):
        reader.fault(f"{path}.parameters", f"must be an object, not {shown(parameters)}")
        parameters = None
    for key in ("description", "parameters", "strict"):
        if key in function and function[key] is None:
            rest[key] = None
    if rest:
        fields = {**fields, "function": rest}
    return Tool(
        reader.text(function, "name", path),
        reader.optional_text(function, "description", path),
        cast("dict[str, Any] | None", parameters),
        strict if isinstance(strict, bool) else None,
        keep_extra(reader.format, fields),
    )


# --- writing ---------------------------------------------------------------------------------


def tools_wire(
    conversation: Conversation, target: Target, dialect: Dialect, changes: list[Change]
) -> dict[str, list[dict[str, Any]]]:
    """Write the tools as `tools`, or in the old style as `functions`."""
    wire: dict[str, list[dict[str, Any]]] = {}
    taken: set[str] = set()
    repeats = target.same_format and target.model.same_tool_names
    for index, tool in enumerate(conversation.tools):
        path = f"tools[{index}]"
        if isinstance(tool, Opaque):
            if tool.format != NAME:
                changes.append(Change("loss.tool", path, f"hosted by {tool.format}"))
            elif dialect.closed:
                reason = "OpenAI has no such tool in this format"
                changes.append(Change("loss.tool", path, reason))
            else:
                wire.setdefault("tools", []).append(tool.data)
            continue
        name = target.tool_names.get(tool.name, tool.name)
        if not repeats and not is_first_of_name(name, taken, path, changes):
            continue
        if dialect.closed:
            tool = fitted_tool(tool, path, changes, same_format=target.same_format)
        tool = tool_with_cache_mark(tool, target)
        lost = foreign_fields(tool, NAME)
        if lost:
            changes.append(Change("loss.extra", path, f"{NAME} has no {', '.join(lost)}"))
        definition = tool_wire(tool, name)
        if tool.extra.get(NAME, {}).get("functions") is True:
            wire.setdefault("functions", []).append(definition["function"])
        else:
            wire.setdefault("tools", []).append(definition)
    return wire


def without_custom(
    conversation: Conversation, dialect: Dialect, changes: list[Change]
) -> Conversation:
    """Turn custom tools into functions of one text, for hosts that have only functions."""
    tools: list[Tool | Opaque] = []
    for index, tool in enumerate(conversation.tools):
        if isinstance(tool, Tool) and tool.extra.get(NAME, {}).get("type") == "custom":
            own = tool.extra[NAME]
            lost = ", ".join(["type", *(own.get("custom") or ())])
            reason = f"{dialect.name} hosts have no place for {lost}"
            changes.append(Change("loss.extra", f"tools[{index}]", reason))
            extra = {**tool.extra, NAME: without(own, "type", "custom")}
            tool = msgspec.structs.replace(tool, extra=extra)
        tools.append(tool)
    return replaced(conversation, tools=tuple(tools))


def settle_tools(body: dict[str, Any], changes: list[Change]) -> None:
    """Drop the tools that are too many, and an empty list of them."""
    given: list[Any] = body.get("tools") or []
    if len(given) > MAX_TOOLS:
        body["tools"] = given[:MAX_TOOLS]
        for index in range(MAX_TOOLS, len(given)):
            changes.append(Change("loss.tool", f"tools[{index}]", f"at most {MAX_TOOLS} tools"))
    if body.get("tools") == []:
        del body["tools"]
        changes.append(Change("repair.tools", "tools", "an empty list is refused; left out"))


def settle_choice(body: dict[str, Any], changes: list[Change]) -> None:
    """Drop the settings of tools that are refused where there are none of these tools."""
    for field, needed in NEEDING_TOOLS.items():
        if field in body and needed not in body:
            value = body.pop(field)
            if value is not None:
                code = "repair.setting" if value in USUAL else "loss.setting"
                changes.append(Change(code, field, f"not allowed without {needed}"))
    for problem in forced_tool(body):
        del body["tool_choice"]
        changes.append(Change("loss.setting", "tool_choice", problem.message))


def tool_wire(tool: Tool, name: str) -> dict[str, Any]:
    """Write one tool's definition."""
    function: dict[str, Any] = {"name": name}
    if tool.description is not None:
        function["description"] = tool.description
    extra = tool.extra.get(NAME, {})
    if extra.get("type") == "custom":
        custom = without(extra.get("custom") or {}, "name", "description")
        return {
            "type": "custom",
            "custom": {**function, **custom},
            **without(extra, "type", "custom"),
        }
    if tool.parameters is not None:
        function["parameters"] = tool.parameters
    if tool.strict is not None:
        function["strict"] = tool.strict
    if not extra:
        return {"type": "function", "function": function}
    inner = extra.get("function")
    if isinstance(inner, dict):
        function.update(without(cast("dict[str, Any]", inner), *function))
    wire: dict[str, Any] = {"type": "function", "function": function}
    if extra.get("type") is False:
        del wire["type"]
    wire.update(without(extra, "type", "function", "functions", "custom"))
    return wire
