"""The settings of a Responses request, read and translated."""

from __future__ import annotations

from typing import Any

from contextwright.formats.base import foreign_settings
from contextwright.formats.openai import (
    SAME,
    allowed_names,
    effort_wire,
    mend_answer,
    output_of,
    output_wire,
    tool_kind,
)
from contextwright.formats.openai_responses.chat import CHAT
from contextwright.formats.openai_responses.media import NAME
from contextwright.formats.openai_responses.rules import fitted_settings, is_exact
from contextwright.formats.settings import (
    dig,
    fit_keys,
    fit_limit,
    fit_ranges,
    known_choice,
    known_effort,
    nearest_effort,
    put,
    read_plain,
    take_out,
    write_plain,
)
from contextwright.formats.target import Target
from contextwright.formats.tools import respelled_choice
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, Settings, ToolChoice
from contextwright.wire import ranges
from contextwright.wire.openai_responses.rules import MIN_OUTPUT_TOKENS, output_format
from contextwright.wire.openai_responses.sampling import ENCRYPTED, sampling
from contextwright.wire.openai_responses.tools import choice_problems
from contextwright.wire.values import is_object

__all__ = ["STATE", "is_stored", "settings_of", "settings_wire", "settle_choice", "settle_output"]

STATE = ("previous_response_id", "conversation", "prompt")
"""Fields a request may continue from instead of an input."""


def settings_of(body: dict[str, Any]) -> Settings:
    """Read the settings that other providers have too."""
    reasoning, text = body.get("reasoning"), body.get("text")
    reasoning = reasoning if is_object(reasoning) else {}
    return Settings(
        **read_plain(body, NAME),
        tool_choice=choice_of(body.get("tool_choice")),
        effort=known_effort(reasoning.get("effort")),
        show_thinking=True if reasoning.get("summary") is not None else None,
        output=output_of(text.get("format")) if is_object(text) else None,
    )


def choice_of(given: Any) -> ToolChoice | None:
    """Read the tool choice."""
    match given:
        case "auto" | "none" | "required":
            return ToolChoice(given)
        case {"type": "function" | "custom", "name": str(name)}:
            return ToolChoice("required", name)
        case {"type": "allowed_tools", "mode": "auto" | "required" as mode, "tools": tools}:
            names = allowed_names(tools)
            return None if names is None else ToolChoice(mode, allowed=names)
        case _:
            return None


def is_stored(conversation: Conversation) -> bool:
    """Whether the provider stores earlier items, so that outputs may have their calls there.

    Also true for a request that generates nothing and only warms the cache.
    """
    if conversation.source != NAME:
        return False
    fields = conversation.extra.get(NAME, {})
    state = {key: fields[key] for key in STATE if fields.get(key)}
    return bool(state and fitted_settings(state, [])) or fields.get("generate") is False


def settings_wire(
    conversation: Conversation, target: Target, changes: list[Change]
) -> dict[str, Any]:
    """Write the settings: verbatim if the request came from this format, else translated."""
    if target.same_format:
        wire = dict(conversation.extra.get(NAME, {}))
        exact = is_exact(target.model, target.options)
        if target.options.repair:
            wire = fitted_settings(wire, changes, exact=exact)
        if exact:
            settle_state(wire, changes)
        if exact and conversation.model != target.model.id:
            for problem in [*sampling(wire, target.model)]:
                given = dig(wire, problem.path)
                take_out(wire, problem.path)
                reason = f"{target.model.id} takes no {problem.path}"
                if problem.path == "include":
                    reason = f"{target.model.id} has no {ENCRYPTED}"
                    rest = [item for item in given if item != ENCRYPTED]
                    wire.update({"include": rest} if rest else {})
                changes.append(Change("loss.setting", problem.path, reason))
            effort = known_effort(dig(wire, "reasoning.effort"))
            if effort is not None:
                put(wire, "reasoning.effort", nearest_effort(effort, target.model.efforts, changes))
    else:
        wire = translated(conversation, target, changes)
        shared = conversation.extra.get(CHAT, {})
        wire |= fitted_settings({key: shared[key] for key in SAME if key in shared}, changes)
        changes.extend(foreign_settings(conversation, NAME, {CHAT: SAME}))
    if target.tool_names and "tool_choice" in wire:
        wire["tool_choice"] = respelled_choice(wire["tool_choice"], target.tool_names)
    if target.options.repair:
        fit_limit(wire, "max_output_tokens", target.model, changes, least=MIN_OUTPUT_TOKENS)
        fit_ranges(wire, ranges.RESPONSES, changes)
        fit_keys(wire, changes)
    return wire


def settle_choice(body: dict[str, Any], changes: list[Change], *, exact: bool) -> None:
    """Leave out a tool choice that does not say what it chooses, or has nothing to choose from.

    Only OpenAI is known to refuse the second, so it is left out if the host is `exact`.
    """
    found = choice_problems(body, "error" if exact else "warning")
    problem = next((problem for problem in found if problem.level == "error"), None)
    if problem is not None:
        del body["tool_choice"]
        changes.append(Change("loss.setting", problem.path, problem.message))


def settle_state(wire: dict[str, Any], changes: list[Change]) -> None:
    """Leave out a conversation beside a response to continue, which says more exactly where."""
    if wire.get("previous_response_id") and wire.get("conversation"):
        del wire["conversation"]
        changes.append(Change("loss.setting", "conversation", "not with previous_response_id"))


def settle_output(body: dict[str, Any], changes: list[Change]) -> bool:
    """Leave strict mode off for an open schema, and JSON mode where nothing speaks of JSON.

    Instructions that speak of it become the first item of the input, where OpenAI looks for the
    word; returns whether they did.
    """
    mend_answer(body, "text.format.schema", changes)
    for problem in [*output_format(body, "error")]:
        if problem.code == "OR-strict":
            put(body, "text.format.strict", False)
            changes.append(Change("loss.strict", "text.format", problem.message))
        elif "json" in str(body.get("instructions")).lower():
            given = body.get("input")
            items = [{"role": "user", "content": given}] if isinstance(given, str) else given or []
            body["input"] = [{"role": "system", "content": body.pop("instructions")}, *items]
            changes.append(Change("repair.system", "instructions", problem.message))
            return True
        else:
            take_out(body, "text.format")
            changes.append(Change("loss.setting", "output", problem.message))
    return False


def translated(conversation: Conversation, target: Target, changes: list[Change]) -> dict[str, Any]:
    """Translate another provider's settings."""
    settings, model = conversation.settings, target.model
    wire = write_plain(settings, NAME, changes, model)
    if settings.stop:
        changes.append(Change("loss.setting", "stop", f"{NAME} has no stop sequences"))
    choice = known_choice(conversation, changes)
    if choice is not None:
        wire["tool_choice"] = choice_wire(choice, conversation)
    effort = effort_wire(settings, model, model.efforts, changes)
    if effort is not None:
        put(wire, "reasoning.effort", effort)
    if settings.show_thinking and not model.sampling:
        put(wire, "reasoning.summary", "auto")
    elif settings.show_thinking:
        changes.append(Change("loss.setting", "show_thinking", f"{model.id} does not reason"))
    if settings.store is False and not model.sampling:
        # Reasoning that is not stored comes back only if it is sent.
        wire["include"] = [ENCRYPTED]
    form = output_wire(conversation, changes)
    if form:
        put(wire, "text.format", form)
    return fitted_settings(wire, changes)


def choice_wire(choice: ToolChoice, conversation: Conversation) -> Any:
    """Write the tool choice."""

    def named(name: str) -> dict[str, Any]:
        return {"type": tool_kind(name, conversation, NAME), "name": name}

    if choice.name is not None:
        return named(choice.name)
    if choice.allowed:
        tools = list(map(named, choice.allowed))
        return {"type": "allowed_tools", "mode": choice.mode, "tools": tools}
    return choice.mode
