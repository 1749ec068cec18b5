"""Shared by formats that are files, not APIs: detection, rules without a provider, times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from contextwright.errors import shown
from contextwright.formats.base import Options
from contextwright.formats.reader import Reader
from contextwright.formats.rules import Draft, Rule, apply_rules, path_to
from contextwright.formats.target import Spelling, Target, Traits, respelled
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, Settings
from contextwright.messages.message import Message
from contextwright.messages.parts import Extra, Media, Text, Thinking, ToolCall, ToolResult
from contextwright.messages.times import read_iso, read_time
from contextwright.models import Model
from contextwright.text.json import json_text
from contextwright.wire.values import is_list, is_object

__all__ = [
    "ANY_NAME",
    "HEADER",
    "Times",
    "drafted",
    "file_format",
    "is_aya_entry",
    "is_forge_result",
    "is_gryag",
    "is_gryag_payload",
    "is_ours",
    "iso_time",
    "is_session",
    "no_media",
    "unsaid",
    "words_of",
]

HEADER = "Tool: "
"""How a tool result of Forge begins, before the name of the tool."""
BESIDE_HISTORY = ("system_instruction", "user_parts")
"""The other fields of gryag's payload."""

ANY_NAME = Spelling(allowed=r"\s\S")
"""Tool names in a file: anything but an empty string."""
OURS_ALONE = ("kind", "pinned")
"""Fields of a message that no other program's file has a place for."""
EMPTY = Message("user")
EPOCH = "1970-01-01T00:00:00Z"
"""The time of a message without one: a fixed value that nobody takes for real, not the clock."""


def no_media(media: Media, model: Model) -> bool:
    """Reject all media, because a text file cannot carry any."""
    return False


def drafted(
    conversation: Conversation,
    traits: Traits,
    model: Model,
    options: Options,
    rules: Iterable[Rule],
    own_reply_tools: Iterable[str] = (),
) -> tuple[Draft, Target, list[Change]]:
    """Return the messages after the rules, each with its index in the input.

    `own_reply_tools` are the format's own reply tools; their calls stay calls. Messages that need
    no rule skip them all.
    """
    own = set(own_reply_tools)
    spoken = {name: words for name, words in conversation.reply_tools.items() if name not in own}
    same_format = conversation.source == traits.format
    called = [call.name for message in conversation.messages for call in message.calls]
    fits = same_format or all(map(traits.tool_names.fits, called))
    names = {} if fits else respelled(called, traits.tool_names)
    target = Target(traits, model, options, same_format, spoken, names)
    needed = () if fits and all(is_plain(one, target) for one in conversation.messages) else rules
    draft, changes = apply_rules(conversation.messages, target, needed)
    changes.extend(unsigned(draft, target))
    return draft, target, changes


def unsigned(draft: Draft, target: Target) -> Iterator[Change]:
    """Yield a change for each thought that a file holds without its signature."""
    for place, message in draft:
        for index, part in enumerate(message.parts):
            if type(part) is Thinking and part.signature:
                reason = f"{target.title} has no place for it; the thinking stays"
                yield Change("loss.signature", path_to(place, index), reason)


def is_plain(message: Message, target: Target) -> bool:
    """Whether a message holds only what a file can hold, where it belongs."""
    role = message.role
    if message.visibility != "public" or not message.parts or is_foreign(message.extra, target):
        return False
    for part in message.parts:
        match part:
            case Text():
                blank = not part.text or part.text.isspace()
                if role == "tool" or (blank and not target.traits.blank_text):
                    return False
            case ToolCall():
                if role != "assistant" or part.name in target.reply_tools:
                    return False
            case ToolResult():
                content = part.content
                if role != "tool" or not isinstance(content, str) or content.isspace():
                    return False
            case Thinking():
                may = target.traits.supports_thinking(part, target.model)
                if role != "assistant" or not may or target.options.thinking == "drop":
                    return False
            case _:
                return False
        if is_foreign(part.extra, target):
            return False
    return True


def is_foreign(extra: Extra, target: Target) -> bool:
    """Whether fields of another format would be lost."""
    return bool(extra) and list(extra) != [target.format]


def unsaid(conversation: Conversation, format: str, envelope: Iterable[str]) -> list[Change]:
    """Return a change for everything but the messages that the file cannot hold."""
    written = [message for message in conversation.messages if message.visibility == "public"]
    changes = [
        Change("loss.envelope", f"messages[].{field}", f"{format} has no place for it")
        for field in (*envelope, *OURS_ALONE)
        if any(getattr(message, field) != getattr(EMPTY, field) for message in written)
    ]
    if conversation.tools:
        changes.append(Change("loss.tool", "tools", f"{format} has no place for definitions"))
    settings = [
        name
        for name in Settings.__struct_fields__
        if getattr(conversation.settings, name) != getattr(Settings(), name)
    ]
    changes.extend(Change("loss.setting", name, f"{format} has no settings") for name in settings)
    changes.extend(
        Change("loss.setting", field, f"{name} only")
        for name, fields in conversation.extra.items()
        if name != format
        for field in fields
        if field not in settings
    )
    return changes


def words_of(value: Any, path: str, reader: Reader) -> str:
    """Return a string, nothing for null, and any other value as JSON text."""
    if isinstance(value, str):
        return value
    if value is None:
        reader.repair("repair.content", path, "is missing; read as empty")
        return ""
    reader.repair("repair.content", path, f"{shown(value)} is read as text")
    return json_text(value)


class Times:
    """Times for a file in which every entry must have one.

    A message without a time gets 1970, because a neighbour's time would look real.
    """

    def __init__(self) -> None:
        self.invented: list[str] = []

    def of(self, message: Message, path: str, changes: list[Change]) -> str:
        """Return the time to write for a message; report it as a change if its spelling differs."""
        spelling = message.sent_at
        time = iso_time(spelling) if spelling else None
        if time is None:
            if spelling:
                changes.append(Change("loss.timestamp", path, f"{shown(spelling)} is not a time"))
            self.invented.append(path)
            return EPOCH
        if time != spelling:
            reason = f"{shown(spelling)} is spelled {time}"
            changes.append(Change("repair.timestamp", path, reason))
        return time

    def changes(self) -> list[Change]:
        """Return one change for all invented times."""
        if not self.invented:
            return []
        others = f" and {len(self.invented) - 1} more" if len(self.invented) > 1 else ""
        reason = f"no time is known here{others}; {EPOCH} is written"
        return [Change("invent.timestamp", self.invented[0], reason)]


def iso_time(spelling: str) -> str | None:
    """Return a time as ISO 8601 with a zone, unchanged if it is already; None if unreadable.

    Reads seconds since 1970 (Slack). A time without a zone is taken as UTC.
    """
    try:
        moment = read_iso(spelling)
    except ValueError:
        moment = read_time(spelling)
    else:
        if moment.tzinfo and "T" in spelling.upper() and " " not in spelling:
            return spelling
        moment = read_time(spelling)
    return moment.isoformat().replace("+00:00", "Z") if moment else None


# --- detection -----------------------------------------------------------------------------------


def file_format(data: Any) -> str | None:
    """Return the file format of messages, or of the object that holds them.

    None if it is not certain, and for the formats of providers.
    """
    if is_object(data):
        if "contextwright" in data:
            return "contextwright"
        if is_session(data):
            return "port42"
        if is_gryag_payload(data):
            return "gryag"
        return "forge" if is_forge(data.get("messages")) else None
    if not is_list(data) or not data or not all(map(is_object, data)):
        return None
    if is_aya_entry(data[0]):
        return "aya"
    if all(map(is_ours, data)):
        return "contextwright"
    if is_gryag(data):
        return "gryag"
    return "forge" if is_forge(data) else None


def is_aya_entry(entry: dict[str, Any]) -> bool:
    """Whether a message has the numbers that only Aya's entries have."""
    return "index" in entry and "turn" in entry


def is_session(body: dict[str, Any]) -> bool:
    """Whether an object with messages is a session of Port 42: it names its agent."""
    return "agent" in body and "id" in body and is_list(body.get("messages"))


def is_ours(message: dict[str, Any]) -> bool:
    """Whether a message is in our own spelling: its parts have types."""
    parts = message.get("parts")
    return is_list(parts) and all(is_object(part) and "type" in part for part in parts)


def is_gryag(messages: Iterable[dict[str, Any]]) -> bool:
    """Whether messages with Gemini's parts are gryag's: a role or a block that Gemini has not."""
    return any(is_list(one.get("parts")) and is_gryag_entry(one) for one in messages)


def is_gryag_entry(message: dict[str, Any]) -> bool:
    """Whether a message is the result of a tool, or begins with who sent it."""
    first = next(iter(message["parts"]), None)
    text = first.get("text") if is_object(first) else None
    return message.get("role") == "tool" or (isinstance(text, str) and text.startswith("[meta] "))


def is_gryag_payload(body: dict[str, Any]) -> bool:
    """Whether an object is what gryag sends: a history, and what stands beside it."""
    return is_list(body.get("history")) and not body.keys().isdisjoint(BESIDE_HISTORY)


def is_forge(messages: Any) -> bool:
    """Whether messages are Forge's: all text, with results that name their tools in it."""
    return (
        is_list(messages)
        and all(is_object(one) and isinstance(one.get("content"), str) for one in messages)
        and not any("tool_calls" in one for one in messages)
        and any(one.get("role") == "tool" for one in messages)
        and all(is_forge_result(one) for one in messages if one.get("role") == "tool")
    )


def is_forge_result(message: dict[str, Any]) -> bool:
    """Whether a message is a tool result that names its tool in its text, and no call by its id."""
    content = message.get("content")
    headed = isinstance(content, str) and content.startswith(HEADER)
    return message.get("role") == "tool" and headed and "tool_call_id" not in message
