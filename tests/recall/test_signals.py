"""The signals of messages, by their definitions."""

from datetime import UTC, datetime, timedelta
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.recall.dates.periods import Period
from contextwright.recall.outline import Outline
from contextwright.recall.questions import parse_question
from contextwright.recall.signals import MIN_DATE_FIT, DateFit, Signals, TermMatches, signals_of
from samples.recall import START, outline_of


class Definition:
    """What the signals of words are, message by message and word by word."""

    def __init__(self, found: list[TermMatches], outline: Outline, length: int) -> None:
        self.weights = {one.term: one.weight for one in found}
        self.terms = {
            number: {one.term for one in found if number in one.numbers}
            for number in range(-2, length + 3)
        }
        self.outline = outline

    def share(self, terms: set[str], number: int) -> float:
        size = self.outline.size(number)
        discount = 1 / (1 + 0.3 * log(size / 240)) if size > 240 else 1
        whole = sum(self.weights.values())
        return sum(self.weights[term] for term in terms) / whole * discount if terms else 0

    def words(self, number: int) -> float:
        return self.share(self.terms[number], number)

    def beside(self, number: int) -> float:
        have = set(self.terms[number])
        total = 0.53 * self.words(number)
        for step, counts in ((-1, 0.36), (1, 0.36), (-2, 0.22), (2, 0.22)):
            total += counts * self.share(self.terms[number + step] - have, number + step)
            have |= self.terms[number + step]
        return total

    def around(self, number: int, session: list[int]) -> float:
        near = {other: 1 - abs(other - number) / 6 for other in session if abs(other - number) < 6}
        return sum(near[other] * self.words(other) for other in near) / sum(near.values())


@st.composite
def talks(draw: st.DrawFn) -> tuple[list[cw.Message], list[list[int]]]:
    """Messages, short and long, and the numbers of those of each session."""
    messages: list[cw.Message] = []
    sessions: list[list[int]] = [[]]
    at = START
    for number in range(1, draw(st.integers(2, 16)) + 1):
        pause = draw(st.sampled_from([1, 1, 1, 3_599, 3_601])) if messages else 0
        at += timedelta(seconds=pause)
        if pause > 3_600:
            sessions.append([])
        sessions[-1].append(number)
        text = "x" * draw(st.sampled_from([1, 240, 241, 900]))
        messages.append(cw.user(text, sent_at=at))
    return messages, sessions


@given(talks(), st.data())
def test_signals_of_words(
    talk: tuple[list[cw.Message], list[list[int]]], data: st.DataObject
) -> None:
    messages, sessions = talk
    numbers = st.frozensets(st.integers(1, len(messages)), min_size=1)
    weights = st.sampled_from([0.5, 1.0, 2.5])
    found = [TermMatches(term, data.draw(weights), data.draw(numbers)) for term in "abc"]
    outline = outline_of(messages)
    define = Definition(found, outline, len(messages))
    signals = signals_of(parse_question("", ()), found, {}, outline, limit=100)
    assert [number for number, _, _ in signals] == [*range(1, len(messages) + 1)]
    for number, _, found_signals in signals:
        session = next(some for some in sessions if number in some)
        assert found_signals == pytest.approx(
            Signals(
                words=define.words(number),
                beside=define.beside(number),
                around=define.around(number, session),
                session=max(map(define.words, session)),
            )
        )


DAY, NEXT = datetime(2023, 5, 7, tzinfo=UTC), datetime(2023, 5, 8, tzinfo=UTC)
MAY_7 = Period(DAY, NEXT, 1.0, "7 May 2023")
EVERY_MAY_7 = Period(DAY.replace(year=4), NEXT.replace(year=4), 1.0, "7 May", yearly=True)


@pytest.mark.parametrize(
    ("period", "days", "fit"),
    [
        (MAY_7, -0.1, 0.0),
        (MAY_7, 0, 1.0),
        (MAY_7, 1, 1.0),
        (MAY_7, 8, 0.5),
        (MAY_7, 15, 0.25),
        (EVERY_MAY_7, -0.1, 0.0),
        (EVERY_MAY_7, 0, 1.0),
        (EVERY_MAY_7, 8, 0.5),
        (Period(None, NEXT, 1.0, "until 7 May 2023"), -400, 1.0),
        (Period(DAY, None, 1.0, "since 7 May 2023"), 400, 1.0),
        (Period(DAY, None, 1.0, "since 7 May 2023"), -1, 0.0),
        (Period(DAY, NEXT, 0.5, "a Sunday"), 0, 0.5),
        (Period(DAY, NEXT, 0.49, "recently"), 0, 0.0),
    ],
)
def test_how_well_a_time_fits(period: Period, days: float, fit: float) -> None:
    """A time within a period fits, and less so with every week after it."""
    moment = DAY + timedelta(days=days)
    assert DateFit([period]).fit(int(moment.timestamp())) == pytest.approx(fit)


DAYS = frozenset(range(19_300, 19_400))
ends = st.none() | st.integers(19_310 * 86_400, 19_390 * 86_400).map(
    lambda seconds: datetime.fromtimestamp(seconds, UTC)
)


@given(st.lists(st.tuples(ends, ends, st.booleans()), max_size=3))
def test_days_that_are_not_near_do_not_fit(
    spans: list[tuple[datetime | None, datetime | None, bool]],
) -> None:
    """The days whose messages are ranked are the same as if every day were looked at."""
    times = DateFit([Period(*sorted_span(one, two), 1.0, "", yearly) for one, two, yearly in spans])
    near = times.candidate_days(DAYS)
    assert near <= DAYS
    assert {day for day in DAYS if times.fit(day * 86_400 + 86_399) >= MIN_DATE_FIT} <= near


def sorted_span(
    one: datetime | None, two: datetime | None
) -> tuple[datetime | None, datetime | None]:
    """A beginning and an end, in their order."""
    return (two, one) if one and two and two < one else (one, two)
