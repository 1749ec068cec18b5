"""A client's body: read within a limit, and decompressed if it was compressed for the way."""

from __future__ import annotations

import asyncio
import sys
import zlib
from collections.abc import AsyncIterable, Callable
from typing import Any

from contextwright.errors import ContextwrightError, ParseError, shown

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = [
    "TooLarge",
    "TooSlow",
    "UnknownEncoding",
    "decompressed",
    "read_body",
]

UNPACKERS: dict[str, Callable[[], Any]] = {
    "gzip": lambda: zlib.decompressobj(wbits=31),
    "x-gzip": lambda: zlib.decompressobj(wbits=31),
    "deflate": lambda: zlib.decompressobj(wbits=15),
    "zstd": zstd.ZstdDecompressor,
}
"""By their names in `content-encoding`. Codex compresses with zstd."""
DAMAGED = (zlib.error, zstd.ZstdError)
"""The errors that they raise."""


class TooLarge(ContextwrightError):
    """A body over the limit."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"more than {limit:,} bytes")


class TooSlow(ContextwrightError):
    """A body that does not come."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"nothing of the body came for {seconds:g} seconds")


class UnknownEncoding(ContextwrightError):
    """A body that was compressed in a way we do not know."""


async def read_body(chunks: AsyncIterable[bytes], limit: int, seconds: float) -> bytes:
    """Return a body as it was sent; `seconds` is the longest time between two pieces of it.

    Raises:
        TooLarge: it is longer than the limit.
        TooSlow: it stops before its end.
    """
    body = bytearray()
    try:
        async with asyncio.timeout(seconds) as patience:
            async for chunk in chunks:
                body += chunk
                if len(body) > limit:
                    raise TooLarge(limit)
                patience.reschedule(asyncio.get_running_loop().time() + seconds)
    except TimeoutError:
        raise TooSlow(seconds) from None
    return bytes(body)


def decompressed(body: bytes, encodings: str, limit: int, *, may_be_cut: bool = False) -> bytes:
    """Return a body without its encodings, a list in the order in which they were applied.

    One that `may_be_cut` is returned as far as it came.

    Raises:
        UnknownEncoding: one of them is not known.
        TooLarge: it grows beyond the limit.
        ParseError: it is damaged.
    """
    for encoding in reversed(encodings.lower().split(",")):
        name = encoding.strip()
        if name in ("", "identity"):
            continue
        if name not in UNPACKERS:
            hint = f"known: {', '.join(UNPACKERS)}"
            raise UnknownEncoding(f"the body is compressed with {shown(name)}", hint=hint)
        try:
            body = unpacked(body, UNPACKERS[name], limit, may_be_cut)
        except DAMAGED as error:
            raise ParseError(f"the body is not {name}: {shown(str(error))}") from None
    return body


def unpacked(body: bytes, start: Callable[[], Any], limit: int, may_be_cut: bool) -> bytes:
    """Decompress one member after another."""
    found = bytearray()
    while body:
        unpacker = start()
        found += unpacker.decompress(body, limit + 1 - len(found))
        if len(found) > limit:
            raise TooLarge(limit)
        if not unpacker.eof:
            if may_be_cut:
                break
            raise ParseError("the compressed body is cut off")
        body = unpacker.unused_data
    return bytes(found)
