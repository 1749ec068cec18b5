"""OpenAI Responses: `POST /v1/responses`, its replies and its streams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

from msgspec.structs import replace

from contextwright.errors import ParseError, shown
from contextwright.formats.base import Format, Options, Rendered
from contextwright.formats.legalise import Legal, legalise
from contextwright.formats.openai_responses.chat import from_chat
from contextwright.formats.openai_responses.media import NAME, supports_media
from contextwright.formats.openai_responses.read import Gatherer, last_start
from contextwright.formats.openai_responses.reply import parse_reply
from contextwright.formats.openai_responses.rules import (
    accepts_extra,
    accepts_items,
    holds_reference,
    is_exact,
    leave_out_refused,
    leave_out_unknown,
)
from contextwright.formats.openai_responses.settings import (
    STATE,
    is_stored,
    settings_of,
    settings_wire,
)
from contextwright.formats.openai_responses.stream import parse_stream
from contextwright.formats.openai_responses.tools import tools_of, tools_wire
from contextwright.formats.openai_responses.write import Writer, is_plain
from contextwright.formats.reader import Reader
from contextwright.formats.rules import (
    RULES,
    START,
    Draft,
    Rule,
    Ruled,
    messages_of,
    pair_results,
    spell_ids,
    start_with_user,
)
from contextwright.formats.target import Spelling, Target, Traits
from contextwright.formats.tools import flat_name
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, Settings, ToolChoice
from contextwright.messages.exchanges import At, match_results
from contextwright.messages.message import Message, Tool
from contextwright.messages.parts import Opaque, Part, Text, Thinking, ToolCall
from contextwright.models import Model
from contextwright.wire.openai_responses.rules import LONGEST_ID, check
from contextwright.wire.values import is_object

__all__ = ["FORMAT"]

FlatNames: TypeAlias = dict[tuple[str | None, str], str]


def supports_thinking(thinking: Thinking, model: Model) -> bool:
    """Whether the thinking is this format's own and the model reasons; `Writer` checks the rest."""
    reasons = model.provider != "openai" or not model.sampling
    return thinking.origin == NAME and reasons


@cache
def traits_of(*, exact: bool, needs_user: bool) -> Traits:
    """Return what a host's messages can carry, for a request that needs a user turn or not."""
    return Traits(
        format=NAME,
        ids=Spelling(longest=LONGEST_ID),
        reuses_ids=False,
        needs_user=needs_user,
        media_roles=("user", "system"),
        supports_media=supports_media,
        supports_thinking=supports_thinking,
        accepts_extra=accepts_extra if exact else accepts_items,
    )


TRAITS = traits_of(exact=True, needs_user=True)


def pair_by_id(draft: Draft, target: Target) -> Ruled:
    """Put results after their calls, unless they came from this format and are paired already."""
    if target.same_format and is_paired(messages_of(draft)):
        return draft, []
    return pair_results(draft, target)


def spell_broken_ids(draft: Draft, target: Target) -> Ruled:
    """Make call ids legal; ids from this format that are unique stay unchanged."""
    if target.same_format and is_paired(messages_of(draft)):
        return draft, []
    return spell_ids(draft, target)


def own(rule: Rule) -> Rule:
    """Return this format's version of a rule."""
    if rule is pair_results:
        return pair_by_id
    return spell_broken_ids if rule is spell_ids else rule


OWN_RULES = tuple(map(own, RULES))
STATED = ", ".join(STATE)
NOT_STORED = (pair_results, spell_ids, start_with_user)
STORED_RULES = tuple(rule for rule in RULES if rule not in NOT_STORED)
"""For requests that continue stored items, where calls and outputs may have their partners."""


def is_paired(messages: Sequence[Message]) -> bool:
    """Whether every call precedes its output, in any order, with a unique id.

    The calls of outputs after a compaction may be among what was compacted.
    """
    matching = match_results(messages)
    if matching.orphans and not all(at > first_compaction(messages) for at in matching.orphans):
        return False
    seen: set[str] = set()
    for answer in matching.answers:
        id, result = answer.call.id, answer.result
        if not id or len(id) > LONGEST_ID or id in seen:
            return False
        if result is None or result.call_id != id:
            return False
        seen.add(id)
    return True


def first_compaction(messages: Sequence[Message]) -> At:
    """Return the position of the first compacted stretch; that of the end if there is none."""
    for index, message in enumerate(messages):
        for place, part in enumerate(message.parts):
            if type(part) is Opaque and part.data.get("type") == "compaction":
                return index, place
    return len(messages), 0


# --- reading ---------------------------------------------------------------------------------


def parse(data: Any, strict: bool = False) -> Conversation:
    """Parse a request body, or a bare list of items."""
    reader = Reader(NAME, strict=strict)
    body = body_of(data)
    model = reader.optional_text(body, "model")
    instructions = reader.optional_text(body, "instructions")
    given = body.get("input")
    if isinstance(given, str) and given:
        # The mark distinguishes a bare string from a list of one message.
        messages = [Message("user", (Text(given, {NAME: {}}),))]
    else:
        messages = Gatherer(reader).gather(reader.objects(body, "input"))
    # Keep an empty list, which our values cannot hold, so that it is written back.
    read = ("model", "instructions", *(key for key in ("input", "tools") if body.get(key)))
    rest = {key: value for key, value in body.items() if key not in read}
    if instructions is not None:
        messages.insert(0, Message("system", (Text(instructions),)))
    tools = tools_of(body, reader)
    flat = flat_names(tools)
    settings = settings_of(rest)
    if flat:
        messages = under_flat_names(messages, flat)
        settings = with_flat_choice(settings, flat)
    return reader.conversation(messages, rest, tools=tools, model=model, settings=settings)


def flat_names(tools: list[Tool | Opaque]) -> FlatNames:
    """Map namespace and name of each namespaced tool to its flat name."""
    flat: FlatNames = {}
    for tool in tools:
        namespace = tool.extra.get(NAME, {}).get("namespace") if isinstance(tool, Tool) else None
        if isinstance(tool, Tool) and is_object(namespace):
            own = tool.name.removeprefix(flat_name(namespace["name"], ""))
            flat[namespace["name"], own] = tool.name
            flat.setdefault((None, own), tool.name)  # calls may omit the namespace
    for tool in tools:
        if isinstance(tool, Tool):
            flat.pop((None, tool.name), None)
    return flat


def with_flat_choice(settings: Settings, flat: FlatNames) -> Settings:
    """Return the settings with chosen tools under their flat names."""
    choice = settings.tool_choice
    if choice is None:
        return settings
    name = flat.get((None, choice.name), choice.name) if choice.name else None
    allowed = tuple(flat.get((None, name), name) for name in choice.allowed)
    return replace(settings, tool_choice=ToolChoice(choice.mode, name, allowed))


def under_flat_names(messages: list[Message], flat: FlatNames) -> list[Message]:
    """Return the messages with calls of namespaced tools under their flat names."""
    return [
        message.with_parts(flat_call(part, flat) for part in message.parts)
        if message.calls
        else message
        for message in messages
    ]


def flat_call(part: Part, flat: FlatNames) -> Part:
    """Return a call under its tool's flat name; the original name is kept for writing."""
    if not isinstance(part, ToolCall):
        return part
    own = part.extra.get(NAME, {})
    namespace = own.get("namespace")
    name = flat.get((namespace if isinstance(namespace, str) else None, part.name))
    if name is None:
        return part
    return replace(part, name=name, extra={**part.extra, NAME: {**own, "name": part.name}})


def body_of(data: Any) -> dict[str, Any]:
    """Return the request body; a bare list is its input."""
    if isinstance(data, list):
        return {"input": data}
    if not is_object(data):
        raise ParseError(f"{NAME} expects an object or a list of items, not {shown(data)}")
    if data.get("input") is None and not any(data.get(key) for key in STATE):
        raise ParseError("required field is missing", path="input", hint=f"or one of {STATED}")
    return data


# --- writing ---------------------------------------------------------------------------------


def render(conversation: Conversation, model: Model, options: Options) -> Rendered:
    """Render the request body."""
    conversation = from_chat(conversation)
    exact, stored = is_exact(model, options), is_stored(conversation)
    referring = conversation.source == NAME and any(map(holds_reference, conversation.messages))
    rules = STORED_RULES if stored or referring else OWN_RULES
    rules = (leave_out_refused if exact else leave_out_unknown, *rules)
    traits = traits_of(exact=exact, needs_user=not stored and not has_items(conversation))
    legal = legalise(conversation, traits, model, options, rules)
    target, changes = legal.target, legal.changes
    body: dict[str, Any] = {"model": model.id}
    body.update(settings_wire(conversation, target, changes))
    stateless = body.get("store") is False
    writer = Writer(target, changes, path_in(conversation, legal), stateless=stateless)
    writer.write(legal.messages, whole=options.repair and not stored)
    if writer.instructions:
        body["instructions"] = "\n\n".join(writer.instructions)
        if len(writer.instructions) > 1:
            changes.append(Change("repair.merged", "messages", "this API takes one system text"))
    tools = tools_wire(conversation, target, changes)
    if tools:
        body["tools"] = tools
    put_input(body, conversation, writer.items, changes, stored=stored)
    origins = legal.turn_origins(writer.places)
    return Rendered(body, tuple(changes), tool_names=target.sent_names, origins=origins)


def has_items(conversation: Conversation) -> bool:
    """Whether anything came as items of this format, which the model can answer."""
    return conversation.source == NAME and any(
        message.role != "system" or not is_plain(message) for message in conversation.messages
    )


def path_in(conversation: Conversation, legal: Legal) -> Callable[[Part], str]:
    """Return a function that finds the path of a part; positions are indexed on first use.

    For a part that a rule replaced it returns the path of the message.
    """
    paths: dict[int, str] = {}

    def path_of(part: Part) -> str:
        if not paths:
            for place, message in zip(legal.origins, legal.messages, strict=True):
                paths.update({id(one): f"messages[{place}]" for one in message.parts})
            for place, message in enumerate(conversation.messages):
                for index, one in enumerate(message.parts):
                    paths[id(one)] = f"messages[{place}].parts[{index}]"
        return paths.get(id(part), "messages")

    return path_of


def put_input(
    body: dict[str, Any],
    conversation: Conversation,
    items: list[dict[str, Any]],
    changes: list[Change],
    *,
    stored: bool,
) -> None:
    """Put the items into the body: a bare string as such, and never an empty input."""
    if items:
        body["input"] = items
        words = items[0].get("content") if len(items) == 1 else None
        if isinstance(words, str) and is_bare(conversation) and items[0]["role"] == "user":
            body["input"] = words
    elif not stored:
        body["input"] = [{"role": "user", "content": START}]
        changes.append(Change("invent.user_turn", "messages", "there is no message to answer"))


def is_bare(conversation: Conversation) -> bool:
    """Whether the last message came as a bare string `input`."""
    parts = conversation.messages[-1].parts if conversation.messages else ()
    return conversation.source == NAME and any(
        isinstance(part, Text) and part.extra == {NAME: {}} for part in parts
    )


FORMAT = Format(
    name=NAME,
    title="OpenAI Responses requests, replies and streams (GPT)",
    parse=parse,
    render=render,
    check=check,
    parse_reply=parse_reply,
    parse_stream=parse_stream,
    default_model="gpt-5.6-sol",
    turns="input",
    last_start=last_start,
)
