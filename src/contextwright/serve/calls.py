"""A client's request: the parts that are needed to send it on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias
from urllib.parse import parse_qsl, quote, unquote

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from contextwright.errors import ParseError, ProviderError
from contextwright.formats.replies.writer import require_names
from contextwright.messages.changes import Change
from contextwright.serve.reading import read_fields, turns_of
from contextwright.text.json import decode_json

__all__ = [
    "OTHER_METHODS",
    "UPLOADS",
    "Action",
    "Call",
    "api_asked",
    "headers_in",
    "leads_elsewhere",
    "other_call",
    "read_call",
    "require_translatable",
    "value_of",
    "with_body",
]

Action: TypeAlias = Literal["generate", "compact", "count", "other"]
"""The purpose of a call. `compact` asks OpenAI for a shorter history, which it alone can read;
`other` asks no model: files, embeddings, batches, lists of models.
"""

PATHS: dict[tuple[str, Action], str] = {
    ("openai-chat", "generate"): "/chat/completions",
    ("openai-responses", "generate"): "/responses",
    ("openai-responses", "compact"): "/responses/compact",
    ("anthropic", "generate"): "/v1/messages",
    ("anthropic", "count"): "/v1/messages/count_tokens",
}
"""The path of each API, below the address of its host."""
TURNS = {
    "messages": "/v1/chat/completions and /v1/messages take",
    "input": "/v1/responses takes",
    "contents": "/v1beta/models/MODEL:generateContent takes",
}
"""The paths that take each field of messages."""
OTHER_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
SLASHES = re.compile(r"[/\\]")
UPLOADS = "/upload"
"""Stands before the version in Gemini's path for files."""
METHODS: dict[str, tuple[Action, bool]] = {
    "generateContent": ("generate", False),
    "streamGenerateContent": ("generate", True),
    "countTokens": ("count", False),
}
"""The purpose of Gemini's methods, and whether they stream."""


class Call(Struct, frozen=True):
    """One request to one of the wire APIs."""

    format: str
    action: Action
    model: str
    streams: bool
    path: str
    """Below the address of a host of this format."""
    query: str
    headers: Mapping[str, str]
    """By their names in lower case."""
    body: bytes
    """Not compressed."""
    fields: Mapping[str, Raw]
    """The fields of the body, unread."""
    sent: bytes = b""
    """The body as the client sent it: perhaps compressed."""
    method: str = "POST"
    changes: tuple[Change, ...] = ()
    """The gateway's own changes to it."""

    @property
    def wants_list(self) -> bool:
        """Whether the stream is one JSON list: Gemini's is, unless its client asks for events."""
        return self.format == "gemini" and ("alt", "sse") not in parse_qsl(self.query)


def read_call(
    format: str,
    action: Action,
    body: bytes,
    headers: Mapping[str, str],
    query: str = "",
    method: str = "",
    *,
    sent: bytes | None = None,
) -> Call:
    """Read a request; Gemini's model and method are in the path: `gemini-3.8-flash:countTokens`.

    Raises:
        ParseError: the body is not a JSON object, or names no model.
    """
    fields = read_fields(body)
    if format == "gemini":
        model, _, name = method.rpartition(":")
        if "" in model.split("/") or leads_elsewhere(model):
            raise ParseError("model: a name is required")  # it would lead to another path
        action, streams = METHODS[name]
        path = f"/models/{quote(model)}:{name}"
    else:
        named = value_of(fields, "model")
        if not isinstance(named, str) or not named:
            raise ParseError("model: a name is required")
        model, streams, path = named, value_of(fields, "stream") is True, PATHS[format, action]
    sent = body if sent is None else sent
    return Call(format, action, model, streams, path, query, headers, body, fields, sent)


def with_body(call: Call, body: bytes, changes: Iterable[Change]) -> Call:
    """Return a call with another body, and the changes that led to it."""
    headers = {name: value for name, value in call.headers.items() if name != "content-encoding"}
    return replace(
        call,
        body=body,
        sent=body,
        fields=read_fields(body),
        headers=headers,
        changes=(*call.changes, *changes),
    )


def require_translatable(call: Call) -> None:
    """Refuse what no other API has, and a request in the form of another API than that of its path.

    Some clients mix these up.

    Raises:
        ProviderError: it asks for a compaction.
        ParseError: it says nothing in its own API, and something in another.
        UsageError: no answer can bear the name of its model.
    """
    require_names(call.model, None, 0)
    if call.action == "compact":
        raise ProviderError("only OpenAI has this path", kind="not_found", status=404)
    own = turns_of(call.format)
    others = [name for name in TURNS if name in call.fields]
    if others and own not in others:
        takes = TURNS[others[0]]
        raise ParseError(f"{own}: required field is missing", hint=f"{takes} `{others[0]}`")


def api_asked(path: str, headers: Mapping[str, str]) -> str:
    """Return the API that a call belongs to: OpenAI's and Anthropic's have the same paths."""
    if path.startswith(("/v1beta", UPLOADS)) or "x-goog-api-key" in headers:
        return "gemini"
    return "anthropic" if "anthropic-version" in headers else "openai-chat"


def other_call(
    format: str, method: str, path: str, headers: Mapping[str, str], query: str, body: bytes
) -> Call:
    """Return a call that passes as it is; `path` is as the client wrote it."""
    below = path if format == "anthropic" else path.removeprefix("/v1beta").removeprefix("/v1")
    return Call(format, "other", "", False, below, query, headers, body, {}, body, method)


def leads_elsewhere(path: str) -> bool:
    """Whether a path may lead out of the API, on any server: some decode before they split."""
    steps = SLASHES.split(unquote(path))
    return not {".", ".."}.isdisjoint(step.partition(";")[0] for step in steps)


def value_of(fields: Mapping[str, Raw], name: str) -> Any:
    """Return the value of a field; None if there is none, or it cannot be read."""
    try:
        return decode_json(fields[name]) if name in fields else None
    except (msgspec.DecodeError, RecursionError):
        return None


def headers_in(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers of a request by their names; several with one name are one list.

    `dict(request.headers)` would keep one of them, and search all of them for each.
    """
    headers: dict[str, str] = {}
    for raw_name, raw_value in pairs:
        name, value = raw_name.decode("latin-1"), header_text(raw_value)
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def header_text(raw: bytes) -> str:
    """Return a header's value: UTF-8, as it is sent on, or else Latin-1."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")
