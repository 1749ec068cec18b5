"""Forge's later dialect: calls as XML, read as leniently as models write it.

Bare `&` and `<` are text, `CDATA` is taken verbatim, and all values are strings. An element with
child elements is an object; a repeated name makes a list. `<a/>` is an element where only elements
can be, in a call and in its arguments; elsewhere it is text.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from msgspec import Struct, field

__all__ = ["Finder", "read_xml"]

TOKEN = re.compile(
    r"<!\[CDATA\[|</(?P<close>[A-Za-z_][\w.-]*+)>|<(?P<open>[A-Za-z_][\w.-]*+)(?P<empty>\s*+/)?>"
)
ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});")
NAMED = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'"}
DEEPEST = 100
MARKUP = 2
"""How many open elements, the call and its arguments, hold elements only."""

Value: TypeAlias = "str | dict[str, Any]"


class Finder:
    """Finds the next occurrence of a few fixed strings; searches each stretch of text only once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: dict[str, int] = {}

    def find(self, wanted: str, position: int) -> int:
        """Return the first occurrence from `position`, which must never decrease; -1 if none."""
        last = self.found.get(wanted, 0)
        if -1 < last < position or wanted not in self.found:
            last = self.found[wanted] = self.text.find(wanted, position)
        return last


class Element(Struct):
    """An element that is still open."""

    name: str
    start: int
    children: dict[str, Any] = field(default_factory=dict[str, Any])
    words: list[str] = field(default_factory=list[str])
    literal: bool = False
    """Whether some of the text came from CDATA, so that white space counts."""

    def add(self, name: str, value: Value) -> None:
        """Add a child; a repeated name makes a list."""
        if name not in self.children:
            self.children[name] = value
        elif isinstance(self.children[name], list):
            self.children[name].append(value)
        else:
            self.children[name] = [self.children[name], value]

    def value(self, text: str, end: int) -> Value:
        """Return the element's value. Text mixed with elements is kept verbatim."""
        said = "".join(self.words)
        if not self.children:
            return said if self.literal else said.strip()
        return text[self.start : end].strip() if said.strip() else self.children


def read_xml(text: str, position: int, finder: Finder) -> tuple[dict[str, Any] | None, int]:
    """Read the fields of a call whose first element begins at `position`; return them with the end.

    Returns None and the position where reading stopped if there is no call before it.
    """
    stack = [Element("tool", position)]
    said = position
    while token := TOKEN.search(text, position):
        top = stack[-1]
        position = token.end()
        if token["empty"] and len(stack) > MARKUP:
            continue
        add_words(top, text[said : token.start()])
        said = position
        if token["empty"]:
            top.add(token["open"], nothing_in(token["open"], len(stack)))
            continue
        if token["open"] == "tool" or (token["open"] and len(stack) > DEEPEST):
            return None, token.start() if token["open"] == "tool" else position
        if token["open"]:
            stack.append(Element(token["open"], position))
        elif token["close"]:
            if token["close"] != top.name:
                return None, position
            stack.pop()
            if not stack:
                return top.children, position
            value = top.value(text, token.start()) or nothing_in(top.name, len(stack))
            stack[-1].add(top.name, value)
        else:
            end = finder.find("]]>", position)
            if end < 0:
                return None, position
            top.words.append(text[position:end])
            top.literal = True
            position = said = end + 3
    return None, len(text)


def nothing_in(name: str, depth: int) -> Value:
    """Return the value of an empty element: `arguments` are an object, anything else is text."""
    return {} if name == "arguments" and depth == 1 else ""


def add_words(element: Element, words: str) -> None:
    """Add text outside CDATA: decode entities, and ignore white space next to CDATA."""
    if words.strip():
        element.words.append(ENTITY.sub(entity, words))


def entity(match: re.Match[str]) -> str:
    spelling = match[0]
    if spelling in NAMED:
        return NAMED[spelling]
    code = int(spelling[3:-1], 16) if spelling[2] == "x" else int(spelling[2:-1])
    is_character = 0 < code < 0xD800 or 0xDFFF < code < 0x110000
    return chr(code) if is_character else spelling
