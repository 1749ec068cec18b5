"""Periods: which times lie in them, and how far others are."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwright.recall.dates.periods import days_from, overlaps, periods
from contextwright.recall.dates.words import lexicon

NOW = datetime(2023, 11, 15, 14, 30, tzinfo=UTC)
"""A Wednesday."""

KYIV = ZoneInfo("Europe/Kyiv")


def test_a_day_is_the_day_of_whoever_asks() -> None:
    [yesterday] = periods("yesterday", NOW.astimezone(KYIV))
    assert overlaps(yesterday, "2023-11-13T22:30:00Z")
    assert overlaps(yesterday, "2023-11-14T00:30:00+02:00")
    assert not overlaps(yesterday, "2023-11-14T22:30:00Z")


@pytest.mark.parametrize(
    ("phrase", "sent_at", "expected"),
    [
        ("7 May 2023", "2023-05-07", True),
        ("7 May 2023", "2023-05-07T23:59:59", True),
        ("7 May 2023", "2023-05-08T00:00:00Z", False),
        ("7 May 2023", "2023-05-08T00:30:00+02:00", True),
        ("7 May 2023", datetime(2023, 5, 7, 12), True),
        ("7 May 2023", "1683460800", True),
        ("7 May 2023", "some day", False),
        ("7 May 2023", None, False),
        ("before 7 May 2023", "1999-01-01", True),
        ("after 7 May 2023", "2023-05-08", True),
        ("after 7 May 2023", "2023-05-07", False),
        ("in May", "1999-05-31T23:00:00", True),
        ("in May", "1999-06-01", False),
        ("in winter", "2020-01-15", True),
        ("in winter", "2020-02-29", True),
        ("in winter", "2020-03-01", False),
        ("in December", "2020-12-31", True),
        ("in December", "2020-01-01", False),
        ("29 February", "2020-02-29", True),
        ("29 February", "2021-02-28", False),
    ],
)
def test_overlaps(phrase: str, sent_at: str | datetime | None, expected: bool) -> None:
    [period] = periods(phrase, None)
    assert overlaps(period, sent_at) is expected


@pytest.mark.parametrize(
    ("phrase", "sent_at", "expected"),
    [
        ("7 May 2023", "2023-05-07T12:00:00", 0),
        ("7 May 2023", "2023-05-08T12:00:00", 0.5),
        ("7 May 2023", "2023-05-06T12:00:00+00:00", -0.5),
        ("7 May 2023", "2024-05-07", 365),
        ("7 May 2023", "some day", None),
        ("7 May 2023", None, None),
        ("since 7 May 2023", "2030-01-01", 0),
        ("since 7 May 2023", "2023-05-06", -1),
        ("before 7 May 2023", "2023-05-09", 2),
        ("7 May", "1999-05-10", 2),
        ("7 May", "1999-05-05", -2),
        ("in December", "2020-01-03", 2),
        ("in winter", "2020-11-29", -2),
    ],
)
def test_days_from(phrase: str, sent_at: str | None, expected: float | None) -> None:
    [period] = periods(phrase, None)
    days = days_from(period, sent_at)
    assert days == (
        None if expected is None else pytest.approx(expected, abs=1 if period.yearly else 0)
    )


WORDS = sorted(lexicon()) + "7 31 99 2023 1900 007 0 99999 , . / - th : \u200f ٣ 年 月".split()

PHRASES = st.lists(st.sampled_from(WORDS) | st.text(max_size=5), max_size=30).map(" ".join)
TIGHT = st.lists(st.sampled_from(WORDS), max_size=30).map("".join)
ZONES = st.sampled_from([None, UTC, KYIV, timezone(timedelta(hours=-12))])

MOMENTS = st.datetimes(timezones=ZONES) | st.sampled_from(
    [datetime.min, datetime.max, datetime(2024, 2, 29), datetime(9, 3, 1, tzinfo=UTC)]
)


@given(st.text() | PHRASES | TIGHT, st.none() | MOMENTS, MOMENTS)
def test_any_text_is_read(question: str, now: datetime | None, sent_at: datetime) -> None:
    found = periods(question, now)
    assert periods(question, now) == found
    for period in found:
        assert period.start is not None or period.end is not None
        if period.start and period.end:
            assert period.start < period.end
        assert 0 < period.certainty <= 1
        assert len(period.said) <= 200
        assert not (period.yearly and now)
        assert days_from(period, sent_at) == 0 or not overlaps(period, sent_at)
