"""The settings of a chat request: read, translated, and limited to what the host accepts."""

from __future__ import annotations

from typing import Any, Literal, cast, get_type_hints

import msgspec

from contextwright.formats.base import foreign_settings, without
from contextwright.formats.hosts import FREE, THINKING, known_effort, read_hosts
from contextwright.formats.openai import (
    SAME,
    allowed_names,
    effort_wire,
    mend_answer,
    output_of,
    output_wire,
    tool_kind,
)
from contextwright.formats.openai_chat.responses import RESPONSES
from contextwright.formats.reader import plain
from contextwright.formats.settings import (
    SAYS_NOTHING,
    fields_of,
    fit_limit,
    fit_ranges,
    known_choice,
    nearest_effort,
    put,
    read_plain,
    write_plain,
)
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, Effort, Settings, ToolChoice
from contextwright.models import Model
from contextwright.text.json import convert
from contextwright.wire import ranges
from contextwright.wire.openai_chat.dialects import (
    OPENAI,
    Dialect,
    HostedRequest,
    is_routed_claude,
)
from contextwright.wire.openai_chat.rules import (
    OUTPUT_LIMITS,
    accepted_efforts,
    dependent,
    is_refused_beside_tools,
    output_format,
    sampling,
)
from contextwright.wire.openai_chat.types import Request
from contextwright.wire.values import is_object

__all__ = ["settings_of", "settings_wire", "settle_effort", "settle_limits", "settle_output"]

NAME = "openai-chat"

MODES: dict[Any, Literal["auto", "none", "required"]] = {
    "auto": "auto",
    "none": "none",
    "required": "required",
    "any": "required",
}
MOST_STOPS = 4
"""Stop sequences that OpenAI takes; other hosts have limits of their own."""
USUAL: Effort = "medium"
"""The effort for a model that does not think unless it is given one."""
TELLING = ("metadata", "top_logprobs")
"""Settings that mean something without the one that they need."""
OF_OTHER_HOSTS = {path.partition(".")[0] for path in THINKING} - {"reasoning_effort"}
"""Fields in which other hosts than OpenAI are asked for thinking."""
OWN_FIELDS = get_type_hints(Request)
"""The settings OpenAI itself accepts, with their types."""
SHARED_FIELDS = get_type_hints(HostedRequest)
"""The settings that mean the same on every host."""


def settings_of(body: dict[str, Any]) -> Settings:
    """Read the settings that other providers have too."""
    limit = plain(body.get("max_completion_tokens"), int)
    limit = plain(body.get("max_tokens"), int) if limit is None else limit
    stop = body.get("stop")
    stops: object = [stop] if isinstance(stop, str) else stop
    shared = read_hosts(dict(fields_of(body))) | read_plain(body, NAME)
    if limit is not None:
        shared["max_tokens"] = limit
    return Settings(
        **shared,
        stop=tuple(stop for stop in as_list(stops) if isinstance(stop, str)),
        tool_choice=choice_of(body.get("tool_choice", body.get("function_call"))),
        output=output_of(flat_format(body.get("response_format"))),
    )


def flat_format(form: Any) -> Any:
    """Flatten a response format, as Responses has it."""
    match form:
        case {"type": "json_schema", "json_schema": inner} if is_object(inner):
            return {**inner, "type": "json_schema"}
        case _:
            return form


def as_list(value: object) -> list[Any]:
    """Return the value if it is a list, else an empty list."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def choice_of(given: Any) -> ToolChoice | None:
    """Read the tool choice in any of the format's spellings."""
    if isinstance(given, str):
        return ToolChoice(MODES[given]) if given in MODES else None
    if not isinstance(given, dict):
        return None
    choice = cast("dict[str, Any]", given)
    match choice:
        case {"function": {"name": str(name)}} | {"custom": {"name": str(name)}}:
            return ToolChoice("required", name)
        case {"allowed_tools": {"mode": "auto" | "required" as mode, "tools": tools}}:
            names = allowed_names(tools)
            return None if names is None else ToolChoice(mode, allowed=names)
        case {"name": str(name)}:
            return ToolChoice("required", name)
        case _:
            return None


def settings_wire(
    conversation: Conversation, dialect: Dialect, model: Model, changes: list[Change]
) -> dict[str, Any]:
    """Write the settings: verbatim if the request came from this format, else translated."""
    if conversation.source is None and NAME in conversation.extra:
        return for_another_host(conversation, dialect, changes)
    if conversation.source != NAME:
        wire = translated(conversation, dialect, model, changes)
        if shared := conversation.extra.get(RESPONSES):
            wire |= settled({key: shared[key] for key in SAME if key in shared}, dialect, changes)
        wire = known_to_host(wire, dialect, changes)
        changes.extend(foreign_settings(conversation, NAME, {RESPONSES: SAME}))
        return wire
    wire = conversation.extra.get(NAME, {})
    if dialect.closed:
        wire = in_own_words(wire, conversation.settings, model, changes)
    if dialect.closed and conversation.model != model.id:
        wire = without_sampling(wire, model, changes)
    return settled(wire, dialect, changes)


def translated(
    conversation: Conversation, dialect: Dialect, model: Model, changes: list[Change]
) -> dict[str, Any]:
    """Translate another provider's settings."""
    settings = conversation.settings
    wire = write_plain(settings, NAME, changes, model, strict=dialect.closed)
    limit = wire.pop("max_completion_tokens", None)
    if limit is not None:
        wire = {dialect.limit: limit, **wire}
    if settings.stop and dialect.closed and not model.stop_sequences:
        changes.append(Change("loss.setting", "stop", f"{model.id} takes no stop sequences"))
    elif settings.stop:
        wire["stop"] = list(settings.stop[:MOST_STOPS] if dialect.closed else settings.stop)
        if len(wire["stop"]) < len(settings.stop):
            changes.append(Change("loss.setting", "stop", f"at most {MOST_STOPS} stop sequences"))
    choice = known_choice(conversation, changes)
    if choice is not None:
        wire["tool_choice"] = choice_wire(choice, conversation, dialect, changes)
    effort = effort_wire(settings, model, accepted_efforts(model), changes)
    if effort is not None:
        wire["reasoning_effort"] = effort
    elif settings.thinking_budget == FREE and is_routed_claude(model):
        wire["reasoning_effort"] = USUAL
        reason = f"{model.id} thinks only with an effort here; using {USUAL}"
        changes.append(Change("repair.setting", "thinking_budget", reason))
    if settings.show_thinking and dialect.thinking is None:
        changes.append(Change("loss.setting", "show_thinking", f"{NAME} shows no thinking"))
    form = output_wire(conversation, changes)
    if form:
        schema = without(form, "type")
        nested = {"json_schema": schema} if schema else {}
        wire["response_format"] = {"type": form["type"], **nested}
    return settled(wire, dialect, changes)


def for_another_host(
    conversation: Conversation, dialect: Dialect, changes: list[Change]
) -> dict[str, Any]:
    """Write the settings of a chat request to one host for another, as far as it takes them."""
    wire = dict(conversation.extra[NAME])
    limit = conversation.settings.max_tokens
    if limit is not None:
        wire = {dialect.limit: limit, **without(wire, *OUTPUT_LIMITS)}
    if conversation.settings.tool_choice is not None and "tool_choice" in wire:
        choice = known_choice(conversation, changes)
        del wire["tool_choice"]
        if choice is not None:
            wire["tool_choice"] = choice_wire(choice, conversation, dialect, changes)
    return known_to_host(settled(wire, dialect, changes), dialect, changes)


def known_to_host(wire: dict[str, Any], dialect: Dialect, changes: list[Change]) -> dict[str, Any]:
    """Leave out settings that this host does not know, and say its word for the seed."""
    for field in [field for field in wire if field in dialect.unknown]:
        if wire[field] not in SAYS_NOTHING.get(field, (None,)):
            changes.append(Change("loss.setting", field, f"{dialect.name} refuses this field"))
    return {
        dialect.seed if field == "seed" else field: value
        for field, value in wire.items()
        if field not in dialect.unknown
    }


def choice_wire(
    choice: ToolChoice, conversation: Conversation, dialect: Dialect, changes: list[Change]
) -> Any:
    """Write the tool choice."""
    if choice.name is not None:
        return named_tool(choice.name, conversation)
    if choice.allowed and dialect.closed:
        tools = [named_tool(name, conversation) for name in choice.allowed]
        return {"type": "allowed_tools", "allowed_tools": {"mode": choice.mode, "tools": tools}}
    if choice.allowed:
        reason = f"{dialect.name} cannot narrow the choice to some tools"
        changes.append(Change("loss.setting", "tool_choice.allowed", reason))
    return dialect.forced if choice.mode == "required" else choice.mode


def named_tool(name: str, conversation: Conversation) -> dict[str, Any]:
    """Name a tool as a tool choice does."""
    kind = tool_kind(name, conversation, NAME)
    return {"type": kind, kind: {"name": name}}


def in_own_words(
    wire: dict[str, Any], settings: Settings, model: Model, changes: list[Change]
) -> dict[str, Any]:
    """Say in OpenAI's setting what other hosts say of thinking in theirs."""
    theirs = {field: wire[field] for field in wire if field in OF_OTHER_HOSTS}
    if not theirs:
        return wire
    for path, value in fields_of(theirs):
        if value and not (path in THINKING and THINKING[path](value)):
            changes.append(Change("loss.extra", path, f"{OPENAI.name} refuses this field"))
    reason = f"{OPENAI.name} says reasoning_effort"
    changes.extend(Change("repair.setting", field, reason) for field in theirs)
    own = without(wire, *theirs)
    if settings.show_thinking:
        changes.append(Change("loss.setting", "show_thinking", f"{NAME} shows no thinking"))
    effort = effort_wire(settings, model, accepted_efforts(model), changes)
    return own if effort is None else {**own, "reasoning_effort": effort}


def without_sampling(wire: dict[str, Any], model: Model, changes: list[Change]) -> dict[str, Any]:
    """Remove settings that a model refuses because it reasons or not; rename its output limit."""
    kept = dict(wire)
    effort = known_effort(kept.get("reasoning_effort"))
    if effort is not None and model.efforts:
        kept["reasoning_effort"] = nearest_effort(effort, accepted_efforts(model), changes)
    for field in [problem.path for problem in sampling(wire, model)]:
        value = kept.pop(field)
        if field == "max_tokens":
            kept.setdefault("max_completion_tokens", value)
            reason = f"{model.id} says max_completion_tokens"
            changes.append(Change("repair.setting", field, reason))
        else:
            changes.append(Change("loss.setting", field, f"{model.id} takes no {field}"))
    return kept


def settled(wire: dict[str, Any], dialect: Dialect, changes: list[Change]) -> dict[str, Any]:
    """Keep the settings that this host accepts."""
    if dialect.closed and fits({**wire, "model": "", "messages": []}, Request):
        return dict(wire)
    known = OWN_FIELDS if dialect.closed else SHARED_FIELDS
    kept: dict[str, Any] = {}
    for field, value in wire.items():
        if field == "tool_choice" and value == "any" and dialect.closed:
            value = dialect.forced
            changes.append(
                Change("repair.setting", field, f"{dialect.name} uses {value} instead of any")
            )
        if field in known and not fits(value, known[field]):
            if value is None:  # as good as not set
                continue
            changes.append(Change("loss.setting", field, f"{dialect.name} refuses this value"))
        elif field not in known and dialect.closed:
            changes.append(Change("loss.extra", field, f"{dialect.name} refuses this field"))
        else:
            kept[field] = value
    return kept


def settle_effort(body: dict[str, Any], model: Model, changes: list[Change]) -> None:
    """Turn reasoning off where OpenAI would refuse the functions of a request."""
    if not is_refused_beside_tools(body, model):
        return
    if model.tools_without_effort:
        reason = f"{model.id} accepts effort together with functions only in the Responses API"
        changes.append(Change("loss.setting", "effort", reason))
        del body["reasoning_effort"]
    elif "none" in (accepted_efforts(model) or ()):
        reason = f"none, because {model.id} reasons beside functions in the Responses API alone"
        code = "loss.setting" if body.get("reasoning_effort") else "invent.effort"
        changes.append(Change(code, "effort", reason))
        body["reasoning_effort"] = "none"


def settle_output(body: dict[str, Any], changes: list[Change]) -> None:
    """Drop JSON mode if no message mentions JSON, and strict mode for a schema that is open."""
    mend_answer(body, "response_format.json_schema.schema", changes)
    for problem in [*output_format(body, "error")]:
        if problem.code == "OC-strict":
            put(body, "response_format.json_schema.strict", False)
            changes.append(Change("loss.strict", "response_format", problem.message))
            continue
        del body["response_format"]
        reason = "JSON mode is refused unless a message speaks of JSON"
        changes.append(Change("loss.setting", "response_format", reason))


def settle_limits(body: dict[str, Any], model: Model, changes: list[Change]) -> None:
    """Set output limits and other numbers to what the model accepts, without what needs more."""
    for problem in [*dependent(body)]:
        del body[problem.path]
        code = "loss.setting" if problem.path in TELLING else "repair.setting"
        changes.append(Change(code, problem.path, problem.message))
    for field in OUTPUT_LIMITS:
        fit_limit(body, field, model, changes, least=1)
    fit_ranges(body, ranges.CHAT, changes)


def fits(value: Any, type: Any) -> bool:
    """Whether a value has the type the API requires."""
    try:
        convert(value, type)
    except (msgspec.ValidationError, RecursionError):
        return False
    return True
