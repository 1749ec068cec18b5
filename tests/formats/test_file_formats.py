"""What formats of files share."""

from typing import Any

import pytest

import contextwright as cw
from contextwright.formats.file_formats import iso_time


@pytest.mark.parametrize(
    ("spelling", "time"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05+02:00", "2026-01-02T03:04:05+02:00"),
        ("2026-01-02t03:04:05z", "2026-01-02t03:04:05z"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:60Z"),
        ("2026-01-02 03:04:05+02:00", "2026-01-02T03:04:05+02:00"),
        ("2026-01-02T03:04:05 Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05", "2026-01-02T03:04:05Z"),
        ("2026-01-02", "2026-01-02T00:00:00Z"),
        ("1767323045.000200", "2026-01-02T03:04:05.000200Z"),
        ("yesterday", None),
        ("", None),
    ],
)
def test_times_are_iso_8601_with_a_zone(spelling: str, time: str | None) -> None:
    assert iso_time(spelling) == time


SIGNED = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
FILES = ("aya", "forge", "gryag", "port42")
FIELDS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"pinned": True}, ["pinned"]),
    ({"kind": "summary"}, ["kind"]),
    ({"kind": "note", "pinned": True}, ["kind", "pinned"]),
    ({"kind": "event", "visibility": "internal"}, []),  # the whole message is reported
]


@pytest.mark.parametrize("format", FILES)
@pytest.mark.parametrize(("fields", "lost"), FIELDS)
def test_a_file_names_the_fields_that_only_we_have(
    format: str, fields: dict[str, Any], lost: list[str]
) -> None:
    rendered = cw.render([cw.user("q"), cw.user("what was said", **fields)], format)
    reported = [str(change) for change in rendered.changes if change.code == "loss.envelope"]
    assert reported == [
        f"loss.envelope messages[].{field}: {format} has no place for it" for field in lost
    ]


LOST: list[tuple[str, str, Any, list[str]]] = [
    (
        "port42",
        "forge",
        {"id": "s", "agent": "a", "messages": [], "metadata": {"model": "m"}},
        ["loss.setting agent: port42 only", "loss.setting metadata: port42 only"],
    ),
    (
        "openai-chat",
        "forge",
        {"messages": [], "metadata": {"k": "v"}, "temperature": 0.5},
        [
            "loss.setting temperature: forge has no settings",
            "loss.setting metadata: forge has no settings",
        ],
    ),
    (
        "anthropic",
        "forge",
        [{"role": "assistant", "content": [SIGNED]}],
        ["loss.signature messages[0].parts[0]: forge has no place for it; the thinking stays"],
    ),
    (
        "openai-chat",
        "gryag",
        [{"role": "user", "content": "hi"}, {"role": "system", "content": "Be brief."}],
        [
            "repair.system messages[1]: "
            "gryag takes no system message here; sent as a marked user note"
        ],
    ),
]


@pytest.mark.parametrize(("source", "target", "data", "changes"), LOST)
def test_every_loss_has_a_change(source: str, target: str, data: Any, changes: list[str]) -> None:
    assert list(map(str, cw.convert(data, source, target).changes)) == changes
