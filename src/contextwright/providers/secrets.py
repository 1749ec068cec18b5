"""Keys in text, however they are spelt: plain, percent-encoded, in Base64, in hex, in JSON."""

from __future__ import annotations

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Collection, Iterator
from functools import lru_cache
from urllib.parse import quote

__all__ = ["masked", "spellings"]

MIN_KEY_CHARS = 8
"""Shorter keys are not secrets, and would be found in any text."""

ESCAPE = re.compile(r"%[0-9A-F]{2}")
PLAIN_ROWS = [rb"\u00%d" % row for row in range(2, 8)]
"""The beginnings of escapes of ASCII, without those of its control characters."""
ESCAPED = re.compile(rb"(?<!\\)\\+(?:u00(?P<code>[2-7][0-9a-fA-F])|/)")
"""Finds plain characters that JSON need not escape, or only within a string of JSON. It begins
where the backslashes do: from each of many, it would look at all of them.
"""


def masked(body: bytes, keys: Collection[str]) -> bytes:
    """Return a body with stars instead of keys: a provider may repeat one in its error."""
    plain = ESCAPED.sub(unescaped, body) if has_escapes(body, keys) else b""
    for key in keys:
        for spelling in spellings(key):
            body = body.replace(spelling, stars(spelling))
            if spelling in plain:
                body = escapes_of(spelling).sub(lambda found: stars(found[0]), body)
    return body


def has_escapes(body: bytes, keys: Collection[str]) -> bool:
    """Whether a body may hold a character of a key as an escape."""
    if rb"\u00" in body and any(row in body for row in PLAIN_ROWS):
        return True
    return any("/" in key for key in keys) and rb"\/" in body


def stars(text: bytes) -> bytes:
    """Return as many stars as there are bytes."""
    return b"*" * len(text)


@lru_cache(256)
def spellings(key: str) -> tuple[bytes, ...]:
    """Return how a key may be spelt; nothing for one that is too short to be a secret.

    An address has it percent-encoded. Escapes of JSON are not among them: see `escapes_of`.
    """
    if len(key) < MIN_KEY_CHARS:
        return ()
    quoted = {quote(key, safe=safe) for safe in ("", "/")}
    lower = {ESCAPE.sub(lambda found: found[0].lower(), one) for one in quoted}
    digits = key.encode().hex()
    texts = {key, *in_base64(key.encode()), digits, digits.upper(), *quoted, *lower}
    return tuple(text.encode() for text in sorted(texts, key=len, reverse=True))


def unescaped(found: re.Match[bytes]) -> bytes:
    """Return the character that an escape of JSON stands for."""
    return bytes((int(found["code"], 16),)) if found["code"] else b"/"


@lru_cache(256)
def escapes_of(spelling: bytes) -> re.Pattern[bytes]:
    """Return what finds a spelling in JSON, also in JSON within a string of it.

    Some writers escape each slash; .NET escapes each plus, and others escape what they like.
    """
    characters = [
        rb"(?:%b|(?<!\\)\\+u00%b)"
        % (rb"(?<!\\)\\*/" if code == ord("/") else re.escape(bytes((code,))), digits)
        for code, digits in ((code, b"(?i:%02x)" % code) for code in spelling)
    ]
    return re.compile(b"".join(characters))


def in_base64(key: bytes) -> Iterator[str]:
    """Yield what a key is in Base64, also behind something else, such as the name in `Basic`."""
    for before in range(3):
        first, end = -(-8 * before // 6), 8 * (before + len(key)) // 6
        for coded in (b64encode, urlsafe_b64encode):
            yield coded(bytes(before) + key).decode()[first:end]
