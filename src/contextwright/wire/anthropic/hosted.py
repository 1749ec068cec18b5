"""What the Messages API asks of the tools it hosts or describes, and of references to tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from contextwright.errors import Problem, shown
from contextwright.wire.shapes import objects_in
from contextwright.wire.values import Object, is_object

__all__ = [
    "REFERENCE",
    "defined_names",
    "hosted_name",
    "name_problems",
    "reference_problems",
    "undefined",
]

REFERENCE = "tool_reference"
OWN_NAMES = frozenset(
    (
        "advisor",
        "bash",
        "code_execution",
        "computer",
        "memory",
        "tool_search_tool_bm25",
        "tool_search_tool_regex",
        "web_fetch",
        "web_search",
    )
)
"""The tools whose name is their type without its date."""
EDITOR = "text_editor_"
FIRST_EDITOR, EDITORS, RENAMED = "str_replace_editor", "str_replace_based_edit_tool", "20250429"


def hosted_name(kind: object) -> str | None:
    """Return the only name that a tool of a type may have; None for types that are not known."""
    if not isinstance(kind, str):
        return None
    stem, _, date = kind.rpartition("_")
    if kind.startswith(EDITOR) and date.isdecimal():
        return FIRST_EDITOR if date < RENAMED else EDITORS
    name = stem if date.isdecimal() else kind
    return name if name in OWN_NAMES else None


def name_problems(tool: Object, path: str) -> Iterator[Problem]:
    """Check the name of a tool that is not the caller's own."""
    name, only = tool.get("name"), hosted_name(tool.get("type"))
    if only is not None and name != only:
        reason = f"a tool of type {tool['type']} has the name {only!r}, not {shown(name)}"
        yield Problem("A-toolname", f"{path}.name", reason)
    elif not isinstance(name, str | None):
        yield Problem("T-type", f"{path}.name", f"must be a string, not {shown(name)}")


def defined_names(payload: Mapping[str, Any]) -> set[str] | None:
    """Return the names of the tools of a request; None if others may be defined elsewhere."""
    given = [tool.get("name") for _, tool in objects_in(payload.get("tools"))]
    names = {name for name in given if isinstance(name, str)}
    is_set = payload.get("mcp_servers") or len(names) < len(given)  # a set of tools has no name
    return None if is_set or defines_tools(payload) else names


def defines_tools(payload: Mapping[str, Any]) -> bool:
    """Whether a message adds a tool with its definition."""
    return any(
        is_object(tool := block.get("tool")) and "definition" in tool
        for _, message in objects_in(payload.get("messages"))
        if message.get("role") == "system"
        for _, block in objects_in(message.get("content"))
    )


def references(block: Object) -> Iterator[tuple[str, int, Object]]:
    """Yield the references in a result: the path of their list, their index there, and each."""
    place, held = "content", block.get("content")
    if is_object(held):
        place, held = "content.tool_references", held.get("tool_references")
    for index, inner in objects_in(held):
        if inner.get("type") == REFERENCE:
            yield place, index, inner


def undefined(block: Object, names: set[str]) -> Iterator[tuple[str, int, str]]:
    """Yield the references in a result to tools that are not defined, with the names of these."""
    for place, index, reference in references(block):
        name = reference.get("tool_name")
        if isinstance(name, str) and name not in names:
            yield place, index, name


def reference_problems(payload: Object) -> Iterator[Problem]:
    """The tools that a result brings up are defined."""
    names = defined_names(payload)
    if names is None:
        return
    for turn, message in objects_in(payload.get("messages")):
        for number, block in objects_in(message.get("content")):
            for place, index, name in undefined(block, names):
                path = f"messages[{turn}].content[{number}].{place}[{index}]"
                yield Problem("A-reference", path, f"no tool {shown(name)} is defined")
