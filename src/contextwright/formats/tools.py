"""Tools that have another shape in other formats: hosted, custom and namespaced ones.

A hosted tool is replaced if the other provider hosts an equivalent. Custom and namespaced tools are
sent as plain functions; `restore_calls` gives their calls the original names and kinds back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, TypeVar

import msgspec

from contextwright.errors import require, shown
from contextwright.formats.rules.draft import clean_name
from contextwright.formats.schemas import json_schema, object_schema
from contextwright.formats.target import Spelling, respelled
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Tool
from contextwright.messages.parts import Opaque, Part, ToolCall
from contextwright.messages.validation import naming_faults_of
from contextwright.wire.values import Object, is_list, is_object

__all__ = [
    "FlatNames",
    "at_home",
    "flat_name",
    "flat_names",
    "foreign_fields",
    "hosted_equals",
    "inner_fields",
    "is_first_of_name",
    "name_at_home",
    "own_arguments",
    "respelled_choice",
    "restore_calls",
    "sent_arguments",
    "tools_by_name",
]

AnyConversation = TypeVar("AnyConversation", bound=Conversation)

HOSTED: dict[str, dict[str, Object]] = {
    "web search": {
        "anthropic": {"type": "web_search_20250305", "name": "web_search"},
        "gemini": {"googleSearch": {}},
        "openai-responses": {"type": "web_search"},
    },
    "code execution": {
        "anthropic": {"type": "code_execution_20250825", "name": "code_execution"},
        "gemini": {"codeExecution": {}},
        "openai-responses": {"type": "code_interpreter", "container": {"type": "auto"}},
    },
    "web fetch": {
        "anthropic": {"type": "web_fetch_20250910", "name": "web_fetch"},
        "gemini": {"urlContext": {}},
    },
}
"""Hosted tools that providers name differently, in the plainest form of each."""
KINDS = {
    "web_search": "web search",
    "web_search_preview": "web search",
    "googleSearch": "web search",
    "code_execution": "code execution",
    "code_interpreter": "code execution",
    "codeExecution": "code execution",
    "web_fetch": "web fetch",
    "urlContext": "web fetch",
}
"""The prefixes of hosted tools' types; versions add a date."""
CUSTOM = {"openai-chat": "custom", "openai-responses": "custom_tool_call"}
"""How a format with custom tools marks a custom call. To Anthropic, all tools are `custom`."""


def flat_name(namespace: str, name: str) -> str:
    """Return the name of a namespaced tool for formats without namespaces."""
    return f"{namespace}__{name}"


def is_first_of_name(name: object, taken: set[str], path: str, changes: list[Change]) -> bool:
    """Whether no tool in `taken` has this name, which is added; reports the loss of a second."""
    if not isinstance(name, str):
        return True
    if name in taken:
        changes.append(Change("loss.tool", path, f"an earlier tool has the name {shown(name)}"))
        return False
    taken.add(name)
    return True


def foreign_fields(tool: Tool, format: str) -> list[str]:
    """Return the fields of a tool that this format has no place for."""
    if not tool.extra:
        return []
    lost = [
        field
        for name, fields in tool.extra.items()
        if name != format
        for field, value in fields.items()
        # null, false and empty values are not a loss
        if value and not is_said_otherwise(tool, name, field)
        for field in (inner_fields(field, value) if name == "openai-chat" else (field,))
    ]
    spaces = (fields.get("namespace") for name, fields in tool.extra.items() if name != format)
    if any(is_object(space) and space.get("description") for space in spaces):
        lost.append("namespace.description")
    return lost


def inner_fields(field: str, value: Any) -> list[str]:
    """Return the names of the fields within the function of a chat tool; else the field's own."""
    if field == "function" and is_object(value):
        return [f"function.{clean_name(name)}" for name in value if value[name]]
    return [field]


FLATTENED = ("namespace", "additional_tools", "opens", "beside")
"""Marks of a tool's origin that its flat name and its position in the list also show."""


def is_said_otherwise(tool: Tool, format: str, field: str) -> bool:
    """Whether a field of a format only repeats what every format says of the tool."""
    match format, field:
        case "anthropic", "type":
            return True  # "custom", as all tools of the caller are
        case "gemini", "parameters":
            schema = tool.extra[format][field]
            return is_object(schema) and json_schema(schema) == tool.parameters
        case _:
            return field in FLATTENED


def respelled_choice(choice: Any, names: Mapping[str, str]) -> Any:
    """Return a tool choice of any API with the names that the request sends."""
    if is_object(choice):
        return {
            key: names.get(value, value)
            if key == "name" and isinstance(value, str)
            else respelled_choice(value, names)
            for key, value in choice.items()
        }
    if is_list(choice):
        return [
            names.get(item, item) if isinstance(item, str) else respelled_choice(item, names)
            for item in choice
        ]
    return choice


def hosted_equals(tool: Opaque, format: str, path: str, changes: list[Change]) -> list[Object]:
    """Return this provider's equivalents of another's hosted tool; report what is lost."""
    equals: list[Object] = []
    for word, fields in hosted_in(tool.data):
        kind = next((KINDS[known] for known in KINDS if word.startswith(known)), None)
        shapes = HOSTED[kind] if kind else {}
        if format not in shapes:
            reason = f"{word} is hosted by {tool.format}" if word else f"hosted by {tool.format}"
            changes.append(Change("loss.tool", path, clean_name(reason)))
            continue
        changes.append(Change("repair.tool", path, f"{format} hosts {kind} itself"))
        plainest = shapes.get(tool.format, {})  # chat: a tool it does not host
        plain = {"type", "name", *(key for key in fields if fields[key] == plainest.get(key))}
        lost = [clean_name(key) for key, value in fields.items() if value and key not in plain]
        if lost:
            changes.append(Change("loss.extra", path, f"{format} has no {', '.join(lost)}"))
        equals.append(dict(shapes[format]))
    return equals


def hosted_in(data: Object) -> list[tuple[str, Object]]:
    """Return the type and fields of a hosted tool; one object of Gemini may hold several."""
    word = data.get("type")
    if isinstance(word, str):
        return [(word, data)]
    return [(key, value if is_object(value) else {}) for key, value in data.items()] or [("", {})]


FlatNames: TypeAlias = dict[tuple[str | None, str], str]
"""By namespace and own name: the flat name of a tool. A call may leave the namespace out."""


def flat_names(tools: Iterable[Tool | Opaque]) -> FlatNames:
    """Map namespace and name of each namespaced tool to its flat name."""
    plain = [tool for tool in tools if isinstance(tool, Tool)]
    flat: FlatNames = {}
    for tool in plain:
        for fields in tool.extra.values():
            namespace = fields.get("namespace")
            if is_object(namespace) and isinstance(space := namespace.get("name"), str):
                own = tool.name.removeprefix(flat_name(space, ""))
                flat[space, own] = tool.name
                flat.setdefault((None, own), tool.name)
    for tool in plain:
        flat.pop((None, tool.name), None)
    return flat


def name_at_home(call: ToolCall, tool_names: Mapping[str, str], flat: FlatNames) -> str:
    """Return the name of the tool that a reply calls, as its request has it."""
    spaces = (fields.get("namespace") for fields in call.extra.values())
    space = next((space for space in spaces if isinstance(space, str)), None)
    return tool_names.get(call.name) or flat.get((space, call.name), call.name)


def restore_calls(
    reply: AnyConversation, request: Conversation, tool_names: Mapping[str, str] | None = None
) -> AnyConversation:
    """Return the reply with each call under the name and kind its tool has in the request.

    `tool_names` is that of the `Context`, or of the `Rendered` request: the names it sent → the
    tools' own.
    """
    require(reply, Conversation, "a reply", "pass what cw.parse_reply returns")
    require(request, Conversation, "a request", "pass the conversation that was rendered")
    require(tool_names, Mapping | None, "tool_names")
    with naming_faults_of(reply, request):
        names = tool_names or {}
        tools, flat = tools_by_name(request), flat_names(request.tools)
        source = request.source or ""

        def restored(part: Part) -> Part:
            if not isinstance(part, ToolCall):
                return part
            name = name_at_home(part, names, flat)
            return at_home(part, name, tools.get(name), source)

        messages = [one.with_parts(list(map(restored, one.parts))) for one in reply.messages]
    return msgspec.structs.replace(reply, messages=tuple(messages))


def tools_by_name(conversation: Conversation) -> dict[str, Tool]:
    """Return the tools by their names; of several with one name the first, which is sent."""
    tools = [tool for tool in conversation.tools if isinstance(tool, Tool)]
    return {tool.name: tool for tool in reversed(tools)}


ARGUMENT = Spelling("a-zA-Z0-9_.-", longest=64)
"""The names of a tool's arguments that Anthropic accepts, at the root of its schema alone."""


def sent_arguments(schema: Object) -> dict[str, str]:
    """Return the arguments whose names Anthropic refuses, such as `filter[id]`, as they are sent.

    The schema has an object at its root.
    """
    properties = schema.get("properties")
    if not is_object(properties) or all(map(ARGUMENT.fits, properties)):
        return {}
    return respelled(properties, ARGUMENT)


def with_own_arguments(call: ToolCall, tool: Tool) -> ToolCall:
    """Return a call with the arguments that were sent under other names under their own."""
    own = {sent: name for name, sent in own_arguments(tool).items()}
    if own.keys().isdisjoint(call.arguments):
        return call
    arguments = {
        own[key] if key in own and own[key] not in call.arguments else key: value
        for key, value in call.arguments.items()
    }
    return msgspec.structs.replace(call, arguments=arguments, raw=None)


def own_arguments(tool: Tool | None) -> dict[str, str]:
    """Return the arguments of a tool that Anthropic was sent under other names."""
    schema = tool.parameters if tool is not None else None
    return sent_arguments(object_schema(schema)[0]) if schema else {}


def at_home(call: ToolCall, name: str, tool: Tool | None, source: str) -> ToolCall:
    """Return a call with the name, arguments, namespace and kind of the client's own tool."""
    if tool is not None:
        call = with_own_arguments(call, tool)
    fields: dict[str, Any] = dict(tool.extra.get(source, {})) if tool is not None else {}
    own = dict(call.extra.get(source, {}))
    is_custom = source in CUSTOM and fields.get("type") == "custom"
    if is_custom and isinstance(call.arguments.get("input"), str):
        own["type"] = CUSTOM[source]
    namespace = fields.get("namespace")
    if is_object(namespace) and isinstance(namespace.get("name"), str):
        own["namespace"] = namespace["name"]
        own["name"] = name.removeprefix(flat_name(namespace["name"], ""))
    extra = {**call.extra, source: own} if own else call.extra
    return msgspec.structs.replace(call, name=name, extra=extra)
