"""What formats of files share."""

import pytest

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
