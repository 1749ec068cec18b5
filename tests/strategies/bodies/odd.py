"""Requests with an odd value, or without one, in any place."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import contextwright as cw
from fuzzing.readers import MODELS, result_of
from golden_files import compare_digests
from samples.native import PAYLOADS
from strategies.bodies import fixed_bodies

PROTO = {"type": "OBJECT", "properties": {"a": {"type": "STRING", "nullable": True}}}
FUNCTIONS = [
    {"name": "f", "parameters": PROTO, "response": PROTO},
    {"name": "g", "parametersJsonSchema": {"type": "object"}, "responseJsonSchema": {}},
]
ASKED = {"parts": [{"text": "hi"}]}
MORE: dict[str, list[dict[str, Any]]] = {
    "gemini": [{"contents": [ASKED], "tools": [{"functionDeclarations": FUNCTIONS}]}],
}
GONE = object()


def places(value: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every place of a request; the items of a list are told apart by their types only."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        kind = item.get("type", "") if isinstance(item, dict) else ""
        place = f"{path}.{key}" if isinstance(value, dict) else f"{path}[{kind}]"
        yield place, value, key
        if isinstance(item, dict | list):
            yield from places(item, place)


def odd_values(value: Any) -> Iterator[Any]:
    """Null, a value of another type, and none at all."""
    yield None
    yield 7 if isinstance(value, str | dict | list) else {"a": "b"}
    yield GONE


def odd_requests(api: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Requests with one odd value, each kind of place once."""
    seen: set[str] = set()
    for body in (PAYLOADS[api], *MORE.get(api, []), *fixed_bodies(api, 40)):
        body = deepcopy(body)
        new = {place: at for place, *at in places(body) if place not in seen}
        seen |= new.keys()
        for place, (holder, key) in new.items():
            kept = holder[key]
            for odd in odd_values(kept):
                if odd is not GONE:
                    holder[key] = odd
                elif isinstance(holder, dict):
                    del holder[key]
                yield place, body
            holder[key] = kept


def compare_odd_requests(api: str) -> None:
    """What becomes of requests with one odd value, as golden digests have it."""

    def outcome(body: dict[str, Any]) -> list[object]:
        read = result_of(cw.parse, body, api)
        refused = result_of(cw.parse, body, api, strict=True)
        written = result_of(cw.render, read, api, model=MODELS[api])
        return [read, refused if isinstance(refused, Exception) else None, written]

    numbered = enumerate(odd_requests(api))
    compare_digests(f"places-{api}", (((n, place), outcome(b)) for n, (place, b) in numbered))
