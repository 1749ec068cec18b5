r"""Forge text, escaped so that it is read back with the same meaning.

Thinking is written in brackets, or in `<thinking>` tags where brackets would be read as something
else. Text that looks like a call or like thinking is escaped: `&lt;tool>` and `&lt;thinking>` for
the tags, a backslash before the bracket. Tags inside a call's JSON are written as `\u003ctool>`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from contextwright.formats.file_formats import HEADER
from contextwright.formats.forge.read import LOCAL, NAME, is_thinking, may_hold_structure, scan
from contextwright.formats.rules import clean_name
from contextwright.messages.parts import Part, Text, Thinking, ToolCall, ToolResult
from contextwright.text.json import encode_json

__all__ = ["HEADER", "UNKNOWN", "result_of", "result_text", "same_parts", "text_of"]

UNKNOWN = "unknown"

TAG = re.compile(r"<(?=/?(?:tool|thinking)>)")
OPENING = re.compile(r"<(?=(?:tool|thinking)>)")
MARGIN = re.compile(r"^\[", re.MULTILINE)
PLAIN_THOUGHT = re.compile(r"[^\[\]<\n]*")


def text_of(parts: Sequence[Part]) -> tuple[str, bool]:
    """Return the text of an assistant message, and whether any of it had to be escaped."""
    text = joined(parts)
    risky = any(type(part) is Text and is_risky(part.text) for part in parts)
    if not risky or is_read_as(text, parts):
        return text, any(isinstance(part, Thinking) and is_escaped(part) for part in parts)
    milder = [inert(part) if isinstance(part, Text) else part for part in parts]
    text = joined(milder)
    if is_read_as(text, milder):
        return text, True
    hardest = [hardened(part) if isinstance(part, Text) else part for part in parts]
    return joined(hardest, tagged=True), True


def is_risky(text: str) -> bool:
    """Whether text may be read as something else, or opens a code block around what follows."""
    return may_hold_structure(text) or "```" in text or "~~~" in text


def joined(parts: Iterable[Part], *, tagged: bool = False) -> str:
    """Join the parts: a line break between thoughts, a blank line between all others."""
    pieces: list[str] = []
    thought = False
    for part in parts:
        match part:
            case Text():
                piece = part.text
            case Thinking():
                piece = thought_text(part, tagged=tagged)
            case ToolCall():
                piece = call_text(part)
            case _:  # results have their own messages, and the rules remove everything else
                continue
        if not piece:
            continue
        if pieces:
            pieces.append("\n" if thought and isinstance(part, Thinking) else "\n\n")
        thought = isinstance(part, Thinking)
        pieces.append(piece)
    return "".join(pieces)


def thought_text(thinking: Thinking, *, tagged: bool) -> str:
    """Write a thought in brackets if it is read back from them, else in tags."""
    text = thinking.text
    plain = PLAIN_THOUGHT.fullmatch(text) is not None and is_thinking(text)
    if not tagged and (plain or is_read_as(f"[{text}]", [thinking])):
        return f"[{text}]"
    return f"<thinking>{text.replace('</thinking>', '&lt;/thinking>')}</thinking>"


def is_escaped(thinking: Thinking) -> bool:
    """Whether a thought is written with an escape: it has the tag that would end it."""
    return "</thinking>" in thinking.text and thinking.text not in thought_text(
        thinking, tagged=False
    )


def call_text(call: ToolCall) -> str:
    """Write a call."""
    extra = dict(call.extra.get(NAME, {}))
    body: dict[str, Any] = {
        "server_name": extra.pop("server_name", LOCAL),
        "tool_name": call.name,
        "arguments": call.arguments,
    }
    for name, value in extra.items():
        body.setdefault(name, value)
    written = msgspec.json.format(encode_json(body), indent=2).decode()
    return f"<tool>\n{TAG.sub(escape, written)}\n</tool>"


def escape(match: re.Match[str]) -> str:
    return "\\u003c"


def is_read_as(text: str, parts: Sequence[Part]) -> bool:
    """Whether a text is read back as these parts, with no part of it as a broken call."""
    found = scan(text)
    return not any(note.fatal for note in found.notes) and same_parts(found.parts, parts)


def inert(part: Text) -> Text:
    """Escape opening tags, and brackets that would be read as thinking."""
    text = OPENING.sub("&lt;", part.text)
    pieces: list[str] = []
    done = 0
    for start in scan(text).brackets:
        pieces.append(text[done:start])
        done = start
    return Text("\\".join([*pieces, text[done:]]))


def hardened(part: Text) -> Text:
    """Escape everything that could be read as structure."""
    return Text(MARGIN.sub(r"\\[", OPENING.sub("&lt;", part.text)))


def same_parts(one: Sequence[Part], other: Sequence[Part]) -> bool:
    """Whether two lists of parts say the same; ids are not in the text."""
    return essence(one) == essence(other)


def essence(parts: Iterable[Part]) -> list[object]:
    """Return what the text says of each part: texts joined, outer white space removed."""
    said: list[object] = []
    waiting: list[str] = []
    for part in parts:
        if isinstance(part, Text):
            if part.text:  # nothing is written of an empty one
                waiting.append(part.text)
            continue
        if words := "\n\n".join(waiting).strip():
            said.append(words)
        waiting = []
        if isinstance(part, ToolCall):
            extra = part.extra.get(NAME, {})
            said.append((part.name, spelled(part.arguments), spelled(extra)))
        elif isinstance(part, Thinking):
            said.append((part.text.strip(),))
        else:
            said.append(part)
    if words := "\n\n".join(waiting).strip():
        said.append(words)
    return said


def spelled(value: dict[str, Any]) -> bytes:
    """Encode a JSON object, because bytes distinguish 1 from true and 1.0, unlike Python's `==`."""
    try:
        return encode_json(value)
    except UnicodeEncodeError:
        return json.dumps(value).encode()


# --- results ---------------------------------------------------------------------------------


def result_of(content: str) -> ToolResult:
    """Read a tool result: the first line names the tool, the rest is its content."""
    name, _, words = content.removeprefix(HEADER).partition("\n")
    if not content.startswith(HEADER) or not name.strip():
        return ToolResult(None, content, is_error=content.startswith("Error:"))
    return ToolResult(None, words, name.strip(), words.startswith("Error:"))


def result_text(result: ToolResult, name: str | None) -> str:
    """Write a tool result."""
    words = result.text
    if result.is_error and not words.startswith("Error:"):
        words = f"Error: {words}"
    return f"{HEADER}{clean_name(name) if name else UNKNOWN}\n{words}"
