"""Our messages as Chat Completions messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any, cast

from contextwright.changes import Change
from contextwright.errors import shown
from contextwright.formats.openai_chat.media import media_part
from contextwright.formats.target import Target
from contextwright.messages import (
    Media,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolResult,
    encode_json,
)
from contextwright.wire.openai_chat.dialects import Dialect

__all__ = ["ACCEPTED_SPEAKER", "Writer", "tool_wire"]

NAME = "openai-chat"

NINE_LETTERS = re.compile(r"[a-zA-Z0-9]{9}").fullmatch
ACCEPTED_SPEAKER = re.compile(r"[^\s<|\\/>]{1,64}").fullmatch

OWN_FIELDS = ("role", "tool_calls", "function_call", "audio", "refusal")
"""Fields of an assistant message that are written from its parts; left over they are empty."""
INSTEAD_OF_CONTENT = ("function_call", "refusal", "audio", "reasoning", "reasoning_content")


class Writer:
    """Writes messages for one target, one after another."""

    def __init__(self, target: Target, dialect: Dialect, changes: list[Change]) -> None:
        self.target = target
        self.dialect = dialect
        self.changes = changes
        self.free_ids = target.faithful or not dialect.nine_letter_ids
        self.nine_letter_ids: dict[str, str] = {}
        self.old_style: dict[str | None, str] = {}
        """Calls spelled as before there were tools: their results are spelled so, by name."""

    def messages(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """All messages of a conversation."""
        wire: list[dict[str, Any]] = []
        for message in messages:
            parts = message.parts
            role = message.role
            if role != "tool" and len(parts) == 1 and not message.extra and message.author is None:
                part = parts[0]
                if type(part) is Text and not part.extra:
                    wire.append({"role": role, "content": part.text})
                    continue
            if role == "assistant":
                wire.append(self.assistant(message))
                wire.extend(map(self.result, message.results))  # out of place, if there are any
            elif role == "tool":
                wire.extend([self.result(part) for part in parts if type(part) is ToolResult])
            else:
                wire.extend(self.spoken(message))
        return wire

    def spoken(self, message: Message) -> Iterable[dict[str, Any]]:
        """A user's or system's message; results in it are tool messages before it."""
        spoken: list[Part] = []
        for part in message.parts:
            if type(part) is ToolResult:
                yield self.result(part)
            else:
                spoken.append(part)
        if not spoken and message.parts:
            return
        wire: dict[str, Any] = {"role": message.role, "content": self.content(spoken) or ""}
        held = message.extra.get(NAME)
        if held:
            wire.update(beside(held, "role", "content"))
            if held.get("role") == "developer" and self.takes_developer:
                wire["role"] = "developer"
        if message.author is not None:
            self.name(message.author.label, message.role, wire)
        yield wire

    @property
    def takes_developer(self) -> bool:
        """Whether the `developer` role may be sent."""
        return self.target.model.developer_role or not self.dialect.closed

    def name(self, label: str, role: str, wire: dict[str, Any]) -> None:
        """The speaker's name, where the field takes it."""
        if ACCEPTED_SPEAKER(label) or not self.dialect.closed:
            wire["name"] = label
        else:
            reason = f"{shown(label)} does not fit the name field"
            self.changes.append(Change("loss.author", f"messages: {role}", reason))

    def content(self, parts: Sequence[Part]) -> str | list[dict[str, Any]] | None:
        """The content of a message: one plain text alone as a string, nothing as null."""
        if len(parts) == 1:
            part = parts[0]
            if type(part) is Text and not part.extra.get(NAME):
                return part.text
        return [self.part(part) for part in parts] or None

    def part(self, part: Part) -> dict[str, Any]:
        """A content part."""
        match part:
            case Text():
                held = part.extra.get(NAME)
                if not held:
                    return {"type": "text", "text": part.text}
                word = "refusal" if held.get("type") == "refusal" else "text"
                return {"type": word, word: part.text, **beside(held, "type", word)}
            case Media():
                return media_part(part, self.dialect, faithful=self.target.faithful)
            case Opaque():
                return part.data
            case Thinking():
                held = part.extra.get(NAME, {})
                if held.get("type") == "thinking":
                    return held
                return {"type": "thinking", "thinking": [{"type": "text", "text": part.text}]}
            case ToolCall() | ToolResult():
                raise AssertionError(part)

    # --- assistants and tools ----------------------------------------------------------------

    def assistant(self, message: Message) -> dict[str, Any]:
        """What the model said and called."""
        held = message.extra.get(NAME, {}) if message.extra else {}
        self.old_style.clear()  # ids may be used again
        wire: dict[str, Any] = {"role": "assistant", "content": None}
        spoken: list[Part] = []
        calls: list[dict[str, Any]] = []
        old: ToolCall | None = None
        for part in message.parts:
            if type(part) is ToolCall:
                calls.append(self.call(part))
                if part.extra and is_old_style(part):
                    old = part
            elif type(part) is Thinking and not self.thinks_in_parts(part):
                self.reason(part, wire)
            elif type(part) is Opaque and part.data.get("type") == "audio":
                wire["audio"] = part.data.get("audio")
            elif type(part) is Text and held.get("refusal") is True and is_refusal(part):
                wire["refusal"] = part.text
            elif type(part) is not ToolResult:
                spoken.append(part)
        if spoken:
            wire["content"] = self.content(spoken)
        if old is not None and len(calls) == 1:
            self.old_style[old.id] = old.name
            wire["function_call"] = calls[0]["function"]
        elif calls:
            wire["tool_calls"] = calls
        if held:
            self.spell_as_it_came(held, wire)
        if not calls and wire.get("content") is None:
            if not any(wire.get(key) for key in INSTEAD_OF_CONTENT):
                wire["content"] = ""  # null alone is refused
        if message.author is not None:
            self.name(message.author.label, message.role, wire)
        return wire

    def spell_as_it_came(self, held: dict[str, Any], wire: dict[str, Any]) -> None:
        """Leftover fields of an assistant message, and a content that was missing or empty."""
        for key, value in held.items():
            if key == "content":
                if wire["content"] is None and value == []:
                    wire["content"] = []
                elif wire["content"] is None:
                    del wire["content"]
            elif key not in wire and (key not in OWN_FIELDS or value in (None, [])):
                wire[key] = value

    def thinks_in_parts(self, thinking: Thinking) -> bool:
        """Whether this reasoning is a content part, as it came or as its new host has it."""
        held = thinking.extra.get(NAME)
        if held and (thinking.model in (None, self.target.model.id)):
            return held.get("type") == "thinking"
        return self.dialect.thinking == "parts"

    def reason(self, thinking: Thinking, wire: dict[str, Any]) -> None:
        """Reasoning in the fields it came in, or in its new host's."""
        held = thinking.extra.get(NAME, {})
        if held and held.get("type") != "thinking":
            wire.update(beside(held, "role", "content", "tool_calls"))
        elif self.dialect.thinking is not None:
            field = self.dialect.thinking
            wire[field] = "\n".join(filter(None, (wire.get(field), thinking.text)))

    def call(self, call: ToolCall) -> dict[str, Any]:
        """A call of a function, or of the custom tool it was when it came."""
        held = call.extra.get(NAME) if call.extra else None
        function: dict[str, Any] = {"name": call.name, "arguments": call.json}
        id = call.id if self.free_ids else self.nine_letters(call.id)
        if not held:
            return {"id": id, "type": "function", "function": function}
        rest = beside(held, "id", "type", "function", "custom", "role")
        if held.get("type") == "custom":
            custom = {"name": call.name, "input": str(call.arguments.get("input", ""))}
            return {"id": id, "type": "custom", "custom": custom, **rest}
        inner = held.get("function")
        if isinstance(inner, dict):
            function.update(beside(cast("dict[str, Any]", inner), "name", "arguments"))
        return {"id": id, "type": "function", "function": function, **rest}

    def nine_letters(self, id: str | None) -> str | None:
        """A call id as Mistral wants it: nine letters or digits, the same for the same id."""
        if id is None or NINE_LETTERS(id):
            return id
        known = self.nine_letter_ids.get(id)
        if known is None:
            known = sha256(id.encode(errors="surrogatepass")).hexdigest()[:9]
            self.nine_letter_ids[id] = known
            reason = f"call id {shown(id)} is spelled {known!r}"
            self.changes.append(Change("repair.id", "messages", reason))
        return known

    def result(self, result: ToolResult) -> dict[str, Any]:
        """A tool message; of the old style where its call was."""
        content: Any = result.content
        if type(content) is not str:
            if isinstance(content, dict):
                content = encode_json(content).decode()
            else:
                content = self.content(cast("tuple[Part, ...]", content)) or ""
        held = result.extra.get(NAME) if result.extra else None
        id = result.call_id if self.free_ids else self.nine_letters(result.call_id)
        if not held and not self.old_style:
            return {"role": "tool", "tool_call_id": id, "content": content}
        held = held or {}
        rest = beside(held, "role", "content", "tool_call_id")
        if result.call_id in self.old_style:
            words = None if "content" in held and not content else result.text
            name = self.old_style[result.call_id]
            return {**rest, "role": "function", "name": name, "content": words}
        wire = {"role": "tool", "tool_call_id": id, "content": content, **rest}
        if id is None:
            del wire["tool_call_id"]
        return wire


def beside(held: dict[str, Any], *own: str) -> dict[str, Any]:
    """The leftover fields that stand beside the format's own."""
    return {key: value for key, value in held.items() if key not in own}


def is_old_style(call: ToolCall) -> bool:
    """Whether this call was spelled as before there were tools."""
    return call.extra.get(NAME, {}).get("role") == "function"


def is_refusal(text: Text) -> bool:
    """Whether these words were a refusal in this format."""
    return text.extra.get(NAME, {}).get("type") == "refusal"


def tool_wire(tool: Tool, name: str) -> dict[str, Any]:
    """A tool's definition."""
    function: dict[str, Any] = {"name": name}
    if tool.description is not None:
        function["description"] = tool.description
    held = tool.extra.get(NAME, {})
    if held.get("type") == "custom":
        custom = beside(held.get("custom") or {}, "name", "description")
        return {
            "type": "custom",
            "custom": {**function, **custom},
            **beside(held, "type", "custom"),
        }
    if tool.parameters is not None:
        function["parameters"] = tool.parameters
    if tool.strict is not None:
        function["strict"] = tool.strict
    if not held:
        return {"type": "function", "function": function}
    inner = held.get("function")
    if isinstance(inner, dict):
        function.update(beside(cast("dict[str, Any]", inner), *function))
    wire: dict[str, Any] = {"type": "function", "function": function}
    if held.get("type") is False:
        del wire["type"]
    wire.update(beside(held, "type", "function", "functions", "custom"))
    return wire
