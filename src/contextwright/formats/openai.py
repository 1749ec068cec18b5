"""Shared by OpenAI's two formats, Chat Completions and Responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec.structs import replace

from contextwright.formats.base import keep_extra
from contextwright.formats.schemas import object_schema, valid_schema
from contextwright.formats.settings import FREE, dig, effort_of, nearest_effort, put
from contextwright.formats.tools import tools_by_name
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, Effort, OutputFormat, Settings
from contextwright.messages.message import Tool
from contextwright.messages.parts import Extra
from contextwright.models import Model
from contextwright.wire.openai_responses.tools import STRICT, has_object_root, is_strict
from contextwright.wire.values import is_list, is_object

__all__ = [
    "BREAKPOINT",
    "SAME",
    "allowed_names",
    "effort_wire",
    "mend_answer",
    "moved",
    "output_of",
    "output_wire",
    "reasons",
    "tool_kind",
    "with_fitted_schema",
]

BREAKPOINT = "prompt_cache_breakpoint"
SAME = (
    "metadata",
    "moderation",
    "parallel_tool_calls",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "safety_identifier",
    "store",
    "stream",
    "user",
)
"""Settings with the same name and meaning in both."""


def moved(
    extra: Extra, left: dict[str, Any], own: dict[str, Any], *, names: tuple[str, str]
) -> Extra:
    """Return `extra` with what stays under the first name and what moves under the second."""
    source, target = names
    rest = {name: fields for name, fields in extra.items() if name not in names}
    return rest | keep_extra(source, left) | keep_extra(target, {**extra.get(target, {}), **own})


def with_fitted_schema(tool: Tool, path: str, changes: list[Change], *, same_format: bool) -> Tool:
    """Return a tool whose schema is valid and has a plain object at its root."""
    if tool.parameters is None:
        return tool
    path = f"{path}.parameters"
    schema = valid_schema(tool.parameters, path, changes, items=True)
    if not (same_format and has_object_root(schema)):
        schema, reworked = object_schema(schema)
        if reworked:
            reason = f"{', '.join(reworked)} not allowed at the root of a schema"
            changes.append(Change("repair.schema", path, reason))
    return tool if schema is tool.parameters else replace(tool, parameters=schema)


def allowed_names(tools: Any) -> tuple[str, ...] | None:
    """Return the names an `allowed_tools` choice lists; None if hosted tools are among them."""
    names: list[str] = []
    for tool in tools if is_list(tools) else ():
        match tool:
            case (
                {"function": {"name": str(name)}}
                | {"custom": {"name": str(name)}}
                | {"type": "function" | "custom", "name": str(name)}
            ):
                names.append(name)
            case _:
                return None
    return tuple(names)


def tool_kind(name: str, conversation: Conversation, format: str) -> Literal["custom", "function"]:
    """Return the kind of the tool with this name."""
    tool = tools_by_name(conversation).get(name)
    custom = tool is not None and tool.extra.get(format, {}).get("type") == "custom"
    return "custom" if custom else "function"


def reasons(model: Model) -> bool:
    """Whether a model may reason: all but those of OpenAI that take sampling settings instead."""
    return model.provider != "openai" or not model.sampling


def effort_wire(
    settings: Settings, model: Model, efforts: Sequence[str] | None, changes: list[Change]
) -> Effort | None:
    """Return the effort, or the nearest of those given, for a model that reasons; else None."""
    effort = effort_of(settings)
    if reasons(model) and (effort is None or efforts != ()):
        return None if effort is None else nearest_effort(effort, efforts, changes)
    if effort not in (None, "none") or (effort is None and settings.thinking_budget == FREE):
        words = "has no effort setting" if reasons(model) else "does not reason"
        changes.append(Change("loss.setting", "effort", f"{model.id} {words}"))
    return None


def output_of(form: Any) -> OutputFormat | None:
    """Read the output format from a flat one: `{type: json_schema, name, schema …}`."""
    match form:
        case {"type": "json_object"}:
            return OutputFormat()
        case {"type": "json_schema", "schema": schema} if is_object(schema):
            strict = form.get("strict")
            return OutputFormat(
                schema,
                form.get("name") if isinstance(form.get("name"), str) else None,
                form.get("description") if isinstance(form.get("description"), str) else None,
                strict if isinstance(strict, bool) else None,
            )
        case _:
            return None


def output_wire(conversation: Conversation, changes: list[Change]) -> dict[str, Any]:
    """Write the output format, flat. JSON mode is written only if a message mentions JSON."""
    output = conversation.settings.output
    if output is None:
        return {}
    if output.schema is None:
        if any("json" in message.text.lower() for message in conversation.messages):
            return {"type": "json_object"}
        reason = "JSON mode is refused unless a message speaks of JSON"
        changes.append(Change("loss.setting", "output", reason))
        return {}
    form: dict[str, Any] = {
        "type": "json_schema",
        "name": output.name or "output",
        "schema": valid_schema(output.schema, "output.schema", changes, items=True),
    }
    if output.description is not None:
        form["description"] = output.description
    if output.strict is not None:
        form["strict"] = output.strict and is_strict(form["schema"])
        if form["strict"] is not output.strict:
            changes.append(Change("loss.strict", "output", STRICT))
    return form


def mend_answer(body: dict[str, Any], path: str, changes: list[Change]) -> None:
    """Make the schema of an answer valid. Changes `body`, which is still under construction."""
    schema = dig(body, path)
    if is_object(schema):
        mended = valid_schema(schema, path, changes, items=True)
        if mended is not schema:
            put(body, path, mended)
