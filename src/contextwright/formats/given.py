"""Input from callers: our messages and tools, or those of any provider or SDK."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal, TypeAlias, TypeGuard, cast

from contextwright import formats
from contextwright.errors import ParseError, UsageError, shown
from contextwright.formats.file_formats import file_format, is_ours
from contextwright.messages.conversation import Conversation, as_conversation, hint_for
from contextwright.messages.message import Message, Tool
from contextwright.messages.parts import Opaque
from contextwright.tokens.pieces import body_format
from contextwright.wire.values import is_list, is_object

__all__ = [
    "REQUESTS",
    "Given",
    "as_given",
    "as_tools",
    "is_foreign",
    "is_messages",
    "is_one_message",
    "parse_tools",
    "reply_format",
]

Given: TypeAlias = (
    Conversation | Message | Mapping[str, Any] | Iterable[Message | Mapping[str, Any]]
)
"""Messages, or a provider's request or messages whose format can be detected."""

REQUESTS: dict[str, dict[str, Any]] = {
    "anthropic": {"messages": []},
    "openai-chat": {"messages": []},
    "openai-responses": {"input": []},
    "gemini": {"contents": []},
    "contextwright": {"messages": []},
}
"""Requests without messages."""
LISTS = frozenset(field for request in REQUESTS.values() for field in request)
"""The fields of messages in a request."""
REPLY_FIELDS = {
    "choices": "openai-chat",
    "candidates": "gemini",
    "output": "openai-responses",
    "content": "anthropic",
}
"""The field that identifies whose reply it is."""
TOOL = 'Tool(name), {"name": …, "parameters": {…}}; ask() takes functions too'


# --- messages --------------------------------------------------------------------------------


def as_given(value: Any) -> Conversation:
    """Return a conversation from messages, a request, replies, or SDK objects.

    Raises:
        UsageError: the value is none of these, or its format cannot be detected.
        ParseError: the value is not valid in its format.
    """
    if isinstance(value, Conversation | Message):
        return as_conversation(value)
    value = plain(value)
    if is_object(value):
        return read_body(value)
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise UsageError(f"a conversation cannot be {shown(value)}", hint=hint_for(value))
    entries = list(cast("Iterable[Any]", value))
    if is_messages(entries):
        return Conversation(tuple(entries))
    return read_entries([plain(entry) for entry in entries])


def is_messages(value: Any) -> TypeGuard[Sequence[Message]]:
    """Whether a value is a list of our own messages only."""
    return isinstance(value, list | tuple) and set(map(type, cast("Any", value))) <= {Message}


def is_foreign(value: Any) -> TypeGuard[list[dict[str, Any]]]:
    """Whether a value is a list of messages as a provider has them."""
    return is_list(value) and all(map(is_object, value)) and not all(map(is_ours, value))


def is_one_message(value: Any) -> bool:
    """Whether a value is a provider's message, not a request."""
    return is_object(value) and "role" in value and not value.keys() & LISTS


def read_body(body: dict[str, Any]) -> Conversation:
    """Read a whole request, one message, or a reply."""
    if is_one_message(body):
        return read_entries([body])
    name = file_format(body)
    if name is None and not body.keys() & LISTS:
        return read_reply(body, 0)
    return formats.find(name or body_format(body, "openai-chat")).parse(body, False)


def read_entries(entries: Sequence[Any]) -> Conversation:
    """Read a list that mixes our messages with others, and with replies."""
    read: list[Conversation] = []
    for kind, run in groupby(enumerate(entries), lambda one: kind_of(one[1])):
        some = list(run)
        if kind == "ours":
            read.append(Conversation(tuple(entry for _, entry in some)))
        elif kind == "reply":
            read += [read_reply(entry, index) for index, entry in some]
        else:
            read.append(read_foreign(some))
    if len(read) == 1:
        return read[0]
    messages = tuple(message for one in read for message in one.messages)
    return Conversation(messages, changes=tuple(change for one in read for change in one.changes))


def kind_of(entry: Any) -> Literal["ours", "spelled", "reply", "foreign"]:
    """Return what kind of entry of a list it is: `spelled` is a message of ours as JSON."""
    if isinstance(entry, Message):
        return "ours"
    if is_reply(entry):
        return "reply"
    return "spelled" if is_object(entry) and is_ours(entry) else "foreign"


def read_foreign(entries: Sequence[tuple[int, Any]]) -> Conversation:
    """Read another format's messages; the format is detected from their fields."""
    for index, entry in entries:
        if not is_object(entry) or not entry.keys() & {"role", "type"}:
            reason = f"messages[{index}] is {shown(entry)}, not a message"
            raise UsageError(reason, hint=hint_for(entry))
    values = [entry for _, entry in entries]
    name = file_format(values) or body_format(values, "openai-chat")
    return formats.find(name).parse(
        {"messages": values} if name == "contextwright" else values, False
    )


def is_reply(entry: Any) -> bool:
    """Whether an entry is a provider's whole reply, not only the message in it."""
    if not is_object(entry):
        return False
    if "type" not in entry and entry.keys() & {"choices", "candidates", "output"}:
        return True
    return "content" in entry and ("stop_reason" in entry or {"type", "model"} <= entry.keys())


def read_reply(reply: Any, index: int) -> Conversation:
    """Read a provider's reply as a part of a conversation."""
    if not is_reply(reply):
        reason = f"messages[{index}] is {shown(reply)}, not a message"
        raise UsageError(reason, hint=hint_for(reply))
    parser = formats.find(reply_format(reply)).parse_reply
    assert parser is not None
    read = parser(reply)
    return Conversation(read.messages, changes=read.changes)


def reply_format(reply: Any) -> str:
    """Detect the format of a reply from the field that holds the answer.

    Raises:
        UsageError: no provider's reply has these fields.
    """
    for field, name in REPLY_FIELDS.items():
        if (field in reply) if is_object(reply) else hasattr(reply, field):
            return name
    raise UsageError(f"not a reply of any provider: {shown(reply)}", hint="name the format")


def plain(value: Any) -> Any:
    """Convert an SDK object to plain data; return other values unchanged."""
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return dump(mode="json", exclude_none=True)
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else value


# --- tools -----------------------------------------------------------------------------------


def as_tools(value: Any) -> tuple[Tool | Opaque, ...]:
    """Return tools from a list of ours, of any provider's spelling, or of both.

    Raises:
        UsageError: the value is not a list of tools, or of data.
        ParseError: an entry is not a tool in any known spelling.
    """
    if is_object(value) or isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise UsageError(f"tools cannot be {shown(value)}", hint="pass a list of tools")
    entries = [plain(one) for one in cast("Iterable[Any]", value)]
    for index, entry in enumerate(entries):
        if not isinstance(entry, Tool | Opaque) and not is_object(entry):
            raise UsageError(f"tools[{index}] is {shown(entry)}, not a tool", hint=TOOL)
    tools: list[Tool | Opaque] = []
    for ours, run in groupby(entries, lambda one: isinstance(one, Tool | Opaque)):
        some = list(run)
        tools.extend(some if ours else parse_tools(some))
    return tuple(tools)


def parse_tools(data: Any) -> tuple[Tool | Opaque, ...]:
    """Read a list of tools as Anthropic, OpenAI, Gemini or this package spells them.

    Raises:
        ParseError: the data is not a list of objects, or one of them is not a tool.
    """
    if not isinstance(data, list) or not all(map(is_object, cast("list[Any]", data))):
        raise ParseError("not a list of tools", hint='[{"name": …, "parameters": {…}}]')
    tools = cast("list[dict[str, Any]]", data)
    format = spelling_of(tools)
    if format == "contextwright":
        tools = [{"type": "tool", **tool} for tool in tools]
    return formats.find(format).parse({"tools": tools, **REQUESTS[format]}, True).tools


def spelling_of(tools: list[dict[str, Any]]) -> str:
    """Return the format whose spelling these tools have."""
    fields = {field for tool in tools for field in tool}
    if "input_schema" in fields:
        return "anthropic"
    if "functionDeclarations" in fields or "function_declarations" in fields:
        return "gemini"
    if "function" in fields or "custom" in fields:
        return "openai-chat"
    is_ours = all(tool.get("type") in (None, "tool", "opaque") for tool in tools)
    return "contextwright" if is_ours else "openai-responses"
