"""What the Messages API refuses in the text of a block: no block may be without visible text."""

from __future__ import annotations

from collections.abc import Iterator

from contextwright.errors import Problem
from contextwright.wire.shapes import objects_in
from contextwright.wire.values import Object, is_object

__all__ = ["BLANK", "blank_inside", "blank_result", "blank_text", "inner_blocks", "is_blank"]

BLANK = "text must not be empty or white space only"


def is_blank(text: object) -> bool:
    """Whether a text has nothing that can be seen."""
    return isinstance(text, str) and (not text or text.isspace())


def blank_text(path: str, block: Object) -> Iterator[Problem]:
    """Check for a text block without visible text."""
    if is_blank(block.get("text")):
        yield Problem("A-empty-text", f"{path}.text", BLANK)
        if block.get("cache_control"):
            yield Problem("A-cache-empty", path, "no cache_control on an empty text")


def blank_inside(path: str, block: Object) -> Iterator[Problem]:
    """Check the blocks of a search result, or of a document that is made of blocks."""
    place, held = inner_blocks(block)
    for index, inner in objects_in(held):
        yield from blank_text(f"{path}.{place}[{index}]", inner)
    if place and (held == [] or is_blank(held)):
        yield Problem("A-empty-text", f"{path}.{place}", "a source needs text")


def inner_blocks(block: Object) -> tuple[str, object]:
    """Return the content of a search result or document, and its path; no path if it has none."""
    source = block.get("source")
    if block.get("type") == "search_result":
        return "content", block.get("content")
    if block.get("type") == "document" and is_object(source) and source.get("type") == "content":
        return "source.content", source.get("content")
    return "", None


def blank_result(path: str, fields: Object) -> Iterator[Problem]:
    """No empty texts in a result; an error has some content."""
    content = fields.get("content")
    if content and is_blank(content):
        yield Problem("A-empty-text", path, BLANK)
    for place, inner in objects_in(content):
        yield from blank_text(f"{path}[{place}]", inner)
        yield from blank_inside(f"{path}[{place}]", inner)
    if fields.get("is_error") is True and not content:
        yield Problem("A-error-empty", path, "an error needs text")
