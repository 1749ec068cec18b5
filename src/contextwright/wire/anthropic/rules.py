"""What the Messages API refuses in a request whose fields all have the right type.

Each function is one family of rules; the codes are those of `docs/rules.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from contextwright.errors import Level, Problem, shown
from contextwright.models import Model
from contextwright.wire import ranges
from contextwright.wire.anthropic.hosted import name_problems, reference_problems
from contextwright.wire.anthropic.media import size_problems
from contextwright.wire.anthropic.output import output_problems
from contextwright.wire.anthropic.strict import beyond_limits
from contextwright.wire.anthropic.survey import survey
from contextwright.wire.anthropic.turns import MARK, media_holders, turn_problems, turns_of
from contextwright.wire.anthropic.types import CustomTool, Request
from contextwright.wire.json_schema import json_schema_problems
from contextwright.wire.media import ANTHROPIC_BYTES, number_problems
from contextwright.wire.output import limit_problems
from contextwright.wire.shapes import json_problems, objects_in, shape_problems
from contextwright.wire.survey import Entries
from contextwright.wire.values import Object, is_list, is_object

__all__ = ["check"]

ARGUMENT = re.compile(r"[a-zA-Z0-9_.-]{1,64}").fullmatch
"""The names of arguments; only those at the root of a schema are held to it."""
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}").fullmatch

MAX_CACHE_MARKS = 4
MAX_MESSAGES = 100_000
MIN_THINKING_BUDGET = 1024
SAMPLING = {"temperature": 1, "top_p": 1, "top_k": None}
"""The settings of how tokens are drawn, with the default of each."""
LEAST_TOP_P = 0.95
"""The least `top_p` of a request to think."""


def check(payload: Any, model: Model) -> list[Problem]:
    """List everything in a request body that the API refuses, or might refuse."""
    if not is_object(payload):
        return shape_problems(payload, Request) + json_problems(payload)
    found = survey(payload)
    if found is None:
        messages = objects_in(payload.get("messages"))
        problems = shape_problems(payload, Request) + json_problems(payload)
        turns = turns_of(messages)
        problems.extend(turn_problems(turns, payload, model))
        problems.extend(output_problems(turns, payload))
        problems.extend(reference_problems(payload))
        holders = media_holders(turns)
    else:
        messages = found.rich
        holders = [block for _, message in messages for block in message["content"]]
        problems = list[Problem]()
    problems.extend(number_problems(holders, "messages", model))
    if found is None or found.most_bytes > ANTHROPIC_BYTES:
        problems.extend(size_problems(payload))
    if is_list(given := payload.get("messages")) and len(given) > MAX_MESSAGES:
        problems.append(Problem("A-messages-max", "messages", f"at most {MAX_MESSAGES:,}"))
    problems.extend(tools(payload, model))
    problems.extend(request_settings(payload, model))
    problems.extend(sampling(payload, model))
    limit = payload.get("max_tokens")
    problems.extend(limit_problems("A-max-output", limit, "max_tokens", model, least=0))
    problems.extend(warming(payload))
    problems.extend(ranges.range_problems(payload, ranges.ANTHROPIC))
    if is_object(metadata := payload.get("metadata")):
        problems.extend(ranges.key_problems(metadata, ("user_id",), "metadata."))
    problems.extend(tool_choice(payload))
    problems.extend(cache_marks(payload, messages))
    return problems


def warming(payload: Object) -> Iterator[Problem]:
    """A request for no output only fills the cache, and can ask for nothing that is about one."""
    if payload.get("max_tokens") != 0:
        return
    choice, output, thinking = map(payload.get, ("tool_choice", "output_config", "thinking"))
    excluded = {
        "stream": payload.get("stream") is True,
        "thinking": is_object(thinking) and thinking.get("type") == "enabled",
        "tool_choice": is_object(choice) and choice.get("type") in ("any", "tool"),
        "output_config.format": is_object(output) and output.get("format") is not None,
        "output_format": payload.get("output_format") is not None,
    }
    for field, is_asked in excluded.items():
        if is_asked:
            yield Problem(
                "A-max-output", "max_tokens", f"0 only fills the cache, and allows no {field}"
            )


def tools(payload: dict[str, Any], model: Model) -> Iterator[Problem]:
    """Tool definitions, and their absence if the history needs them."""
    names: set[str] = set()
    given = objects_in(payload.get("tools"))
    for index, tool in given:
        path = f"tools[{index}]"
        name = tool.get("name")
        if isinstance(name, str):
            if name in names:
                yield Problem("A-toolname", f"{path}.name", f"tool {shown(name)} is defined twice")
            names.add(name)
        if is_deferred(tool) and is_object(tool.get(MARK)):
            yield Problem("A-cache-deferred", f"{path}.{MARK}", "a deferred tool is not cached")
        if tool.get("type") not in (None, "custom"):
            # Hosted tools: their types carry dates and change too often to list.
            yield from name_problems(tool, path)
            continue
        yield from shape_problems(tool, CustomTool, path)
        if isinstance(name, str) and not TOOL_NAME(name):
            yield Problem("A-toolname", f"{path}.name", "must be 1 to 128 letters, digits, _ or -")
        schema = tool.get("input_schema")
        if is_object(schema):
            yield from input_schema(schema, f"{path}.input_schema")
    if given and all(is_deferred(tool) for _, tool in given):
        yield Problem("A-deferred", "tools", "at least one tool must not be deferred")
    for index, reason in beyond_limits(given):
        yield Problem("A-schema", f"tools[{index}].strict", reason)


def is_deferred(tool: Object) -> bool:
    """Whether a tool is left out of the prompt until the model searches for it."""
    return tool.get("defer_loading") is True


def input_schema(schema: dict[str, Any], path: str) -> Iterator[Problem]:
    if schema.get("type") != "object":
        yield Problem("A-schema", f"{path}.type", "must be 'object'")
    for word in ("anyOf", "oneOf", "allOf"):
        if word in schema:
            yield Problem("A-schema", f"{path}.{word}", "not allowed at the top of a schema")
    yield from json_schema_problems(schema, "A-schema", path)
    properties = schema.get("properties")
    for name in properties if is_object(properties) else ():
        if not ARGUMENT(name):
            reason = "must be 1 to 64 letters, digits, _, . or -"
            yield Problem("A-schema", f"{path}.properties.{name}", reason)


def idle_edits(payload: dict[str, Any], model: Model) -> Iterator[Problem]:
    """Edits of the context that clear thinking, of a model that does not think."""
    config, management = payload.get("thinking"), payload.get("context_management")
    mode = config.get("type") if is_object(config) else None
    # Models since Claude 5 may think unless they are told not to.
    idle = model.legacy_thinking or not model.adaptive_thinking
    if mode in ("enabled", "adaptive") or (mode is None and not idle) or not is_object(management):
        return
    for index, edit in objects_in(management.get("edits")):
        if str(edit.get("type")).startswith("clear_thinking"):
            reason = "the model does not think in this request, which then must not clear thinking"
            yield Problem("A-edits", f"context_management.edits[{index}]", reason)


def request_settings(payload: dict[str, Any], model: Model) -> Iterator[Problem]:
    """Thinking mode, effort, stop sequences and forced calls."""
    config = payload.get("thinking")
    config = config if is_object(config) else {}
    mode = config.get("type")
    choice = payload.get("tool_choice")
    forced = is_object(choice) and choice.get("type") in ("any", "tool")
    if mode == "enabled":
        if not model.legacy_thinking:
            level: Level = "warning" if model.matched == "default" else "error"
            yield Problem(
                "A-thinking-type", "thinking.type", f"{model.id} accepts only 'adaptive'", level
            )
        budget, limit = config.get("budget_tokens"), payload.get("max_tokens")
        if not isinstance(budget, int) or budget < MIN_THINKING_BUDGET:
            yield Problem("A-thinking-type", "thinking.budget_tokens", "at least 1024")
        elif isinstance(limit, int) and budget >= limit:
            yield Problem("A-thinking-type", "thinking.budget_tokens", "less than max_tokens")
    if mode == "adaptive" and not model.adaptive_thinking and model.matched != "default":
        reason = f"{model.id} does not think adaptively"
        yield Problem("A-thinking-type", "thinking.type", reason)
    if mode == "disabled" and not model.disable_thinking:
        yield Problem("A-thinking-type", "thinking.type", f"{model.id} always thinks")
    output = payload.get("output_config")
    effort = output.get("effort") if is_object(output) else None
    if isinstance(effort, str) and model.efforts is not None and effort not in model.efforts:
        words = ", ".join(model.efforts) or "no effort"
        yield Problem("A-effort", "output_config.effort", f"{model.id} takes {words}", "warning")
    stops = payload.get("stop_sequences")
    for index, stop in enumerate(stops if is_list(stops) else ()):
        if isinstance(stop, str) and not stop.strip():
            yield Problem("A-stop", f"stop_sequences[{index}]", "must not be blank")
    yield from idle_edits(payload, model)
    if forced and (mode == "enabled" or not model.forced_tool_use):
        yield Problem(
            "A-forced", "tool_choice", "this model or its thinking mode allows no forced call"
        )


def sampling(payload: Object, model: Model) -> Iterator[Problem]:
    """Which settings a model refuses: all but the defaults, one of two, or some while it thinks."""
    level: Level = "error" if model.matched == "exact" else "warning"
    if model.sampling:
        yield from sampling_while_thinking(payload)
        if not model.temperature_with_top_p:
            yield from temperature_beside_top_p(payload, model, level)
        return
    for field, default in SAMPLING.items():
        if payload.get(field) not in (None, default):
            reason = f"{model.id} takes no sampling settings"
            yield Problem("A-sampling", field, reason, level)


def temperature_beside_top_p(payload: Object, model: Model, level: Level) -> Iterator[Problem]:
    """Of the two only one may be set; the one with its default can be left out."""
    temperature, top_p = payload.get("temperature"), payload.get("top_p")
    if temperature is None or top_p is None:
        return
    is_usual = temperature == SAMPLING["temperature"] and top_p != SAMPLING["top_p"]
    reason = f"{model.id} takes either temperature or top_p"
    yield Problem("A-sampling", "temperature" if is_usual else "top_p", reason, level)


def sampling_while_thinking(payload: Object) -> Iterator[Problem]:
    """A request to think, to a budget or adaptively, may hardly change how tokens are drawn."""
    thinking = payload.get("thinking")
    if not is_object(thinking) or thinking.get("type") not in ("enabled", "adaptive"):
        return
    if payload.get("temperature") not in (None, 1):
        yield Problem("A-sampling", "temperature", "only 1 is accepted while the model thinks")
    top_p = payload.get("top_p")
    if isinstance(top_p, int | float) and top_p < LEAST_TOP_P:
        reason = f"at least {LEAST_TOP_P} is accepted while the model thinks"
        yield Problem("A-sampling", "top_p", reason)
    if payload.get("top_k") is not None:
        yield Problem("A-sampling", "top_k", "refused while the model thinks")


def tool_choice(payload: Object) -> Iterator[Problem]:
    """A choice needs tools, also one that forces no call; a forced call names one of them."""
    match payload.get("tool_choice"):
        case {"type": _} if not payload.get("tools"):
            yield Problem("A-choice", "tool_choice", "there are no tools")
        case {"type": "tool", "name": str(name)} if all(
            tool.get("name", name) != name  # a set of tools has no name, and may hold it
            for _, tool in objects_in(payload.get("tools"))
        ):
            yield Problem("A-choice", "tool_choice.name", f"there is no tool {shown(name)}")
        case _:
            pass


def cache_marks(payload: Object, messages: Entries) -> Iterator[Problem]:
    """At most four breakpoints; long-lived ones first, in the order tools, system, messages."""
    marks = [
        *marks_in("tools", objects_in(payload.get("tools"))),
        *marks_in("system", objects_in(payload.get("system"))),
        *marks_in("messages", messages),
    ]
    automatic = payload.get(MARK)
    if is_object(automatic):
        marks.append((MARK, automatic))  # it is on the last block
    if len(marks) > MAX_CACHE_MARKS:
        yield Problem("A-cache-max", marks[MAX_CACHE_MARKS][0], "at most 4 cache marks")
    short_lived = False
    for path, mark in marks:
        if mark.get("ttl") != "1h":
            short_lived = True
        elif short_lived:
            yield Problem("A-cache-ttl", path, "a 1h mark cannot follow a 5m mark")


def marks_in(path: str, items: Entries) -> list[tuple[str, Object]]:
    """Return the cache breakpoints of tools, blocks or messages, in prompt order."""
    marks: list[tuple[str, Object]] = []
    for index, item in items:
        content = item.get("content")
        if content is not None and type(content) is not str:
            inside = marks_in("content", objects_in(content))
            marks += [(f"{path}[{index}].{place}", mark) for place, mark in inside]
        if MARK in item and is_object(mark := item[MARK]):
            marks.append((f"{path}[{index}].{MARK}", mark))
    return marks
