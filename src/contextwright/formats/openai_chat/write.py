"""Our messages, written as Chat Completions messages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from contextwright.errors import shown
from contextwright.formats.base import without
from contextwright.formats.openai_chat.media import media_part
from contextwright.formats.openai_chat.rules import is_old_style
from contextwright.formats.target import Target
from contextwright.messages.changes import Change
from contextwright.messages.message import Message
from contextwright.messages.parts import Media, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from contextwright.models import is_same_model
from contextwright.text.json import encode_json
from contextwright.wire.openai_chat.dialects import Dialect

__all__ = ["ACCEPTED_SPEAKER", "Writer"]

NAME = "openai-chat"

ACCEPTED_SPEAKER = re.compile(r"[^\s<|\\/>]{1,64}").fullmatch

OWN_FIELDS = ("role", "tool_calls", "function_call", "audio", "refusal")
"""Fields of an assistant message that are written from its parts, so leftovers are ignored."""
INSTEAD_OF_CONTENT = ("function_call", "refusal", "audio", "reasoning", "reasoning_content")


class Writer:
    """Writes the messages for one target."""

    def __init__(self, target: Target, dialect: Dialect, changes: list[Change]) -> None:
        self.target = target
        self.dialect = dialect
        self.changes = changes
        self.places: list[int] = []
        """The index of the message that each turn begins with."""
        self.old_style: dict[str | None, str] = {}
        """Names of the calls in the old style, by id; their results are written in the old style
        too.
        """

    def messages(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """Write all messages of a conversation."""
        wire: list[dict[str, Any]] = []
        places = self.places
        for index, message in enumerate(messages):
            parts = message.parts
            role = message.role
            if role != "tool" and len(parts) == 1 and not message.extra:
                part = parts[0]
                if type(part) is Text and not part.extra:
                    spoken: dict[str, Any] = {"role": role, "content": part.text}
                    if message.author is not None:
                        self.name(message.author.label, role, spoken)
                    wire.append(spoken)
                    places.append(index)
                    continue
            if role == "tool":
                for part in parts:
                    if type(part) is ToolResult:
                        wire.append(self.result(part))
                        places.append(index)
                continue
            written = self.assistant(message) if role == "assistant" else self.spoken(message)
            wire += written
            places += [index] * len(written)
        return wire

    def spoken(self, message: Message) -> list[dict[str, Any]]:
        """Write a user or system message, after tool messages for any results in it."""
        spoken: list[Part] = []
        results: list[dict[str, Any]] = []
        for part in message.parts:
            if type(part) is ToolResult:
                results.append(self.result(part))
            else:
                spoken.append(part)
        if not spoken and message.parts:
            return results
        wire: dict[str, Any] = {"role": message.role, "content": self.content(spoken) or ""}
        extra = message.extra.get(NAME)
        if extra:
            wire.update(without(extra, "role", "content"))
            if extra.get("role") == "developer" and self.takes_developer:
                wire["role"] = "developer"
        if message.author is not None:
            self.name(message.author.label, message.role, wire)
        return [*results, wire]

    @property
    def takes_developer(self) -> bool:
        """Whether the host accepts the `developer` role, or got it from the client before."""
        target = self.target
        return target.model.developer_role or (target.same_format and not self.dialect.closed)

    def name(self, label: str, role: str, wire: dict[str, Any]) -> None:
        """Write the speaker's name if there is a field, and it accepts the name."""
        if not self.target.traits.names:
            return
        if ACCEPTED_SPEAKER(label) or not self.dialect.closed:
            wire["name"] = label
        else:
            reason = f"{shown(label)} does not fit the name field"
            self.changes.append(Change("loss.author", f"messages: {role}", reason))

    def content(self, parts: Sequence[Part]) -> str | list[dict[str, Any]] | None:
        """Write a content: a single text as a string, nothing as null."""
        if len(parts) == 1:
            part = parts[0]
            if type(part) is Text and not part.extra.get(NAME):
                return part.text
        return [self.part(part) for part in parts] or None

    def part(self, part: Part) -> dict[str, Any]:
        """Write one content part."""
        match part:
            case Text():
                extra = part.extra.get(NAME)
                if not extra:
                    return {"type": "text", "text": part.text}
                word = "refusal" if extra.get("type") == "refusal" else "text"
                return {"type": word, word: part.text, **without(extra, "type", word)}
            case Media():
                return media_part(part, self.dialect, same_format=self.target.same_format)
            case Opaque():
                return part.data
            case Thinking():
                extra = part.extra.get(NAME, {})
                if extra.get("type") == "thinking":
                    return extra
                return {"type": "thinking", "thinking": [{"type": "text", "text": part.text}]}
            case ToolCall() | ToolResult():
                raise AssertionError(part)

    # --- assistants and tools ----------------------------------------------------------------

    def assistant(self, message: Message) -> list[dict[str, Any]]:
        """Write an assistant message, and tool messages for misplaced results in it."""
        extra = message.extra.get(NAME, {})
        self.old_style.clear()  # ids may be reused
        wire: dict[str, Any] = {"role": "assistant", "content": None}
        spoken: list[Part] = []
        calls: list[dict[str, Any]] = []
        results: list[ToolResult] = []
        old: ToolCall | None = None
        refusal = refusal_of(message) if extra.get("refusal") is True else None
        for part in message.parts:
            if type(part) is ToolCall:
                calls.append(self.call(part))
                if part.extra and is_old_style(part):
                    old = part
            elif type(part) is Thinking and not self.thinks_in_parts(part):
                self.reason(part, wire)
            elif type(part) is Opaque and part.data.get("type") == "audio":
                wire["audio"] = part.data.get("audio")
            elif refusal is not None and part is refusal:
                wire["refusal"] = refusal.text
            elif type(part) is ToolResult:
                results.append(part)
            else:
                spoken.append(part)
        if spoken:
            wire["content"] = self.content(spoken)
        if old is not None and len(calls) == 1:
            self.old_style[old.id] = old.name
            wire["function_call"] = calls[0]["function"]
        elif calls:
            wire["tool_calls"] = calls
        self.spell_as_it_came(extra, wire)
        instead = calls or any(wire.get(key) for key in INSTEAD_OF_CONTENT)
        if wire.get("content") is None and not instead:
            wire["content"] = ""  # null is refused without calls
        if message.author is not None:
            self.name(message.author.label, message.role, wire)
        return [wire, *map(self.result, results)]

    def spell_as_it_came(self, extra: dict[str, Any], wire: dict[str, Any]) -> None:
        """Write an assistant message's leftover fields, and a content that was missing or empty."""
        for key, value in extra.items():
            if key == "content":
                if wire["content"] is None and value == []:
                    wire["content"] = None if self.dialect.closed else []
                elif wire["content"] is None:
                    del wire["content"]
            elif key not in wire and (key not in OWN_FIELDS or value in (None, [])):
                wire[key] = value

    def thinks_in_parts(self, thinking: Thinking) -> bool:
        """Whether this reasoning is written as a content part."""
        extra = thinking.extra.get(NAME)
        model = thinking.model
        if extra and (model is None or is_same_model(model, self.target.model.id)):
            return extra.get("type") == "thinking"
        return self.dialect.thinking == "parts"

    def reason(self, thinking: Thinking, wire: dict[str, Any]) -> None:
        """Write reasoning in its original fields, or in those of the new host."""
        extra = thinking.extra.get(NAME, {})
        if extra and extra.get("type") != "thinking":
            wire.update(without(extra, "role", "content", "tool_calls"))
        elif self.dialect.thinking is not None:
            field = self.dialect.thinking
            wire[field] = "\n".join(filter(None, (wire.get(field), thinking.text)))

    def call(self, call: ToolCall) -> dict[str, Any]:
        """Write a call of a function, or of the custom tool it came from if the host has those."""
        extra = call.extra.get(NAME) if call.extra else None
        function: dict[str, Any] = {"name": call.name, "arguments": call.json}
        if not extra:
            return {"id": call.id, "type": "function", "function": function}
        rest = without(extra, "id", "type", "function", "custom", "role")
        if extra.get("type") == "custom" and (self.dialect.closed or self.target.same_format):
            custom = {"name": call.name, "input": str(call.arguments.get("input", ""))}
            return {"id": call.id, "type": "custom", "custom": custom, **rest}
        inner = extra.get("function")
        if isinstance(inner, dict):
            function.update(without(cast("dict[str, Any]", inner), "name", "arguments"))
        return {"id": call.id, "type": "function", "function": function, **rest}

    def result(self, result: ToolResult) -> dict[str, Any]:
        """Write a tool message, in the old style if its call was."""
        content: Any = result.content
        if type(content) is not str:
            if isinstance(content, dict):
                content = encode_json(content).decode()
            else:
                content = self.content(cast("tuple[Part, ...]", content)) or ""
        extra = result.extra.get(NAME) if result.extra else None
        id = result.call_id
        if not extra and not self.old_style:
            return {"role": "tool", "tool_call_id": id, "content": content}
        extra = extra or {}
        rest = without(extra, "role", "content", "tool_call_id")
        if result.call_id in self.old_style:
            words = None if "content" in extra and not content else result.text
            name = self.old_style[result.call_id]
            return {**rest, "role": "function", "name": name, "content": words}
        wire = {"role": "tool", "tool_call_id": id, "content": content, **rest}
        if id is None:
            del wire["tool_call_id"]
        return wire


def refusal_of(message: Message) -> Text | None:
    """Return the refusal that was a field of a message; others were parts of its content."""
    for part in reversed(message.parts):
        if type(part) is Text and part.extra.get(NAME, {}).get("type") == "refusal":
            return part
    return None
