"""OpenAI Responses: `POST /v1/responses`, its replies and its streams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import msgspec

from contextwright.changes import Change
from contextwright.errors import ParseError, shown
from contextwright.exchanges import match_results
from contextwright.formats.base import (
    Conversation,
    Format,
    Options,
    Rendered,
)
from contextwright.formats.openai_responses.chat import from_chat
from contextwright.formats.openai_responses.fitting import leave_out_refused, takes_extra
from contextwright.formats.openai_responses.items import Gatherer
from contextwright.formats.openai_responses.parts import NAME, carries_media, is_exact
from contextwright.formats.openai_responses.settings import (
    STATE,
    is_stored,
    settings_of,
    settings_wire,
)
from contextwright.formats.openai_responses.stream import accumulate, as_dict
from contextwright.formats.openai_responses.tools import tool_of, tools_wire
from contextwright.formats.openai_responses.writing import Writer
from contextwright.formats.reading import Reader, stream_reader
from contextwright.formats.rules import (
    RULES,
    START,
    Draft,
    Rule,
    Ruled,
    pair_results,
    spell_ids,
    start_with_user,
)
from contextwright.formats.survey import made_legal
from contextwright.formats.target import Spelling, Target, Traits
from contextwright.messages import Message, Part, Text, Thinking
from contextwright.models import Model
from contextwright.wire.openai_responses.rules import LONGEST_ID, check
from contextwright.wire.values import is_object

__all__ = ["FORMAT"]


def carries_thinking(thinking: Thinking, model: Model) -> bool:
    """Its own, to models that reason; what must follow it is the writer's business."""
    reasons = model.provider != "openai" or not model.sampling
    return thinking.origin == NAME and reasons


@cache
def traits_of(*, exact: bool, needs_user: bool) -> Traits:
    """What a host's messages can carry, in a request that does or does not need a user turn."""
    traits = Traits(
        format=NAME,
        ids=Spelling(longest=LONGEST_ID),
        results_adjacent=False,
        needs_user=needs_user,
        carries_media=carries_media,
        carries_thinking=carries_thinking,
    )
    return msgspec.structs.replace(traits, takes_extra=takes_extra) if exact else traits


TRAITS = traits_of(exact=True, needs_user=True)


def pair_by_id(draft: Draft, target: Target) -> Ruled:
    """Results behind their calls, unless they came from here and find each other as they are."""
    if target.faithful and is_paired([message for _, message in draft]):
        return draft, []
    return pair_results(draft, target)


def spell_broken_ids(draft: Draft, target: Target) -> Ruled:
    """Call ids that fit; ids that came from here and lead to one call each stay as they are."""
    if target.faithful and is_paired([message for _, message in draft]):
        return draft, []
    return spell_ids(draft, target)


def own(rule: Rule) -> Rule:
    """This format's version of a rule."""
    if rule is pair_results:
        return pair_by_id
    return spell_broken_ids if rule is spell_ids else rule


OWN_RULES = tuple(map(own, RULES))
STATED = ", ".join(STATE)
NOT_STORED = (pair_results, spell_ids, start_with_user)
STORED_RULES = tuple(rule for rule in RULES if rule not in NOT_STORED)
"""For requests that go on from stored items: there calls and outputs have their partners."""


def is_paired(messages: Sequence[Message]) -> bool:
    """Whether every call stands before its output, in whatever order, under an id of its own."""
    matching = match_results(messages)
    if matching.orphans:
        return False
    seen: set[tuple[int, str]] = set()
    for answer in matching.answers:
        id = answer.call.id
        if answer.result is None or not id or len(id) > LONGEST_ID or (answer.at[0], id) in seen:
            return False
        seen.add((answer.at[0], id))
    return True


# --- reading ---------------------------------------------------------------------------------


def parse(data: Any, strict: bool = False) -> Conversation:
    """A conversation from a request body, or from a bare list of items."""
    reader = Reader(NAME, strict=strict)
    body = body_of(data)
    model = reader.optional_text(body, "model")
    instructions = reader.optional_text(body, "instructions")
    given = body.get("input")
    if isinstance(given, str) and given:
        # The mark tells a bare string from a list of one message.
        messages = [Message("user", (Text(given, {NAME: {}}),))]
    else:
        messages = Gatherer(reader).gather(reader.objects(body, "input"))
    # An empty list has no place in our values, and still goes back as it came.
    read = ("model", "instructions", *(key for key in ("input", "tools") if body.get(key)))
    rest = {key: value for key, value in body.items() if key not in read}
    if instructions is not None:
        messages.insert(0, Message("system", (Text(instructions),)))
    tools = [tool_of(tool, path, reader) for path, tool in reader.objects(body, "tools")]
    return reader.conversation(messages, rest, tools=tools, model=model, settings=settings_of(rest))


def body_of(data: Any) -> dict[str, Any]:
    """The request body; a bare list stands for its input."""
    if isinstance(data, list):
        return {"input": data}
    if not is_object(data):
        raise ParseError(f"{NAME} wants an object or a list of items, not {shown(data)}")
    if data.get("input") is None and not any(data.get(key) for key in STATE):
        raise ParseError("required field is missing", path="input", hint=f"or one of {STATED}")
    return data


def parse_reply(reply: Any) -> Conversation:
    """The assistant's turn of a reply."""
    reader = Reader(NAME, strict=False)
    body = reader.reply(as_dict(reply) or reply)
    if not isinstance(body.get("output"), list):
        raise ParseError("must be a list of items", path="output")
    model = reader.optional_text(body, "model")
    messages = Gatherer(reader, model=model, reply=True).gather(reader.objects(body, "output"))
    kept = ("id", "status", "incomplete_details", "error", "usage")
    rest = {key: body[key] for key in kept if body.get(key) is not None}
    if body.get("status") in ("incomplete", "failed", "cancelled"):
        why = body.get("incomplete_details") or body.get("error") or ""
        reader.repair("repair.interrupted", "status", f"the reply is {body['status']} {shown(why)}")
    return reader.conversation(messages, rest, model=model)


parse_stream = stream_reader(accumulate, parse_reply)


# --- writing ---------------------------------------------------------------------------------


def render(conversation: Conversation, model: Model, options: Options) -> Rendered:
    """The request body."""
    conversation = from_chat(conversation)
    exact, stored = is_exact(model, options), is_stored(conversation)
    rules = STORED_RULES if stored else OWN_RULES
    if exact:
        rules = (leave_out_refused, *rules)
    traits = traits_of(exact=exact, needs_user=not stored and not has_items(conversation))
    messages, target, changes, places = made_legal(conversation, traits, model, options, rules)
    body: dict[str, Any] = {"model": model.id}
    body.update(settings_wire(conversation, target, changes))
    stateless = body.get("store") is False
    writer = Writer(target, changes, path_in(conversation, messages, places), stateless=stateless)
    writer.write(messages, whole=options.repair and not stored)
    if writer.instructions:
        body["instructions"] = "\n\n".join(writer.instructions)
        if len(writer.instructions) > 1:
            changes.append(Change("repair.merged", "messages", "system texts are one here"))
    tools = tools_wire(conversation, target, changes)
    if tools:
        body["tools"] = tools
    put_input(body, conversation, writer.items, changes, stored=stored)
    return Rendered(body, tuple(changes))


def has_items(conversation: Conversation) -> bool:
    """Whether system text of this format stood among the items: that can be answered too."""
    return conversation.source == NAME and any(
        message.role != "system" or message.extra.get(NAME) for message in conversation.messages
    )


def path_in(
    conversation: Conversation, messages: Sequence[Message], places: Sequence[int]
) -> Callable[[Part], str]:
    """Finds where a part stood; the places are looked up once, when first asked for.

    Of a part that a rule made anew it knows only the message.
    """
    paths: dict[int, str] = {}

    def path_of(part: Part) -> str:
        if not paths:
            for place, message in zip(places, messages, strict=True):
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
    """The items into the body: a bare string as one, and never nothing to answer."""
    if items:
        body["input"] = items
        words = items[0].get("content") if len(items) == 1 else None
        if isinstance(words, str) and is_bare(conversation) and items[0]["role"] == "user":
            body["input"] = words
    elif not stored:
        body["input"] = [{"role": "user", "content": START}]
        changes.append(Change("invent.user_turn", "messages", "there is nothing to answer"))


def is_bare(conversation: Conversation) -> bool:
    """Whether the last message came as a string in place of the input."""
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
)
