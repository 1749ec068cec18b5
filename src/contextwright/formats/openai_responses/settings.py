"""The settings of a Responses request: reading and translating them."""

from __future__ import annotations

from typing import Any, Literal

from contextwright.formats.base import foreign_settings
from contextwright.formats.openai import effort_wire, output_of, output_wire
from contextwright.formats.openai_responses.chat import CHAT, SHARED, settings_from_chat
from contextwright.formats.openai_responses.media import NAME
from contextwright.formats.openai_responses.rules import fitted_settings, is_exact
from contextwright.formats.reader import plain
from contextwright.formats.settings import known_effort, put, read_plain, write_plain
from contextwright.formats.target import Target
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, Settings, ToolChoice
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
    reasoning, text = body.get("reasoning"), body.get("text")
    reasoning = reasoning if is_object(reasoning) else {}
    return Settings(
        **read_plain(body, NAME),
        tool_choice=chosen,
        effort=known_effort(reasoning.get("effort")),
        show_thinking=True if reasoning.get("summary") is not None else None,
        output=output_of(text.get("format")) if is_object(text) else None,
    )


def is_stored(conversation: Conversation) -> bool:
    """Whether earlier items lie at the provider, so that answers may have their calls there.

    A request that generates nothing, only to warm the cache, asks for no more.
    """
    if conversation.source != NAME:
        return False
    fields = conversation.extra.get(NAME, {})
    return any(fields.get(key) for key in STATE) or fields.get("generate") is False


def settings_wire(
    conversation: Conversation, target: Target, changes: list[Change]
) -> dict[str, Any]:
    """The request's settings: verbatim where they came from here, else translated."""
    if target.same_format:
        wire = dict(conversation.extra.get(NAME, {}))
        if is_exact(target.model, target.options):
            wire = fitted_settings(wire, changes)
        choice = wire.get("tool_choice")
        if target.tool_names and is_object(choice):
            wire["tool_choice"] = respelled(choice, target)
    else:
        wire = translated(conversation, target, changes)
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


def translated(conversation: Conversation, target: Target, changes: list[Change]) -> dict[str, Any]:
    """Settings of another provider under this one's names."""
    settings, model = conversation.settings, target.model
    wire = write_plain(settings, NAME, changes, sampling=model.sampling, model=model.id)
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
    effort = effort_wire(settings, model, changes)
    if effort is not None:
        put(wire, "reasoning.effort", effort)
    if settings.show_thinking and not model.sampling:
        put(wire, "reasoning.summary", "auto")
    form = output_wire(conversation, changes)
    if form:
        put(wire, "text.format", form)
    return fitted_settings(wire, changes)
