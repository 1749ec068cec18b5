"""The rule for reply tools: calls by which a model speaks, or ends its turn."""

from __future__ import annotations

from contextwright.formats.rules.draft import (
    Draft,
    Ruled,
    clean_name,
    keeping,
    messages_of,
    path_to,
)
from contextwright.formats.target import Target
from contextwright.messages.changes import Change
from contextwright.messages.exchanges import match_results
from contextwright.messages.parts import Part, Text, ToolCall

__all__ = ["speak_reply_tools"]


def speak_reply_tools(draft: Draft, target: Target) -> Ruled:
    """Turn calls of reply tools into text, and drop calls that only end a turn.

    Such calls never get a result. A call that has one is an ordinary call.
    """
    if not target.reply_tools:
        return draft, []
    matching = match_results(messages_of(draft))
    unanswered = {
        answer.at
        for answer in matching.answers
        if answer.result is None and answer.call.name in target.reply_tools
    }
    changes: list[Change] = []
    spoken: Draft = []
    for position, (place, message) in enumerate(draft):
        parts: list[tuple[int, Part]] = []
        for index, part in enumerate(message.parts):
            if isinstance(part, ToolCall) and (position, index) in unanswered:
                words = speech(part, target, path_to(place, index), changes)
                parts.extend((index, word) for word in words)
            else:
                parts.append((index, part))
        spoken.append(keeping((place, message), parts))
    return spoken, changes


def speech(call: ToolCall, target: Target, path: str, changes: list[Change]) -> list[Part]:
    """Return the text of a reply tool's call."""
    argument = target.reply_tools[call.name]
    words = call.arguments.get(argument) if argument else None
    if argument and not isinstance(words, str):
        return [call]  # no text in the expected argument: an ordinary call
    rest = [name for name in call.arguments if name != argument]
    if rest:
        lost = ", ".join(map(clean_name, rest))
        changes.append(Change("loss.reply_argument", path, f"{call.name} is not sent: {lost}"))
    if not isinstance(words, str):
        changes.append(Change("repair.reply_tool", path, f"{call.name} ends the turn; not sent"))
        return []
    changes.append(Change("repair.reply_tool", path, f"{call.name} is speech"))
    return [Text(words)]
