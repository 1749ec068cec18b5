"""OpenAI Responses: `POST /v1/responses`, its replies and its streams."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from msgspec.structs import replace

from contextwright.errors import ParseError
from contextwright.formats.base import Format, Options, Rendered, without
from contextwright.formats.legalise import Legal, legalise
from contextwright.formats.openai import reasons
from contextwright.formats.openai_responses.chat import from_chat
from contextwright.formats.openai_responses.media import NAME, supports_media
from contextwright.formats.openai_responses.pairing import OWN_RULES, STORED_RULES
from contextwright.formats.openai_responses.read import Gatherer, last_start
from contextwright.formats.openai_responses.reply import parse_reply
from contextwright.formats.openai_responses.rules import (
    accepts_extra,
    accepts_items,
    accepts_more,
    holds_reference,
    is_exact,
    is_namespace,
    leave_out_refused,
)
from contextwright.formats.openai_responses.settings import (
    STATE,
    is_stored,
    settings_of,
    settings_wire,
    settle_choice,
    settle_output,
)
from contextwright.formats.openai_responses.stream import parse_stream
from contextwright.formats.openai_responses.tools import (
    namespace_of,
    own_name,
    respelled_item,
    tools_of,
    tools_wire,
)
from contextwright.formats.openai_responses.write import Writer, is_plain
from contextwright.formats.reader import Reader, misshapen
from contextwright.formats.rules import START, path_to
from contextwright.formats.target import Spelling, Traits
from contextwright.formats.tools import FlatNames, flat_names
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, Settings, ToolChoice
from contextwright.messages.message import Message, Tool
from contextwright.messages.parts import Part, Text, Thinking, ToolCall
from contextwright.models import Model
from contextwright.wire.openai_responses.rules import LONGEST_ID, check
from contextwright.wire.openai_responses.tools import LONGEST_NAME, USUAL_NAME
from contextwright.wire.values import is_object

__all__ = ["FORMAT"]

STATED = ", ".join(STATE)


def supports_thinking(thinking: Thinking, model: Model) -> bool:
    """Whether the thinking is this format's own and the model reasons; `Writer` checks the rest."""
    return thinking.origin == NAME and reasons(model)


@cache
def traits_of(*, exact: bool, repair: bool, needs_user: bool, same_format: bool) -> Traits:
    """Return what a host's messages can carry. What came from this format may be sent again."""
    accepts_own = accepts_more if repair else accepts_items
    own_names = Spelling(longest=LONGEST_NAME) if exact else Spelling(r"\s\S")
    return Traits(
        format=NAME,
        ids=Spelling(longest=LONGEST_ID),
        reuses_ids=False,
        tool_names=own_names if same_format else Spelling(longest=USUAL_NAME),
        needs_user=needs_user,
        media_roles=("user", "system"),
        supports_media=supports_media,
        supports_thinking=supports_thinking,
        accepts_extra=accepts_extra if exact else accepts_own,
    )


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


def under_own_names(conversation: Conversation, *, exact: bool, repair: bool) -> Conversation:
    """Return the conversation with namespaced tools and their calls under their own names.

    So this API sends them, and so they have to be spelled; in a namespace that the API refuses,
    they keep their flat names.
    """
    own: dict[str, str] = {}
    for tool in conversation.tools:
        if isinstance(tool, Tool) and (namespace := namespace_of(tool)) is not None:
            is_sent = not repair or is_namespace(namespace, exact=exact)
            own[tool.name] = own_name(tool) if is_sent else tool.name
    if not own:
        return conversation
    tools = [
        replace(tool, name=own.get(tool.name, tool.name)) if isinstance(tool, Tool) else tool
        for tool in conversation.tools
    ]
    messages = [
        message.with_parts(own_call(part, own) for part in message.parts)
        if message.calls
        else message
        for message in conversation.messages
    ]
    settings, choice = conversation.settings, conversation.settings.tool_choice
    if choice is not None:
        named = own.get(choice.name or "", choice.name)
        allowed = tuple(own.get(name, name) for name in choice.allowed)
        settings = replace(settings, tool_choice=ToolChoice(choice.mode, named, allowed))
    return replace(conversation, messages=tuple(messages), tools=tuple(tools), settings=settings)


def own_call(part: Part, own: dict[str, str]) -> Part:
    """Return a call that came under its tool's own name as that tool is sent."""
    if not isinstance(part, ToolCall) or part.name not in own:
        return part
    fields = part.extra.get(NAME, {})
    if "name" not in fields:
        return part
    name = own[part.name]
    lost = ("name", "namespace") if name == part.name else ("name",)
    return replace(part, name=name, extra={**part.extra, NAME: without(fields, *lost)})


def body_of(data: Any) -> dict[str, Any]:
    """Return the request body; a bare list is its input."""
    if isinstance(data, list):
        return {"input": data}
    if not is_object(data):
        raise misshapen(NAME, "an object or a list of items", data)
    if data.get("input") is None and not any(data.get(key) for key in STATE):
        raise ParseError("required field is missing", path="input", hint=f"or one of {STATED}")
    return data


# --- writing ---------------------------------------------------------------------------------


def render(conversation: Conversation, model: Model, options: Options) -> Rendered:
    """Render the request body."""
    exact = is_exact(model, options)
    conversation = under_own_names(from_chat(conversation), exact=exact, repair=options.repair)
    stored = is_stored(conversation)
    referring = conversation.source == NAME and any(map(holds_reference, conversation.messages))
    rules = STORED_RULES if stored or referring else OWN_RULES
    if options.repair:
        rules = (leave_out_refused, *rules)
    needs_user = not stored and not has_items(conversation)
    same_format = conversation.source == NAME
    traits = traits_of(
        exact=exact, repair=options.repair, needs_user=needs_user, same_format=same_format
    )
    legal = legalise(conversation, traits, model, options, rules)
    target, changes = legal.target, legal.changes
    body: dict[str, Any] = {"model": model.id}
    body.update(settings_wire(conversation, target, changes))
    stateless = body.get("store") is False
    writer = Writer(target, changes, path_in(legal), stateless=stateless)
    writer.write(legal.messages, whole=options.repair and not stored)
    if writer.instructions:
        body["instructions"] = "\n\n".join(writer.instructions)
        if len(writer.instructions) > 1:
            changes.append(Change("repair.merged", "messages", "this API takes one system text"))
    tools = tools_wire(conversation, target, changes)
    if tools:
        body["tools"] = tools
    items = writer.items
    if target.tool_names:
        items = [respelled_item(item, target.tool_names) for item in items]
    put_input(body, conversation, items, changes, stored=stored)
    if options.repair:
        settle_choice(body, changes, exact=exact)
    origins = legal.turn_origins(writer.places)
    if exact and settle_output(body, changes):
        origins = (0, *origins)
    return Rendered(body, tuple(changes), tool_names=target.sent_names, origins=origins)


def has_items(conversation: Conversation) -> bool:
    """Whether anything came as items of this format, which the model can answer."""
    return conversation.source == NAME and any(
        message.role != "system" or not is_plain(message) for message in conversation.messages
    )


def path_in(legal: Legal) -> Callable[[Part], str]:
    """Return a function that finds the path of a part; positions are indexed on first use.

    For a part that a rule added it returns the path of one beside it.
    """
    paths: dict[int, str] = {}

    def path_of(part: Part) -> str:
        if not paths:
            for place, message in legal.placed():
                for index, one in enumerate(message.parts):
                    paths[id(one)] = path_to(place, index)
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
