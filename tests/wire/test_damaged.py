"""What becomes of requests that lack an entry, have one twice, or have two in the wrong order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

import contextwright as cw
from fuzzing.readers import MODELS, bodies, result_of
from golden_files import compare_digests
from samples.native import PAYLOADS

ENTRIES = {
    "anthropic": "messages",
    "gemini": "contents",
    "openai-chat": "messages",
    "openai-responses": "input",
}
TARGETS = [*MODELS.items(), ("openai-chat", "mistral-large"), ("openai-responses", "gpt-4o")]
BLOCKS = ("content", "parts", "tool_calls", "summary")
MARKS = {
    "anthropic": {"cache_control": {"type": "ephemeral", "ttl": "1h"}},
    "openai-chat": {"prompt_cache_breakpoint": {"mode": "explicit"}},
    "openai-responses": {"prompt_cache_breakpoint": {"mode": "explicit"}},
}


def lists_in(body: dict[str, Any], format: str) -> Iterator[list[Any]]:
    """The entries of a request, and the lists in each."""
    entries = body[ENTRIES[format]]
    yield entries
    for entry in entries:
        yield from (entry[key] for key in BLOCKS if isinstance(entry.get(key), list))


def damaged(body: dict[str, Any], format: str) -> Iterator[dict[str, Any]]:
    """The request with one change at each place of each list."""
    yield body
    for number, found in enumerate(list(lists_in(body, format))):
        for index in range(len(found)):
            for kind in ("left out", "twice", "later", "marked"):
                other = deepcopy(body)
                items = list(lists_in(other, format))[number]
                if kind == "left out":
                    del items[index]
                elif kind == "twice":
                    items.insert(index, deepcopy(items[index]))
                elif kind == "later":
                    items.insert(index + 1, items.pop(index))
                else:
                    items[index].update(MARKS.get(format, {"text": "marked"}))
                yield other


@pytest.mark.parametrize("format", ENTRIES)
def test_what_becomes_of_damaged_requests(format: str) -> None:
    requests = [PAYLOADS[format], json.loads(bodies(format)[0])]
    found = (one for request in requests for one in damaged(request, format))
    compare_digests(f"damaged-{format}", ((body, outcome(body, format)) for body in found))


def outcome(body: dict[str, Any], format: str) -> list[object]:
    conversation = cw.parse(body, format)
    written = [result_of(cw.render, conversation, to, model=model) for to, model in TARGETS]
    return [cw.check(body, format), conversation, *written]
