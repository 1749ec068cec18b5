"""Writing Forge text so that it is read back as what was meant, and as nothing else.

Thinking stands in brackets, or in `<thinking>` tags where brackets would be read otherwise.
Words that look like a call or like thinking are made inert: `&lt;tool>` and `&lt;thinking>` for
the tags, a backslash before the bracket. Tags inside a call's JSON are spelled `\\u003ctool>`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from contextwright.formats.forge.read import LOCAL, NAME, is_thinking, may_hold_structure, scan
from contextwright.formats.rules import clean_name
from contextwright.messages.parts import Part, Text, Thinking, ToolCall, ToolResult
from contextwright.text.json import encode_json

__all__ = ["call_text", "result_of", "result_text", "same_parts", "text_of"]

HEADER = "Tool: "
UNKNOWN = "unknown"

TAG = re.compile(r"<(?=/?(?:tool|thinking)>)")
OPENING = re.compile(r"<(?=(?:tool|thinking)>)")
MARGIN = re.compile(r"^\[", re.MULTILINE)
PLAIN_THOUGHT = re.compile(r"[^\[\]<\n]*")


def text_of(parts: Sequence[Part]) -> tuple[str, bool]:
    """The text of an assistant message, and whether words had to be made inert for it."""
    text = joined(parts)
    risky = any(type(part) is Text and is_risky(part.text) for part in parts)
    if not risky or is_read_as(text, parts):
        return text, False
    milder = [inert(part) if isinstance(part, Text) else part for part in parts]
    text = joined(milder)
    if is_read_as(text, milder):
        return text, True
    hardest = [hardened(part) if isinstance(part, Text) else part for part in parts]
    return joined(hardest, tagged=True), True


def is_risky(text: str) -> bool:
    """Whether words may be read as something else, or open a code block around what follows."""
    return may_hold_structure(text) or "```" in text or "~~~" in text


def joined(parts: Iterable[Part], *, tagged: bool = False) -> str:
    """The parts one after another: thoughts in lines, everything else a blank line apart."""
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
            case _:  # results stand in messages of their own; the rules leave nothing else
                continue
        if pieces:
            pieces.append("\n" if thought and isinstance(part, Thinking) else "\n\n")
        thought = isinstance(part, Thinking)
        pieces.append(piece)
    return "".join(pieces)


def thought_text(thinking: Thinking, *, tagged: bool) -> str:
    """A thought in brackets if it is read back from them, else in tags."""
    text = thinking.text
    plain = PLAIN_THOUGHT.fullmatch(text) is not None and is_thinking(text)
    if not tagged and (plain or is_read_as(f"[{text}]", [thinking])):
        return f"[{text}]"
    return f"<thinking>{text.replace('</thinking>', '&lt;/thinking>')}</thinking>"


def call_text(call: ToolCall) -> str:
    """A call as Forge writes it."""
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
    """Whether a text is read back as these parts, and nothing in it as a broken call."""
    found = scan(text)
    return not any(note.fatal for note in found.notes) and same_parts(found.parts, parts)


def inert(part: Text) -> Text:
    """Words without opening tags, and a backslash before each bracket read as thinking."""
    text = OPENING.sub("&lt;", part.text)
    pieces: list[str] = []
    done = 0
    for start in scan(text).brackets:
        pieces.append(text[done:start])
        done = start
    return Text("\\".join([*pieces, text[done:]]))


def hardened(part: Text) -> Text:
    """Words in which nothing at all can be read as structure."""
    return Text(MARGIN.sub(r"\\[", OPENING.sub("&lt;", part.text)))


def same_parts(one: Sequence[Part], other: Sequence[Part]) -> bool:
    """Whether two readings of a message say the same; ids are no part of the text."""
    return essence(one) == essence(other)


def essence(parts: Iterable[Part]) -> list[object]:
    """What the text says of each part: words joined, white space around them left out."""
    said: list[object] = []
    waiting: list[str] = []
    for part in parts:
        if isinstance(part, Text):
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
    """A JSON object's bytes: unlike Python's equality, they tell 1 from true and from 1.0."""
    try:
        return encode_json(value)
    except UnicodeEncodeError:
        return json.dumps(value).encode()


# --- results ---------------------------------------------------------------------------------


def result_of(content: str) -> ToolResult:
    """A tool's answer: the first line names the tool, the rest is what it said."""
    name, _, words = content.removeprefix(HEADER).partition("\n")
    if not content.startswith(HEADER) or not name.strip():
        return ToolResult(None, content, is_error=content.startswith("Error:"))
    return ToolResult(None, words, name.strip(), words.startswith("Error:"))


def result_text(result: ToolResult, name: str | None) -> str:
    """A tool's answer as Forge writes it."""
    words = result.text
    if result.is_error and not words.startswith("Error:"):
        words = f"Error: {words}"
    return f"{HEADER}{clean_name(name) if name else UNKNOWN}\n{words}"
