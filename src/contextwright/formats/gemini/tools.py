"""Gemini's tools: function declarations in groups, and tools the API hosts."""

from __future__ import annotations

from typing import Any

from contextwright.errors import shown
from contextwright.formats.base import keep_extra
from contextwright.formats.gemini.read import NAME
from contextwright.formats.reader import Reader
from contextwright.formats.schemas import (
    gemini_schema,
    json_schema,
    object_schema,
    valid_schema,
)
from contextwright.formats.target import Target
from contextwright.formats.tools import foreign_fields, hosted_equals, is_first_of_name
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Tool
from contextwright.messages.parts import Opaque
from contextwright.wire.gemini import types as wire
from contextwright.wire.gemini.schema import root_problems, schema_problems
from contextwright.wire.shapes import shape_problems
from contextwright.wire.values import Object, is_list, is_object

__all__ = ["tools_of", "tools_wire"]

OPENS, BESIDE = "opens", "beside"
"""How a tool records its group: it opens one, or hosted tools share its group."""


# --- reading ---------------------------------------------------------------------------------


def tools_of(body: Object, reader: Reader) -> list[Tool | Opaque]:
    """Read all tools into one list. The first or last function of a group records the group."""
    tools: list[Tool | Opaque] = []
    for path, group in reader.objects(body, "tools"):
        functions = [
            tool_of(function, place, reader)
            for place, function in reader.objects(group, "functionDeclarations", path)
        ]
        hosted = {key: value for key, value in group.items() if key != "functionDeclarations"}
        if not functions:
            tools.append(Opaque(NAME, group))
            continue
        if tools and isinstance(tools[-1], Tool):
            functions[0] = marked(functions[0], OPENS, True)
        if hosted:
            functions[-1] = marked(functions[-1], BESIDE, list(hosted))
        tools.extend(functions)
        if hosted:
            tools.append(Opaque(NAME, hosted))
    return tools


def tool_of(function: Object, path: str, reader: Reader) -> Tool:
    """Read a function declaration; keep the API's own schema dialect in `extra`."""
    plain: Any = function.get("parametersJsonSchema")
    proto: Any = function.get("parameters")
    said = {"name", "description", "parametersJsonSchema"}
    if plain is None:
        said.discard("parametersJsonSchema")
        plain = json_schema(proto) if is_object(proto) else None
    if plain is not None and not is_object(plain):
        reader.fault(f"{path}.parametersJsonSchema", f"must be an object, not {shown(plain)}")
        plain = None
    if proto is not None and not is_object(proto):
        reader.fault(f"{path}.parameters", f"must be an object, not {shown(proto)}")
    for problem in schema_problems(proto, f"{path}.parameters"):
        if problem.level == "error":  # plain JSON Schema may say it
            said.add("parameters")
            reader.repair("repair.schema", problem.path, problem.message)
    more = response_schema(function, path, reader)
    return Tool(
        reader.text(function, "name", path),
        reader.optional_text(function, "description", path),
        plain,
        extra=keep_extra(NAME, {key: more[key] for key in more if key not in said}),
    )


def response_schema(function: Object, path: str, reader: Reader) -> Object:
    """Return a declaration whose schema of the result, if the API refuses it, is JSON Schema."""
    proto, plain = function.get("response"), function.get("responseJsonSchema")
    found = schema_problems(proto, f"{path}.response")
    errors = [problem for problem in found if problem.level == "error"]
    if not errors and (proto is None or plain is None):
        return function
    rest = {key: value for key, value in function.items() if key != "response"}
    if plain is not None:
        reader.repair("loss.schema", f"{path}.response", "responseJsonSchema says it")
        return rest
    reader.repair("repair.schema", errors[0].path, errors[0].message)
    return {**rest, "responseJsonSchema": json_schema(proto) if is_object(proto) else proto}


def marked(tool: Tool, key: str, value: Any) -> Tool:
    """Return the tool with a mark of its group."""
    extra = {NAME: {**tool.extra.get(NAME, {}), key: value}}
    return Tool(tool.name, tool.description, tool.parameters, tool.strict, extra)


# --- writing ---------------------------------------------------------------------------------


def tools_wire(conversation: Conversation, target: Target, changes: list[Change]) -> list[Object]:
    """Write the tools in their original groups; new functions share one group."""
    groups: list[Object] = []
    functions: list[Object] = []  # of the open group
    beside: list[str] = []
    taken: set[str] = set()
    declares = any(isinstance(tool, Tool) for tool in conversation.tools)
    for index, tool in enumerate(conversation.tools):
        path = f"tools[{index}]"
        if isinstance(tool, Opaque) and declares and not target.model.mixed_tools:
            reason = f"{target.model.id} takes functions or hosted tools, not both"
            changes.append(Change("loss.tool", path, reason))
            continue
        if isinstance(tool, Opaque) and tool.format != NAME:
            if equals := hosted_equals(tool, NAME, path, changes):
                groups.extend(equals)
                functions, beside = [], []
            continue
        if isinstance(tool, Opaque):
            if hosted_here(tool, path, changes):
                if beside and list(tool.data) == beside:
                    groups[-1] = {**groups[-1], **tool.data}
                else:
                    groups.append(tool.data)
                functions, beside = [], []
            continue
        sent_name = target.tool_names.get(tool.name, tool.name)
        if not is_first_of_name(sent_name, taken, path, changes):
            continue
        extra = tool.extra.get(NAME, {}) if tool.extra else {}
        if not functions or extra.get(OPENS):
            functions = []
            groups.append({"functionDeclarations": functions})
        functions.append(declared(tool, extra, target, path, changes))
        named = extra.get(BESIDE)
        beside = named if is_list(named) else []
    return groups


def hosted_here(tool: Opaque, path: str, changes: list[Change]) -> bool:
    """Whether a hosted tool is one that this provider knows."""
    if shape_problems(tool.data, wire.Tool):
        changes.append(Change("loss.tool", path, "the API does not know this tool"))
        return False
    return True


def schema_wire(schema: Object, target: Target, path: str, changes: list[Change]) -> Object:
    """Write the schema of a function's arguments, with an object at its root."""
    if target.same_format and is_rooted(schema):
        return schema
    if not target.same_format:
        schema = valid_schema(schema, path, changes)
    schema, reworked = object_schema(schema)
    if reworked:
        reason = f"{', '.join(reworked)} not allowed at the root of a schema"
        changes.append(Change("repair.schema", path, reason))
    if target.same_format:
        return schema
    written, lost = gemini_schema(schema)
    if lost:
        changes.append(Change("loss.schema", path, f"{NAME} cannot say {', '.join(lost)}"))
    return written


def is_rooted(schema: Object) -> bool:
    """Whether the API may take the root of this schema of arguments."""
    return not any(one.level == "error" for one in root_problems(schema, ""))


def declared(tool: Tool, extra: Object, target: Target, path: str, changes: list[Change]) -> Object:
    """Write one function declaration.

    A schema goes into `parametersJsonSchema`, which every model accepts and which understands all
    of JSON Schema. `parameters` refuses a request for any keyword its proto lacks, so only a schema
    that came in the proto's dialect is written there.
    """
    declaration: Object = {"name": target.tool_names.get(tool.name, tool.name)}
    if tool.description is not None:
        declaration["description"] = tool.description
    proto = extra.get("parameters")
    if is_object(proto) and is_rooted(proto) and json_schema(proto) == tool.parameters:
        declaration["parameters"] = proto
    elif tool.parameters is not None:
        schema = schema_wire(tool.parameters, target, f"{path}.parameters", changes)
        declaration["parametersJsonSchema"] = schema
    known = (OPENS, BESIDE, "parameters")
    rest = {key: value for key, value in extra.items() if key not in known}
    lost = foreign_fields(tool, NAME)
    if rest and shape_problems({**rest, **declaration}, wire.FunctionDeclaration):
        lost.extend(rest)
        rest = {}
    if lost:
        changes.append(Change("loss.extra", path, f"{NAME} has no place for {', '.join(lost)}"))
    if tool.strict:
        changes.append(Change("loss.strict", path, f"{NAME} has no strict tools"))
    return {**declaration, **rest}
