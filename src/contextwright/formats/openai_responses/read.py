"""The items of Responses, read into our messages.

Consecutive assistant items (reasoning, calls, messages, hosted tools) become one message, with its
parts in their order. Leftover fields of an item are in its part's `extra`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from contextwright.errors import shown
from contextwright.formats.base import keep_extra
from contextwright.formats.openai_responses.media import NAME, leftover, media_of
from contextwright.formats.reader import Reader, plain
from contextwright.messages.message import Message
from contextwright.messages.parts import Media, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from contextwright.wire.openai_responses.rules import CLIENT_MADE
from contextwright.wire.openai_responses.types import kind_of
from contextwright.wire.values import is_list, is_object

__all__ = ["BREAK", "Gatherer", "last_start"]

Side: TypeAlias = Literal["assistant", "tool"]

INPUT = ("user", "system", "developer")
"""Kinds of items that are messages of their own."""
BREAK = "\n\n"
"""What stands between the parts of one reasoning item."""
OUTPUTS = ("function_call_output", "custom_tool_call_output")
OWN = (*OUTPUTS, "function_call", "custom_tool_call", "reasoning")
"""Kinds of items that are a part of a message, whatever they hold."""
FAR_REACHING = ("tool_search_call", "additional_tools")
"""Kinds of items that change how others are read: outputs, the names of calls."""
OPERATOR_MADE = ("additional_tools", "configuration_update")
"""Items that come from the developer."""
SAID = {
    "web_search_call": ("action",),
    "file_search_call": ("queries", "results"),
    "code_interpreter_call": ("code", "outputs"),
    "image_generation_call": ("revised_prompt",),
    "mcp_approval_request": ("name", "arguments"),
    "mcp_call": ("name", "arguments", "output"),
    "local_shell_call": ("action",),
    "local_shell_call_output": ("output",),
    "shell_call": ("action",),
    "shell_call_output": ("output",),
    "apply_patch_call": ("operation",),
    "apply_patch_call_output": ("output",),
    "function_call_output": ("output",),
}
"""Fields with readable text of hosted items."""
TEXTS = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}
"""Parts that are text, and the field that holds it."""
WORDY = (
    "query",
    "queries",
    "url",
    "pattern",
    "command",
    "commands",
    "path",
    "diff",
    "text",
    "logs",
    "stdout",
    "stderr",
)


class Gatherer:
    """Reads item after item and groups them into messages."""

    def __init__(self, reader: Reader, *, model: str | None = None, reply: bool = False) -> None:
        self.reader = reader
        self.model = model
        self.reply = reply
        """Whether all items are the model's own, including hosted outputs."""
        self.messages: list[Message] = []
        self.hosted: set[object] = set()
        """Ids of the provider's own calls so far; their outputs are the provider's own too."""
        self.side: Side = "assistant"
        self.parts: list[Part] = []

    def gather(self, items: Iterable[tuple[str, dict[str, Any]]]) -> list[Message]:
        """Return the messages of all items."""
        for path, item in items:
            self.take(item, path)
        self.close()
        return self.messages

    def take(self, item: dict[str, Any], path: str) -> None:
        """Read one item."""
        kind = kind_of(item)
        match kind:
            case "user" | "system" | "developer":
                self.close()
                self.messages.append(self.input_message(item, kind, path))
            case "assistant":
                self.add("assistant", *assistant_parts(item, path, self.reader))
            case "function_call" | "custom_tool_call":
                self.add("assistant", call_of(item, kind, path, self.reader))
            case "function_call_output" if plain(item.get("call_id"), str) in self.hosted:
                self.take_opaque(item, kind)
            case "function_call_output" | "custom_tool_call_output":
                self.add("tool", result_of(item, kind, path, self.reader))
            case "reasoning":
                self.add("assistant", thinking_of(item, path, self.reader, self.model))
            case "":
                reason = f"must be a string, not {shown(item.get('type'))}"
                self.reader.repair("loss.opaque", f"{path}.type", reason)
            case _ if item.get("type") in (None, "message") and kind != "item_reference":
                roles = "user, assistant, system, developer"
                self.reader.fault(
                    f"{path}.role", f"{shown(item.get('role'))} is not one of: {roles}"
                )
            case _:
                self.take_opaque(item, kind)

    def take_opaque(self, item: dict[str, Any], kind: str) -> None:
        """Read an item that only this provider knows, as part of the turn that made it."""
        opaque = Opaque(NAME, item, words_of(item, kind))
        if kind == "tool_search_call" and isinstance(item.get("call_id"), str):
            self.hosted.add(item["call_id"])
        if self.reply or kind not in CLIENT_MADE:
            self.add("assistant", opaque)
        else:
            self.close()
            role = "system" if kind in OPERATOR_MADE else "user"
            self.messages.append(Message(role, (opaque,)))

    def add(self, side: Side, *parts: Part) -> None:
        """Add parts to the assistant's turn, or to the tool results that follow it."""
        if side != self.side:
            self.close()
            self.side = side
        self.parts.extend(parts)

    def close(self) -> None:
        """Complete the current message."""
        if self.parts:
            self.messages.append(Message(self.side, tuple(self.parts)))
            self.parts = []

    def input_message(self, item: dict[str, Any], kind: str, path: str) -> Message:
        """Read a user, system or developer message."""
        parts = content_of(item, "content", path, self.reader, "input_text")
        rest = {key: value for key, value in item.items() if key not in ("role", "content")}
        if kind == "user":
            return Message("user", tuple(parts), extra=keep_extra(NAME, rest))
        # Without this mark, leading system text would be written as `instructions`.
        leading = all(message.role == "system" for message in self.messages)
        if kind == "developer" or leading:
            rest["role"] = kind
        return Message("system", tuple(parts), extra=keep_extra(NAME, rest))


def last_start(items: Sequence[Any], most: int) -> int:
    """Return the last index up to one at which a message begins that is read by itself; 0 if none.

    Something of a person has to stand before it, because leading system text is read otherwise.
    """
    kinds = [kind_of(item) if is_object(item) else "" for item in items]
    first = kinds.index("user") if "user" in kinds else most
    if any(kind in kinds for kind in FAR_REACHING):
        return 0
    for index in range(min(most, len(items) - 1), first, -1):
        kind, before = kinds[index], kinds[index - 1]
        begins = before in INPUT or (kind in OUTPUTS) != (before in OUTPUTS)
        if kind == "user" or (begins and kind in OWN):
            return index
        if kind == "assistant" and begins and items[index].get("content"):
            return index
    return 0


def content_of(
    holder: dict[str, Any], key: str, path: str, reader: Reader, spoken: str
) -> list[Text | Media]:
    """Read the parts of a content or output; `spoken` is the type of its text parts."""
    value = holder.get(key)
    if isinstance(value, str):
        return [Text(value)]
    if value is None:
        reader.repair("repair.null", f"{path}.{key}", "read as empty")
        return []
    parts: list[Text | Media] = []
    for place, part in reader.objects(holder, key, path):
        kind = str(part.get("type"))
        if kind == "refusal" and spoken == "output_text":
            parts.append(Text(reader.text(part, "refusal", place), {NAME: {"refusal": True}}))
        elif kind in TEXTS:
            if kind != spoken:
                reader.repair("repair.part", f"{place}.type", f"{kind} is read as {spoken}")
            field = TEXTS[kind]
            parts.append(
                Text(reader.text(part, field, place), leftover(part, "type", "parsed", field))
            )
        else:
            media = media_of(part, place, reader)
            if media is None:
                reader.repair("loss.part", place, f"{shown(kind)} is not a message part")
            else:
                parts.append(media)
    return parts


def assistant_parts(item: dict[str, Any], path: str, reader: Reader) -> list[Text | Media]:
    """Read an assistant message's content; its first part also keeps the item's own fields."""
    fields = {key: value for key, value in item.items() if key not in ("role", "content")}
    parts = content_of(item, "content", path, reader, "output_text")
    if len(parts) == 1 and not fields:
        return parts
    marked: list[Text | Media] = []
    for part in parts:
        own = part.extra.get(NAME, {})
        mark = {**own, **fields} if part is parts[0] else {**own, "continued": True}
        marked.append(msgspec.structs.replace(part, extra=keep_extra(NAME, mark)))
    return marked


def call_of(item: dict[str, Any], kind: str, path: str, reader: Reader) -> ToolCall:
    """Read a call; a custom tool's free text becomes the argument `input`."""
    name = reader.text(item, "name", path)
    id = reader.text(item, "call_id", path)
    if kind == "custom_tool_call":
        given = reader.text(item, "input", path)
        extra = leftover(item, "name", "call_id", "input")
        return ToolCall(name, {"input": given}, id, extra=extra)
    extra = leftover(item, "type", "name", "call_id", "arguments", "parsed_arguments")
    arguments = item.get("arguments")
    if is_object(arguments):
        reader.repair("repair.arguments", f"{path}.arguments", "an object is written as JSON text")
        return ToolCall(name, arguments, id, extra=extra)
    call = ToolCall.from_json(name, reader.text(item, "arguments", path), id=id, extra=extra)
    if call.raw is not None and "_raw" in call.arguments:
        reader.repair("repair.arguments", f"{path}.arguments", "not a JSON object; kept as text")
    else:
        reader.note_repeated(call.raw, call.arguments, f"{path}.arguments")
    return call


def result_of(item: dict[str, Any], kind: str, path: str, reader: Reader) -> ToolResult:
    """Read a tool result; a single plain text becomes a string."""
    pieces = content_of(item, "output", path, reader, "input_text")
    one = pieces[0] if len(pieces) == 1 else None
    content = one.text if type(one) is Text and not one.extra else tuple(pieces)
    # Keep the type of a custom tool's output, which distinguishes it from a function's.
    custom = kind == "custom_tool_call_output"
    known = () if custom else ("type",)
    return ToolResult(
        (reader.text if custom else reader.optional_text)(item, "call_id", path),
        content or "",
        reader.optional_text(item, "name", path),
        extra=leftover(item, "call_id", "output", *known),
    )


def thinking_of(item: dict[str, Any], path: str, reader: Reader, model: str | None) -> Thinking:
    """Read reasoning: its summary, and its encrypted form to send back."""
    texts = words_in(item.get("summary")) or words_in(item.get("content"))
    return Thinking(
        BREAK.join(texts),
        reader.optional_text(item, "encrypted_content", path),
        NAME,
        model,
        redacted=not texts,
        extra=leftover(item, "type", "encrypted_content"),
    )


def words_of(item: dict[str, Any], kind: str) -> str | None:
    """Return the readable text of a hosted tool's call or output; None if there is none."""
    said = [word for field in SAID.get(kind, ()) for word in words_in(item.get(field))]
    return f"[{kind}] " + "\n".join(said) if said else None


def words_in(value: Any, depth: int = 4) -> list[str]:
    """Return the readable texts in a summary, a query, a command or a log."""
    if isinstance(value, str):
        return [value] if value else []
    inner: list[Any] = value if is_list(value) else []
    if is_object(value):
        inner = [value[key] for key in WORDY if key in value]
    return [word for each in inner for word in words_in(each, depth - 1)] if depth else []
