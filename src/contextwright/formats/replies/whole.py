"""A streamed reply that has arrived whole: pieces of one text are joined before they are read."""

from __future__ import annotations

from contextwright.formats.replies.events import Event
from contextwright.formats.replies.reader import broken, joined
from contextwright.formats.replies.reply import ModelReply, gather
from contextwright.formats.replies.sse import Decoder
from contextwright.formats.replies.streams import stream_reader

__all__ = ["read_whole"]


def read_whole(body: bytes, format: str) -> ModelReply:
    """Read the bytes of a stream; the same reply as from its events one by one, but sooner.

    One that ends too early, or is not a stream of this kind, ends as interrupted.
    """
    reader, decoder = stream_reader(format), Decoder()
    events: list[Event] = []
    try:
        for event in joined(decoder.feed(body), reader):
            events += reader.feed(event)
        for event in joined(decoder.close(), reader):
            events += reader.feed(event)
        events += reader.close()
    except Exception as error:  # as `read` does
        events += reader.close(broken(error))
    return gather(events, format)
