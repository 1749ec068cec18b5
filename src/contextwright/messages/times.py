"""The times of messages."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from contextwright.errors import UsageError, require, shown

EARLIEST, LATEST = datetime(1, 1, 3, tzinfo=UTC), datetime(9999, 12, 29, tzinfo=UTC)
"""Times between these can be written in every time zone; others overflow in some."""
LEAP_SECOND = re.compile(r"(?<=:\d\d):60")
END_OF_DAY = re.compile(r"(?<=\d[T ])24(?=(?::?00){0,2}(?:[.,]0+)?(?:Z|[+-]|$))")
"""The hour of the midnight at the end of a day, which Python reads from 3.13 on."""


def read_time(spelling: str) -> datetime | None:
    """Parse ISO 8601, or a number of seconds as Slack writes it; None if it is neither.

    A time without a zone is UTC. One at an end of the calendar is no time.
    """
    require(spelling, str, "a time", "pass ISO 8601")
    try:
        moment = read_iso(spelling)
    except ValueError:
        try:
            moment = datetime.fromtimestamp(float(spelling), UTC)
        except (ValueError, OverflowError, OSError):
            return None
    moment = with_zone(moment)
    return moment if EARLIEST <= moment <= LATEST else None


def read_iso(spelling: str) -> datetime:
    """Parse ISO 8601, in lower case too, and a leap second as the second before it.

    Raises:
        ValueError: it is not ISO 8601.
    """
    try:
        return datetime.fromisoformat(spelling)
    except ValueError:
        text, ended = END_OF_DAY.subn("00", LEAP_SECOND.sub(":59", spelling.upper()))
    try:
        return datetime.fromisoformat(text) + timedelta(days=ended)
    except OverflowError:
        raise ValueError("the day after it is beyond the calendar") from None


def with_zone(moment: datetime) -> datetime:
    """Return a time with a zone, so that times can be compared; without one it is UTC."""
    require(moment, datetime, "a time", "pass a datetime")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def require_time(moment: datetime) -> datetime:
    """Return a time with a zone that can be written in every other zone; without one it is UTC.

    Raises:
        UsageError: it is at an end of the calendar.
    """
    moment = with_zone(moment)
    if EARLIEST <= moment <= LATEST:
        return moment
    hint = f"{EARLIEST.date()} to {LATEST.date()}"
    raise UsageError(f"the time {moment.isoformat()} is at an end of the calendar", hint=hint)


def as_time(moment: datetime | str | None) -> str | None:
    """Return a datetime as ISO 8601, and a string unchanged."""
    if moment is None or isinstance(moment, str):
        return moment
    if not isinstance(moment, datetime):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"a time cannot be {shown(moment)}", hint="pass a datetime or ISO 8601")
    return moment.isoformat()


def utc_text(moment: datetime, timespec: str = "auto") -> str:
    """Return a time in UTC as ISO 8601 with a final Z."""
    return moment.astimezone(UTC).isoformat(timespec=timespec).replace("+00:00", "Z")


def now_text() -> str:
    """Return the time, as messages and rows have it."""
    return utc_text(datetime.now(UTC), "seconds")
