"""Files that providers take as they are: batches of requests, and examples for fine-tuning."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec import Struct

from contextwright import formats
from contextwright.errors import ContextwrightError, UnknownFormat, shown
from contextwright.messages.changes import Change
from contextwright.models import Model

__all__ = ["TARGETS", "Target", "find_target"]

Wrap: TypeAlias = Callable[[str, Any, str], Any]
"""Returns the row of a file, from the row's id, the payload and the payload's format."""

ANTHROPIC_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ENDPOINTS = {"openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses"}
STREAMING = ("stream", "stream_options")


class Target(Struct, frozen=True, kw_only=True):
    """A kind of file: the formats of its payloads, what is around each, and its limits."""

    formats: tuple[str, ...]
    """The formats it takes; the first one unless the model's own is among the others."""
    wrap: Wrap | None = None
    """None: a row is the payload itself."""
    dropped: tuple[str, ...] = ()
    """Fields of a request that the file may not have."""
    allowed: tuple[str, ...] = ()
    """The only fields of a request that the file may have; empty: all but `dropped`."""
    max_rows: int | None = None
    max_bytes: int | None = None
    head: bytes = b""
    between: bytes = b"\n"
    foot: bytes = b"\n"

    has_ids: bool = False
    """Whether each row has an id."""
    has_one_model: bool = False
    """Whether all rows of a file have to be for one model."""

    def format_for(self, model: Model | None) -> str:
        """Return the format of the payloads for a model."""
        own = model.format if model is not None else ""
        return own if own in self.formats else self.formats[0]

    def row(self, id: str, payload: Any, format: str) -> tuple[Any, tuple[Change, ...]]:
        """Return the row for a payload, and a change for each field it may not have.

        Raises:
            ContextwrightError: the provider would refuse the row.
        """
        if self.wrap is None:
            return payload, ()
        kept = {field: value for field, value in payload.items() if self.takes(field)}
        changes = tuple(
            Change("loss.setting", field, "not allowed in such a file")
            for field in payload
            if field not in kept and field != "model"  # which is named when the file is uploaded
        )
        return self.wrap(id, kept, format), changes

    def takes(self, field: str) -> bool:
        """Whether a request in the file may have this field."""
        return field not in self.dropped and (not self.allowed or field in self.allowed)


def openai_batch(id: str, payload: Any, format: str) -> Any:
    """Return a request for OpenAI's Batch API."""
    return {"custom_id": id, "method": "POST", "url": ENDPOINTS[format], "body": payload}


def anthropic_batch(id: str, payload: Any, format: str) -> Any:
    """Return a request for Anthropic's Message Batches."""
    if not ANTHROPIC_ID.fullmatch(id):
        raise ContextwrightError(
            f"{shown(id)} is not a valid custom_id",
            hint="1 to 64 letters, digits, hyphens and underscores",
        )
    return {"custom_id": id, "params": payload}


def gemini_batch(id: str, payload: Any, format: str) -> Any:
    """Return a request for a Gemini batch."""
    return {"key": id, "request": payload}


def openai_example(id: str, payload: Any, format: str) -> Any:
    """Return an example for OpenAI's supervised fine-tuning: messages and tools alone."""
    messages = payload["messages"]
    if not messages or messages[-1].get("role") != "assistant":
        raise ContextwrightError(
            "the conversation does not end with a reply", hint="an example teaches the last reply"
        )
    return payload


TARGETS: dict[str, Target] = {
    "openai-batch": Target(
        formats=tuple(ENDPOINTS),
        wrap=openai_batch,
        has_ids=True,
        has_one_model=True,
        dropped=STREAMING,
        max_rows=50_000,
        max_bytes=200_000_000,
    ),
    "openai-finetuning": Target(
        formats=("openai-chat",),
        wrap=openai_example,
        allowed=("messages", "tools", "parallel_tool_calls"),
    ),
    "anthropic-batch": Target(
        formats=("anthropic",),
        wrap=anthropic_batch,
        has_ids=True,
        dropped=STREAMING,
        max_rows=100_000,
        max_bytes=256_000_000,
        head=b'{"requests":[\n',
        between=b",\n",
        foot=b"\n]}\n",
    ),
    "gemini-batch": Target(
        formats=("gemini",), wrap=gemini_batch, has_ids=True, max_bytes=2_000_000_000
    ),
}
"""Kinds of files by name. A format's name is a target too: its payloads, one per line."""


def find_target(name: str) -> Target:
    """Return a kind of file by its name, or that of a format's payloads.

    Raises:
        UnknownFormat: there is neither a target nor a format of that name.
    """
    if isinstance(name, str) and name in TARGETS:  # pyright: ignore[reportUnnecessaryIsInstance]
        return TARGETS[name]
    if name not in formats.NAMES:
        raise UnknownFormat(name, (*formats.NAMES, *TARGETS))
    return Target(formats=(name,))
