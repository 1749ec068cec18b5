"""Readers of single dates in a question; `periods.py` combines them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from msgspec.structs import replace

from contextwright.recall.dates.spans import (
    DAY,
    INFERRED,
    SAID,
    VAGUE,
    DateMention,
    Span,
    unit_start,
)
from contextwright.recall.dates.words import (
    ENGLISH,
    JOINTS,
    UNSPACED,
    Word,
    folded,
    languages_in,
    next_date,
    row_of,
    words_of,
)

__all__ = ["Sentence", "read"]

DAYS, WEEKS, MONTHS, YEARS = 0, 1, 2, 3
"""The units, as the table of words numbers them."""
SATURDAY = 5
LATELY = 30
"""Days that count as recent."""
SHORT = ("current", "previous", "older")
"""Kinds of words that are a unit with "this", "last" or "before last"."""
HOURS = ((5, 12), (12, 18), (17, 24), (20, 30))
"""The hours of morning, afternoon, evening and night."""
NIGHT = 3
FEW = ((1, 3), (2, 6))
"""The ranges of "a couple" and "a few"."""
COMPANY = (
    *("in", "of", "between", "from", "since", "before", "after", "until", "upto", "last"),
    *("gone", "before_or_ago", "since_or_ago"),
)
"""After one of these, a doubtful word is a time."""
BEHIND = ("at", "gone", "earlier", "later", "onward")
"""Before one of these, a word is a time."""
BETWEEN = ("of", "whose", "in", "the")
"""Words between "every year" and the date that it repeats."""
ONE_MONTH = "一月"
"""January, or one month: 一月に三回 is "three times a month"."""
COUNTS = ("number", "few", "day", "count")
VERB = 2
"""Certainty of the name of a month that is also a verb."""
NUMERIC = ("day", "count", "year")


class Sentence:
    """The words of a question, the day it is asked, and the dates found so far."""

    def __init__(self, text: str, today: datetime | None, language: str = ENGLISH) -> None:
        self.text = text
        """The question, folded."""
        self.words, self.starts = words_of(text, language)
        self.today = today
        self.found: list[DateMention] = []

    def kind(self, place: int) -> str:
        """Return the kind of a word; empty beyond the ends."""
        return self.words[place].kind if 0 <= place < len(self.words) else ""

    def quote(self, first: int, after: int) -> str:
        """Return the words from one index to another, as they were written."""
        end = self.starts[after - 1] + len(self.words[after - 1].text)
        return " ".join(self.text[self.starts[first] : end].split())

    def company(self, place: int) -> bool:
        """Whether the words before make this a time: "in may", "in june and may"."""
        place -= self.kind(place - 1) == "the"
        kind = self.kind(place - 1)
        listed = bool(self.found) and self.found[-1].after == place - 1
        return kind in COMPANY or (listed and kind in JOINTS)

    def led(self, first: int, after: int) -> bool:
        """Whether the words around a date make it one: "in", a word behind it, "month of"."""
        before = self.words[first - 1] if first else Word("")
        around = before.kind == "this" or self.kind(after) in BEHIND
        return around or before.kind == "unit" or self.company(first)

    def repeated(self, first: int, unit: int) -> bool:
        """Whether a date comes again: "every Monday", 毎週月曜日, "every year in May".

        It comes again in each unit, or in each longer one: "every day in May" is in one May.
        """
        while self.kind(first - 1) in BETWEEN:
            first -= 1
        before = self.words[first - 1] if first else Word("")
        if before.kind in ("unit", "units", "annum") and unit_of(before) >= unit:
            first -= 1
        return self.kind(first - 1) == "every"

    def closed(self, place: int) -> bool:
        """Whether no noun follows: "the 7th" may be a floor, "in 2000" a number of words."""
        return self.kind(place) != "other word" or not self.words[place].text.isalpha()

    def counted(
        self, unit: int, most: int, least: int, certainty: float = SAID
    ) -> DateMention | None:
        """Return the span between two numbers of units ago; None without a today."""
        if self.today is None:
            return None
        start, end = (unit_start(unit, self.today, back) for back in (most, least - 1))
        return DateMention(span=Span(start, end, certainty))


def read(question: str, today: datetime | None) -> Sentence:
    """Find the dates in a question, from first to last, in the language that it is written in."""
    text = folded(question)
    sentences = (read_in(language, text, today) for language in languages_in(question))
    return next((one for one in sentences if one.found), Sentence(text, today))


def read_in(language: str, text: str, today: datetime | None) -> Sentence:
    """Find the dates in a folded question by the words of one language."""
    sentence = Sentence(text, today, language)
    row, place = row_of(sentence.words), 0
    while match := next_date(row, place):
        reader, first, after = match
        try:
            said = READERS[reader](sentence, first, after)
        except (ValueError, OverflowError):  # before or after the years that the calendar has
            said = None
        if said is not None:
            sentence.found.append(replace(said, first=first, after=after))
        place = first + 1 if said is None else after
    return sentence


def figures(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read 2023-05-07 and 07.05.2023; 5/7/2023 may be either."""
    one, mark, two, again, three = sentence.words[first:after]
    goes_on = sentence.kind(after) == mark.kind and sentence.kind(after + 1) in NUMERIC
    came_on = sentence.kind(first - 1) == mark.kind and sentence.kind(first - 2) in NUMERIC
    if mark.kind != again.kind or goes_on or came_on:  # 10.12.11.10 is not a day
        return None
    if one.kind == "year":
        certainty = VAGUE if mark.kind == "." and is_version(sentence, first) else SAID
        days = three.value, three.value
        return DateMention(year=one.value, month=two.value, days=days, certainty=certainty)
    short = three.kind == "day"
    if short and (len(three.text) < 2 or (mark.kind != "/" and len(one.text + two.text) < 4)):
        return None
    readings = [(one.value, two.value), (two.value, one.value)][: 1 + (mark.kind != ".")]
    known = [reading for reading in dict.fromkeys(readings) if reading[1] <= 12]
    certainty = VAGUE if short or len(known) > 1 else SAID
    said: DateMention | None = None
    for day, month in reversed(known):
        year = three.value + 2000 * short
        said = DateMention(year=year, month=month, days=(day, day), certainty=certainty, other=said)
    return said


def is_version(sentence: Sentence, first: int) -> bool:
    """Whether figures are of something: "version 2023.10.1", "v2023.10.1", "the 2023.10.1"."""
    before = sentence.words[first - 1] if first else Word("")
    is_noun = before.kind == "other word" and before.text.isalpha() and before.text < UNSPACED
    return before.kind == "the" or is_noun


def named(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read 7 May 2023, May 7th, 3-9 June, 5月7日, summer of last year, in May."""
    words = sentence.words[first:after]
    kinds = [word.kind for word in words]
    numbers = [word.value for word in words if word.kind in ("day", "ordinal", "number")]
    title = next((at for at, kind in enumerate(kinds) if kind in ("month", "season")), None)
    year = year_of(sentence, words)
    if year == 0 or (year is None and sentence.repeated(first, YEARS)):
        return None
    if title is None:
        month, *days = numbers
        return DateMention(year=year, month=month, days=(days[0], days[0]) if days else None)
    if words[title].doubtful and not trusted(sentence, first, after, title):
        return None
    over = sentence.kind(first - 1) == "last" or kinds[0] == "gone" or kinds[-1:] == ["gone"]
    over = over and year is None
    days = (numbers[0], numbers[-1]) if numbers else None
    led = sentence.led(first, after) and not is_month_long(sentence, first, after)
    is_sure = year or days or over or led
    certainty = SAID if is_sure else VAGUE
    if kinds[title] == "month":
        month = words[title].value + 1
        return DateMention(year=year, month=month, days=days, over=over, certainty=certainty)
    said = DateMention(year=year, month=words[title].value * 3 or 12, months=3, over=over)
    if year and said.month == 12:  # "winter 2022" began in that year or ended in it
        other = replace(said, year=year - 1, certainty=INFERRED)
        return replace(said, certainty=INFERRED, other=other)
    return replace(said, certainty=certainty)


def is_month_long(sentence: Sentence, first: int, after: int) -> bool:
    """Whether a number of times follows what may be one month."""
    number = after + (sentence.kind(after) == "at")
    is_count = sentence.kind(number) in COUNTS and sentence.kind(number + 1) == "times"
    return is_count and sentence.quote(first, after) == ONE_MONTH


def trusted(sentence: Sentence, first: int, after: int, title: int) -> bool:
    """Whether a word like "may" is a month here: a year, a day or a word next to it decides."""
    words = sentence.words[first:after]
    kinds, verb = [word.kind for word in words], words[title].doubtful == VERB
    if kinds[0] in ("year", "years", "this", "last"):  # "in 2022, may I"
        return sentence.company(first + title) or kinds[title - 1] == "whose"
    if sentence.kind(first - 1) == "this":  # "this may be", but "this fall we"
        return not verb or sentence.closed(after)
    if sentence.company(first) or {"of", "year", "years", "unit", "gone"} & set(kinds):
        return True
    if sentence.kind(after) in BEHIND:
        return True
    # "5 June", "May 7th" and "5 May?" are days, "may 5 people" and "the 5th may be" are not.
    ended = not sentence.words[after : after + 1] or not sentence.words[after].text.isalnum()
    return kinds[-1] == "suffix" or (len(words) > 1 and (ended or not verb))


def year_of(sentence: Sentence, words: list[Word]) -> int | None:
    """Return the year among the words; None if there is none, 0 if it cannot be known."""
    around = zip([Word(""), *words], words, [*words[1:], Word("")], strict=False)
    for before, word, following in around:
        if word.kind == "year":
            return word.value
        unit = before if word.kind == "gone" else following
        if word.kind == "years" or (word.kind in ("last", "this", "gone") and unit.kind == "unit"):
            known = sentence.today and (word.kind == "years" or unit.value == YEARS)
            back = word.value if word.kind == "years" else int(word.kind != "this")
            return max(sentence.today.year - back, 0) if sentence.today and known else 0
    return None


def ago(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read two weeks ago, a few days ago, тиждень тому."""
    *amount, unit, _ = sentence.words[first:after]
    least, most = amount_of(amount) or ((1, 1) if unit.kind == "unit" else FEW[1])
    return sentence.counted(unit_of(unit), most, least, SAID if least == most else VAGUE)


def back(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read vor zwei Wochen, hace un año, منذ أسبوعين."""
    _, *amount, unit = sentence.words[first:after]
    if unit.kind == "pair":
        return sentence.counted(unit.value, 2, 2)
    least, most = amount_of(amount) or ((1, 1) if unit.kind == "unit" else FEW[1])
    return sentence.counted(unit_of(unit), most, least, SAID if least == most else VAGUE)


def past(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read the last two weeks, the past few days, les deux dernières semaines: up to now."""
    words = sentence.words[first:after]
    amount = [word for word in words if word.kind not in ("unit", "units", "annum")]
    unit = next(word for word in words if word.kind in ("unit", "units", "annum"))
    _, most = amount_of(amount) or FEW[1]
    said = sentence.counted(unit_of(unit), most, 1)
    if said is None or said.span is None or sentence.today is None:
        return None
    return DateMention(span=replace(said.span, end=sentence.today + DAY))


def amount_of(words: list[Word]) -> tuple[int, int] | None:
    """Return the minimum and maximum of a number."""
    numbers = [word for word in words if word.kind in COUNTS]
    if not numbers:
        return None
    last = numbers[-1]
    return FEW[last.value] if last.kind == "few" else (last.value, last.value)


def unit_of(word: Word) -> int:
    """Return days, weeks, months or years; 日 is a day as well as an ending."""
    return YEARS if word.kind == "annum" else word.value  # of an ending it is 0


def calendar(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read yesterday, last week, la semaine dernière, 先週, the week before last."""
    words = sentence.words[first:after]
    if len(words) == 1 and words[0].kind == "relative":
        return sentence.counted(DAYS, words[0].value, words[0].value)
    if len(words) == 3:
        return sentence.counted(words[0].value, 2, 2)
    unit, back = unit_back(words)
    # The last day of something is not yesterday.
    return None if unit == DAYS else sentence.counted(unit, back, back)


def unit_back(words: list[Word]) -> tuple[int, int]:
    """Return the unit of last week or 先週, and how many units ago it was."""
    for word in words:
        if word.kind in SHORT:
            return word.value, SHORT.index(word.kind)
    unit = next(word.value for word in words if word.kind == "unit")
    return unit, int(all(word.kind != "this" for word in words))


def within(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read 先週の金曜日, letzte Woche Freitag: a day of a week."""
    *words, day = sentence.words[first:after]
    unit, back = unit_back(words)
    week = sentence.counted(unit, back, back) if unit == WEEKS else None
    if week is None or week.span is None:
        return None
    start = week.span.start + day.value * DAY
    return DateMention(span=Span(start, start + DAY))


def part(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read this morning, last night, la nuit dernière, вчора ввечері."""
    words = sentence.words[first:after]
    hours = next((word.value for word in words if word.kind == "part"), NIGHT)
    word = next((word for word in words if word.kind in ("relative", "this")), None)
    back = 1 if word is None else word.value
    day = sentence.counted(DAYS, back, back)
    if day is None or day.span is None:
        return None
    start, end = (day.span.start + timedelta(hours=hour) for hour in HOURS[hours])
    return DateMention(span=Span(start, end))


def weekday(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read on Monday, last Friday: the latest one."""
    word, before = sentence.words[first], sentence.kind(first - 1)
    led = sentence.led(first, after)
    if sentence.today is None or (word.doubtful and not led) or sentence.repeated(first, DAYS):
        return None
    back = (sentence.today.weekday() - word.value) % 7
    if back == 0 and (before in ("last", "gone") or sentence.kind(after) == "gone"):
        back = 7
    return sentence.counted(DAYS, back, back, INFERRED if led else VAGUE)


def weekend(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read last weekend, am Wochenende: the latest one; on a weekend, the last one is before it."""
    before, led = sentence.kind(first - 1), sentence.led(first, after)
    if sentence.today is None or sentence.repeated(first, DAYS):
        return None
    back = (sentence.today.weekday() - SATURDAY) % 7
    if before == "this" and back > 1:
        return None  # it is the coming one
    if back < 2 and (before in ("last", "gone") or sentence.kind(after) == "gone"):
        back += 7
    return sentence.counted(DAYS, back, back - 1, INFERRED if led else VAGUE)


def year(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read in 2022, 2022 року, торік."""
    word, *units = sentence.words[first:after]
    number = year_of(sentence, [word])
    if not number:
        return None
    said = DateMention(year=number, month=1, months=12)
    if word.kind == "years" or (units and unit_of(units[0]) == YEARS):
        return said
    if not sentence.led(first, after):
        return None
    return said if sentence.closed(after) else replace(said, certainty=VAGUE)


def monthday(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read on the 7th: the latest one."""
    today = sentence.today
    of = sentence.kind(after) == "of"
    if today is None or not sentence.closed(after) or sentence.repeated(first, MONTHS):
        return None
    if sentence.kind(after + of) == "month":
        return None  # "on the 5th of May" is a day of May
    day = next(word.value for word in sentence.words[first:after] if word.kind == "day")
    for back in range(today.month + 12):
        years, month = divmod(today.month - 1 - back, 12)
        span = DateMention(month=month + 1, days=(day, day)).in_year(today.year + years)
        if span and span.start <= today:
            return DateMention(span=replace(span, certainty=INFERRED))
    return None


def lately(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read recently, the other day."""
    if after - first == 1:
        return sentence.counted(DAYS, LATELY, 0, VAGUE)
    unit = sentence.words[after - 1].value
    return sentence.counted(unit, 6 if unit == DAYS else 3, 1, VAGUE)


READERS: dict[str, Callable[[Sentence, int, int], DateMention | None]] = {
    reader.__name__: reader
    for reader in (
        *(figures, named, ago, back, past, within, calendar),
        *(part, weekday, weekend, year, monthday, lately),
    )
}
"""The reader of each rule in `words.RULES`; if it refuses, a shorter rule is tried."""
