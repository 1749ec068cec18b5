"""What generateContent refuses in a request whose fields all have the right type.

Each function is one family of rules; the codes are those of `docs/rules.md`. All of them read
camelCase: `check` converts the body first, and reports each path in the body's own spelling.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from contextwright.errors import Level, Problem, shown
from contextwright.models import Model
from contextwright.text.json import convert
from contextwright.wire import ranges
from contextwright.wire.gemini.schema import root_problems, schema_problems
from contextwright.wire.gemini.survey import survey
from contextwright.wire.gemini.turns import (
    FUNCTION_NAME,
    NAME_RULE,
    ends,
    media,
    pairing,
    signatures,
    turns_of,
)
from contextwright.wire.gemini.types import Request
from contextwright.wire.media import number_problems
from contextwright.wire.output import limit_problems
from contextwright.wire.shapes import Shape, json_problems, objects_in, shape_problems
from contextwright.wire.spelling import as_spelled, camel_case
from contextwright.wire.values import Object, is_list, is_object

__all__ = [
    "check",
    "choice_problems",
    "fitted_budget",
    "mixtures",
    "read_shape",
    "thinking",
    "unneeded_choice",
    "untyped_answer",
]

MODES = ("MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED")
SAMPLING = ("temperature", "topP", "topK")
PLAIN = "text/plain"
UNSPECIFIED = "thinking_level_unspecified"


def check(payload: Any, model: Model) -> list[Problem]:
    """List everything in a request body that the API refuses, or might refuse."""
    holders = survey(payload, model) if is_object(payload) else None
    if holders is not None:
        problems = list(number_problems(holders, "contents", model))
        return problems + request_problems(payload, model)
    body, problems = read_shape(payload, Request)
    problems += json_problems(payload)
    if not is_object(body):
        return problems
    turns, found = turns_of(body)
    problems += found
    problems.extend(media(turns))
    holders = [placed.part for turn in turns for placed in turn.others]
    problems.extend(number_problems(holders, "contents", model))
    problems += request_problems(body, model)
    problems.extend(pairing(turns, model, cached=bool(body.get("cachedContent"))))
    problems.extend(signatures(turns, model))
    problems.extend(ends(turns, model))
    if body is payload:
        return problems
    return [
        msgspec.structs.replace(problem, path=as_spelled(problem.path, payload))
        for problem in problems
    ]


def read_shape(payload: Any, shape: type[Shape]) -> tuple[Any, list[Problem]]:
    """Return the body in camelCase, and its problems of type and spelling."""
    try:
        convert(payload, shape)
    except (msgspec.ValidationError, RecursionError):
        body, problems = camel_case(payload, shape)
        return body, problems + shape_problems(body, shape)
    return payload, []


def request_problems(body: Object, model: Model) -> list[Problem]:
    """List the problems of everything but the contents."""
    rules = (system, tools, settings, mixtures)
    return [problem for rule in rules for problem in rule(body, model)]


def system(body: Object, model: Model) -> Iterator[Problem]:
    """The system instruction is a content of texts."""
    instruction = body.get("systemInstruction")
    if instruction is not None and not model.system_role:
        yield Problem("G-system", "systemInstruction", f"{model.id} takes no system instruction")
    if isinstance(instruction, str):
        yield Problem("G-system", "systemInstruction", "must be a content with parts, not a string")
    if not is_object(instruction):
        return
    parts = instruction.get("parts")
    if not parts:
        yield Problem("G-system", "systemInstruction.parts", "at least one text is needed")
    for place, part in objects_in(parts):
        if not isinstance(part.get("text"), str):
            yield Problem("G-system", f"systemInstruction.parts[{place}]", "only texts are allowed")


def tools(body: Object, model: Model) -> Iterator[Problem]:
    """Declared functions: their names, and schemas in the API's own language."""
    names: set[str] = set()
    for index, tool in objects_in(body.get("tools")):
        for place, function in objects_in(tool.get("functionDeclarations")):
            path = f"tools[{index}].functionDeclarations[{place}]"
            name = function.get("name")
            if isinstance(name, str):
                if not FUNCTION_NAME(name):
                    yield Problem("G-toolname", f"{path}.name", NAME_RULE)
                if name in names:
                    yield Problem("G-toolname", f"{path}.name", f"{shown(name)} is declared twice")
                names.add(name)
            yield from schemas(function, path, "parameters", "parametersJsonSchema")
            for field in ("parameters", "parametersJsonSchema"):
                yield from root_problems(function.get(field), f"{path}.{field}")
            yield from schemas(function, path, "response", "responseJsonSchema")
    config = body.get("toolConfig")
    if is_object(config):
        yield from choice_problems(config.get("functionCallingConfig"), names)
        yield from unneeded_choice(body, model)


def schemas(holder: Object, path: str, proto: str, plain: str) -> Iterator[Problem]:
    """A schema is given once, as a proto or as plain JSON Schema."""
    if holder.get(proto) is not None and holder.get(plain) is not None:
        yield Problem("G-schema", f"{path}.{proto}", f"{proto} and {plain} cannot be combined")
    yield from schema_problems(holder.get(proto), f"{path}.{proto}")


def mixtures(body: Object, model: Model) -> Iterator[Problem]:
    """Before Gemini 3, a request has functions, hosted tools or JSON output."""
    if model.mixed_tools:
        return
    groups = objects_in(body.get("tools"))
    declares = any(group.get("functionDeclarations") for _, group in groups)
    hosted = [
        f"tools[{index}].{name}"
        for index, group in groups
        for name, tool in group.items()
        if name != "functionDeclarations" and tool is not None
    ]
    for path in hosted if declares else ():
        yield Problem("G-tools-mixed", path, f"{model.id} takes no hosted tools beside functions")
    config = body.get("generationConfig")
    mime = config.get("responseMimeType") if is_object(config) else None
    if (declares or hosted) and mime not in (None, PLAIN):
        reason = f"{model.id} writes no {mime} in a request with tools"
        yield Problem("G-tools-mixed", "generationConfig.responseMimeType", reason)


def choice_problems(calling: Any, names: set[str]) -> Iterator[Problem]:
    """Which functions may be called."""
    if not is_object(calling):
        return
    path = "toolConfig.functionCallingConfig"
    mode = calling.get("mode")
    if isinstance(mode, str) and mode.upper() not in MODES:
        reason = f"{shown(mode)} is not one of: {', '.join(MODES[1:])}"
        yield Problem("T-literal", f"{path}.mode", reason)
    allowed = calling.get("allowedFunctionNames")
    if not is_list(allowed) or not allowed:
        return
    if isinstance(mode, str) and mode.upper() in ("AUTO", "NONE"):
        yield Problem(
            "G-choice", f"{path}.allowedFunctionNames", "only with ANY or VALIDATED", "warning"
        )
    for place, name in enumerate(allowed):
        if isinstance(name, str) and name not in names:
            reason = f"no function {shown(name)} is declared"
            yield Problem("G-choice", f"{path}.allowedFunctionNames[{place}]", reason, "warning")


def unneeded_choice(body: Object, model: Model) -> Iterator[Problem]:
    """How functions are called is not said where there are none; Gemini 3 may tolerate it."""
    config = body.get("toolConfig")
    calling = config.get("functionCallingConfig") if is_object(config) else None
    declared = any(tool.get("functionDeclarations") for _, tool in objects_in(body.get("tools")))
    if calling and not declared and not body.get("cachedContent"):
        level: Level = "warning" if model.thought_signatures else "error"
        path = "toolConfig.functionCallingConfig"
        yield Problem("G-tools-missing", path, "not allowed without functions", level)


def thinking(config: Any, model: Model) -> Iterator[Problem]:
    """How much a model thinks: Gemini 2.5 to a budget of tokens, later ones at a level."""
    if not is_object(config):
        return
    path = "generationConfig.thinkingConfig"
    level, budget = config.get("thinkingLevel"), config.get("thinkingBudget")
    known: Level = "error" if model.matched == "exact" else "warning"
    if model.thinking_budgets:
        if level is not None:
            reason = f"{model.id} takes a thinkingBudget instead"
            yield Problem("G-thinking", f"{path}.thinkingLevel", reason, known)
        if isinstance(budget, int) and fitted_budget(budget, model) != budget:
            least, most = model.least_thinking, model.most_thinking
            off = "0 or " if model.disable_thinking else ""
            reason = f"{model.id} takes -1, {off}{least:,} to {most:,}"
            yield Problem("G-thinking", f"{path}.thinkingBudget", reason, known)
    elif model.thought_signatures:
        if level is not None and budget is not None:
            reason = "not beside a thinkingLevel"
            yield Problem("G-thinking", f"{path}.thinkingBudget", reason, "warning")
        efforts = model.efforts or ()
        if isinstance(level, str) and efforts and level.lower() not in (*efforts, UNSPECIFIED):
            reason = f"{model.id} takes {', '.join(efforts)}"
            yield Problem("G-thinking", f"{path}.thinkingLevel", reason, "warning")
        elif budget == 0 and efforts and "minimal" not in efforts:
            reason = f"{model.id} always thinks"
            yield Problem("G-thinking", f"{path}.thinkingBudget", reason, "warning")
    elif model.provider == "google" and (level or budget or config.get("includeThoughts")):
        yield Problem("G-thinking", path, f"{model.id} does not think", known)


def fitted_budget(budget: int, model: Model) -> int:
    """Return the nearest `thinkingBudget` that a model takes; -1 leaves it to the model."""
    if budget == -1 or (budget == 0 and model.disable_thinking):
        return budget
    return min(max(budget, model.least_thinking), model.most_thinking)


def untyped_answer(generation: Object) -> Iterator[Problem]:
    """The schema of an answer is one of JSON, which has to be asked for."""
    schemas_given = (generation.get("responseSchema"), generation.get("responseJsonSchema"))
    if any(schemas_given) and generation.get("responseMimeType") in (None, PLAIN):
        reason = "a schema needs application/json"
        yield Problem("G-schema", "generationConfig.responseMimeType", reason)


def settings(body: Object, model: Model) -> Iterator[Problem]:
    """Fields of the body that exclude each other."""
    if body.get("cachedContent"):
        for field in ("systemInstruction", "tools", "toolConfig"):
            if body.get(field) is not None:
                yield Problem("G-cached", field, "is part of the cached content already")
    generation = body.get("generationConfig")
    if not is_object(generation):
        return
    yield from schemas(generation, "generationConfig", "responseSchema", "responseJsonSchema")
    yield from untyped_answer(generation)
    limit, path = generation.get("maxOutputTokens"), "generationConfig.maxOutputTokens"
    yield from limit_problems("G-max-output", limit, path, model, least=1)
    yield from ranges.range_problems(generation, ranges.GEMINI, "generationConfig.")
    yield from thinking(generation.get("thinkingConfig"), model)
    if not model.sampling:
        for field in SAMPLING:
            if generation.get(field) is not None:
                reason = f"{model.id} takes no sampling settings"
                yield Problem("G-sampling", f"generationConfig.{field}", reason, "warning")
