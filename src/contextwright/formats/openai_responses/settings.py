"""The settings of a Responses request: reading and translating them."""

from __future__ import annotations

from typing import Any, Literal

from contextwright.changes import Change
from contextwright.formats.base import (
    Conversation,
    Settings,
    ToolChoice,
    foreign_settings,
)
from contextwright.formats.openai_responses.chat import CHAT, SHARED, settings_from_chat
from contextwright.formats.openai_responses.fitting import fitted_settings
from contextwright.formats.openai_responses.parts import NAME, is_exact
from contextwright.formats.reading import plain
from contextwright.formats.target import Target
from contextwright.wire.openai_responses.rules import MIN_OUTPUT_TOKENS
from contextwright.wire.shapes import objects_in
from contextwright.wire.values import is_object

__all__ = ["STATE", "is_stored", "settings_of", "settings_wire"]

STATE = ("previous_response_id", "conversation", "prompt")
"""What a request may go on from instead of an input."""
MODES: dict[Any, Literal["auto", "none", "required"]] = {
    "auto": "auto",
    "none": "none",
    "required": "required",
}


def settings_of(body: dict[str, Any]) -> Settings:
    """The settings that other providers have too."""
    choice = body.get("tool_choice")
    chosen: ToolChoice | None = None
    if is_object(choice):
        if choice.get("type") in ("function", "custom"):
            chosen = ToolChoice("required", plain(choice.get("name"), str))
        elif choice.get("type") == "allowed_tools" and choice.get("mode") == "required":
            chosen = ToolChoice("required")
    elif isinstance(choice, str) and choice in MODES:
        chosen = ToolChoice(MODES[choice])
    return Settings(
        plain(body.get("max_output_tokens"), int),
        plain(body.get("temperature"), float),
        plain(body.get("top_p"), float),
        tool_choice=chosen,
    )


def is_stored(conversation: Conversation) -> bool:
    """Whether earlier items lie at the provider, so that answers may have their calls there."""
    if conversation.source != NAME:
        return False
    held = conversation.extra.get(NAME, {})
    return any(held.get(key) for key in STATE)


def settings_wire(
    conversation: Conversation, target: Target, changes: list[Change]
) -> dict[str, Any]:
    """The request's settings: verbatim where they came from here, else translated."""
    if target.faithful:
        wire = dict(conversation.extra.get(NAME, {}))
        if is_exact(target.model, target.options):
            wire = fitted_settings(wire, changes)
        choice = wire.get("tool_choice")
        if target.tool_names and is_object(choice):
            wire["tool_choice"] = respelled(choice, target)
    else:
        wire = translated(conversation.settings, target, changes)
        if CHAT in conversation.extra:
            wire.update(fitted_settings(settings_from_chat(conversation.extra[CHAT]), changes))
        changes.extend(foreign_settings(conversation, NAME, {CHAT: SHARED}))
    limit = wire.get("max_output_tokens")
    if isinstance(limit, int) and limit < MIN_OUTPUT_TOKENS and target.options.repair:
        wire["max_output_tokens"] = MIN_OUTPUT_TOKENS
        reason = f"raised to {MIN_OUTPUT_TOKENS}, the least allowed"
        changes.append(Change("repair.setting", "max_output_tokens", reason))
    return wire


def respelled(choice: dict[str, Any], target: Target) -> dict[str, Any]:
    """A choice that names tools, with the names they have in this request."""
    names = target.tool_names
    if isinstance(choice.get("tools"), list):
        return {
            **choice,
            "tools": [respelled(tool, target) for _, tool in objects_in(choice["tools"])],
        }
    name = choice.get("name")
    return {**choice, "name": names[name]} if isinstance(name, str) and name in names else choice


def translated(settings: Settings, target: Target, changes: list[Change]) -> dict[str, Any]:
    """Settings of another provider under this one's names."""
    wire: dict[str, Any] = {}
    model = target.model
    if settings.max_tokens is not None:
        wire["max_output_tokens"] = settings.max_tokens
    for name, value in (("temperature", settings.temperature), ("top_p", settings.top_p)):
        if value is None:
            continue
        if model.sampling:
            wire[name] = value
        else:
            changes.append(Change("loss.setting", name, f"{model.id} takes no {name}"))
    if settings.stop:
        changes.append(Change("loss.setting", "stop", f"{NAME} has no stop sequences"))
    choice = settings.tool_choice
    if choice is not None:
        name = choice.name
        wire["tool_choice"] = (
            {"type": "function", "name": target.tool_names.get(name, name)}
            if name and choice.mode == "required"
            else choice.mode
        )
    return wire
