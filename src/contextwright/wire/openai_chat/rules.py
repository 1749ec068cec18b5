"""What the Chat Completions API refuses in a request whose fields all have the right type.

Each function is one family of rules; the codes are those of `docs/rules.md`. A rule known only from
OpenAI is an error for its own models and a warning for those of other hosts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from contextwright.errors import Level, Problem, shown
from contextwright.models import Model
from contextwright.wire import ranges
from contextwright.wire.json_schema import answer_problems, json_schema_problems
from contextwright.wire.media import (
    OPENAI_BYTES,
    data_problems,
    data_url_problems,
    number_problems,
)
from contextwright.wire.openai_chat.calls import (
    NAME_RULE,
    TOOL_NAME,
    Messages,
    functions,
    is_plain_call,
    pairing,
)
from contextwright.wire.openai_chat.dialects import (
    EXTRAS,
    ROUTED,
    Dialect,
    HostedRequest,
    as_warning_if_known,
    dialect_of,
)
from contextwright.wire.openai_chat.types import Request
from contextwright.wire.openai_responses.tools import (
    has_object_root,
    root_problems,
    strict_problems,
)
from contextwright.wire.output import limit_problems
from contextwright.wire.shapes import json_problems, objects_in, shape_problems
from contextwright.wire.survey import is_valid, without_plain
from contextwright.wire.values import is_list, is_object

__all__ = [
    "MAX_TOOLS",
    "NEEDING_TOOLS",
    "accepted_efforts",
    "check",
    "dependent",
    "is_refused_beside_tools",
    "output_format",
    "sampling",
]

SPEAKER_NAME = re.compile(r"[^\s<|\\/>]{1,64}").fullmatch

MAX_TOOLS = 128
OUTPUT_LIMITS = ("max_tokens", "max_completion_tokens")
SAMPLING: dict[str, tuple[Any, ...]] = {
    "temperature": (None, 1),
    "top_p": (None, 1),
    "presence_penalty": (None, 0),
    "frequency_penalty": (None, 0),
    "logprobs": (None, False),
    "top_logprobs": (None, 0),
    "logit_bias": (None, {}),
}
"""Settings that reasoning models refuse, with the values that they accept."""
INSTRUCTION_ROLES = ("system", "developer")
INSTEAD_OF_CONTENT = ("tool_calls", "function_call", "refusal", "audio")


def check(payload: Any, model: Model) -> list[Problem]:
    """List everything in a request body that the API refuses, or might refuse."""
    dialect = dialect_of(model)
    level: Level = "error" if dialect.closed else "warning"
    if not is_object(payload):
        return type_problems(payload, dialect) + json_problems(payload)
    problems: list[Problem] = []
    messages = survey(payload, level)
    if messages is None:
        problems = type_problems(payload, dialect) + json_problems(payload)
        messages = objects_in(payload.get("messages"))
        for rule in (pairing, functions, contents, names):
            problems.extend(rule(messages, level))
    holders = [message for _, message in messages if type(message.get("content")) is not str]
    problems.extend(number_problems(holders, "messages", model))
    for rule in (tools, tool_choice, output_format):
        problems.extend(rule(payload, level))
    if not model.same_tool_names:
        problems.extend(repeated_names(payload, model))
    problems.extend(end(payload, model))
    problems.extend(instruction_roles(messages, model, dialect))
    if dialect.closed:
        problems.extend(model_limits(payload, messages, model))
    return problems


def survey(body: dict[str, Any], level: Level) -> Messages | None:
    """Return the messages that are more than text; None if types or order need a closer look."""
    messages = body.get("messages")
    if not is_list(messages):
        return None
    entries, texts = without_plain(messages)
    if not is_valid({**body, "messages": [entry for _, entry in entries]}, Request, texts):
        return None
    open_calls: set[str] = set()
    previous = -1
    for index, message in entries:
        if message["role"] == "tool":
            if index != previous + 1 or message["tool_call_id"] not in open_calls:
                return None
            open_calls.remove(message["tool_call_id"])
        elif open_calls:
            return None
        if message["role"] == "function" or "function_call" in message:
            return None
        content, calls = message.get("content"), message.get("tool_calls")
        if not calls and (content is None or calls is not None):
            return None
        for call in calls or ():
            if not is_plain_call(call, open_calls):
                return None
        if is_list(content) and any(parts(content, "", level)):
            return None
        if "name" in message and not SPEAKER_NAME(message["name"]):
            return None
        previous = index
    return None if open_calls else entries


def type_problems(payload: object, dialect: Dialect) -> list[Problem]:
    """List type errors: against OpenAI's own types, or against what all compatible hosts share."""
    exact = shape_problems(payload, Request)
    if dialect.closed or not exact:
        return [as_warning_if_known(problem) for problem in exact]
    shared = [
        problem for problem in shape_problems(payload, HostedRequest) if problem.code != "T-extra"
    ]
    unusual = [
        Problem("T-extra", problem.path, "no host is known to take this field", "warning")
        for problem in exact
        if problem.code == "T-extra" and problem.path.rpartition(".")[2] not in EXTRAS
    ]
    return shared + unusual


def contents(messages: Messages, level: Level) -> Iterator[Problem]:
    """An assistant message has text, calls, or both."""
    for index, message in messages:
        content = message.get("content")
        if isinstance(content, str):
            continue
        if isinstance(content, list):
            yield from parts(cast("list[Any]", content), f"messages[{index}].content", level)
        if message.get("role") != "assistant" or content is not None:
            continue
        if not any(message.get(field) for field in INSTEAD_OF_CONTENT):
            path = f"messages[{index}].content"
            reason = "null is allowed only with tool_calls, refusal or audio"
            yield Problem("OC-content", path, reason, level)


def parts(content: list[Any], path: str, level: Level) -> Iterator[Problem]:
    """A list holds at least one part; images, files and audio are base64, and not too large."""
    if not content:
        yield Problem("OC-content", path, "a list holds at least one part", level)
    for place, part in objects_in(content):
        match part:
            case {"type": "image_url", "image_url": {"url": url}}:
                yield from data_url_problems(url, f"{path}[{place}].image_url.url", OPENAI_BYTES)
            case {"type": "file", "file": {"file_data": data}}:
                yield from data_url_problems(data, f"{path}[{place}].file.file_data", OPENAI_BYTES)
            case {"type": "file", "file": file} if level == "error" and is_object(file):
                if not file.get("file_id"):
                    reason = "a file needs file_data or file_id"
                    yield Problem("T-required", f"{path}[{place}].file.file_data", reason)
            case {"type": "input_audio", "input_audio": {"data": str(data)}} if level == "error":
                where = f"{path}[{place}].input_audio.data"
                yield from data_problems(data, where, OPENAI_BYTES)
            case _:
                pass


def names(messages: Messages, level: Level) -> Iterator[Problem]:
    """Names of speakers hold no white space and none of <|\\/>."""
    for index, message in messages:
        if "name" not in message:
            continue
        name = message["name"]
        if isinstance(name, str) and not SPEAKER_NAME(name):
            path = f"messages[{index}].name"
            reason = "1 to 64 characters without white space and <|\\/>"
            yield Problem("OC-name", path, reason, level)


def tools(body: dict[str, Any], level: Level) -> Iterator[Problem]:
    """Check the tool definitions."""
    defined: object = body.get("tools")
    if defined == []:
        yield Problem("OC-calls-empty", "tools", "leave tools out instead of []", level)
    if isinstance(defined, list) and len(cast("list[object]", defined)) > MAX_TOOLS:
        yield Problem("OC-tools-max", "tools", f"at most {MAX_TOOLS} tools", level)
    for index, tool in objects_in(body.get("tools")):
        for kind in ("function", "custom"):
            definition = tool.get(kind)
            if isinstance(definition, dict):
                path = f"tools[{index}].{kind}"
                yield from definition_problems(cast("dict[str, Any]", definition), path, level)
    for index, function in objects_in(body.get("functions")):
        yield from definition_problems(function, f"functions[{index}]", level)


def definition_problems(tool: dict[str, Any], path: str, level: Level) -> Iterator[Problem]:
    """Check the name and the schema of a tool."""
    name, schema = tool.get("name"), tool.get("parameters")
    if isinstance(name, str) and not TOOL_NAME(name):
        yield Problem("OC-toolname", f"{path}.name", NAME_RULE, level)
    if is_object(schema):
        if not has_object_root(schema):
            yield from root_problems(schema, "OC-schema", f"{path}.parameters", level)
        yield from json_schema_problems(
            schema, "OC-schema", f"{path}.parameters", level, items=True
        )
    yield from strict_problems(tool, "parameters", "OC-strict", path, level)


def repeated_names(body: dict[str, Any], model: Model) -> Iterator[Problem]:
    """Each tool has a name of its own; OpenAI's models take several of one name."""
    names: set[str] = set()
    for index, tool in objects_in(body.get("tools")):
        for kind in ("function", "custom"):
            definition = tool.get(kind)
            name = definition.get("name") if is_object(definition) else None
            if not isinstance(name, str):
                continue
            if name in names:
                reason = f"{model.id} refuses a second tool {shown(name)}"
                yield Problem("OC-toolname", f"tools[{index}].{kind}.name", reason)
            names.add(name)


def tool_choice(body: dict[str, Any], level: Level) -> Iterator[Problem]:
    """Settings about tools are refused if there are no tools."""
    for field, needed in NEEDING_TOOLS.items():
        if body.get(field) is not None and not body.get(needed):
            yield Problem("OC-tools-missing", field, f"not allowed without {needed}", level)
    yield from forced_tool(body, level)


def forced_tool(body: dict[str, Any], level: Level = "error") -> Iterator[Problem]:
    """A forced call names one of the tools."""
    match body.get("tool_choice"):
        case {"type": "function" | "custom" as kind, **rest} if is_object(rest.get(kind)):
            name, tools = rest[kind].get("name"), objects_in(body.get("tools"))
            defined = [is_object(tool.get(kind)) and tool[kind].get("name") for _, tool in tools]
            if tools and isinstance(name, str) and name not in defined:
                reason = f"there is no tool {shown(name)}"
                yield Problem("OC-choice", f"tool_choice.{kind}.name", reason, level)
        case _:
            pass


NEEDING_TOOLS = {
    "tool_choice": "tools",
    "parallel_tool_calls": "tools",
    "function_call": "functions",
}


def output_format(body: dict[str, Any], level: Level) -> Iterator[Problem]:
    """JSON mode is refused unless the messages mention JSON; a strict schema is closed."""
    match body.get("response_format"):
        case {"type": "json_schema", "json_schema": form} if is_object(form):
            path = "response_format.json_schema"
            yield from strict_problems(form, "schema", "OC-strict", path, level)
            yield from answer_problems(form, "OC-schema", path, level)
        case {"type": "json_object"}:
            spoken = texts(body.get("messages"))
            if not any("json" in text.lower() for text in spoken):
                reason = "JSON mode needs the word JSON in a message"
                yield Problem("OC-json-word", "messages", reason, level)
        case _:
            pass


def texts(messages: object) -> Iterator[str]:
    """Yield the texts of the messages."""
    for _, message in objects_in(messages):
        content = message.get("content")
        if isinstance(content, str):
            yield content
        for _, part in objects_in(content):
            if isinstance(part.get("text"), str):
                yield part["text"]


def end(body: dict[str, Any], model: Model) -> Iterator[Problem]:
    """Which role may come last; OpenAI's models take any."""
    messages: Any = body.get("messages")
    if model.prefill or not is_list(messages) or not messages:
        return
    last = messages[-1]
    if is_object(last) and last.get("role") == "assistant":
        path = f"messages[{len(messages) - 1}]"
        yield Problem("OC-prefill", path, f"{model.id} refuses a final assistant turn")


def model_limits(body: dict[str, Any], messages: Messages, model: Model) -> Iterator[Problem]:
    """Check what this model refuses, according to its facts."""
    if body.get("messages") == []:
        yield Problem("OC-empty", "messages", "at least one message is needed")
    for field in OUTPUT_LIMITS:
        yield from limit_problems("OC-max-output", body.get(field), field, model, least=1)
    yield from ranges.range_problems(body, ranges.CHAT)
    yield from ranges.key_problems(body, ranges.OPENAI_KEYS)
    yield from dependent(body)
    yield from sampling(body, model)
    yield from efforts(body, model)
    if not model.audio_input:
        yield from audio(messages, model)


NEEDING = {"stream_options": "stream", "metadata": "store", "top_logprobs": "logprobs"}
"""Settings that OpenAI takes only if another one is on."""


def dependent(body: dict[str, Any]) -> Iterator[Problem]:
    """Settings that are refused without another one; the limit is given under one name."""
    for field, needed in NEEDING.items():
        if body.get(field) and not body.get(needed):
            yield Problem("OC-needs", field, f"not allowed without {needed}")
    if all(body.get(field) is not None for field in OUTPUT_LIMITS):
        yield Problem(
            "OC-max-output", "max_tokens", "not allowed together with max_completion_tokens"
        )


def instruction_roles(messages: Messages, model: Model, dialect: Dialect) -> Iterator[Problem]:
    """Which roles may instruct the model; a router translates them."""
    if (model.system_role and model.developer_role) or dialect is ROUTED:
        return
    for index, message in messages:
        role = message.get("role")
        if role in INSTRUCTION_ROLES and not model.system_role:
            reason = f"{model.id} takes no {role} message"
            yield Problem("OC-system-role", f"messages[{index}].role", reason)
        elif role == "developer" and not model.developer_role:
            reason = f"{model.id} may not know this role"
            yield Problem("OC-system-role", f"messages[{index}].role", reason, "warning")


def audio(messages: Messages, model: Model) -> Iterator[Problem]:
    """Audio for a model that does not accept it."""
    level: Level = "error" if model.matched == "exact" else "warning"
    reason = f"{model.id} does not accept audio"
    for index, message in messages:
        content = message.get("content")
        if not isinstance(content, list):
            continue
        for place, part in objects_in(cast("list[Any]", content)):
            if part.get("type") == "input_audio":
                path = f"messages[{index}].content[{place}]"
                yield Problem("OC-audio-model", path, reason, level)


def accepted_efforts(model: Model) -> tuple[str, ...] | None:
    """Return the efforts a model takes here, where OpenAI's take no `max`; None: not known."""
    if dialect_of(model) is ROUTED or model.efforts is None:
        return None  # a router translates them
    return tuple(name for name in model.efforts if name != "max" or model.provider != "openai")


def efforts(body: dict[str, Any], model: Model) -> Iterator[Problem]:
    """Not every model takes every effort, and newer ones take functions only without."""
    effort, accepted = body.get("reasoning_effort"), accepted_efforts(model)
    if isinstance(effort, str) and accepted and effort not in accepted:
        reason = f"{model.id} takes {', '.join(accepted)}"
        yield Problem("OC-effort", "reasoning_effort", reason, "warning")
    elif is_refused_beside_tools(body, model):
        reason = f"{model.id} accepts effort together with functions only in the Responses API"
        if not model.tools_without_effort:
            reason = f"{model.id} reasons beside functions in the Responses API alone, not here"
        yield Problem("OC-effort", "reasoning_effort", reason, "warning")


def is_refused_beside_tools(body: dict[str, Any], model: Model) -> bool:
    """Whether OpenAI refuses the functions of a request because the model is to reason."""
    effort = body.get("reasoning_effort")
    if effort == "none" or not dialect_of(model).closed:
        return False
    if model.tools_without_effort if effort is None else model.effort_with_tools:
        return False
    return any(tool.get("type") == "function" for _, tool in objects_in(body.get("tools")))


def sampling(body: dict[str, Any], model: Model) -> Iterator[Problem]:
    """Settings that models refuse because they reason, some only at some efforts, or do not."""
    if model.sampling and body.get("reasoning_effort") is not None:
        yield Problem("OC-sampling", "reasoning_effort", f"{model.id} does not reason", "warning")
    if not model.sampling:
        if body.get("max_tokens") is not None:
            reason = f"{model.id} needs max_completion_tokens instead"
            yield Problem("OC-sampling", "max_tokens", reason, "warning")
        for field, accepted in SAMPLING.items():
            if body.get(field) not in accepted:
                yield Problem("OC-sampling", field, f"{model.id} may refuse it", "warning")
    if body.get("verbosity") not in (None, "medium") and not model.verbosity:
        yield Problem("OC-sampling", "verbosity", f"{model.id} takes medium alone", "warning")
    if body.get("stop") and not model.stop_sequences:
        yield Problem("OC-sampling", "stop", f"{model.id} may refuse it", "warning")
