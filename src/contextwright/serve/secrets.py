"""Secrets in a client's request: the keys that it shows, and whatever else must not be stored."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import chain, islice
from urllib.parse import parse_qsl

import msgspec
from msgspec import Raw

from contextwright.serve.calls import TURNS, Call
from contextwright.text.json import decode_json, string_end

__all__ = ["KEY_HEADERS", "keys_in", "secrets_in"]

KEY_HEADERS = ("authorization", "x-api-key", "x-goog-api-key")
SAID = {*TURNS, "system", "instructions", "systemInstruction", "system_instruction"}
"""Fields that hold what is said."""
SECRET_NAME = re.compile(r"(key|token|secret|password|authorization|cookie)$")
"""Finds the names of fields that hold secrets: `api-key`, `x-auth-token`, `proxy-authorization`."""
SECRETS = (
    b"apikey api_key api-key access_key secret_key subscription-key "
    b"token secret password authorization cookie"
).split()
"""The ends of such names in bodies; other names that end in `key` are mostly those of caches."""
SECRET_FIELDS = {name + b'"': re.compile(rb'%b"\s*:\s*"' % name) for name in SECRETS}
"""Find secrets in JSON in lower case, by what JSON that has any holds: `token": "`."""
SECRET_IN_ADDRESS = re.compile(rb'[?&][\w-]{0,40}?(?:%b)=([^"&#\s\\]*)' % b"|".join(SECRETS))
SEPARATORS = re.compile(r'[\s,;="&]+')
MIN_CHARS = 12
"""Shorter words in such fields are mostly names, such as `Signature`."""
MAX_KNOWN_BYTES = 256 << 10
"""The size of fields whose secrets are remembered."""
MAX_WORDS = 200
"""Words that are looked at, because each is sought in all that is recorded."""


def keys_in(headers: Mapping[str, str], query: str) -> list[str]:
    """Return the keys a client sent, wherever APIs put them; the first one counts."""
    # A header that comes twice is one list.
    values = [value for name in KEY_HEADERS for value in headers.get(name, "").split(",")]
    values += [value for name, value in parse_qsl(query) if name == "key"]
    return [key for value in values if (key := without_scheme(value.strip()))]


def secrets_in(call: Call) -> Iterator[str]:
    """Yield whatever else may be a secret in a request, by the names of its fields."""
    shown = [*call.headers.items(), *(parse_qsl(call.query) if call.query else ())]
    values = [value for name, value in shown if is_secret(name)]
    words = chain.from_iterable(
        map(SEPARATORS.split, chain(values, secrets_in_fields(call.fields)))
    )
    for word in islice(filter(None, words), MAX_WORDS):
        yield password_in(word)
        if len(word) >= MIN_CHARS:
            yield word


def secrets_in_fields(fields: Mapping[str, Raw]) -> Iterator[str]:
    """Yield the secrets in a body, such as those of tools' servers, but not in what is said."""
    for name, value in fields.items():
        if name not in SAID:
            raw = b'%b":%b' % (name.encode(), value)
            yield from known_secrets(raw) if len(raw) < MAX_KNOWN_BYTES else secrets_in_json(raw)


@lru_cache(32)
def known_secrets(raw: bytes) -> tuple[str, ...]:
    """Return the secrets in a field, such as the tools, which come again with each request."""
    return tuple(secrets_in_json(raw))


def secrets_in_json(raw: bytes) -> Iterator[str]:
    """Yield the secrets in a piece of JSON, by the names of its fields, or in addresses."""
    lower = raw.lower()
    for pattern in [pattern for end, pattern in SECRET_FIELDS.items() if end in lower]:
        for found in pattern.finditer(lower):
            start = found.end()
            with suppress(msgspec.DecodeError):  # no JSON, which the provider will say
                yield decode_json(raw[start - 1 : string_end(raw, start)])
    for found in SECRET_IN_ADDRESS.finditer(lower):
        yield raw[slice(*found.span(1))].decode()


@lru_cache(256)
def is_secret(name: str) -> bool:
    """Whether the name of a header, or of a part of a query, is one of keys or passwords."""
    return SECRET_NAME.search(name.lower()) is not None


def password_in(word: str) -> str:
    """Return the password in a word of `Basic`, a `user:password` in Base64; empty for others."""
    try:
        return b64decode(word + "==").decode().partition(":")[2]
    except (binascii.Error, UnicodeError):
        return ""


def without_scheme(value: str) -> str:
    """Return the key in a header: `Bearer` is written as one likes."""
    scheme, _, key = value.partition(" ")
    return key.strip() if scheme.lower() == "bearer" else value
