"""What the Messages API refuses in citations: of each kind of source all are cited, or none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from contextwright.wire.shapes import objects_in
from contextwright.wire.values import Object, is_object

__all__ = ["SOURCES", "is_cited", "sources_in", "uneven_sources"]

SOURCES = ("document", "search_result")
"""The kinds of block that the model may cite."""


def uneven_sources(blocks: Iterable[Object]) -> list[str]:
    """Return the kinds of source of which the model is to cite some and not others.

    Those within tool results count as well.
    """
    cited: dict[object, set[bool]] = {kind: set() for kind in SOURCES}
    for source in sources_in(blocks):
        cited[source.get("type")].add(is_cited(source))
    return [kind for kind in SOURCES if len(cited[kind]) > 1]


def sources_in(blocks: Iterable[Object]) -> Iterator[Object]:
    """Yield the sources among blocks, and those in the tool results among them."""
    for block in blocks:
        kind = block.get("type")
        if kind in SOURCES:
            yield block
        elif kind == "tool_result" and type(block.get("content")) is not str:
            yield from sources_in(held for _, held in objects_in(block.get("content")))


def is_cited(source: Object) -> bool:
    """Whether citations are enabled for a source."""
    config = source.get("citations")
    return is_object(config) and config.get("enabled") is True
