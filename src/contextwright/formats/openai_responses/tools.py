"""The tools of Responses, read and written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from contextwright.errors import shown
from contextwright.formats.base import without
from contextwright.formats.openai import with_fitted_schema
from contextwright.formats.openai_responses.media import NAME, leftover
from contextwright.formats.openai_responses.rules import fitted_definition, is_exact, is_whole
from contextwright.formats.reader import Reader
from contextwright.formats.target import Target
from contextwright.formats.tools import flat_name, foreign_fields, hosted_equals, is_first_of_name
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message, Tool
from contextwright.messages.parts import Opaque
from contextwright.wire.openai_responses.tools import STRICT, is_strict
from contextwright.wire.shapes import objects_in
from contextwright.wire.values import is_list, is_object

__all__ = ["namespace_of", "own_name", "respelled_item", "tools_of", "tools_wire"]

CUSTOM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
    "additionalProperties": False,
}
"""The schema of a custom tool for providers that have only functions: one text."""
READ = ("type", "name", "description", "parameters", "strict")
NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}


ADDED = "additional_tools"
"""The type of item that adds tools in mid-conversation, and the mark of tools from one."""


def tools_of(body: dict[str, Any], reader: Reader) -> list[Tool | Opaque]:
    """Read all tools of a request: its own, and those that items add."""
    tools: list[Tool | Opaque] = []
    for path, tool in reader.objects(body, "tools"):
        tools.extend(flattened(tool, path, reader, {}))
    for index, item in objects_in(body.get("input")):
        if item.get("type") == ADDED:
            for path, tool in reader.objects(item, "tools", f"input[{index}]"):
                tools.extend(flattened(tool, path, reader, {ADDED: True}))
    return tools


def flattened(
    tool: dict[str, Any], path: str, reader: Reader, mark: dict[str, Any]
) -> Iterator[Tool | Opaque]:
    """Yield a tool, or the tools of a namespace under flat names."""
    kind, inner = tool.get("type"), tool.get("tools")
    if not isinstance(kind, str):
        reader.repair("loss.tool", f"{path}.type", f"must be a string, not {shown(kind)}")
    elif kind != "namespace" or not isinstance(tool.get("name"), str):
        made = marked(tool_of(tool, path, reader), mark)
        if isinstance(made, Tool) or not mark:
            yield made  # a hosted tool stays in the item that adds it
    elif not is_list(inner) or not inner or not all(map(is_object, inner)):
        yield Opaque(NAME, tool)
    else:
        mark = {**mark, "namespace": without(tool, "tools")}
        for place, one in reader.objects(tool, "tools", path):
            made = marked(tool_of(one, place, reader), mark)
            if isinstance(made, Tool):
                yield replace(made, name=flat_name(tool["name"], made.name))
            else:
                reason = f"a namespace cannot hold {shown(one.get('type'))}"
                reader.repair("loss.tool", place, reason)


def namespace_of(tool: Tool | Opaque) -> dict[str, Any] | None:
    """Return the namespace of a tool without its tools; None if it has none."""
    namespace = tool.extra.get(NAME, {}).get("namespace") if isinstance(tool, Tool) else None
    return namespace if is_object(namespace) else None


def own_name(tool: Tool) -> str:
    """Return the name of a tool in its namespace."""
    namespace = namespace_of(tool)
    return tool.name.removeprefix(flat_name(namespace["name"], "")) if namespace else tool.name


def marked(tool: Tool | Opaque, mark: dict[str, Any]) -> Tool | Opaque:
    """Return the tool with a mark of how it came."""
    if isinstance(tool, Opaque) or not mark:
        return tool
    return replace(tool, extra={NAME: {**tool.extra.get(NAME, {}), **mark}})


def tool_of(tool: dict[str, Any], path: str, reader: Reader) -> Tool | Opaque:
    """Read a function or custom tool of the caller's, or one the provider hosts."""
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
        # Keep an explicit null, so that it is written back.
        leftover(tool, *(key for key in READ if tool.get(key, "") is not None)),
    )


def tools_wire(
    conversation: Conversation, target: Target, changes: list[Change]
) -> list[dict[str, Any]]:
    """Write the tools. Tools hosted by another provider are left out."""
    exact = is_exact(target.model, target.options)
    said = any(map(is_added, conversation.tools)) and any(map(adds_tools, conversation.messages))
    wire: list[dict[str, Any]] = []
    taken: set[str] = set()
    for index, tool in enumerate(conversation.tools):
        path = f"tools[{index}]"
        if isinstance(tool, Tool):
            if said and is_added(tool):
                continue
            if target.options.repair:
                tool = fitted_definition(tool, path, changes, exact=exact)
            namespace = namespace_of(tool)
            name = flat_name(namespace["name"], tool.name) if namespace else tool.name
            if target.same_format or is_first_of_name(name, taken, path, changes):
                add_tool(wire, tool, tool_wire(tool, target, path, changes))
        elif tool.format != NAME:
            wire.extend(hosted_equals(tool, NAME, path, changes))
        elif is_whole(tool.data, path, changes, exact=exact):
            wire.append(tool.data)
    return wire


def is_added(tool: Tool | Opaque) -> bool:
    """Whether a tool came in an item that adds tools."""
    return isinstance(tool, Tool) and bool(tool.extra.get(NAME, {}).get(ADDED))


def adds_tools(message: Message) -> bool:
    """Whether a message is an item that adds tools."""
    return any(
        isinstance(part, Opaque) and part.format == NAME and part.data.get("type") == ADDED
        for part in message.parts
    )


def respelled_item(item: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return an item with the tools it adds under the names that the request sends."""
    if item.get("type") not in (ADDED, "namespace"):
        return item
    tools = [respelled_tool(tool, names) for _, tool in objects_in(item.get("tools"))]
    return {**item, "tools": tools}


def respelled_tool(tool: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return a tool, or a namespace of tools, under the names that the request sends."""
    if tool.get("type") == "namespace":
        return respelled_item(tool, names)
    if tool.get("name") not in names:
        return tool
    return {**tool, "name": names[tool["name"]]}


def add_tool(wire: list[dict[str, Any]], tool: Tool, definition: dict[str, Any]) -> None:
    """Add a definition to its namespace; adjacent tools of one namespace share it."""
    namespace = namespace_of(tool)
    if namespace is None:
        wire.append(definition)
        return
    last = wire[-1] if wire else {}
    if last.get("type") == "namespace" and without(last, "tools") == namespace:
        last["tools"].append(definition)
    else:
        wire.append({**namespace, "tools": [definition]})


def tool_wire(tool: Tool, target: Target, path: str, changes: list[Change]) -> dict[str, Any]:
    """Write a tool's definition, flat; strict only if its schema allows it."""
    extra = without(tool.extra.get(NAME, {}), "namespace", ADDED)
    wire: dict[str, Any] = {"type": "function", "name": target.tool_names.get(tool.name, tool.name)}
    if tool.description is not None:
        wire["description"] = tool.description
    lost = foreign_fields(tool, NAME)
    if lost:
        changes.append(Change("loss.extra", path, f"{NAME} has no {', '.join(lost)}"))
    if extra.get("type") == "custom":
        return {**wire, **extra}
    exact = is_exact(target.model, target.options)
    if exact or not target.same_format:
        tool = with_fitted_schema(tool, path, changes, same_format=target.same_format)
    if not target.same_format:
        wire["parameters"] = tool.parameters or NO_PARAMETERS
    elif tool.parameters is not None:
        wire["parameters"] = tool.parameters
    strict = tool.strict
    if not target.same_format:
        # Always write `strict`, because this API's default is true and almost every other's is
        # false.
        strict = bool(strict) and is_strict(wire["parameters"])
    elif strict and exact and tool.parameters:
        strict = is_strict(tool.parameters)
    if tool.strict and not strict:
        changes.append(Change("loss.strict", path, STRICT))
    if strict is not None:
        wire["strict"] = strict
    return {**wire, **extra}
