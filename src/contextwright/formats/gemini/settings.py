"""The settings of a generateContent request: reading, translating, and keeping them legal."""

from __future__ import annotations

from typing import Any, Literal

from msgspec.structs import replace

from contextwright.formats.base import foreign_settings
from contextwright.formats.gemini.read import NAME
from contextwright.formats.reader import plain
from contextwright.formats.schemas import json_schema
from contextwright.formats.settings import (
    BUDGETS,
    effort_of,
    known_effort,
    read_plain,
    write_plain,
)
from contextwright.messages.changes import Change
from contextwright.messages.conversation import (
    Conversation,
    Effort,
    OutputFormat,
    Settings,
    ToolChoice,
)
from contextwright.messages.message import Tool
from contextwright.models import Model
from contextwright.wire.gemini.types import Request
from contextwright.wire.shapes import shape_problems
from contextwright.wire.values import Object, is_list, is_object

__all__ = ["settings_of", "settings_wire", "settle"]

MODES: dict[str, Literal["auto", "none", "required"]] = {
    "AUTO": "auto",
    "VALIDATED": "auto",
    "NONE": "none",
    "ANY": "required",
}
MOST_STOPS = 5
MOST_THINKING = 24_576
"""The largest budget that every model with budgets takes."""
JSON = "application/json"
LEVELS: dict[Effort, str] = {
    "none": "minimal",
    "minimal": "minimal",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "high",
    "max": "high",
}
CACHED = ("systemInstruction", "tools", "toolConfig")
"""What a cached content holds already, and a request may not say again."""


def settings_of(body: Object) -> Settings:
    """The settings that other providers have too."""
    config = body.get("generationConfig")
    fields: Object = config if is_object(config) else {}
    stops: Any = fields.get("stopSequences")
    thinking = fields.get("thinkingConfig")
    thinking = thinking if is_object(thinking) else {}
    budget, level = plain(thinking.get("thinkingBudget"), int), thinking.get("thinkingLevel")
    return Settings(
        **read_plain(body, NAME),
        stop=tuple(stop for stop in stops if isinstance(stop, str)) if is_list(stops) else (),
        tool_choice=choice_of(body.get("toolConfig")),
        effort=known_effort(level.lower()) if isinstance(level, str) else None,
        thinking_budget=budget,
        show_thinking=plain(thinking.get("includeThoughts"), bool),
        output=output_of(fields),
    )


def output_of(config: Object) -> OutputFormat | None:
    """What the answer has to be: JSON of a schema, or any."""
    schema, proto = config.get("responseJsonSchema"), config.get("responseSchema")
    if schema is None and is_object(proto):
        schema = json_schema(proto)
    if is_object(schema):
        return OutputFormat(schema)
    return OutputFormat() if config.get("responseMimeType") == JSON else None


def choice_of(config: Any) -> ToolChoice | None:
    """Whether a function must be called, and which."""
    calling: Any = config.get("functionCallingConfig") if is_object(config) else None
    mode: Any = calling.get("mode") if is_object(calling) else None
    known = MODES.get(mode.upper()) if isinstance(mode, str) else None
    if known is None:
        return None
    names: Any = calling.get("allowedFunctionNames")
    only = names[0] if is_list(names) and len(names) == 1 and known == "required" else None
    return ToolChoice(known, plain(only, str))


def settings_wire(conversation: Conversation, model: Model, changes: list[Change]) -> Object:
    """The request's settings: verbatim where they came from here, else translated."""
    if conversation.source == NAME:
        wire = known_settings(conversation.extra.get(NAME, {}), changes)
        if "model" in wire and conversation.model != model.id:
            wire["model"] = f"models/{model.id}"
        return wire
    changes.extend(foreign_settings(conversation, NAME))
    return translated(conversation, model, changes)


def known_settings(fields: Object, changes: list[Change]) -> Object:
    """Those of the body's own fields that the API knows."""
    if not shape_problems(fields, Request):
        return dict(fields)
    kept: Object = {}
    for key, value in fields.items():
        if key == "generationConfig" and is_object(value):
            kept[key] = {
                field: setting
                for field, setting in value.items()
                if is_known({key: {field: setting}}, f"{key}.{field}", changes)
            }
        elif is_known({key: value}, key, changes):
            kept[key] = value
    return kept


def is_known(piece: Object, path: str, changes: list[Change]) -> bool:
    """Whether a piece of the body is one the API takes."""
    problems = shape_problems(piece, Request)
    if problems:
        changes.append(Change("loss.setting", path, problems[0].message))
    return not problems


def translated(conversation: Conversation, model: Model, changes: list[Change]) -> Object:
    """Settings of another provider under this one's names."""
    settings = replace(conversation.settings, stream=None)  # said by the address here
    body = write_plain(settings, NAME, changes, sampling=model.sampling, model=model.id)
    config: Object = body.pop("generationConfig", {})
    if settings.stop:
        config["stopSequences"] = list(settings.stop[:MOST_STOPS])
        if len(settings.stop) > MOST_STOPS:
            changes.append(Change("loss.setting", "stop", f"at most {MOST_STOPS} stop sequences"))
    thinking = thinking_wire(settings, model, changes)
    if thinking:
        config["thinkingConfig"] = thinking
    if settings.output is not None:
        config["responseMimeType"] = JSON
        if settings.output.schema is not None:
            config["responseJsonSchema"] = settings.output.schema
    if config:
        body["generationConfig"] = config
    if settings.tool_choice is not None:
        if any(isinstance(tool, Tool) for tool in conversation.tools):
            body["toolConfig"] = {"functionCallingConfig": choice_wire(settings.tool_choice)}
        else:
            changes.append(Change("loss.setting", "tool_choice", "there are no functions"))
    return body


def thinking_wire(settings: Settings, model: Model, changes: list[Change]) -> Object:
    """How hard to think: a level since Gemini 3, a budget of tokens before."""
    effort, wire = effort_of(settings), Object()
    if model.thought_signatures:
        if effort is not None:
            wire["thinkingLevel"] = LEVELS[effort]
            if LEVELS[effort] != effort:
                reason = f"{effort} is {LEVELS[effort]} here"
                changes.append(Change("repair.setting", "effort", reason))
    elif model.thinking_budgets:
        if effort is not None:
            budget = settings.thinking_budget
            wire["thinkingBudget"] = BUDGETS[effort] if budget is None else budget
            wire["thinkingBudget"] = min(wire["thinkingBudget"], MOST_THINKING)
    elif effort not in (None, "none"):
        changes.append(Change("loss.setting", "effort", f"{model.id} does not think"))
        return wire
    if settings.show_thinking is not None and (model.thought_signatures or model.thinking_budgets):
        wire["includeThoughts"] = settings.show_thinking
    return wire


def choice_wire(choice: ToolChoice) -> Object:
    """Whether a function must be called, and which."""
    if choice.mode != "required":
        return {"mode": choice.mode.upper()}
    return {"mode": "ANY", **({"allowedFunctionNames": [choice.name]} if choice.name else {})}


def settle(body: Object, changes: list[Change]) -> None:
    """Leave out a cached content beside what it may not stand beside.

    `body` is the payload under construction, not yet anyone else's.
    """
    said = [field for field in CACHED if field in body]
    if body.get("cachedContent") and said:
        del body["cachedContent"]
        reason = f"the request has its own {', '.join(said)}"
        changes.append(Change("loss.setting", "cachedContent", reason))
