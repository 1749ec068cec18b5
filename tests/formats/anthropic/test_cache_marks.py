"""Cache breakpoints of a Messages request, wherever they are."""

from collections.abc import Iterator
from copy import deepcopy
from itertools import compress, product
from typing import Any

import pytest

import contextwright as cw
from samples.formats.anthropic import CALL, LONG_MARK, MARK, TOOL, body, text

RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": [text("d"), text("e")]}
REQUEST = body(
    ("user", [text("a")]),
    ("assistant", [text("b"), CALL]),
    ("user", [RESULT, text("c")]),
    system=[text("r"), text("s")],
    tools=[TOOL, {**TOOL, "name": "g"}],
)
PLACES = (
    "tools[0]",
    "tools[1]",
    "system[1]",
    "messages[0].content[0]",
    "messages[2].content[0].content[1]",
    "messages[2].content[0]",
    "cache_control",
)
"""In the order of the prompt; the last is the automatic one, at the end of all."""


def objects(value: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(value, dict):
        yield path or "cache_control", value
        for key, inner in value.items():
            yield from objects(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from objects(inner, f"{path}[{index}]")


def marks(request: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The breakpoints of a request by their places, in the order of the prompt."""
    found = {path: one["cache_control"] for path, one in objects(request) if "cache_control" in one}
    return {place: found[place] for place in PLACES if place in found}


def unmarked(request: dict[str, Any]) -> dict[str, Any]:
    request = deepcopy(request)
    for _, one in objects(request):
        one.pop("cache_control", None)
    return request


@pytest.mark.parametrize("lifetimes", [(MARK, MARK), (LONG_MARK, MARK), (MARK, LONG_MARK)])
def test_marks_at_any_places(lifetimes: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """At most four stay: the ends of tools and system, then the newest; long-lived ones first."""
    for chosen in product((False, True), repeat=len(PLACES)):
        request = deepcopy(REQUEST)
        holders = dict(objects(request))
        given = list(compress(PLACES, chosen))
        for number, place in enumerate(given):
            holders[place].update(lifetimes[number * 2 >= len(given)])
        made = cw.convert(request, "anthropic", "anthropic")
        after, before = marks(made.payload), marks(request)

        ends = [[one for one in given if one.startswith(part)][-1:] for part in ("tools", "system")]
        others = [place for place in given if [place] not in ends]
        room = min(4 - sum(map(len, ends)), len(others))
        expected = {*sum(ends, []), *others[len(others) - room :]}
        assert set(after) == expected

        lived = [mark.get("ttl") for mark in after.values()]
        kept = [before[place].get("ttl") for place in after]
        short = kept.index(None) if None in kept else len(kept)
        assert lived == kept[:short] + [None] * (len(kept) - short)

        lost = [("loss.cache_mark", place) for place in given if place not in expected]
        shortened = [place for place in after if after[place] != before[place]]
        said = [(one.code, one.path) for one in made.changes]
        assert said == lost + [("repair.cache_mark", place) for place in shortened]
        assert unmarked(made.payload) == unmarked(request)
        assert cw.check(made.payload, "anthropic") == []
