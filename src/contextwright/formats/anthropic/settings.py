"""The settings of a Messages request: reading, translating, and keeping them legal."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Literal

from contextwright.changes import Change
from contextwright.formats.base import Conversation, Settings, ToolChoice, foreign_settings
from contextwright.formats.reading import plain
from contextwright.models import Model
from contextwright.wire.anthropic.rules import MAX_CACHE_MARKS
from contextwright.wire.anthropic.turns import open_loop, turns_of
from contextwright.wire.shapes import objects_in
from contextwright.wire.values import is_list, is_object

__all__ = ["settings_of", "settings_wire", "settle"]

NAME = "anthropic"
DEFAULT_MAX_TOKENS = 4_096
"""The API wants a limit; ours where the caller names none."""
MODES: dict[Any, Literal["auto", "none", "required"]] = {
    "auto": "auto",
    "none": "none",
    "any": "required",
    "tool": "required",
}


def settings_of(body: dict[str, Any]) -> Settings:
    """The settings that other providers have too."""
    choice = body.get("tool_choice")
    mode = MODES.get(choice.get("type")) if is_object(choice) else None
    name = plain(choice.get("name"), str) if is_object(choice) else None
    stops = body.get("stop_sequences")
    return Settings(
        plain(body.get("max_tokens"), int),
        plain(body.get("temperature"), float),
        plain(body.get("top_p"), float),
        tuple(stop for stop in stops if isinstance(stop, str)) if is_list(stops) else (),
        ToolChoice(mode, name) if mode else None,
    )


def settings_wire(
    conversation: Conversation, model: Model, changes: list[Change]
) -> dict[str, Any]:
    """The request's settings: verbatim where they came from here, else translated."""
    if conversation.source == NAME:
        wire = dict(conversation.extra.get(NAME, {}))
    else:
        wire = translated(conversation.settings, model, changes)
        changes.extend(foreign_settings(conversation, NAME))
    if "max_tokens" not in wire:
        wire["max_tokens"] = min(DEFAULT_MAX_TOKENS, model.max_output)
        changes.append(
            Change("invent.max_tokens", "max_tokens", "required here; the caller names none")
        )
    return wire


def translated(settings: Settings, model: Model, changes: list[Change]) -> dict[str, Any]:
    """Settings of another provider under this one's names."""
    wire: dict[str, Any] = {}
    if settings.max_tokens is not None:
        wire["max_tokens"] = settings.max_tokens
    for name, value in (("temperature", settings.temperature), ("top_p", settings.top_p)):
        if value is None:
            continue
        if model.sampling:
            wire[name] = min(value, 1.0)
        else:
            changes.append(Change("loss.setting", name, f"{model.id} takes no {name}"))
    if settings.stop:
        wire["stop_sequences"] = list(settings.stop)
    choice = settings.tool_choice
    if choice is None:
        return wire
    if choice.mode != "required":
        wire["tool_choice"] = {"type": choice.mode}
    elif not model.forced_tool_use:
        changes.append(
            Change("loss.setting", "tool_choice", f"{model.id} cannot be forced to call")
        )
    elif choice.name:
        wire["tool_choice"] = {"type": "tool", "name": choice.name}
    else:
        wire["tool_choice"] = {"type": "any"}
    return wire


def settle(body: dict[str, Any], model: Model, changes: list[Change]) -> None:
    """Make settings that came with a request legal for this model and what became of it.

    `body` is the payload under construction, not yet anyone else's.
    """
    settle_thinking(body, model, changes)
    choice = body.get("tool_choice")
    if is_object(choice) and choice.get("type") in ("any", "tool"):
        thinking = body.get("thinking")
        thinks = is_object(thinking) and thinking.get("type") == "enabled"
        if thinks or not model.forced_tool_use:
            body["tool_choice"] = {"type": "auto"}
            changes.append(Change("loss.setting", "tool_choice", "a call cannot be forced here"))
    settle_cache_marks(body, changes)


def settle_thinking(body: dict[str, Any], model: Model, changes: list[Change]) -> None:
    """The thinking mode the model has, and none where the open tool loop lost its thinking."""
    thinking = body.get("thinking")
    if not is_object(thinking):
        return
    mode = thinking.get("type")
    if mode == "enabled" and not model.legacy_thinking:
        body["thinking"] = {"type": "adaptive"}
        changes.append(Change("repair.setting", "thinking", f"{model.id} thinks adaptively"))
    elif mode == "enabled" and any(open_loop(turns_of(body))):
        del body["thinking"]
        reason = "the open tool loop has no thinking to begin with"
        changes.append(Change("loss.setting", "thinking", reason))
    elif mode == "disabled" and not model.disable_thinking:
        del body["thinking"]
        changes.append(Change("loss.setting", "thinking", f"{model.id} always thinks"))


def settle_cache_marks(body: dict[str, Any], changes: list[Change]) -> None:
    """At most four cache marks, long-lived ones first: the stable ends and the newest stay."""
    if not marks_of(body):
        return
    for field in MARKED:
        if field in body:
            # Blocks of the provider's own are the caller's values, which are never changed.
            body[field] = deepcopy(body[field])
    marked = marks_of(body)
    allowed = MAX_CACHE_MARKS - (1 if body.get("cache_control") else 0)
    if len(marked) > allowed:
        stable = [
            max(index for index, (path, _) in enumerate(marked) if path.startswith(field))
            for field in ("tools", "system")
            if any(path.startswith(field) for path, _ in marked)
        ]
        others = [index for index in range(len(marked)) if index not in stable]
        kept = {*stable, *others[len(others) - max(allowed - len(stable), 0) :]}
        for index, (path, holder) in enumerate(marked):
            if index not in kept:
                del holder["cache_control"]
                changes.append(Change("loss.cache_mark", path, "at most 4 cache marks"))
        marked = [entry for index, entry in enumerate(marked) if index in kept]
    short_lived = False
    for path, holder in marked:
        mark = holder["cache_control"]
        if mark.get("ttl") != "1h":
            short_lived = True
        elif short_lived:
            holder["cache_control"] = {"type": "ephemeral"}
            changes.append(Change("repair.cache_mark", path, "a 1h mark cannot follow a 5m mark"))


MARKED = ("tools", "system", "messages")
"""What may hold cache marks, in the order of the prompt."""


def marks_of(body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """All that holds a cache mark."""
    return [found for field in MARKED for found in marked_in(body.get(field), field)]


def marked_in(value: Any, path: str) -> list[tuple[str, dict[str, Any]]]:
    """The tools or blocks that hold a cache mark, in the order of the prompt."""
    found: list[tuple[str, dict[str, Any]]] = []
    for index, item in objects_in(value):
        place = f"{path}[{index}]"
        found.extend(marked_in(item.get("content"), f"{place}.content"))
        if isinstance(item.get("cache_control"), dict):
            found.append((place, item))
    return found
