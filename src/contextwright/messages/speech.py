"""The text of a message, including what its author says through a tool.

Some bots speak only by tool calls: Aya posts with `postMessage`. Search, recall, summaries and
episodes treat that text like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import msgspec

from contextwright.messages.message import Message
from contextwright.messages.parts import ToolCall

__all__ = ["REPLY_TOOLS", "is_speech", "spoken_text", "with_speech"]

REPLY_TOOLS: Mapping[str, str] = {"postMessage": "text"}
"""Tools whose call is speech in every conversation, and the argument with the text."""
SPEECH = "speech"
"""Key in `Message.meta`: further tools of this kind that the message calls."""


def spoken_text(message: Message) -> str:
    """Return the text of a message, including what it says through tools."""
    if message.role != "assistant" or not message.calls:
        return message.text
    said = [message.text, *(words_of(call, message) for call in message.calls)]
    return "\n".join(words for words in said if words)


def is_speech(call: ToolCall, message: Message) -> bool:
    """Whether a call of a message is speech."""
    return bool(words_of(call, message))


def words_of(call: ToolCall, message: Message) -> str:
    """Return the text that a call says; empty if it is not speech."""
    further: object = message.meta.get(SPEECH)
    tools = cast("dict[str, object]", further) if isinstance(further, dict) else {}
    argument = tools.get(call.name, REPLY_TOOLS.get(call.name))
    words = call.arguments.get(argument) if isinstance(argument, str) else None
    return words if isinstance(words, str) else ""


def with_speech(message: Message, tools: Mapping[str, str | None]) -> Message:
    """Return the message with a mark of its calls that are speech, unless that is known anyway."""
    called = {call.name: tools[call.name] for call in message.calls if tools.get(call.name)}
    further = {name: argument for name, argument in called.items() if name not in REPLY_TOOLS}
    if not further:
        return message
    return msgspec.structs.replace(message, meta={**message.meta, SPEECH: further})
