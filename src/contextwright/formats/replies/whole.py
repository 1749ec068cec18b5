"""A streamed reply that has arrived whole: pieces of one text are joined before they are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contextwright.formats.replies.reader import StreamReader, joined, read
from contextwright.formats.replies.reply import ModelReply, gather_partial
from contextwright.formats.replies.sse import Decoder
from contextwright.formats.replies.streams import stream_reader

__all__ = ["read_whole"]


def read_whole(body: bytes, format: str) -> ModelReply:
    """Read the bytes of a stream; the same reply as from its events one by one, but sooner.

    One that ends too early, or is not a stream of this kind, ends as interrupted.
    """
    reader = stream_reader(format)
    return gather_partial(read(events_in(body, reader), reader), format)


def events_in(body: bytes, reader: StreamReader) -> Iterator[Any]:
    """Yield the provider's events, those of one text as one."""
    decoder = Decoder()
    yield from joined(decoder.feed(body), reader)
    yield from joined(decoder.close(), reader)
