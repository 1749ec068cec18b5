"""The settings of a Messages request: read, translated, and made legal."""

from __future__ import annotations

from typing import Any, Literal

from contextwright.formats.anthropic.cache_marks import settle_cache_marks
from contextwright.formats.anthropic.output import (
    settle_citations,
    settle_output,
    settle_references,
)
from contextwright.formats.anthropic.size import settle_size
from contextwright.formats.anthropic.thinking import (
    DEFAULT_MAX_TOKENS,
    invented_limit,
    leave_out_final_thinking,
    room_for,
    settle_edits,
    settle_thinking,
    write_thinking,
)
from contextwright.formats.base import foreign_settings, without
from contextwright.formats.reader import plain
from contextwright.formats.schemas import output_schema, valid_schema
from contextwright.formats.settings import (
    FREE,
    SAYS_NOTHING,
    dig,
    fit_keys,
    fit_limit,
    fit_ranges,
    known_effort,
    known_fields,
    nearest_effort,
    put,
    read_plain,
    take_out,
    write_plain,
)
from contextwright.messages.changes import Change
from contextwright.messages.conversation import (
    Conversation,
    OutputFormat,
    Settings,
    ToolChoice,
)
from contextwright.models import Model
from contextwright.wire import ranges
from contextwright.wire.anthropic.rules import sampling, tool_choice, warming
from contextwright.wire.anthropic.turns import is_idle
from contextwright.wire.anthropic.types import Request
from contextwright.wire.values import is_list, is_object

__all__ = ["settings_of", "settings_wire", "settle"]

NAME = "anthropic"
MODES: dict[Any, Literal["auto", "none", "required"]] = {
    "auto": "auto",
    "none": "none",
    "any": "required",
    "tool": "required",
}


def settings_of(body: dict[str, Any]) -> Settings:
    """Read the settings that other providers have too."""
    choice = body.get("tool_choice")
    choice = choice if is_object(choice) else {}
    mode = MODES.get(plain(choice.get("type"), str))
    stops = body.get("stop_sequences")
    thinking, config = body.get("thinking"), body.get("output_config")
    thinking = thinking if is_object(thinking) else {}
    config = config if is_object(config) else {}
    mode_of_thinking = thinking.get("type")
    budget = plain(thinking.get("budget_tokens"), int)
    return Settings(
        **read_plain(body, NAME),
        stop=tuple(stop for stop in stops if isinstance(stop, str)) if is_list(stops) else (),
        tool_choice=ToolChoice(mode, plain(choice.get("name"), str)) if mode else None,
        parallel_calls=False if choice.get("disable_parallel_tool_use") is True else None,
        effort="none" if mode_of_thinking == "disabled" else known_effort(config.get("effort")),
        thinking_budget=FREE if mode_of_thinking == "adaptive" else budget,
        show_thinking=SHOWN.get(plain(thinking.get("display"), str), budget is not None or None),
        output=output_of(config.get("format") or body.get("output_format")),
    )


SHOWN: dict[Any, bool] = {"summarized": True, "updates": True, "omitted": False}


def output_of(given: Any) -> OutputFormat | None:
    """Read the output format."""
    match given:
        case {"type": "json_schema", "schema": schema} if is_object(schema):
            return OutputFormat(schema)
        case _:
            return None


def settings_wire(
    conversation: Conversation, model: Model, changes: list[Change]
) -> dict[str, Any]:
    """Write the settings: verbatim if the request came from this format, else translated."""
    if conversation.source == NAME:
        wire = known_fields(
            conversation.extra.get(NAME, {}), Request, changes, model="", max_tokens=1, messages=[]
        )
        if conversation.model != model.id:
            fit_effort(wire, model, changes)
    else:
        wire = translated(conversation, model, changes)
        changes.extend(foreign_settings(conversation, NAME))
    fit_limit(wire, "max_tokens", model, changes, least=0)
    fit_ranges(wire, ranges.ANTHROPIC, changes)
    fit_keys(wire, changes)
    fit_stops(wire, changes)
    if "max_tokens" not in wire:
        wire["max_tokens"] = room_for(DEFAULT_MAX_TOKENS, model)
        changes.append(invented_limit(wire["max_tokens"]))
    return wire


def fit_stops(wire: dict[str, Any], changes: list[Change]) -> None:
    """Leave out stop sequences that are blank."""
    given: list[str] = wire.get("stop_sequences") or []
    kept = [stop for stop in given if stop.strip()]
    if len(kept) < len(given):
        del wire["stop_sequences"]
        wire.update({"stop_sequences": kept} if kept else {})
        changes.append(Change("loss.setting", "stop", f"{NAME} takes no blank stop sequence"))


def fit_effort(wire: dict[str, Any], model: Model, changes: list[Change]) -> None:
    """Set the effort of a request to another model to one that this model takes."""
    effort = known_effort(dig(wire, "output_config.effort"))
    if effort is None:
        return
    if model.efforts == ():
        take_out(wire, "output_config.effort")
        changes.append(Change("loss.setting", "effort", f"{model.id} has no effort setting"))
    else:
        put(wire, "output_config.effort", nearest_effort(effort, model.efforts, changes))


def translated(conversation: Conversation, model: Model, changes: list[Change]) -> dict[str, Any]:
    """Translate another provider's settings."""
    settings = conversation.settings
    wire = write_plain(settings, NAME, changes, model)
    fit_limit(wire, "max_tokens", model, changes, least=0)  # a thinking budget is below it
    if settings.cache_key and model.cache_breakpoints:
        wire["cache_control"] = {"type": "ephemeral"}
        reason = f"{NAME} caches by breakpoints, and has no cache keys"
        changes.append(Change("repair.setting", "cache_key", reason))
    if settings.stop:
        wire["stop_sequences"] = list(settings.stop)
    choice = choice_wire(settings, model, changes)
    if choice:
        wire["tool_choice"] = choice
    write_thinking(settings, model, wire, changes)
    if settings.output is not None:
        write_output(settings.output, wire, changes)
    return wire


def choice_wire(settings: Settings, model: Model, changes: list[Change]) -> dict[str, Any]:
    """Write the tool choice, and whether parallel calls are allowed."""
    choice, wire = settings.tool_choice, dict[str, Any]()
    if choice is not None:
        if choice.mode != "required":
            wire = {"type": choice.mode}
        elif not model.forced_tool_use:
            reason = f"{model.id} cannot be forced to call"
            changes.append(Change("loss.setting", "tool_choice", reason))
        elif choice.name:
            wire = {"type": "tool", "name": choice.name}
        else:
            wire = {"type": "any"}
        if choice.allowed:
            reason = f"{NAME} cannot narrow the choice to some tools"
            changes.append(Change("loss.setting", "tool_choice.allowed", reason))
    if settings.parallel_calls is False and wire.get("type") != "none":
        wire = {"type": "auto", **wire, "disable_parallel_tool_use": True}
    return wire


def write_output(output: OutputFormat, wire: dict[str, Any], changes: list[Change]) -> None:
    """Write the output schema. The API requires every object in it to be closed."""
    if output.schema is None:
        changes.append(
            Change("loss.setting", "output", f"{NAME} has no JSON mode without a schema")
        )
        return
    converted = output_schema(valid_schema(output.schema, "output.schema", changes))
    if converted is None:
        reason = f"{NAME} accepts no recursive schema"
        changes.append(Change("loss.setting", "output", reason))
        return
    schema, lost = converted
    if lost:
        reason = f"{NAME} does not enforce {', '.join(lost)}"
        changes.append(Change("loss.schema", "output", reason))
    if output.description:
        reason = f"{NAME} has no field for a description of the answer"
        changes.append(Change("loss.setting", "output.description", reason))
    put(wire, "output_config.format", {"type": "json_schema", "schema": schema})


def settle(
    body: dict[str, Any], contents: list[list[dict[str, Any]]], model: Model, changes: list[Change]
) -> None:
    """Make the request's own settings legal for this model and the rendered messages.

    `contents` are those of the turns that are not a plain text. Changes `body`, which is still
    under construction.
    """
    settle_thinking(body, model, changes)
    settle_edits(body, model, changes)
    if is_idle(body, model):
        leave_out_final_thinking(body, changes)
    settle_sampling(body, model, changes)
    settle_choice(body, changes)
    choice = body.get("tool_choice")
    if is_object(choice) and choice.get("type") in ("any", "tool"):
        thinking = body.get("thinking")
        thinks = is_object(thinking) and thinking.get("type") == "enabled"
        if thinks or not model.forced_tool_use:
            body["tool_choice"] = unforced(choice)
            reason = "this model or its thinking mode allows no forced call"
            changes.append(Change("loss.setting", "tool_choice", reason))
    settle_references(body, contents, changes)
    settle_citations(contents, changes)
    settle_output(body, changes)
    settle_warming(body, changes)
    settle_cache_marks(body, contents, changes)
    settle_size(body, contents, changes)


def settle_sampling(body: dict[str, Any], model: Model, changes: list[Change]) -> None:
    """Leave out sampling settings that the model refuses."""
    for problem in sampling(body, model):
        if problem.level == "error":
            usual = body.pop(problem.path) in SAYS_NOTHING.get(problem.path, ())
            code = "repair.setting" if usual else "loss.setting"
            changes.append(Change(code, problem.path, problem.message))


def settle_warming(body: dict[str, Any], changes: list[Change]) -> None:
    """Ask for one token where the request cannot be one that only fills the cache."""
    problem = next(warming(body), None)
    if problem is not None:
        body["max_tokens"] = 1
        changes.append(Change("repair.setting", "max_tokens", problem.message))


def settle_choice(body: dict[str, Any], changes: list[Change]) -> None:
    """Leave out a choice without tools, and a forced call of a tool that is not among them."""
    for problem in tool_choice(body):
        given = body.pop("tool_choice")
        choice = unforced(given)
        if len(choice) > 1 and body.get("tools"):
            body["tool_choice"] = choice
        code = "repair.setting" if given in IDLE_CHOICES else "loss.setting"
        changes.append(Change(code, "tool_choice", problem.message))


IDLE_CHOICES = ({"type": "auto"}, {"type": "none"})
"""Choices that mean nothing where there are no tools."""


def unforced(choice: dict[str, Any]) -> dict[str, Any]:
    """Return a tool choice that forces nothing; whether calls may be parallel stays."""
    return {**without(choice, "name"), "type": "auto"}
