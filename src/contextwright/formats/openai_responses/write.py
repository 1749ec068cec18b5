"""Our messages, written as the items of Responses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from contextwright.formats.base import without
from contextwright.formats.openai_responses.hosted import is_call_id, is_item_id, unsent_items
from contextwright.formats.openai_responses.media import NAME, media_wire
from contextwright.formats.openai_responses.rules import is_exact
from contextwright.formats.target import Target
from contextwright.messages.changes import Change
from contextwright.messages.message import Message
from contextwright.messages.parts import Media, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from contextwright.wire.openai_responses.rules import (
    ID_PREFIXES,
    STORED,
    is_reasoning,
)
from contextwright.wire.openai_responses.types import kind_of

__all__ = ["Writer", "is_plain"]

SPOKEN = ("annotations", "logprobs", "refusal", "continued")
"""Fields of a content part of an assistant message; other fields belong to the message."""
NO_FIELDS: dict[str, Any] = {}
LOST_ID = "an id of another host, or one used before, is left out"

PathOf = Callable[[Part], str]


class Writer:
    """Writes message after message; tracks the ids written, because none may repeat."""

    def __init__(
        self,
        target: Target,
        changes: list[Change],
        path_of: PathOf,
        *,
        stateless: bool,
    ) -> None:
        self.target = target
        self.changes = changes
        self.path_of = path_of
        self.stateless = stateless
        """Whether nothing is stored, so that reasoning is sent encrypted instead of by id."""
        self.repairs = target.options.repair
        self.exact = is_exact(target.model, target.options)
        """Whether the host checks ids, and what follows reasoning."""
        self.messages: Sequence[Message] = ()
        self.whole = False
        self.instructions: list[str] = []
        self.items: list[dict[str, Any]] = []
        self.places: list[int] = []
        """The index of the message that each item is of."""
        self.ids: set[str] = set()
        self.custom: set[str | None] = set()
        self.functions: set[str | None] = set()

    def write(self, messages: Sequence[Message], *, whole: bool) -> None:
        """Write all messages: leading system text as instructions, the rest as items.

        `whole`: the request holds both partners of every hosted tool's item, so one without a
        partner is dropped.
        """
        self.messages, self.whole = messages, whole
        items, places = self.items, self.places
        for index, message in enumerate(messages):
            parts = message.parts
            role = message.role
            if role == "system" and not items and is_plain(message):
                self.instructions.extend(part.text for part in parts if isinstance(part, Text))
                continue
            if len(parts) == 1 and role != "tool" and not message.extra:
                part = parts[0]
                if type(part) is Text and not part.extra:
                    items.append({"role": role, "content": part.text})
                    places.append(index)
                    continue
            if role == "assistant":
                self.assistant(parts)
            else:
                self.others(message)
            while len(places) < len(items):
                places.append(index)

    @cached_property
    def loose(self) -> dict[int, str]:
        """Items that are not sent, by identity, with the reason; computed on first use."""
        return unsent_items(self.messages, exact=self.exact, whole=self.whole)

    def others(self, message: Message) -> None:
        """Write user and system messages and tool results, with any blocks among them."""
        said: list[Part] = []
        for part in message.parts:
            if type(part) is ToolResult:
                item = self.output(part)
            elif type(part) is Opaque:
                item = part.data
            else:
                said.append(part)
                continue
            if said:
                self.message(message, said)
                said = []
            self.item(item, part)
        if said:
            self.message(message, said)

    def message(self, message: Message, parts: list[Part]) -> None:
        """Write a user, system or developer message."""
        fields = without(message.extra.get(NAME, NO_FIELDS), "content")
        role = "user" if message.role == "tool" else message.role
        self.item({"role": role, "content": self.content(parts), **fields}, parts[0])

    def content(self, parts: Sequence[Part]) -> str | list[dict[str, Any]]:
        """Write a content: plain text as a string, anything else as parts."""
        if not parts:
            return ""
        first = parts[0]
        if len(parts) == 1 and type(first) is Text and not first.extra.get(NAME):
            return first.text
        return [
            part_wire(part, same_format=self.target.same_format)
            for part in parts
            if isinstance(part, Text | Media | Opaque)
        ]

    def assistant(self, parts: tuple[Part, ...]) -> None:
        """Write the assistant's turn, part by part."""
        followers: list[Part | None] = []
        for index, part in enumerate(parts):
            if type(part) is ToolCall:
                self.item(self.call(part), part)
            elif type(part) is Text:
                if part.extra:
                    self.words(part)
                else:
                    self.items.append({"role": "assistant", "content": part.text})
            elif type(part) is Thinking:
                followers = followers or self.followers(parts)
                self.reasoning(part, followers[index])
            elif type(part) is Opaque:
                if self.exact and reasons(part):
                    followers = followers or self.followers(parts)
                    self.reference(part, followers[index])
                else:
                    self.item(part.data, part)
            else:  # a misplaced result or media, which assistant items cannot hold
                self.others(Message("user", (part,)))

    def followers(self, parts: tuple[Part, ...]) -> list[Part | None]:
        """Return for each part the next written part that is not reasoning."""
        following: list[Part | None] = []
        latest: Part | None = None
        for part in reversed(parts):
            following.append(latest)
            if not reasons(part) and id(part) not in self.loose:
                latest = part
        return following[::-1]

    def words(self, text: Text) -> None:
        """Write assistant text with leftover fields, as the message or part it came from."""
        extra = text.extra.get(NAME, NO_FIELDS)
        refusal = extra.get("refusal")
        part: dict[str, Any]
        if refusal:
            part = {"type": "refusal", "refusal": text.text}
        else:
            part = {"type": "output_text", "text": text.text}
        part.update({key: extra[key] for key in ("annotations", "logprobs") if key in extra})
        last = self.items[-1] if self.items else NO_FIELDS
        if extra.get("continued") and last.get("role") == "assistant":
            if isinstance(last["content"], str):
                last["content"] = [{"type": "output_text", "text": last["content"]}]
            last["content"].append(part)
            return
        fields = without(extra, *SPOKEN, "role", "content")
        known = "id" in fields and (not self.exact or self.is_own(fields["id"], "assistant"))
        plain = len(part) == 2 and not refusal and not known
        content = text.text if plain else [part]
        self.item({"role": "assistant", "content": content, **fields}, text)

    def call(self, call: ToolCall) -> dict[str, Any]:
        """Write a call of a function, or of the custom tool it came from."""
        fields = call.extra.get(NAME, NO_FIELDS) if call.extra else NO_FIELDS
        if fields and fields.get("type") == "custom_tool_call":
            given = call.arguments.get("input")
            if isinstance(given, str):
                self.custom.add(call.id)
                return {"call_id": call.id, "name": call.name, "input": given, **fields}
        self.functions.add(call.id)
        item = {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.json,
        }
        return {**item, **fields, "type": "function_call"} if fields else item

    def output(self, result: ToolResult) -> dict[str, Any]:
        """Write a tool result, of the same kind as its call."""
        content, call_id = result.content, result.call_id
        if type(content) is not str:
            content = self.content(content) if isinstance(content, tuple) else result.text
        item: dict[str, Any] = {
            "type": "function_call_output",
            "call_id": call_id,
            "output": content,
        }
        item.update(result.extra.get(NAME, NO_FIELDS))
        if call_id in self.custom:
            item["type"] = "custom_tool_call_output"
            for field in ("name", "namespace"):  # only a function's output may repeat them
                item.pop(field, None)
        elif call_id in self.functions:
            item["type"] = "function_call_output"
        elif call_id is None:
            del item["call_id"]
        return item

    def reasoning(self, thinking: Thinking, led_to: Part | None) -> None:
        """Write reasoning if the item it led to follows and is recognisable."""
        fields = thinking.extra.get(NAME, NO_FIELDS)
        reason = self.refused(thinking, fields, led_to) if self.exact else ""
        if reason:
            self.changes.append(Change("loss.thinking", self.path_of(thinking), reason))
            return
        if self.exact and "id" in fields and not self.is_own(fields["id"], "reasoning"):
            fields = without(fields, "id")
            self.changes.append(Change("repair.item_id", self.path_of(thinking), LOST_ID))
        item: dict[str, Any] = {"type": "reasoning", **fields}
        if "summary" not in item:
            text = thinking.text
            item["summary"] = [{"type": "summary_text", "text": text}] if text else []
        if thinking.signature is not None:
            item["encrypted_content"] = thinking.signature
        self.items.append(item)
        if isinstance(item.get("id"), str):
            self.ids.add(item["id"])

    def reference(self, reasoning: Opaque, led_to: Part | None) -> None:
        """Write stored reasoning by its id if the item it led to follows."""
        if led_to is not None and (self.stateless or self.is_own(*mark_of(led_to))):
            self.item(reasoning.data, reasoning)
        else:
            reason = "the item that this reasoning led to is missing"
            self.changes.append(Change("loss.opaque", self.path_of(reasoning), reason))

    def refused(self, thinking: Thinking, fields: dict[str, Any], led_to: Part | None) -> str:
        """Return why reasoning cannot be sent back; empty if it can."""
        if led_to is None:
            return "the item it led to is missing"
        if self.stateless:
            return "" if thinking.signature else "it is not encrypted, and nothing is stored"
        if not self.is_own(fields.get("id"), "reasoning"):
            return "it has no id of this provider"
        return "" if self.is_own(*mark_of(led_to)) else "the item it led to has lost its id"

    def is_own(self, item_id: Any, kind: str) -> bool:
        """Whether an item may have this id: one of this provider's, and not used yet."""
        if not is_item_id(item_id) or item_id in self.ids:
            return False
        return item_id.startswith(ID_PREFIXES.get(kind, ""))

    def item(self, item: dict[str, Any], part: Part) -> None:
        """Add an item. An id that it may not have is removed, never renamed."""
        if type(part) is Opaque and id(part) in self.loose:
            reason = self.loose[id(part)]
            self.changes.append(Change("loss.opaque", self.path_of(part), reason))
            return
        call_id = None if "role" in item else item.get("call_id")
        if self.repairs and call_id is not None and not is_call_id(call_id):
            reason = "its call_id is empty or too long"  # its call would be a stored one
            self.changes.append(Change("loss.orphan", self.path_of(part), reason))
            return
        if self.exact:
            item_id = item.get("id")
            if item_id is None:
                if item.get("type") in STORED and not self.stateless:
                    reason = "it is stored under an id, and has none"
                    self.changes.append(Change("loss.opaque", self.path_of(part), reason))
                    return
            elif self.is_own(item_id, kind_of(item)):
                self.ids.add(item_id)
            elif type(part) is Opaque:
                reason = "its id is of another host, or was used before"
                self.changes.append(Change("loss.opaque", self.path_of(part), reason))
                return
            else:
                self.changes.append(Change("repair.item_id", self.path_of(part), LOST_ID))
                item = without(item, "id")
        self.items.append(item)


def part_wire(part: Text | Media | Opaque, *, same_format: bool) -> dict[str, Any]:
    """Write a part of a user message or an output."""
    if isinstance(part, Opaque):
        return part.data
    if isinstance(part, Text):
        wire: dict[str, Any] = {"type": "input_text", "text": part.text}
    else:
        wire = media_wire(part, same_format=same_format)
    if part.extra:
        wire.update(part.extra.get(NAME, {}))
    return wire


def reasons(part: Part) -> bool:
    """Whether a part is reasoning, or a reference to reasoning."""
    if isinstance(part, Opaque):
        return is_reasoning(kind_of(part.data), part.data)
    return isinstance(part, Thinking)


def mark_of(part: Part) -> tuple[Any, str]:
    """Return the id of a part's item, and the kind of item."""
    if isinstance(part, Opaque):
        return part.data.get("id"), kind_of(part.data)
    fields = part.extra.get(NAME, NO_FIELDS)
    kind = fields.get("type", "function_call") if isinstance(part, ToolCall) else "assistant"
    return fields.get("id"), kind


def is_plain(message: Message) -> bool:
    """Whether a system message is plain text that did not come as an item of this format."""
    if message.extra.get(NAME):
        return False
    return all(type(part) is Text and NAME not in part.extra for part in message.parts)
