"""OpenAI Chat Completions: `POST /v1/chat/completions`, its replies and its streams.

Most other hosts speak it too, with the differences in `wire/openai_chat/dialects.py`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from contextwright.formats.base import Format, Options, Rendered
from contextwright.formats.legalise import legalise
from contextwright.formats.openai_chat.media import has_source, supports_media
from contextwright.formats.openai_chat.read import message_of
from contextwright.formats.openai_chat.reply import NAME, parse_reply
from contextwright.formats.openai_chat.responses import from_responses
from contextwright.formats.openai_chat.rules import (
    accepts_extra,
    leave_out_refused,
    spell_new_ids,
    supports_unspoken,
    without_system,
)
from contextwright.formats.openai_chat.settings import (
    settings_of,
    settings_wire,
    settle_effort,
    settle_limits,
    settle_output,
)
from contextwright.formats.openai_chat.stream import parse_stream
from contextwright.formats.openai_chat.tools import (
    function_of,
    settle_choice,
    settle_tools,
    tool_of,
    tools_wire,
    without_custom,
)
from contextwright.formats.openai_chat.write import ACCEPTED_SPEAKER, Writer
from contextwright.formats.reader import Reader
from contextwright.formats.rules import RULES, name_speakers, spell_ids
from contextwright.formats.settings import fit_keys
from contextwright.formats.target import Spelling, Traits
from contextwright.formats.tools import respelled_choice
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, replaced
from contextwright.messages.message import Message, Role
from contextwright.messages.parts import Part, Thinking
from contextwright.models import Model, find, is_same_model
from contextwright.wire.openai_chat.dialects import OPENAI, Dialect, dialect_of
from contextwright.wire.openai_chat.rules import check

__all__ = ["FORMAT"]

ANYTHING = Spelling(r"\s\S")
SHORT = Spelling(r"\s\S", longest=40)
NINE_LETTERS = Spelling("a-zA-Z0-9", longest=9, exact=True)
"""Call ids as Mistral requires them."""


def supports_thinking(thinking: Thinking, model: Model) -> bool:
    """Whether the host takes the thinking back: its own and, if signed, from this very model."""
    if dialect_of(model).thinking is None or thinking.origin != NAME:
        return False
    if not thinking.signature or thinking.model is None:
        return True
    return is_same_model(thinking.model, model.id)


def accepts_anything(holder: Part | Message, role: Role, model: Model) -> bool:
    """Accept any field, because hosts other than OpenAI ignore unknown ones."""
    return True


@cache
def traits_of(dialect: Dialect, *, same_format: bool, mid_system: bool) -> Traits:
    """Return what a host's messages can carry. What came from this format may be sent again."""
    lenient = same_format and not dialect.closed
    ids = NINE_LETTERS if dialect.nine_letter_ids else SHORT
    media = supports_unspoken if dialect.closed and not same_format else supports_media
    return Traits(
        format=NAME,
        ids=ANYTHING if lenient else ids,
        tool_names=ANYTHING if lenient else Spelling(longest=64),
        system="anywhere" if mid_system or same_format else "top",
        names=lenient or dialect.names,
        result_media=lenient,
        media_roles=("user", "assistant") if lenient else ("user",),
        supports_media=has_source if lenient else media,
        supports_thinking=supports_thinking,
        accepts_extra=accepts_extra if dialect.closed else accepts_anything,
    )


TRAITS = traits_of(OPENAI, same_format=False, mid_system=True)

# --- reading ---------------------------------------------------------------------------------


def parse(data: Any, strict: bool = False) -> Conversation:
    """Parse a request body, or a bare list of messages or stored rows."""
    reader = Reader(NAME, strict=strict)
    body = reader.body(data, "messages")
    model = reader.optional_text(body, "model")
    messages = [
        message_of(message, path, reader, model)
        for path, message in reader.objects(body, "messages")
    ]
    tools = [tool_of(tool, path, reader) for path, tool in reader.objects(body, "tools")]
    for path, function in reader.objects(body, "functions"):
        tools.append(function_of(function, path, reader, {"functions": True}))
    rest = {key: body[key] for key in body if key not in ("model", "messages", "functions")}
    if tools or rest.get("tools", ()) is None:
        rest.pop("tools", None)
    return reader.conversation(messages, rest, tools=tools, model=model, settings=settings_of(rest))


# --- writing ---------------------------------------------------------------------------------


def render(conversation: Conversation, model: Model, options: Options) -> Rendered:
    """Render the request body."""
    dialect = dialect_of(model)
    made: list[Change] = []
    if is_for_another_host(conversation, dialect):
        conversation = replaced(conversation, source=None)
    same_format = conversation.source == NAME
    conversation = from_responses(conversation)
    rules = UNNAMED_RULES if same_format and names_fit(conversation, dialect) else OWN_RULES
    if dialect.closed:
        rules = (leave_out_refused, *rules)
        if not model.system_role:
            conversation = without_system(conversation, model, made)
    elif not same_format:
        conversation = without_custom(conversation, dialect, made)
    mid_system = model.mid_system or model.format != NAME
    traits = traits_of(dialect, same_format=same_format, mid_system=mid_system)
    legal = legalise(conversation, traits, model, options, rules)
    target, changes = legal.target, [*made, *legal.changes]
    writer = Writer(target, dialect, changes)
    turns = writer.messages(legal.messages)
    body: dict[str, Any] = {
        "model": model.id,
        "messages": turns,
        **tools_wire(conversation, target, dialect, changes),
    }
    for field, value in settings_wire(conversation, dialect, model, changes).items():
        body.setdefault(field, value)
    if target.tool_names and "tool_choice" in body:
        body["tool_choice"] = respelled_choice(body["tool_choice"], target.tool_names)
    if dialect.closed:
        settle_tools(body, changes)
        settle_output(body, changes)
        if not same_format or conversation.model != model.id:
            settle_effort(body, model, changes)
        settle_limits(body, model, changes)
    if dialect.closed or not same_format:
        settle_choice(body, changes)
        fit_keys(body, changes)
    origins = legal.turn_origins(writer.places)
    return Rendered(body, tuple(changes), tool_names=target.sent_names, origins=origins)


def is_for_another_host(conversation: Conversation, dialect: Dialect) -> bool:
    """Whether the request was for a host that takes what this one, which is not OpenAI, may not."""
    if dialect.closed or conversation.source != NAME or conversation.model is None:
        return False
    return dialect_of(find(conversation.model)) is not dialect


OWN_RULES = tuple(spell_new_ids if rule is spell_ids else rule for rule in RULES)
UNNAMED_RULES = tuple(rule for rule in OWN_RULES if rule is not name_speakers)


def names_fit(conversation: Conversation, dialect: Dialect) -> bool:
    """Whether names that came from this format may be sent back as they are."""
    return not dialect.closed or all(
        message.author is None or ACCEPTED_SPEAKER(message.author.label)
        for message in conversation.messages
    )


FORMAT = Format(
    name=NAME,
    title="OpenAI Chat Completions requests, replies and streams, and compatible hosts",
    parse=parse,
    render=render,
    check=check,
    parse_reply=parse_reply,
    parse_stream=parse_stream,
    default_model="gpt-5.6-sol",
    turns="messages",
)
