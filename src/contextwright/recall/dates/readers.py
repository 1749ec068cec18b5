"""Read single dates in a question; `periods.py` combines them.

There is one reader for each kind of rule in `words.RULES`. It gets the sentence and the indices of
the rule's first word and of the word after the last. It returns None if the words are no date.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from msgspec.structs import replace

from contextwright.recall.dates.sentences import (
    DAYS,
    MONTHS,
    TIME_WORDS_AFTER,
    WEEKS,
    YEARS,
    Sentence,
    unit_of,
)
from contextwright.recall.dates.spans import (
    CERTAIN,
    DAY,
    INFERRED,
    VAGUE,
    DateMention,
    Span,
)
from contextwright.recall.dates.words import (
    UNSPACED,
    Word,
    folded,
    languages_in,
    next_date,
    row_of,
)

__all__ = ["read"]

SATURDAY = 5
RECENT_DAYS = 30
"""Days of "recently"."""
UNITS_BACK = {"this": 0, "last": 1, "gone": 1, "penultimate": 2}
"""How many units ago a unit was, by the kind of the word beside it."""
RELATIVE_KINDS = ("current", "previous", "older")
"""Kinds of words that mean "this", "last" or "before last" with a unit, such as 先週; the index is
how many units ago."""
PART_HOURS = ((5, 12), (12, 18), (17, 24), (20, 30))
"""The first and last hours of morning, afternoon, evening and night."""
NIGHT = 3
VAGUE_AMOUNTS = ((1, 3), (2, 6))
"""The smallest and largest amounts of "a couple" and "a few"."""
HALF_YEAR_MONTHS = (7, 5)
"""How many months ago "half a year ago" may be."""
ONE_MONTH = "一月"
"""January, or one month: 一月に三回 is "three times a month"."""
AMOUNT_KINDS = ("number", "few", "day", "count")
VERB = 2
"""The mark of words that are also verbs; see `Word.doubtful`."""
NUMERIC_KINDS = ("day", "count", "year")
WEEK = ("周", "週", "星期")
"""How days of the week begin in Chinese."""


def read(question: str, today: datetime | None) -> Sentence:
    """Find the dates in a question, in the first of its likely languages that has any."""
    text = folded(question)
    sentences = (read_in(language, text, today) for language in languages_in(question))
    return next((one for one in sentences if one.mentions), Sentence(text, today))


def read_in(language: str, text: str, today: datetime | None) -> Sentence:
    """Find the dates in a folded question by the words of one language."""
    sentence = Sentence(text, today, language)
    row, place = row_of(sentence.words), 0
    while match := next_date(row, place):
        reader, first, after = match
        try:
            said = READERS[reader](sentence, first, after)
        except (ValueError, OverflowError):  # outside the years that datetime has
            said = None
        if said is not None:
            sentence.mentions.append(replace(said, first=first, after=after))
        place = first + 1 if said is None else after
    return sentence


def figures(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read 2023-05-07 and 07.05.2023; 5/7/2023 may be either."""
    one, mark, two, again, three = sentence.words[first:after]
    goes_on = sentence.kind(after) == mark.kind and sentence.kind(after + 1) in NUMERIC_KINDS
    came_on = sentence.kind(first - 1) == mark.kind and sentence.kind(first - 2) in NUMERIC_KINDS
    if mark.kind != again.kind or goes_on or came_on:  # 10.12.11.10 is not a date
        return None
    if one.kind == "year":
        certainty = VAGUE if mark.kind == "." and is_version(sentence, first) else CERTAIN
        days = three.value, three.value
        return DateMention(year=one.value, month=two.value, days=days, certainty=certainty)
    short = three.kind == "day"
    if short and (len(three.text) < 2 or (mark.kind != "/" and len(one.text + two.text) < 4)):
        return None
    readings = [(one.value, two.value), (two.value, one.value)][: 1 + (mark.kind != ".")]
    known = [reading for reading in dict.fromkeys(readings) if reading[1] <= 12]
    certainty = VAGUE if short or len(known) > 1 else CERTAIN
    said: DateMention | None = None
    for day, month in reversed(known):
        year = three.value + 2000 * short
        said = DateMention(
            year=year, month=month, days=(day, day), certainty=certainty, alternative=said
        )
    return said


def is_version(sentence: Sentence, first: int) -> bool:
    """Whether digits follow a noun or an article, such as in "version 2023.10.1"."""
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
    is_older = sentence.kind(first - 1) == "penultimate"  # позапрошлым летом
    if year == 0 or (year is None and (is_older or sentence.is_recurring(first, YEARS))):
        return None
    if title is None:
        month, *days = numbers
        return DateMention(year=year, month=month, days=(days[0], days[0]) if days else None)
    if words[title].doubtful and not is_month_name(sentence, first, after, title):
        return None
    over = sentence.kind(first - 1) == "last" or kinds[0] == "gone" or kinds[-1:] == ["gone"]
    over = over and year is None
    days = (numbers[0], numbers[-1]) if numbers else None
    led = sentence.has_time_context(first, after) and not is_month_long(sentence, first, after)
    is_sure = year or days or over or led
    certainty = CERTAIN if is_sure else VAGUE
    if kinds[title] == "month":
        month = words[title].value + 1
        return DateMention(
            year=year, month=month, days=days, must_have_ended=over, certainty=certainty
        )
    said = DateMention(
        year=year, month=words[title].value * 3 or 12, months=3, must_have_ended=over
    )
    if year and said.month == 12:  # "winter 2022" may have begun or ended in that year
        other = replace(said, year=year - 1, certainty=INFERRED)
        return replace(said, certainty=INFERRED, alternative=other)
    return replace(said, certainty=certainty)


def is_month_long(sentence: Sentence, first: int, after: int) -> bool:
    """Whether 一月 means "one month" here, as before a number of times."""
    number = after + (sentence.kind(after) == "at")
    is_count = sentence.kind(number) in AMOUNT_KINDS and sentence.kind(number + 1) == "times"
    return is_count and sentence.quote(first, after) == ONE_MONTH


def is_month_name(sentence: Sentence, first: int, after: int, title: int) -> bool:
    """Whether a word like "may" is a month here, by the words around it."""
    words = sentence.words[first:after]
    kinds, verb = [word.kind for word in words], words[title].doubtful == VERB
    if kinds[0] in ("year", "years", "this", "last"):  # "in 2022, may I"
        return sentence.follows_time_word(first + title) or kinds[title - 1] == "whose"
    if sentence.kind(first - 1) == "this":  # "this may be", but "this fall we"
        return not verb or sentence.has_no_noun_at(after)
    if sentence.follows_time_word(first) or {"of", "year", "years", "unit", "gone"} & set(kinds):
        return True
    if sentence.kind(after) in TIME_WORDS_AFTER:
        return True
    # "5 June", "May 7th" and "5 May?" are days, "may 5 people" and "the 5th may be" are not.
    ended = not sentence.words[after : after + 1] or not sentence.words[after].text.isalnum()
    return kinds[-1] == "suffix" or (len(words) > 1 and (ended or not verb))


def year_of(sentence: Sentence, words: list[Word]) -> int | None:
    """Return the year among the words; None if there is none, 0 if it is unknown."""
    around = zip([Word(""), *words], words, [*words[1:], Word("")], strict=False)
    for before, word, following in around:
        if word.kind == "year":
            return word.value
        unit = following if following.kind == "unit" else before
        if word.kind == "years" or (word.kind in UNITS_BACK and unit.kind == "unit"):
            known = sentence.today and (word.kind == "years" or unit.value == YEARS)
            back = UNITS_BACK.get(word.kind, word.value)
            return max(sentence.today.year - back, 0) if sentence.today and known else 0
    return None


def ago(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read two weeks ago, a few days ago, тиждень тому."""
    return amount_ago(sentence, sentence.words[first : after - 1])


def back(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read vor zwei Wochen, hace un año, منذ أسبوعين."""
    return amount_ago(sentence, sentence.words[first + 1 : after])


def amount_ago(sentence: Sentence, words: list[Word]) -> DateMention | None:
    """Read how long ago something was: two weeks, a few days, half a year."""
    *amount, unit = words
    if unit.kind == "pair":
        return sentence.units_ago(unit.value, 2, 2)
    if unit.kind == "half":
        return sentence.units_ago(MONTHS, *HALF_YEAR_MONTHS, VAGUE)
    least, most = amount_range(amount) or ((1, 1) if unit.kind == "unit" else VAGUE_AMOUNTS[1])
    return sentence.units_ago(unit_of(unit), most, least, CERTAIN if least == most else VAGUE)


def past(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read the last two weeks, the past few days, les deux dernières semaines, all until now."""
    words = sentence.words[first:after]
    amount = [word for word in words if word.kind not in ("unit", "units", "annum")]
    unit = next(word for word in words if word.kind in ("unit", "units", "annum"))
    _, most = amount_range(amount) or VAGUE_AMOUNTS[1]
    said = sentence.units_ago(unit_of(unit), most, 1)
    if said is None or said.span is None or sentence.today is None:
        return None
    return DateMention(span=replace(said.span, end=sentence.today + DAY))


def amount_range(words: list[Word]) -> tuple[int, int] | None:
    """Return the smallest and largest number that an amount may mean; None if there is none."""
    numbers = [word for word in words if word.kind in AMOUNT_KINDS]
    if not numbers:
        return None
    last = numbers[-1]
    return VAGUE_AMOUNTS[last.value] if last.kind == "few" else (last.value, last.value)


def calendar(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read yesterday, last week, la semaine dernière, 先週, the week before last."""
    words = sentence.words[first:after]
    if len(words) == 1 and words[0].kind == "relative":
        return sentence.units_ago(DAYS, words[0].value, words[0].value)
    if len(words) == 3:
        return sentence.units_ago(words[0].value, 2, 2)
    unit, back = unit_and_count(words)
    # "The last day" of something is not yesterday.
    return None if unit == DAYS else sentence.units_ago(unit, back, back)


def unit_and_count(words: list[Word]) -> tuple[int, int]:
    """Return the unit of last week or 先週, and how many units ago it was."""
    for word in words:
        if word.kind in RELATIVE_KINDS:
            return word.value, RELATIVE_KINDS.index(word.kind)
    unit = next(word.value for word in words if word.kind == "unit")
    return unit, next(UNITS_BACK[word.kind] for word in words if word.kind in UNITS_BACK)


def within(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read 先週の金曜日, letzte Woche Freitag, Friday of last week: a day of a week."""
    words = sentence.words[first:after]
    day = next(word.value for word in words if word.kind == "weekday")
    unit, back = unit_and_count(words)
    said = sentence.units_ago(unit, back, back) if unit != DAYS else None
    if said is None or said.span is None or unit != WEEKS:
        return said  # "Monday of last year" may be any of them
    start = said.span.start + day * DAY
    return DateMention(span=Span(start, start + DAY))


def part(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read this morning, last night, la nuit dernière, вчора ввечері."""
    words = sentence.words[first:after]
    hours = next((word.value for word in words if word.kind == "part"), NIGHT)
    word = next((word for word in words if word.kind in ("relative", "this")), None)
    back = 1 if word is None else word.value
    day = sentence.units_ago(DAYS, back, back)
    if day is None or day.span is None:
        return None
    start, end = (day.span.start + timedelta(hours=hour) for hour in PART_HOURS[hours])
    return DateMention(span=Span(start, end))


def weekday(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read on Monday, last Friday: the latest one."""
    word, before = sentence.words[first], sentence.kind(first - 1)
    led = sentence.has_time_context(first, after) or sentence.kind(after) == "part"
    if sentence.today is None or (word.doubtful and not led) or sentence.is_recurring(first, DAYS):
        return None
    back = (sentence.today.weekday() - word.value) % 7
    if back == 0 and (before in ("last", "gone") or sentence.kind(after) == "gone"):
        back = 7
    if word.text.startswith(WEEK) and before in ("last", "penultimate"):
        # 上周一 is a day of last week, 上上周一 of the one before.
        back = sentence.today.weekday() - word.value + 7 * UNITS_BACK[before]
    return sentence.units_ago(DAYS, back, back, INFERRED if led else VAGUE)


def weekend(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read last weekend, am Wochenende: the latest one; on a weekend, the last one is before it."""
    before, led = sentence.kind(first - 1), sentence.has_time_context(first, after)
    is_last = before in ("last", "gone") or sentence.kind(after) == "gone"
    is_last = is_last or bool(sentence.words[first].value)
    if sentence.today is None or sentence.is_recurring(first, DAYS):
        return None
    back = (sentence.today.weekday() - SATURDAY) % 7
    if before == "this" and back > 1:
        return None  # "this weekend" is still to come
    if back < 2 and is_last:
        back += 7
    return sentence.units_ago(DAYS, back, back - 1, INFERRED if led or is_last else VAGUE)


def year(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read in 2022, 2022 року, торік."""
    word, *units = sentence.words[first:after]
    number = year_of(sentence, [word])
    if not number:
        return None
    said = DateMention(year=number, month=1, months=12)
    if word.kind == "years" or (units and unit_of(units[0]) == YEARS):
        return said
    if not sentence.has_time_context(first, after):
        return None
    return said if sentence.has_no_noun_at(after) else replace(said, certainty=VAGUE)


def monthday(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read on the 7th: the latest one."""
    today = sentence.today
    of = sentence.kind(after) == "of"
    if today is None or not sentence.has_no_noun_at(after) or sentence.is_recurring(first, MONTHS):
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


def figures_of_month(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read 2023-05 and 05/2023; 2011-12 may be two years."""
    words = sentence.words[first:after]
    number, month = (words[0], words[2]) if words[0].kind == "year" else (words[2], words[0])
    is_part = words[1].kind in (sentence.kind(first - 1), sentence.kind(after))
    is_month = len(sentence.quote(first, after)) == 7 and month.value <= 12
    if is_part or not is_month or month.value == number.value % 100 + 1:
        return year(sentence, first, first + 1) if number is words[0] else None
    is_led = sentence.has_time_context(first, after)
    if not is_led and is_version(sentence, first):
        return None
    certainty = CERTAIN if is_led else VAGUE
    return DateMention(year=number.value, month=month.value, certainty=certainty)


def lately(sentence: Sentence, first: int, after: int) -> DateMention | None:
    """Read recently, the other day."""
    if after - first == 1:
        return sentence.units_ago(DAYS, RECENT_DAYS, 0, VAGUE)
    unit = sentence.words[after - 1].value
    return sentence.units_ago(unit, 6 if unit == DAYS else 3, 1, VAGUE)


READERS: dict[str, Callable[[Sentence, int, int], DateMention | None]] = {
    reader.__name__: reader
    for reader in (
        *(figures, figures_of_month, named, ago, back, past, within, calendar),
        *(part, weekday, weekend, year, monthday, lately),
    )
}
"""The reader of each rule in `words.RULES`; if it refuses, a shorter rule is tried."""
