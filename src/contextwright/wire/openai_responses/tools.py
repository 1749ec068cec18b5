"""The tools a Responses request may define: their types, and rules beyond types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from msgspec import field

from contextwright.errors import Level, Problem, shown
from contextwright.wire.json_schema import json_schema_problems
from contextwright.wire.shapes import Shape, objects_in
from contextwright.wire.values import is_list, is_object

__all__ = [
    "STRICT",
    "Tool",
    "ToolChoice",
    "choice_problems",
    "definition_problems",
    "has_object_root",
    "is_name",
    "is_strict",
    "name_problems",
    "root_problems",
    "strict_problems",
    "tool_problems",
]

NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}").fullmatch
LONGEST_NAME = 128
USUAL_NAME = 64
"""Longer names are accepted in some places and not in others."""
NEEDED = {
    "function": ("name",),
    "custom": ("name",),
    "mcp": ("server_label",),
    "allowed_tools": ("mode", "tools"),
}
"""The field that each kind of choice must name."""
Callers: TypeAlias = list[Literal["direct", "programmatic"]] | None
Size: TypeAlias = Literal["low", "medium", "high"] | None


class FunctionTool(Shape, tag_field="type", tag="function"):
    name: str
    parameters: dict[str, Any] | None = None
    strict: bool | None = None
    description: str | None = None
    output_schema: dict[str, Any] | None = None
    defer_loading: bool | None = None
    allowed_callers: Callers = None
    runs_async: bool | None = field(name="async", default=None)


class CustomTool(Shape, tag_field="type", tag="custom"):
    name: str
    description: str | None = None
    format: dict[str, Any] | None = None
    defer_loading: bool | None = None
    allowed_callers: Callers = None
    runs_async: bool | None = field(name="async", default=None)


class Namespace(Shape, tag_field="type", tag="namespace"):
    """The fields of a namespace besides its tools."""

    name: str
    description: str


class NamespaceTool(Namespace, tag_field="type", tag="namespace"):
    tools: list[FunctionTool | CustomTool]


class ToolSearchTool(Shape, tag_field="type", tag="tool_search"):
    description: str | None = None
    execution: Literal["server", "client"] | None = None
    parameters: Any = None


class FileSearchTool(Shape, tag_field="type", tag="file_search"):
    vector_store_ids: list[str]
    filters: dict[str, Any] | None = None
    max_num_results: int | None = None
    ranking_options: dict[str, Any] | None = None


class ComputerTool(Shape, tag_field="type", tag="computer"): ...


class ComputerUseTool(Shape, tag_field="type", tag="computer_use_preview"):
    display_height: int
    display_width: int
    environment: Literal["windows", "mac", "linux", "ubuntu", "browser"]


class WebFilters(Shape):
    allowed_domains: list[str] | None = None


class UserLocation(Shape):
    type: Literal["approximate"] | None = None
    city: str | None = None
    country: str | None = None
    region: str | None = None
    timezone: str | None = None


class WebSearch(Shape):
    external_web_access: bool | None = None
    filters: WebFilters | None = None
    search_context_size: Size = None
    user_location: UserLocation | None = None


class WebSearchTool(WebSearch, tag_field="type", tag="web_search"): ...


class WebSearchDatedTool(WebSearch, tag_field="type", tag="web_search_2025_08_26"): ...


class WebSearchPreview(Shape):
    search_content_types: list[Literal["text", "image"]] | None = None
    search_context_size: Size = None
    user_location: UserLocation | None = None


class WebSearchPreviewTool(WebSearchPreview, tag_field="type", tag="web_search_preview"): ...


class WebSearchPreviewDatedTool(
    WebSearchPreview, tag_field="type", tag="web_search_preview_2025_03_11"
): ...


class McpFilter(Shape):
    read_only: bool | None = None
    tool_names: list[str] | None = None


class McpApproval(Shape):
    always: McpFilter | None = None
    never: McpFilter | None = None


class McpTool(Shape, tag_field="type", tag="mcp"):
    server_label: str
    server_url: str | None = None
    connector_id: str | None = None
    tunnel_id: str | None = None
    server_description: str | None = None
    authorization: str | None = None
    headers: dict[str, str] | None = None
    allowed_tools: list[str] | McpFilter | None = None
    require_approval: Literal["always", "never"] | McpApproval | None = None
    defer_loading: bool | None = None
    allowed_callers: Callers = None


class AutoContainer(Shape):
    type: Literal["auto"]
    file_ids: list[str] | None = None
    memory_limit: Literal["1g", "4g", "16g", "64g"] | None = None
    network_policy: dict[str, Any] | None = None


class CodeInterpreterTool(Shape, tag_field="type", tag="code_interpreter"):
    container: str | AutoContainer
    allowed_callers: Callers = None


class ProgrammaticTool(Shape, tag_field="type", tag="programmatic_tool_calling"): ...


class ImageMask(Shape):
    file_id: str | None = None
    image_url: str | None = None


class ImageGenerationTool(Shape, tag_field="type", tag="image_generation"):
    action: Literal["generate", "edit", "auto"] | None = None
    background: Literal["transparent", "opaque", "auto"] | None = None
    complexity: Size = None
    frame_count: int | None = None
    frame_duration_ms: int | None = None
    input_fidelity: Literal["high", "low"] | None = None
    input_image_mask: ImageMask | None = None
    model: str | None = None
    moderation: Literal["auto", "low"] | None = None
    output_compression: int | None = None
    output_format: Literal["png", "webp", "jpeg", "gif", "svg"] | None = None
    partial_images: int | None = None
    quality: Literal["low", "medium", "high", "xhigh", "max", "auto"] | None = None
    size: str | None = None
    svg: dict[str, Any] | None = None


class LocalShellTool(Shape, tag_field="type", tag="local_shell"): ...


class ShellTool(Shape, tag_field="type", tag="shell"):
    environment: dict[str, Any] | None = None
    allowed_callers: Callers = None


class ApplyPatchTool(Shape, tag_field="type", tag="apply_patch"):
    allowed_callers: Callers = None


Tool: TypeAlias = (
    FunctionTool
    | CustomTool
    | NamespaceTool
    | ToolSearchTool
    | FileSearchTool
    | ComputerTool
    | ComputerUseTool
    | WebSearchTool
    | WebSearchDatedTool
    | WebSearchPreviewTool
    | WebSearchPreviewDatedTool
    | McpTool
    | CodeInterpreterTool
    | ProgrammaticTool
    | ImageGenerationTool
    | LocalShellTool
    | ShellTool
    | ApplyPatchTool
)


class ToolChoice(Shape):
    """Which tool must be called, or among which the model may choose."""

    type: Literal[
        "function",
        "custom",
        "mcp",
        "allowed_tools",
        "apply_patch",
        "shell",
        "programmatic_tool_calling",
        "file_search",
        "web_search",
        "web_search_2025_08_26",
        "web_search_preview",
        "web_search_preview_2025_03_11",
        "computer",
        "computer_use",
        "computer_use_preview",
        "image_generation",
        "code_interpreter",
    ]
    name: str | None = None
    server_label: str | None = None
    mode: Literal["auto", "required"] | None = None
    tools: list[dict[str, Any]] | None = None


def tool_problems(body: dict[str, Any], level: Level) -> Iterator[Problem]:
    """Names of functions, strict schemas, and the tool choice."""
    for index, tool in objects_in(body.get("tools")):
        path = f"tools[{index}]"
        if tool.get("type") == "namespace":
            for place, inner in objects_in(tool.get("tools")):
                yield from definition_problems(inner, f"{path}.tools[{place}]", level)
        else:
            yield from definition_problems(tool, path, level)
    yield from choice_problems(body, level)


def definition_problems(tool: dict[str, Any], path: str, level: Level) -> Iterator[Problem]:
    """Check the name and the schema of a tool that the client runs."""
    if tool.get("type") in ("function", "custom"):
        yield from name_problems(tool.get("name"), "OR-toolname", f"{path}.name", level)
    schema = tool.get("parameters")
    if not is_object(schema) or tool.get("type") not in ("function", "tool_search"):
        return
    if not has_object_root(schema):
        yield from root_problems(schema, "OR-schema", f"{path}.parameters", level)
    yield from json_schema_problems(schema, "OR-schema", f"{path}.parameters", level, items=True)
    yield from strict_problems(tool, "parameters", "OR-strict", path, level)


ALTERNATIVES = frozenset(("oneOf", "anyOf", "allOf", "enum", "not"))


def has_object_root(schema: dict[str, Any]) -> bool:
    """Whether a schema has a plain object at its root, or says nothing at all."""
    return not schema or (schema.get("type") == "object" and ALTERNATIVES.isdisjoint(schema))


def root_problems(schema: dict[str, Any], code: str, path: str, level: Level) -> Iterator[Problem]:
    """List what is wrong with the root of a function's schema."""
    if schema.get("type") != "object":
        yield Problem(code, f"{path}.type", "must be 'object'", level)
    for word in schema:
        if word in ALTERNATIVES:
            yield Problem(code, f"{path}.{word}", "not allowed at the root of a schema", level)


ADDING = ("additional_tools", "tool_search_output")
"""Items that add tools."""


def choice_problems(body: dict[str, Any], level: Level = "error") -> Iterator[Problem]:
    """A choice has the fields of its kind; a forced call needs tools."""
    choice = body.get("tool_choice")
    unnamed = [*named_choice(choice)] if is_object(choice) else []
    yield from unnamed
    if unnamed or not (is_object(choice) or choice == "required"):
        return
    elsewhere = any(body.get(field) for field in ("previous_response_id", "conversation", "prompt"))
    if elsewhere or any(item.get("type") in ADDING for _, item in objects_in(body.get("input"))):
        return
    if not body.get("tools"):
        yield Problem("OR-tools-missing", "tool_choice", "not allowed without tools", level)
    elif is_object(choice) and choice.get("type") in ("function", "custom"):
        if choice["name"] not in defined_names(body["tools"]):
            reason = f"there is no tool {shown(choice['name'])}"
            yield Problem("OR-choice", "tool_choice.name", reason, level)
    elif is_object(choice) and choice.get("type") != "allowed_tools":
        kinds = {kind_of(tool) for _, tool in objects_in(body["tools"])}
        if kind_of(choice) not in kinds:
            reason = f"there is no tool of type {shown(choice.get('type'))}"
            yield Problem("OR-choice", "tool_choice.type", reason, level)


def kind_of(tool: dict[str, Any]) -> str:
    """Return the kind of a hosted tool, of any edition: `web` of `web_search_preview`."""
    return str(tool.get("type")).partition("_")[0]


def defined_names(tools: Any) -> list[Any]:
    """Return the names of tools, and of those in namespaces."""
    return [
        tool.get("name")
        for _, outer in objects_in(tools)
        for tool in (outer, *(inner for _, inner in objects_in(outer.get("tools"))))
    ]


def is_name(name: str) -> bool:
    """Whether every host accepts this as the name of a tool."""
    return len(name) <= USUAL_NAME and NAME(name) is not None


def name_problems(name: Any, code: str, path: str, level: Level) -> Iterator[Problem]:
    """Check a tool name, in a definition or a call; `level` is that of a name OpenAI refuses."""
    if isinstance(name, str) and not is_name(name):
        if NAME(name):  # only longer than usual
            level = "warning"
        elif not name:
            level = "error"
        yield Problem(code, path, "must be 1 to 64 letters, digits, _ or -", level)


STRICT = "strict needs every property required and additionalProperties: false"


def strict_problems(
    form: dict[str, Any], field: str, code: str, path: str, level: Level
) -> Iterator[Problem]:
    """Check the schema of a tool or an output that asks for strict mode."""
    schema = form.get(field)
    if form.get("strict") is True and is_object(schema) and schema and not is_strict(schema):
        yield Problem(code, f"{path}.{field}", STRICT, level)


def is_strict(schema: dict[str, Any]) -> bool:
    """Whether every object of a schema meets the rules of strict mode."""
    waiting: list[Any] = [schema]
    while waiting:
        value = waiting.pop()
        if is_list(value):
            waiting.extend(value)
        elif is_object(value):
            if not is_closed(value) or not REFUSED.isdisjoint(value):
                return False
            waiting.extend(value.get(key) for key in ("anyOf", "items"))
            for key in ("properties", "$defs", "definitions"):
                named = value.get(key)
                waiting.extend(named.values() if is_object(named) else ())
    return schema.get("type") == "object"


REFUSED = frozenset(
    "allOf oneOf not if then else dependentRequired dependentSchemas patternProperties".split()
)
"""Keywords that strict mode refuses."""


def is_closed(schema: dict[str, Any]) -> bool:
    """Whether an object allows only its own properties and requires each of them."""
    properties = schema.get("properties")
    if not is_object(properties):
        return schema.get("type") != "object" or schema.get("additionalProperties") is False
    required = schema.get("required", [])
    if schema.get("additionalProperties") is not False or not is_list(required):
        return False
    return {name for name in required if isinstance(name, str)} >= set(properties)


def named_choice(choice: dict[str, Any]) -> Iterator[Problem]:
    """A choice has the fields of its kind."""
    for name in NEEDED.get(str(choice.get("type")), ()):
        if choice.get(name) is None:
            yield Problem("T-required", f"tool_choice.{name}", "required field is missing")
