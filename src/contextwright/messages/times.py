"""The times of messages."""

from __future__ import annotations

from datetime import UTC, datetime

from contextwright.errors import UsageError, shown


def read_time(spelling: str) -> datetime | None:
    """Parse ISO 8601, or a number of seconds as Slack writes it; None if it is neither.

    A time without a zone is UTC.
    """
    try:
        moment = datetime.fromisoformat(spelling)
    except ValueError:
        try:
            moment = datetime.fromtimestamp(float(spelling), UTC)
        except (ValueError, OverflowError, OSError):
            return None
    return with_zone(moment)


def with_zone(moment: datetime) -> datetime:
    """Return a time with a zone, so that times can be compared; without one it is UTC."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def as_time(moment: datetime | str | None) -> str | None:
    """Return a datetime as ISO 8601, and a string unchanged."""
    if moment is None or isinstance(moment, str):
        return moment
    if not isinstance(moment, datetime):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"a time cannot be {shown(moment)}", hint="pass a datetime or ISO 8601")
    return moment.isoformat()
