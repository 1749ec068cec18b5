"""The console view of a conversation.

The layout is Aya's: a head, a time, texts and calls, the reason for them. Content cannot forge any
of it: every line of content is indented or quoted, and characters that move the cursor, hide text
or change its direction are shown as escapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from msgspec import Raw, Struct
from msgspec.structs import replace

from contextwright.errors import UsageError, require
from contextwright.formats.aya.check import NAME, UNKNOWN
from contextwright.formats.aya.write import Turns
from contextwright.formats.base import Options
from contextwright.messages.conversation import Conversation, as_conversation
from contextwright.messages.message import Author, Message
from contextwright.messages.parts import Media, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from contextwright.messages.validation import naming_faults
from contextwright.text.graphemes import cut
from contextwright.text.json import encode_json, json_text
from contextwright.text.terminal import safe

if TYPE_CHECKING:
    from rich.console import Console

    from contextwright.context.context import Context
    from contextwright.context.explain import Style as Look

__all__ = ["human_time", "print_conversation", "print_explanation", "safe", "show"]

Style: TypeAlias = Literal["head", "time", "text", "call", "reason", "error", "note"]
Line: TypeAlias = tuple[Style, str]

NUMBER = re.compile(r"\d+(\.\d+)?")

COLOURS: dict[Style, str] = {
    "head": "bold",
    "time": "dim",
    "text": "",
    "call": "cyan",
    "reason": "italic dim",
    "error": "red",
    "note": "magenta",
}

LOOKS: dict[Look, str] = {
    "head": "bold",
    "title": "bold green",
    "kept": "",
    "dropped": "red",
    "cleared": "yellow",
    "plain": "",
    "faint": "dim",
}


class Marks(Struct, frozen=True):
    """The marks in front of the lines."""

    system: str = "🧠"
    user: str = "👤"
    assistant: str = "🤖"
    result: str = "📥"
    time: str = "🕐"
    tool: str = "🔧"
    history: str = "🔧"
    message: str = "💬"
    done: str = "✅"
    reason: str = "└─ "


ASCII = Marks(
    "[SYS]", "[USER]", "[ASST]", "[RES]", "[TIME]", "[TOOL]", "[HIST]", "[MSG]", "[DONE]", "|-- "
)


def show(
    conversation: Conversation | Iterable[Message], *, ascii: bool = False, width: int | None = None
) -> str:
    """Return the conversation as plain text.

    `ascii` writes the marks (not the content) in ASCII; `width` cuts system text to that many
    characters.

    Raises:
        UsageError: `width` is not a whole number from 1.
    """
    view = View(conversation, ascii=ascii, width=width)
    with naming_faults(Conversation(view.messages)):
        entries = view.entries()
    return "\n\n".join("\n".join(text for _, text in entry) for entry in entries)


def print_conversation(
    conversation: Conversation | Iterable[Message],
    *,
    console: Console | None = None,
    ascii: bool = False,
    width: int | None = None,
) -> None:
    """Print the conversation, in colour if the console has colours."""
    from rich.console import Console
    from rich.segment import Segment, Segments

    console = console or Console()
    for number, entry in enumerate(View(conversation, ascii=ascii, width=width).entries()):
        pieces = [Segment.line()] if number else []
        for style, text in entry:
            pieces += [Segment(text, console.get_style(COLOURS[style])), Segment.line()]
        # Segments, because rich replaces the tabs of its texts.
        console.print(Segments(pieces), end="", soft_wrap=True)


def print_explanation(context: Context, *, console: Console | None = None) -> None:
    """Print what a request keeps and drops and why, in colour if the console has colours."""
    from rich.console import Console
    from rich.text import Text as Styled

    from contextwright.context.explain import explained

    console = console or Console()
    for look, text in explained(context):
        console.print(Styled(safe(text, line=True), LOOKS[look]), soft_wrap=True)


def numbered(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return the messages with a turn for each user and assistant message, imported or counted."""
    turns = Turns(Options())
    return tuple(
        replace(message, turn=turns.next(message, "", []))
        if message.role in ("user", "assistant")
        else message
        for message in messages
    )


class View:
    """One way of showing one conversation, as styled lines."""

    def __init__(
        self,
        conversation: Conversation | Iterable[Message],
        *,
        ascii: bool,
        width: int | None,
    ) -> None:
        given = as_conversation(conversation)
        with naming_faults(given):
            self.messages = numbered(given.messages)
        if width is not None:
            require(width, int, "a width")
            if width < 1:
                raise UsageError(f"a width cannot be {width}", hint="use 1 or more")
        self.marks = ASCII if ascii else Marks()
        self.nobody = Author(UNKNOWN) if given.source == NAME else None
        """The author of messages that name none: Aya's entries always name one."""
        self.width = width
        self.called = {
            call.id: call.name for message in self.messages for call in message.calls if call.id
        }

    def entries(self) -> list[list[Line]]:
        """Return the lines of each entry."""
        if not self.messages:
            return [[("note", "Empty context")]]
        return [entry for message in self.messages for entry in self.message_entries(message)]

    def message_entries(self, message: Message) -> Iterator[list[Line]]:
        """Yield a message as one entry; each tool result is a separate entry."""
        said: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolResult):
                if said:
                    yield self.entry(message, said)
                    said = []
                yield self.result_entry(message, part)
            else:
                said.append(part)
        if said or not message.parts:
            yield self.entry(message, said)

    def entry(self, message: Message, parts: list[Part]) -> list[Line]:
        match message.role:
            case "system":
                return self.system_entry(message, parts)
            case "user":
                who = f"{self.marks.user} User{speaker(message.author or self.nobody)}"
                return [*self.head(who, message), *self.spoken(parts)]
            case "assistant":
                who = f"{self.marks.assistant} Assistant"
                return [*self.head(who, message), *self.done(parts)]
            case "tool":
                who = f"{self.marks.result} Tool"
                return [*self.head(who, message), *self.spoken(parts)]
            case _:  # the type allows no other role, but unvalidated values may have one
                return [("note", f"Unknown role: {safe(str(message.role), line=True)}")]

    def head(self, who: str, message: Message) -> Iterator[Line]:
        turn = "" if message.turn is None else f" [Turn {message.turn}]"
        yield "head", f"{who}{turn}{remarks(message)}"
        if message.sent_at:
            yield "time", f"{self.marks.time} {safe(shown_time(message), line=True)}"

    def system_entry(self, message: Message, parts: list[Part]) -> list[Line]:
        words = "\n".join(part.text or "" for part in parts if isinstance(part, Text | Opaque))
        if self.width is not None and len(words) > self.width:
            words = cut(words, self.width) + "..."
        title = f"{self.marks.system} System{remarks(message)}: "
        lines = list(block("head", title, words, "   "))
        others = [part for part in parts if not isinstance(part, Text | Opaque)]
        return [*lines, *self.spoken(others)]

    def spoken(self, parts: Iterable[Part]) -> Iterator[Line]:
        """Yield text quoted as in mail, and everything else as a note."""
        for part in parts:
            match part:
                case Text():
                    yield from block("text", "> ", part.text, "> ")
                case Thinking():
                    yield from self.reason(part)
                case ToolCall():
                    yield from self.call(part)
                case _:
                    yield from self.attached(part)

    def done(self, parts: Iterable[Part]) -> Iterator[Line]:
        """Return the calls of the assistant, each with the thinking before it as its reason."""
        reasons: list[Thinking] = []
        for part in parts:
            match part:
                case Thinking():
                    reasons.append(part)
                    continue
                case Text():
                    yield "call", f"{self.marks.message} Message:"
                    yield from block("text", '   "', part.text, "    ", end='"')
                case ToolCall():
                    yield from self.call(part)
                case _:
                    yield from self.attached(part)
            for reason in reasons:
                yield from self.reason(reason)
            reasons = []
        for reason in reasons:
            yield from self.reason(reason)

    def call(self, call: ToolCall) -> Iterator[Line]:
        """Return a call with its parameters; a parameter `text` goes below."""
        words = call.arguments.get("text")
        given = {
            name: value
            for name, value in call.arguments.items()
            if name != "text" or not isinstance(value, str)
        }
        listed = ", ".join(f"{safe(name, line=True)}: {spelled(given[name])}" for name in given)
        title = f"{self.mark_of(call.name)} {safe(call.name, line=True)}"
        title += f" ({listed})" if listed else ""
        if not isinstance(words, str):
            yield from block("call", "", title, "    ")
            return
        yield from block("call", "", f"{title}:", "    ")
        yield from block("text", '   "', words, "    ", end='"')

    def mark_of(self, tool: str) -> str:
        match tool:
            case "postMessage":
                return self.marks.message
            case "finishRequest":
                return self.marks.done
            case "getThreadHistory":
                return self.marks.history
            case _:
                return self.marks.tool

    def reason(self, thinking: Thinking) -> Iterator[Line]:
        words = "(withheld)" if thinking.redacted else thinking.text
        if words.strip():
            yield from block("reason", f"   {self.marks.reason}Reason: ", words, "      ")

    def result_entry(self, message: Message, result: ToolResult) -> list[Line]:
        """Return the result of a tool, under its name."""
        name = result.name or self.called.get(result.call_id or "") or result.call_id or ""
        who = f"{self.marks.result} Tool {safe(name, line=True)}".rstrip()
        lines = list(self.head(who, message))
        style: Style = "error" if result.is_error else "text"
        sign = "! " if result.is_error else "< "
        content = result.content
        words = json_text(content) if isinstance(content, dict) else content
        for piece in (Text(words),) if isinstance(words, str) else words:
            if isinstance(piece, Text):
                lines.extend(block(style, sign, piece.text, sign))
            else:
                lines.extend(self.attached(piece))
        return lines

    def attached(self, part: Part) -> Iterator[Line]:
        """Yield a part that cannot be shown: what it is, and its text if it has any."""
        match part:
            case Media():
                yield "note", f"+ {safe(described(part), line=True)}"
            case Opaque():
                kind = part.data.get("type")
                what = f"+ {part.format} {kind}" if isinstance(kind, str) else f"+ {part.format}"
                colon = ": " if part.text else ""
                yield from block("note", safe(what, line=True) + colon, part.text or "", "   ")
            case Text() | Thinking() | ToolCall() | ToolResult():
                return  # shown by their own methods


def block(style: Style, first: str, text: str, other: str, *, end: str = "") -> Iterator[Line]:
    """Yield text after a prefix, further lines after another, so that none is at the margin."""
    lines = safe(text).split("\n")
    lines[-1] += end
    yield style, first + lines[0]
    for line in lines[1:]:
        yield style, other + line


def shown_time(message: Message) -> str:
    """Return the time of a message as written; seconds since 1970 become a date."""
    written = message.sent_at or ""
    if message.time is None or not NUMBER.fullmatch(written):
        return written
    return human_time(message.time)


def human_time(moment: datetime) -> str:
    """Return a time in UTC, to the minute."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def speaker(author: Author | None) -> str:
    """Return the author for the head of an entry."""
    if author is None:
        return ""
    names = [safe(name, line=True) for name in (author.name, author.username) if name]
    if author.id:
        names.append(f"<@{safe(author.id, line=True).removeprefix('<@').removesuffix('>')}>")
    return "".join(f" {name}" for name in names)


def remarks(message: Message) -> str:
    """Return kind, visibility and pin of a message, where unusual."""
    said = [
        message.kind if message.kind != "message" else "",
        message.visibility if message.visibility != "public" else "",
        "pinned" if message.pinned else "",
    ]
    words = ", ".join(word for word in said if word)
    return f" ({safe(words, line=True)})" if words else ""


def described(media: Media) -> str:
    """Describe media in a few words."""
    size = f"{len(media.data.rstrip('=')) * 3 // 4:,} bytes" if media.data else None
    facts = (media.mime, media.name, size, media.url, media.file_id)
    listed = ", ".join(fact for fact in facts if fact)
    return f"{media.kind} ({listed})" if listed else media.kind


def spelled(value: Any) -> str:
    """Return a parameter's value as JavaScript prints it: text bare, everything else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return encode_json(scripted(value)).decode()
    except UnicodeEncodeError:
        return repr(value)


def scripted(value: Any) -> Any:
    """Return a value with numbers as JavaScript writes them: 1.0 is 1."""
    if isinstance(value, float):
        return Raw(number(value).encode())
    if isinstance(value, Mapping):
        return {name: scripted(item) for name, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [scripted(item) for item in cast("list[Any]", value)]
    return value


def number(value: float) -> str:
    """Return a number as JavaScript writes it."""
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    if 1e-6 <= abs(value) < 1e21:
        return f"{Decimal(repr(value)):f}"
    mantissa, exponent = repr(value).split("e")
    return f"{mantissa}e{int(exponent):+d}"
