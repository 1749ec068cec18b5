"""The request settings of every API in one vocabulary: one table per API.

`Settings` names what a setting means; a table gives its path in an API's request body. Settings
that need more than a rename (thinking, structured output, stop sequences, tool choice) are
translated in each format. Their paths are listed here too, because a table also tells which fields
of a body other APIs get.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from contextwright.errors import shown
from contextwright.formats.hosts import EFFORTS, FREE, HOSTS, known_effort
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, Effort, Settings, ToolChoice
from contextwright.messages.message import Tool
from contextwright.models import Model
from contextwright.text.json import convert
from contextwright.wire.output import nearest_limit
from contextwright.wire.ranges import LONGEST_KEYS, Ranges, in_range, key_fault
from contextwright.wire.shapes import shape_problems
from contextwright.wire.values import Object, is_list, is_object

__all__ = [
    "BUDGETS",
    "FREE",
    "TABLES",
    "effort_of",
    "dig",
    "fields_of",
    "is_carried",
    "known_choice",
    "known_effort",
    "known_fields",
    "nearest_effort",
    "put",
    "read_plain",
    "take_out",
    "write_plain",
]

TABLES: dict[str, dict[str, str]] = {
    "openai-chat": {
        "max_tokens": "max_completion_tokens",
        "temperature": "temperature",
        "top_p": "top_p",
        "seed": "seed",
        "presence_penalty": "presence_penalty",
        "frequency_penalty": "frequency_penalty",
        "stream": "stream",
        "parallel_calls": "parallel_tool_calls",
        "verbosity": "verbosity",
        "service_tier": "service_tier",
        "cache_key": "prompt_cache_key",
        "store": "store",
        "user": "user",
        "metadata": "metadata",
        "stop": "stop",
        "tool_choice": "tool_choice",
        "effort": "reasoning_effort",
        "output": "response_format",
    },
    "openai-responses": {
        "max_tokens": "max_output_tokens",
        "temperature": "temperature",
        "top_p": "top_p",
        "stream": "stream",
        "parallel_calls": "parallel_tool_calls",
        "verbosity": "text.verbosity",
        "service_tier": "service_tier",
        "cache_key": "prompt_cache_key",
        "store": "store",
        "user": "user",
        "metadata": "metadata",
        "tool_choice": "tool_choice",
        "effort": "reasoning.effort",
        "show_thinking": "reasoning.summary",
        "output": "text.format",
    },
    "anthropic": {
        "max_tokens": "max_tokens",
        "temperature": "temperature",
        "top_p": "top_p",
        "top_k": "top_k",
        "stream": "stream",
        "parallel_calls": "tool_choice.disable_parallel_tool_use",
        "service_tier": "service_tier",
        "cache_key": "cache_control",
        "user": "metadata.user_id",
        "stop": "stop_sequences",
        "tool_choice": "tool_choice",
        "effort": "output_config.effort",
        "thinking_budget": "thinking",
        "show_thinking": "thinking",
        "output": "output_config.format",
    },
    "gemini": {
        "max_tokens": "generationConfig.maxOutputTokens",
        "temperature": "generationConfig.temperature",
        "top_p": "generationConfig.topP",
        "top_k": "generationConfig.topK",
        "seed": "generationConfig.seed",
        "presence_penalty": "generationConfig.presencePenalty",
        "frequency_penalty": "generationConfig.frequencyPenalty",
        "service_tier": "serviceTier",
        "store": "store",
        "stop": "generationConfig.stopSequences",
        "tool_choice": "toolConfig.functionCallingConfig",
        "effort": "generationConfig.thinkingConfig",
        "thinking_budget": "generationConfig.thinkingConfig",
        "show_thinking": "generationConfig.thinkingConfig",
        "output": "generationConfig.responseJsonSchema",
    },
}
"""The path of each setting in an API's body. A setting that is missing here is not supported."""
ALSO_READ = {
    "openai-chat": ("max_tokens", "stream_options", "function_call"),
    "anthropic": ("output_format",),
    "gemini": ("generationConfig.responseSchema",),
}
"""Other spellings of the same settings, and fields that only support one of them."""
PLAIN: dict[str, Any] = {
    "max_tokens": int,
    "temperature": float,
    "top_p": float,
    "top_k": int,
    "seed": int,
    "presence_penalty": float,
    "frequency_penalty": float,
    "stream": bool,
    "parallel_calls": bool,
    "verbosity": str,
    "service_tier": str,
    "cache_key": str,
    "store": bool,
    "user": str,
    "metadata": dict[str, str],
}
"""The settings whose values are the same everywhere, with their types."""
BESIDE = {("anthropic", "parallel_calls"), ("anthropic", "cache_key")}
"""Plain settings that an API has in another shape; its format translates them."""
VALUES: dict[tuple[str, str], dict[str, str]] = {
    ("anthropic", "service_tier"): {"auto": "auto", "default": "standard_only"},
    ("gemini", "service_tier"): {"default": "standard", "flex": "flex", "priority": "priority"},
}
"""Values of a setting that an API names differently; ours are OpenAI's."""
SAMPLING = ("temperature", "top_p", "top_k", "presence_penalty", "frequency_penalty")
SAYS_NOTHING: dict[str, tuple[Any, ...]] = {
    "store": (False,),
    "parallel_calls": (True,),
    "service_tier": ("auto", "default"),
    "temperature": (1,),
    "top_p": (1,),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
    "verbosity": ("medium",),
    "user": ("",),
}
"""Values that ask for what an API, or a model, without the setting does anyway."""
SAYS_NOTHING_THERE: dict[str, tuple[Any, ...]] = {
    "cache_control": ({"type": "ephemeral"},),
    "context_management": ({"edits": []},),
    "generationConfig.candidateCount": (1,),
    "generationConfig.mediaResolution": ("MEDIA_RESOLUTION_UNSPECIFIED",),
    "generationConfig.responseMimeType": ("application/json", "text/plain"),
    "generationConfig.responseModalities": (["TEXT"],),
    "modalities": (["text"],),
    "n": (1,),
    "stream_options": ({"include_obfuscation": False},),
    "thinking": ({"type": "disabled"},),
    "top_k": (-1, 0),
    "response_format": ({"type": "text"},),
    "text.format": ({"type": "text"},),
    "truncation": ("disabled",),
}
"""Values of fields that ask for what every API does anyway."""
NESTED = (
    "generationConfig",
    "toolConfig",
    "reasoning",
    "text",
    "output_config",
    "chat_template_kwargs",
    "extra_body",
    "extra_body.google",
    "extra_body.google.thinking_config",
)
"""Objects of a body whose fields are separate settings."""

BUDGETS: dict[Effort, int] = {
    "none": 0,
    "minimal": 1_024,
    "low": 2_048,
    "medium": 8_192,
    "high": 16_384,
    "xhigh": 32_768,
    "max": 65_536,
}
"""The thinking budget in tokens for each effort."""


def effort_of(settings: Settings) -> Effort | None:
    """Return the effort asked for: by name, or derived from a token budget."""
    budget = settings.thinking_budget
    if settings.effort is not None or budget is None:
        return settings.effort
    if budget < 0:
        return None  # the model decides
    for level, tokens in BUDGETS.items():
        if tokens >= budget:
            return level
    return "max"


def nearest_effort(effort: Effort, efforts: Sequence[str] | None, changes: list[Change]) -> Effort:
    """Return the effort if the model takes it, else the next higher one, or its highest."""
    taken = frozenset(efforts or ())
    known: list[Effort] = [name for name in EFFORTS if name in taken]
    if not known or effort in taken:
        return effort
    higher = list[Effort](name for name in known if EFFORTS.index(name) > EFFORTS.index(effort))
    nearest = higher[0] if higher else known[-1]
    changes.append(Change("repair.setting", "effort", f"{effort} is {nearest} here"))
    return nearest


def fields_of(body: Object, parent: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the fields of a body with their paths; nested settings one by one."""
    for field, value in body.items():
        path = f"{parent}{field}"
        if path in NESTED and is_object(value):
            yield from fields_of(value, f"{path}.")
        else:
            yield path, value


def is_carried(format: str, path: str, value: Any, settings: Settings) -> bool:
    """Whether `Settings` carries a field of a body, with this value, to other APIs."""
    if path in ALSO_READ.get(format, ()) or value in SAYS_NOTHING_THERE.get(path, ()):
        return True
    if format == "openai-chat" and path in HOSTS:
        return HOSTS[path](value) != {}
    if path == "toolConfig.functionCallingConfig" and is_object(value):
        # Only Gemini has a mode that holds calls to their schemas.
        return settings.tool_choice is not None and value.get("mode") != "VALIDATED"
    if path == "metadata" and format == "anthropic":
        return settings.user is not None  # its only field
    if path == "output_config.effort":
        return settings.effort == value  # another one if thinking is disabled
    names = [name for name, place in TABLES.get(format, {}).items() if place == path]
    return any(getattr(settings, name) not in (None, (), {}) for name in names)


def read_plain(body: Object, format: str) -> Object:
    """Read the settings that need no translation, by our names."""
    table = TABLES[format]
    found: Object = {}
    for name, kind in PLAIN.items() if body else ():  # most data for training has no settings
        value = dig(body, table[name]) if name in table else None
        if value is None or (format, name) in BESIDE:
            continue
        if named := VALUES.get((format, name)):
            value = next((ours for ours, theirs in named.items() if theirs == value), None)
            if value is None:
                continue
        try:
            found[name] = convert(value, kind)
        except msgspec.ValidationError:
            continue  # a wrong type: it stays among the format's own fields
    return found


def write_plain(
    settings: Settings, format: str, changes: list[Change], model: Model, *, strict: bool = True
) -> Object:
    """Write the settings that need no translation; report those the API or model does not have.

    `strict`: the host refuses what the model does not take.
    """
    wire: Object = {}
    refused = (*(() if model.sampling else SAMPLING), *(() if model.verbosity else ("verbosity",)))
    for name in PLAIN:
        value = getattr(settings, name)
        if value is None or value == {} or (format, name) in BESIDE:
            continue
        path = TABLES[format].get(name)
        if path is not None and (named := VALUES.get((format, name))):
            path, value = (path, named[value]) if value in named else (None, value)
        if path is not None and not (strict and name in refused):
            put(wire, path, value)
        elif value in SAYS_NOTHING.get(name, ()):
            continue
        elif path is not None:
            changes.append(Change("loss.setting", name, f"{model.id} takes no {name}"))
        else:
            changes.append(Change("loss.setting", name, f"{format} has no such setting"))
    return wire


def known_choice(conversation: Conversation, changes: list[Change]) -> ToolChoice | None:
    """Return the tool choice, without tools that the conversation does not define."""
    choice = conversation.settings.tool_choice
    if choice is None or not (choice.name or choice.allowed):
        return choice
    names = {tool.name for tool in conversation.tools if isinstance(tool, Tool)}
    lost = {*choice.allowed, choice.name} - names - {None}
    if not lost:
        return choice
    reason = f"no function {', '.join(sorted(map(shown, lost)))} is defined"
    allowed = tuple(name for name in choice.allowed if name in names)
    if choice.name in lost or not allowed:
        changes.append(Change("loss.setting", "tool_choice", reason))
        return None
    changes.append(Change("loss.setting", "tool_choice.allowed", reason))
    return ToolChoice(choice.mode, choice.name, allowed)


def known_fields(fields: Object, shape: type[Any], changes: list[Change], **needed: Any) -> Object:
    """Keep a body's own settings that its API knows; report the others.

    `needed` fills in the other fields that a request of that shape requires.
    """
    if not shape_problems({**needed, **fields}, shape):
        return dict(fields)
    kept: Object = {}
    for path, value in fields_of(fields):
        piece: Object = {}
        put(piece, path, value)
        problems = shape_problems({**needed, **piece}, shape)
        if problems:
            changes.append(Change("loss.setting", path, problems[0].message))
        else:
            put(kept, path, value)
    return kept


def fit_limit(wire: Object, path: str, model: Model, changes: list[Change], *, least: int) -> None:
    """Set an output limit to the nearest one that the model accepts; leave out a negative one.

    The least is no substitute for -1, which callers use for no limit: Claude answers nothing to 0.
    """
    limit = dig(wire, path)
    if type(limit) is int and limit < 0:
        take_out(wire, path)
        changes.append(Change("loss.setting", path, f"{limit} is not a number of tokens"))
        return
    nearest = nearest_limit(limit, model, least=least)
    if nearest != limit:
        put(wire, path, nearest)
        raised = f"raised to {nearest}, the least allowed"
        lowered = f"lowered to {nearest:,}, the most that {model.id} writes"
        changes.append(Change("repair.setting", path, raised if limit < nearest else lowered))


def fit_ranges(wire: Object, ranges: Ranges, changes: list[Change], parent: str = "") -> None:
    """Set numbers to the nearest that the API accepts, and cut lists that are too long.

    They are fields of the body, or of its field `parent`.
    """
    given: Any = wire.get(parent) if parent else wire
    settings: Object = given if is_object(given) else {}
    for field, (least, most) in ranges.items():
        if field not in settings:
            continue
        value = settings[field]
        nearest = in_range(value, least, most)
        if nearest == value:
            continue
        path = f"{parent}.{field}" if parent else field
        put(wire, path, nearest)
        if is_list(value):
            changes.append(Change("loss.setting", path, f"at most {most:g}"))
        else:
            raised, lowered = f"raised to {nearest}, the least", f"lowered to {nearest}, the most"
            words = raised if value < nearest else lowered
            changes.append(Change("repair.setting", path, f"{words} allowed"))


def fit_keys(wire: Object, changes: list[Change]) -> None:
    """Write a digest for a user or a cache whose key is refused: the same one each time."""
    for path in LONGEST_KEYS:
        value = dig(wire, path)
        if reason := key_fault(path, value):
            put(wire, path, sha256(value.encode("utf-8", "surrogatepass")).hexdigest())
            changes.append(Change("repair.setting", path, f"{reason}; its SHA-256"))


def dig(body: Any, path: str) -> Any:
    """Return the value at a path; None if there is none."""
    for step in path.split("."):
        body = body.get(step) if is_object(body) else None
    return body


def take_out(wire: Object, path: str) -> None:
    """Remove the value at a path; objects above it are copied, and removed if nothing is left."""
    step, _, rest = path.partition(".")
    if not rest:
        del wire[step]
        return
    wire[step] = dict(wire[step])
    take_out(wire[step], rest)
    if not wire[step]:
        del wire[step]


def put(wire: Object, path: str, value: Any) -> None:
    """Set the value at a path; objects above it, which may be the caller's, are copied."""
    *steps, last = path.split(".")
    for step in steps:
        wire[step] = dict(wire.get(step, {}))
        wire = wire[step]
    wire[last] = value
