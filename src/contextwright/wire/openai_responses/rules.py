"""What the Responses API refuses in a request whose fields all have the right type.

Each function is one family of rules; the codes are those of `docs/rules.md`. Rules seen only at
OpenAI itself are warnings for the models of other hosts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from contextwright.errors import Level, Problem, shown
from contextwright.models import Model
from contextwright.wire import ranges
from contextwright.wire.json_schema import answer_problems
from contextwright.wire.media import number_problems
from contextwright.wire.openai_responses.media import part_problems
from contextwright.wire.openai_responses.sampling import efforts, sampling
from contextwright.wire.openai_responses.tools import (
    is_name,
    name_problems,
    strict_problems,
    tool_problems,
)
from contextwright.wire.openai_responses.types import (
    Request,
    are_items,
    body_shape,
    item_shapes,
    kind_of,
)
from contextwright.wire.output import limit_problems
from contextwright.wire.shapes import EXTRA, json_problems, objects_in
from contextwright.wire.survey import is_valid, without_plain
from contextwright.wire.values import is_list, is_object

__all__ = ["check"]

LONGEST_ID = 64
ID = re.compile(r"[A-Za-z0-9_-]{1,64}").fullmatch

ID_PREFIXES = {"user": "msg", "assistant": "msg", "function_call": "fc", "reasoning": "rs"}

CALLS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "computer_call": "computer_call_output",
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "tool_search_call": "tool_search_output",
}
"""The calls that the client answers, each with the item that answers it."""
OUTPUTS = frozenset(CALLS.values())

CLIENT_MADE = OUTPUTS - {"tool_search_output"} | {
    "user",
    "system",
    "developer",
    "additional_tools",
    "configuration_update",
    "mcp_approval_response",
    "compaction_trigger",
}
"""Items that no model writes, so reasoning cannot precede them."""

STORED = ("reasoning", "web_search_call", "file_search_call")
"""Items that refer to something stored, so they need their id unless nothing is stored."""

MIN_OUTPUT_TOKENS = 16

decode = msgspec.json.Decoder().decode


class Input(NamedTuple):
    """The items of a request, and what decides how they are checked."""

    items: list[tuple[int, str, dict[str, Any]]]
    """Place, kind (`type`; for messages the role) and the item itself."""
    stored: bool
    """Whether earlier items are stored at the provider, so that partners of calls may be there."""
    stateless: bool
    """`store: false`: nothing of this request is kept, so ids refer to nothing."""
    level: Level
    """The level of a rule that is known only from OpenAI."""
    reasons: bool
    """Whether the model accepts reasoning."""


def check(payload: Any, model: Model) -> list[Problem]:
    """List everything in a request body that the API refuses, or might refuse."""
    if not is_object(payload):
        return [*body_shape(payload), *json_problems(payload)]
    holders = survey(payload)
    if holders is None:
        problems = history_problems(payload, model)
    else:
        problems = number_problems(holders, "input", model)
    if model.provider == "openai":
        return [*problems, *request_settings(payload, model), *tool_problems(payload, "error")]
    # Other hosts may know fields of their own.
    problems = [replace(one, level="warning") if one.code == EXTRA else one for one in problems]
    return [*problems, *request_settings(payload, model), *tool_problems(payload, "warning")]


def history_problems(payload: dict[str, Any], model: Model) -> list[Problem]:
    """List the problems of types, and those of the items."""
    problems = [*body_shape(payload), *json_problems(payload)]
    items = payload.get("input")
    if is_list(items):
        problems.extend(item_shapes(items))
    read = read_input(payload, model)
    holders = [item for _, kind, item in read.items if may_hold_media(kind, item)]
    problems.extend(number_problems(holders, "input", model))
    kinds = {kind for _, kind, _ in read.items}
    for about, rule in RULES:
        if about is None or not about.isdisjoint(kinds):
            problems.extend(rule(read))
    return problems


def may_hold_media(kind: str, item: dict[str, Any]) -> bool:
    return kind not in CALLS and type(item.get("content", item.get("output"))) is not str


def survey(body: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Return the items that may hold media; None if types or order need a closer look."""
    given = body.get("input")
    if not is_list(given):
        return None
    entries, texts = without_plain(given)
    items = [item for _, item in entries]
    if not is_valid({**body, "input": items}, Request, texts) or not are_items(items):
        return None
    called: set[str] = set()
    answered: set[str] = set()
    holders: list[dict[str, Any]] = []
    for item in items:
        if "id" in item:
            return None
        kind = item.get("type")
        content = None
        if kind == "function_call":
            id = item["call_id"]
            if id in called or not ID(id) or not is_name(item["name"]):
                return None
            if not is_json_object(item["arguments"]):
                return None
            called.add(id)
            continue
        if kind == "function_call_output":
            id, content = item.get("call_id"), item["output"]
            if id not in called or id in answered:
                return None
            answered.add(id)
        elif kind is None or kind == "message":
            content = item["content"]
        else:
            return None
        if type(content) is not str:
            if any(part_problems(content, "")):
                return None
            holders.append(item)
    return holders if len(called) == len(answered) else None


def read_input(body: dict[str, Any], model: Model) -> Input:
    """Return the items with their kinds, and whether state is stored."""
    items = [(index, kind_of(item), item) for index, item in objects_in(body.get("input"))]
    return Input(
        items,
        bool(body.get("previous_response_id") or body.get("conversation") or body.get("prompt")),
        body.get("store") is False,
        "error" if model.provider == "openai" else "warning",
        model.provider != "openai" or not model.sampling,
    )


def pairing(read: Input) -> Iterator[Problem]:
    """Every call has its output; every output comes after its call."""
    answered = {(kind, answer_id(item)) for _, kind, item in read.items if kind in OUTPUTS}
    answered |= {
        ("tool_search_output", id) for kind, id in answered if kind == "function_call_output"
    }
    called: set[tuple[str, str | None]] = set()
    referenced = read.stored or any(
        kind == "item_reference" and not is_reasoning(kind, item) for _, kind, item in read.items
    )
    elsewhere = referenced
    for index, kind, item in read.items:
        if kind == "compaction":
            elsewhere = True  # the call may be among the compacted items
        elif kind in CALLS:
            key = (CALLS[kind], answer_id(item))
            called.add(key)
            if kind == "tool_search_call":  # the API accepts either kind of output
                called.add(("function_call_output", key[1]))
            if key not in answered and awaits_client(kind, item):
                level: Level = "warning" if referenced else "error"
                message = f"{kind} {shown(key[1])} has no {key[0]}"
                yield Problem("OR-unanswered", f"input[{index}]", message, level)
        elif kind in OUTPUTS and not elsewhere and is_orphan(kind, item, called):
            message = f"no earlier call with call_id {shown(answer_id(item))}"
            yield Problem("OR-orphan", f"input[{index}]", message)


def answer_id(item: dict[str, Any]) -> str | None:
    """Return the id of the call an item is about; a local shell's output names it in `id`."""
    call_id = item.get("call_id", item.get("id"))
    return call_id if isinstance(call_id, str) else None


def awaits_client(kind: str, item: dict[str, Any]) -> bool:
    """Whether the client answers the call. Hosted shells and tool searches answer themselves."""
    if kind == "tool_search_call":
        return item.get("execution") == "client"
    environment = item.get("environment")
    return not (is_object(environment) and environment.get("type") == "container_reference")


def is_orphan(kind: str, item: dict[str, Any], called: set[tuple[str, str | None]]) -> bool:
    if kind == "tool_search_output" and item.get("execution") != "client":
        return False
    return (kind, answer_id(item)) not in called


def reasoning(read: Input) -> Iterator[Problem]:
    """Check that reasoning is directly before the item it led to, and that both keep their ids."""
    for place, (index, kind, item) in enumerate(read.items):
        if not is_reasoning(kind, item):
            continue
        path = f"input[{index}]"
        if not read.reasons:
            message = "models that do not reason refuse reasoning"
            yield Problem("OR-reasoning-model", path, message, "warning")
        if read.stateless and kind == "reasoning" and not item.get("encrypted_content"):
            message = "with store: false, reasoning needs its encrypted_content"
            yield Problem("OR-reasoning-enc", f"{path}.encrypted_content", message, read.level)
        if place + 1 == len(read.items) or read.items[place + 1][1] in CLIENT_MADE:
            message = "reasoning without the item it led to"
            yield Problem("OR-reasoning", path, message, read.level)
            continue
        following_index, following_kind, following = read.items[place + 1]
        if not read.stateless and following.get("id") is None and following_kind != "reasoning":
            message = "the item that reasoning led to must keep its id"
            # The AI SDK refers to stored reasoning, and sends its calls without their ids.
            stored = kind == "item_reference" and following_kind == "function_call"
            level = "warning" if stored else read.level
            yield Problem("OR-reasoning-id", f"input[{following_index}].id", message, level)


def is_reasoning(kind: str, item: dict[str, Any]) -> bool:
    """Whether an item is reasoning, or refers to stored reasoning."""
    if kind == "item_reference":
        return str(item.get("id")).startswith("rs_")
    return kind == "reasoning"


def ids(read: Input) -> Iterator[Problem]:
    """Ids are short, have the prefix of their kind, and occur once."""
    seen: set[str] = set()
    calls: set[tuple[bool, str]] = set()
    for index, kind, item in read.items:
        if "id" not in item and "call_id" not in item and kind not in STORED:
            continue  # most messages
        id = item.get("id")
        if isinstance(id, str):
            yield from item_id(id, kind, f"input[{index}].id", read)
            if id in seen:
                message = f"item {shown(id)} occurs twice"
                yield Problem("OR-dup-id", f"input[{index}].id", message, read.level)
            seen.add(id)
        elif kind in STORED and not read.stateless:
            path = f"input[{index}].id"
            yield Problem("T-required", path, "required field is missing", read.level)
        call_id = item.get("call_id")
        if not isinstance(call_id, str) or "role" in item:  # a message's own would be unknown
            continue
        is_output = kind.endswith("_output")
        if (is_output, call_id) in calls:
            reason = f"another {'output' if is_output else 'call'} has call_id {shown(call_id)}"
            yield Problem("OR-dup-id", f"input[{index}].call_id", reason, read.level)
        calls.add((is_output, call_id))
        if not ID(call_id):
            # Some hosts accept other characters; none accepts other lengths.
            level = "warning" if 0 < len(call_id) <= LONGEST_ID else "error"
            message = "must be 1 to 64 letters, digits, _ or -"
            yield Problem("OR-id", f"input[{index}].call_id", message, level)


def item_id(id: str, kind: str, path: str, read: Input) -> Iterator[Problem]:
    if not ID(id):
        yield Problem("OR-id", path, "must be 1 to 64 letters, digits, _ or -", read.level)
        return
    prefix = ID_PREFIXES.get(kind, "")
    if not id.startswith(prefix):
        message = f"an id of this kind begins with {prefix!r}; leave out ids of other providers"
        yield Problem("OR-id-prefix", path, message, read.level)


CLIENT_CALLS = frozenset(("function_call", "custom_tool_call"))


def calls(read: Input) -> Iterator[Problem]:
    """Tools are called by a valid name, functions with arguments that can be parsed."""
    for index, kind, item in read.items:
        if kind not in CLIENT_CALLS:
            continue
        yield from name_problems(
            item.get("name"), "OR-callname", f"input[{index}].name", read.level
        )
        arguments = item.get("arguments")
        if isinstance(arguments, str) and not is_json_object(arguments):
            message = "not a JSON object: every other provider refuses it"
            yield Problem("OR-args", f"input[{index}].arguments", message, "warning")


def added_tools(read: Input) -> Iterator[Problem]:
    """Tools that an item adds have valid names, in a namespace too."""
    for index, kind, item in read.items:
        if kind != "additional_tools":
            continue
        for place, tool in objects_in(item.get("tools")):
            path = f"input[{index}].tools[{place}]"
            if tool.get("type") in ("function", "custom"):
                yield from name_problems(
                    tool.get("name"), "OR-toolname", f"{path}.name", read.level
                )
            elif tool.get("type") == "namespace":
                for at, inner in objects_in(tool.get("tools")):
                    where = f"{path}.tools[{at}].name"
                    yield from name_problems(inner.get("name"), "OR-toolname", where, read.level)


def is_json_object(text: str) -> bool:
    try:
        return isinstance(decode(text), dict)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return False


def files(read: Input) -> Iterator[Problem]:
    """Images and files have a source that the API can read."""
    for index, _, item in read.items:
        field = "output" if "output" in item else "content"
        parts = item.get(field)
        if not parts or isinstance(parts, str):
            continue
        yield from part_problems(parts, f"input[{index}].{field}")


def ends(read: Input) -> Iterator[Problem]:
    """A compaction trigger is the last item."""
    for index, kind, _ in read.items[:-1]:
        if kind == "compaction_trigger":
            yield Problem("OR-trigger", f"input[{index}]", "compaction_trigger must come last")


RULES = (
    (OUTPUTS | CALLS.keys(), pairing),
    ({"reasoning", "item_reference"}, reasoning),
    (CLIENT_CALLS, calls),
    ({"additional_tools"}, added_tools),
    (None, ids),
    (None, files),
    ({"compaction_trigger"}, ends),
)
"""Rules about items, with the kinds of item that can break them (None: any)."""


def output_format(body: dict[str, Any], level: Level) -> Iterator[Problem]:
    """A strict schema is closed; JSON mode is refused unless the input mentions JSON."""
    match body.get("text"):
        case {"format": {"type": "json_object"}}:
            stored = any(map(body.get, ("previous_response_id", "conversation", "prompt")))
            if not stored and not any("json" in text.lower() for text in texts(body.get("input"))):
                reason = "JSON mode needs the word JSON in the input; instructions do not count"
                yield Problem("OR-json-word", "input", reason, level)
        case {"format": {"type": "json_schema"} as form} if is_object(form):
            yield from strict_problems(form, "schema", "OR-strict", "text.format", level)
            yield from answer_problems(form, "OR-schema", "text.format", level)
        case _:
            pass


def texts(given: object) -> Iterator[str]:
    """Yield the texts of the input."""
    if isinstance(given, str):
        yield given
    for _, item in objects_in(given):
        for field in ("content", "output"):
            if isinstance(item.get(field), str):
                yield item[field]
            for _, part in objects_in(item.get(field)):
                if isinstance(part.get("text"), str):
                    yield part["text"]


def request_settings(body: dict[str, Any], model: Model) -> Iterator[Problem]:
    """There is input, a model, and no setting the model refuses."""
    stored = body.get("previous_response_id"), body.get("conversation")
    if all(stored):
        yield Problem("OR-state", "conversation", "not together with previous_response_id")
    warms_up = body.get("generate") is False
    if not body.get("input") and not any(stored) and not body.get("prompt") and not warms_up:
        yield Problem("OR-empty", "input", "nothing to answer: no input and no stored state")
    if body.get("model") is None and not body.get("prompt"):
        yield Problem("T-required", "model", "required field is missing")
    yield from sampling(body, model)
    yield from efforts(body, model)
    yield from output_format(body, "error" if model.provider == "openai" else "warning")
    field = "max_output_tokens"
    yield from ranges.range_problems(body, ranges.RESPONSES)
    yield from ranges.key_problems(body, ranges.OPENAI_KEYS)
    limit = body.get(field)
    yield from limit_problems("OR-max-output", limit, field, model, least=MIN_OUTPUT_TOKENS)
