"""What a message says: its text, and the words that its author speaks through a tool.

Some bots say nothing but by a call: Aya posts with `postMessage`. Search, recall, summaries and
episodes hear those words as they hear any others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import msgspec

from contextwright.messages.message import Message
from contextwright.messages.parts import ToolCall

__all__ = ["REPLY_TOOLS", "is_speech", "spoken_text", "with_speech"]

REPLY_TOOLS: Mapping[str, str] = {"postMessage": "text"}
"""Tools whose call is speech in every conversation, and the argument that holds the words."""
SPEECH = "speech"
"""In `Message.meta`: further tools of this kind that the message calls."""


def spoken_text(message: Message) -> str:
    """Return the text of a message, with what it says through tools."""
    if message.role != "assistant" or not message.calls:
        return message.text
    said = [message.text, *(words_of(call, message) for call in message.calls)]
    return "\n".join(words for words in said if words)


def is_speech(call: ToolCall, message: Message) -> bool:
    """Whether a call of a message speaks."""
    return bool(words_of(call, message))


def words_of(call: ToolCall, message: Message) -> str:
    """Return the words that a call of a message speaks; nothing if it does not speak."""
    further: object = message.meta.get(SPEECH)
    tools = cast("dict[str, object]", further) if isinstance(further, dict) else {}
    argument = tools.get(call.name, REPLY_TOOLS.get(call.name))
    words = call.arguments.get(argument) if isinstance(argument, str) else None
    return words if isinstance(words, str) else ""


def with_speech(message: Message, tools: Mapping[str, str | None]) -> Message:
    """Return a message that says which of its calls are speech, where that is not known anyway."""
    called = {call.name: tools[call.name] for call in message.calls if tools.get(call.name)}
    further = {name: argument for name, argument in called.items() if name not in REPLY_TOOLS}
    if not further:
        return message
    return msgspec.structs.replace(message, meta={**message.meta, SPEECH: further})
