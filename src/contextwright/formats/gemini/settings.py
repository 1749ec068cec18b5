"""The settings of a generateContent request: read, translated, and made legal."""

from __future__ import annotations

from typing import Any, Literal

from msgspec.structs import replace

from contextwright.formats.base import foreign_settings, without
from contextwright.formats.gemini.read import NAME
from contextwright.formats.reader import plain
from contextwright.formats.schemas import gemini_schema, json_schema, valid_schema
from contextwright.formats.settings import (
    BUDGETS,
    FREE,
    dig,
    effort_of,
    fit_limit,
    fit_ranges,
    known_choice,
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
from contextwright.messages.message import Tool
from contextwright.models import Model
from contextwright.wire import ranges
from contextwright.wire.gemini.rules import (
    choice_problems,
    fitted_budget,
    mixtures,
    thinking,
    unneeded_choice,
    untyped_answer,
)
from contextwright.wire.gemini.schema import schema_problems
from contextwright.wire.gemini.types import Request
from contextwright.wire.values import Object, is_list, is_object

__all__ = ["settings_of", "settings_wire", "settle"]

MODES: dict[str, Literal["auto", "none", "required"]] = {
    "AUTO": "auto",
    "VALIDATED": "auto",
    "NONE": "none",
    "ANY": "required",
}
MOST_STOPS = 5
JSON = "application/json"
ANSWER = ("responseMimeType", "responseSchema", "responseJsonSchema")
"""The fields that say what an answer looks like."""
CACHED = ("systemInstruction", "tools", "toolConfig")
"""Fields that a cached content already has; a request may not repeat them."""


def settings_of(body: Object) -> Settings:
    """Read the settings that other providers have too."""
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
    """Read the output format: JSON with a schema, or any JSON."""
    schema, proto = config.get("responseJsonSchema"), config.get("responseSchema")
    if schema is None and is_object(proto):
        schema = json_schema(proto)
    if is_object(schema):
        return OutputFormat(schema)
    return OutputFormat() if config.get("responseMimeType") == JSON else None


def choice_of(config: Any) -> ToolChoice | None:
    """Read the tool choice."""
    calling: Any = config.get("functionCallingConfig") if is_object(config) else None
    mode: Any = calling.get("mode") if is_object(calling) else None
    known = MODES.get(mode.upper()) if isinstance(mode, str) else None
    if known is None:
        return None
    given: Any = calling.get("allowedFunctionNames")
    names = [name for name in given if isinstance(name, str)] if is_list(given) else []
    if len(names) == 1 and known == "required":
        return ToolChoice(known, names[0])
    return ToolChoice(known, allowed=tuple(names))


def settings_wire(conversation: Conversation, model: Model, changes: list[Change]) -> Object:
    """Write the settings: verbatim if the request came from this format, else translated."""
    if conversation.source == NAME:
        wire = known_fields(conversation.extra.get(NAME, {}), Request, changes)
        if "model" in wire and conversation.model != model.id:
            wire["model"] = f"models/{model.id}"
        return wire
    changes.extend(foreign_settings(conversation, NAME))
    return translated(conversation, model, changes)


def translated(conversation: Conversation, model: Model, changes: list[Change]) -> Object:
    """Translate another provider's settings."""
    settings = replace(conversation.settings, stream=None)  # streaming is chosen by the URL
    body = write_plain(settings, NAME, changes, model)
    config: Object = body.pop("generationConfig", {})
    if settings.stop:
        config["stopSequences"] = list(settings.stop[:MOST_STOPS])
        if len(settings.stop) > MOST_STOPS:
            changes.append(Change("loss.setting", "stop", f"at most {MOST_STOPS} stop sequences"))
    thinking = thinking_wire(settings, model, changes)
    if thinking:
        config["thinkingConfig"] = thinking
    if settings.output is not None:
        config.update(output_wire(settings.output, changes))
    if config:
        body["generationConfig"] = config
    choice = known_choice(conversation, changes)
    if choice is not None:
        if any(isinstance(tool, Tool) for tool in conversation.tools):
            body["toolConfig"] = {"functionCallingConfig": choice_wire(choice)}
        elif choice.mode == "required" or (choice.mode == "none" and conversation.tools):
            changes.append(Change("loss.setting", "tool_choice", "there are no functions"))
    return body


def output_wire(output: OutputFormat, changes: list[Change]) -> Object:
    """Write the output format: JSON, and its schema if there is one."""
    wire: Object = {"responseMimeType": JSON}
    if output.schema is not None:
        schema = valid_schema(output.schema, "output.schema", changes)
        wire["responseJsonSchema"], lost = gemini_schema(schema, enforced=True)
        if lost:
            reason = f"{NAME} does not enforce {', '.join(lost)}"
            changes.append(Change("loss.schema", "output", reason))
    if output.description:
        reason = f"{NAME} has no field for a description of the answer"
        changes.append(Change("loss.setting", "output.description", reason))
    return wire


def thinking_wire(settings: Settings, model: Model, changes: list[Change]) -> Object:
    """Write the thinking setting: a level since Gemini 3, a token budget before."""
    effort, wire = effort_of(settings), Object()
    if model.thought_signatures:
        if effort is not None:
            wire["thinkingLevel"] = nearest_effort(effort, model.efforts, changes)
    elif model.thinking_budgets:
        budget = settings.thinking_budget
        if budget is None or (budget == FREE and effort is not None):
            budget = BUDGETS[effort] if effort is not None else None
        if budget is not None:
            wire["thinkingBudget"] = fitted = fitted_budget(budget, model)
            if fitted != budget:
                words = "lowered" if fitted < budget else "raised"
                reason = f"{words} to {fitted:,} tokens, which {model.id} takes"
                changes.append(Change("repair.setting", "effort", reason))
    elif effort not in (None, "none") or settings.thinking_budget == FREE:
        changes.append(Change("loss.setting", "effort", f"{model.id} does not think"))
        return wire
    if settings.show_thinking is not None and (model.thought_signatures or model.thinking_budgets):
        wire["includeThoughts"] = settings.show_thinking
    return wire


def choice_wire(choice: ToolChoice) -> Object:
    """Write the tool choice."""
    names = [choice.name] if choice.name else list(choice.allowed)
    if choice.mode == "none" or (choice.mode == "auto" and not names):
        return {"mode": choice.mode.upper()}
    mode = "ANY" if choice.mode == "required" else "VALIDATED"
    return {"mode": mode, **({"allowedFunctionNames": names} if names else {})}


def settle_schema(body: Object, changes: list[Change]) -> None:
    """Move an output schema that says more than its proto can to plain JSON Schema."""
    config = body.get("generationConfig")
    proto = config.get("responseSchema") if is_object(config) else None
    path = "generationConfig.responseSchema"
    refused = [one for one in schema_problems(proto, path) if one.level == "error"]
    if is_object(config) and is_object(proto) and refused:
        plain = {"responseJsonSchema": json_schema(proto)}
        body["generationConfig"] = {**without(config, "responseSchema"), **plain}
        changes.extend(Change("repair.schema", one.path, one.message) for one in refused)


def settle_answer(body: Object, model: Model, changes: list[Change]) -> None:
    """Ask for JSON if there is a schema of it, and for none if the model has tools instead."""
    config = body.get("generationConfig")
    if not is_object(config):
        return
    for problem in untyped_answer(config):
        config = body["generationConfig"] = {**config, "responseMimeType": JSON}
        changes.append(Change("repair.setting", problem.path, problem.message))
    for problem in mixtures(body, model):
        for field in set(ANSWER) & config.keys():
            take_out(body, f"generationConfig.{field}")
        changes.append(Change("loss.setting", "output", problem.message))


def settle_thinking(body: Object, model: Model, changes: list[Change]) -> None:
    """Say how much a model thinks as it takes it: a budget for a level, within its limits."""
    path = "generationConfig.thinkingConfig"
    for problem in [*thinking(dig(body, path), model)]:
        if problem.level != "error":
            continue
        if problem.path == path:
            take_out(body, path)
            changes.append(Change("loss.setting", "effort", problem.message))
            continue
        budget = dig(body, f"{path}.thinkingBudget")
        if problem.path == f"{path}.thinkingLevel":
            effort = known_effort(str(dig(body, problem.path)).lower())
            take_out(body, problem.path)
            budget = BUDGETS[effort] if effort and budget is None else budget
        if budget is not None:
            put(body, f"{path}.thinkingBudget", fitted_budget(budget, model))
        changes.append(Change("repair.setting", problem.path, problem.message))


def settle(body: Object, model: Model, changes: list[Change]) -> None:
    """Drop settings that exclude each other: what a cached content has already, a second schema.

    Changes `body`, which is still under construction.
    """
    said = [field for field in CACHED if field in body]
    if body.get("cachedContent") and said:
        del body["cachedContent"]
        reason = f"the request has its own {', '.join(said)}"
        changes.append(Change("loss.setting", "cachedContent", reason))
    for problem in unneeded_choice(body, model):
        if problem.level == "error":
            rest = without(body.pop("toolConfig"), "functionCallingConfig")
            body.update({"toolConfig": rest} if rest else {})
            changes.append(Change("loss.setting", problem.path, problem.message))
    calling = dig(body, "toolConfig.functionCallingConfig")
    for problem in choice_problems(calling, set()):
        if problem.level == "error":
            body["toolConfig"] = {
                **body["toolConfig"],
                "functionCallingConfig": without(calling, "mode"),
            }
            changes.append(Change("loss.setting", problem.path, problem.message))
    config = body.get("generationConfig")
    if is_object(config) and {"responseSchema", "responseJsonSchema"} <= config.keys():
        body["generationConfig"] = without(config, "responseSchema")
        reason = "there is a responseJsonSchema too"
        changes.append(Change("loss.setting", "generationConfig.responseSchema", reason))
    settle_schema(body, changes)
    settle_answer(body, model, changes)
    settle_thinking(body, model, changes)
    fit_limit(body, "generationConfig.maxOutputTokens", model, changes, least=1)
    fit_ranges(body, ranges.GEMINI, changes, "generationConfig")
