"""The settings of a generateContent request: reading, translating, and keeping them legal."""

from __future__ import annotations

from typing import Any, Literal

from contextwright.changes import Change
from contextwright.formats.base import (
    Conversation,
    Settings,
    ToolChoice,
    foreign_settings,
)
from contextwright.formats.gemini.parts import NAME
from contextwright.formats.reading import plain
from contextwright.messages import Tool
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
CACHED = ("systemInstruction", "tools", "toolConfig")
"""What a cached content holds already, and a request may not say again."""


def settings_of(body: Object) -> Settings:
    """The settings that other providers have too."""
    config = body.get("generationConfig")
    held: Object = config if is_object(config) else {}
    stops: Any = held.get("stopSequences")
    return Settings(
        plain(held.get("maxOutputTokens"), int),
        plain(held.get("temperature"), float),
        plain(held.get("topP"), float),
        tuple(stop for stop in stops if isinstance(stop, str)) if is_list(stops) else (),
        choice_of(body.get("toolConfig")),
    )


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
    lost = foreign_settings(conversation, NAME)
    # Whether a reply is streamed is said by the address here.
    changes.extend(change for change in lost if change.path != "stream")
    return translated(conversation, model, changes)


def known_settings(held: Object, changes: list[Change]) -> Object:
    """Those of the body's own fields that the API knows."""
    if not shape_problems(held, Request):
        return dict(held)
    kept: Object = {}
    for key, value in held.items():
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
    settings = conversation.settings
    config: Object = {}
    if settings.max_tokens is not None:
        config["maxOutputTokens"] = settings.max_tokens
    for name, value in (("temperature", settings.temperature), ("topP", settings.top_p)):
        if value is not None and model.sampling:
            config[name] = value
        elif value is not None:
            changes.append(Change("loss.setting", name, f"{model.id} takes no sampling settings"))
    if settings.stop:
        config["stopSequences"] = list(settings.stop[:MOST_STOPS])
        if len(settings.stop) > MOST_STOPS:
            changes.append(Change("loss.setting", "stop", f"at most {MOST_STOPS} stop sequences"))
    body: Object = {"generationConfig": config} if config else {}
    if settings.tool_choice is not None:
        if any(isinstance(tool, Tool) for tool in conversation.tools):
            body["toolConfig"] = {"functionCallingConfig": choice_wire(settings.tool_choice)}
        else:
            changes.append(Change("loss.setting", "tool_choice", "there are no functions"))
    return body


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
