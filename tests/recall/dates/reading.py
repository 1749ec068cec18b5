"""The periods that a question names, in short: a day, its first and last day, how certain."""

from datetime import UTC, date, datetime, timedelta

from contextwright.recall.dates.periods import Period, periods

NOW = datetime(2023, 11, 15, 14, 30, tzinfo=UTC)
"""A Wednesday."""

SURE = {1.0: "", 0.8: " ~", 0.4: " ?"}


def written(period: Period) -> str:
    """A period in short: its first and its last day, with hours where it has them."""
    start, end = period.start, period.end
    if start and end and (start.hour or end.hour):
        return f"{start:%Y-%m-%d %H}..{end:%Y-%m-%d %H}{SURE[period.certainty]}"
    last = end and (end - timedelta(days=1)).date()
    first = start and start.date()
    days = f"{first}" if first == last else f"{spelled(first)}..{spelled(last)}"
    return days.replace("0004-", "*-").replace("0005-", "*-") + SURE[period.certainty]


def spelled(day: date | None) -> str:
    return "" if day is None else str(day)


def read(question: str, now: datetime | None = NOW) -> str:
    return ", ".join(written(period) for period in periods(question, now))


def rows(table: str) -> list[tuple[str, str]]:
    lines = [line.rpartition("=") for line in table.strip().splitlines()]
    return [(phrase.strip(), expected.strip()) for phrase, _, expected in lines]
