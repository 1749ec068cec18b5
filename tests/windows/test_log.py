"""Where a place is among sorted indexes."""

import pytest

from contextwright.windows.log import first_from, last_before


@pytest.mark.parametrize(
    ("indexes", "place", "before", "since"),
    [
        ([], 3, None, None),
        ([3, 5], 2, None, 3),
        ([3, 5], 3, None, 3),
        ([3, 5], 4, 3, 5),
        ([3, 5], 5, 3, 5),
        ([3, 5], 6, 5, None),
    ],
)
def test_the_index_before_and_since(
    indexes: list[int], place: int, before: int | None, since: int | None
) -> None:
    assert (last_before(indexes, place), first_from(indexes, place)) == (before, since)
