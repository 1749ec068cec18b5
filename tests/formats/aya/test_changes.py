"""What the changes of Aya's arrays say in words."""

import pytest

import contextwright as cw
from samples.formats.aya import NOON, said


@pytest.mark.parametrize(
    ("fields", "path", "reason"),
    [
        ({"timestamp": "soon"}, "[0].timestamp", "'soon' is not a time"),
        ({"timestamp": None}, "[0].timestamp", "None is not a time"),
        ({}, "[0].timestamp", "is missing"),
    ],
)
def test_a_time_that_is_none(fields: dict[str, str], path: str, reason: str) -> None:
    data = [{name: value for name, value in said().items() if name != "timestamp"} | fields]
    [change] = cw.parse(data, "aya").changes
    assert (change.code, change.path, change.reason) == ("loss.timestamp", path, reason)


@pytest.mark.parametrize(
    ("indexes", "path", "reason"),
    [
        ([2], "[0].index", "begins with 2; renumbered"),
        ([0, 2], "[1].index", "index 2 follows 0; renumbered"),
        ([0, 1, 4], "[2].index", "index 4 follows 1; renumbered"),
        ([0, 0], "[1].index", "index 0 occurs twice"),
    ],
)
def test_an_index_that_is_not_the_next(indexes: list[int], path: str, reason: str) -> None:
    """AYA-3."""
    data = [said(index) | {"timestamp": NOON} for index in indexes]
    [change] = cw.parse(data, "aya").changes
    assert (change.code, change.path, change.reason) == ("repair.index", path, reason)
