"""Conversations to rank messages of, and texts to embed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

import contextwright as cw
from contextwright.recall.memories import Ranking
from contextwright.recall.outline import Outline, Page, columns_of
from contextwright.recall.questions import Question, parse_question
from contextwright.recall.ranking import QUESTION_ONLY, RankedMessage, rank, with_rivals
from contextwright.recall.signals import TermMatches
from contextwright.store.recall.search import weigh_terms
from contextwright.store.recall.terms import terms_in

START = datetime(2023, 5, 1, 9, tzinfo=UTC)
ANNA, BORIS = cw.Author("1", "Anna"), cw.Author("2", "Boris")


def talk(
    *lines: str, people: Sequence[cw.Author] = (ANNA, BORIS), days: float = 0
) -> list[cw.Message]:
    """Lines that people say in turn, a minute apart or days."""
    step = timedelta(days=days) if days else timedelta(minutes=1)
    return [
        cw.user(line, author=people[place % len(people)], sent_at=START + place * step)
        for place, line in enumerate(lines)
    ]


def outline_of(messages: Sequence[cw.Message]) -> Outline:
    page = Page.empty(1)
    page.extend(columns_of(messages))
    return Outline([(1, len(messages), page)])


def found_of(question: Question, messages: Sequence[cw.Message]) -> list[TermMatches]:
    """Where the terms of a question are, as a store finds them."""
    terms = {seq: terms_in(message) for seq, message in enumerate(messages, 1)}

    def numbers(term: str) -> list[int]:
        return [seq for seq, has in terms.items() if term in has]

    return [
        TermMatches(one.term, one.weight * counts, frozenset(one.keys))
        for some, counts in ((question.terms, 1.0), (question.common_terms, 0.2))
        for one in weigh_terms(some, max(len(messages), 1), numbers)
    ]


def ranked(
    messages: Sequence[cw.Message],
    query: str,
    *,
    now: datetime | None = None,
    ranking: Ranking = QUESTION_ONLY,
    meanings: dict[int, float] | None = None,
) -> list[RankedMessage]:
    outline = outline_of(messages)
    names = {name for name, _ in outline.speaker_counts() if name}
    question = parse_question(query, names, now)
    found = rank(
        question,
        found_of(question, messages),
        meanings,
        outline,
        limit=100,
        total=len(messages),
        now=now,
        ranking=ranking,
    )
    return with_rivals([found])[0]


def best(messages: Sequence[cw.Message], query: str, **options: object) -> str:
    """The words that a question needs most."""
    return messages[ranked(messages, query, **options)[0].number - 1].text  # type: ignore[arg-type]


# --- the ranking ---------------------------------------------------------------------------------

WORDS = ("tea", "soup", "кава", "каву", "东京", "green", "2026", "Anna", "when", "yesterday")
texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)

FILLER = (
    "Good morning!",
    "It rains again.",
    "I have to go now.",
    "See you!",
    "Fine.",
    "My cat slept.",
)


CODE = "```python\n" + "value = compute(value)\n" * 20 + "```\n"
LONG = (
    "I'm trying to read the sensor of the greenhouse, and it fails now and then.\n\n"
    f"{CODE}"
    "Also, the spare key of the greenhouse hangs behind the rain barrel. "
    + "Nobody but us should know about that place. " * 6
    + "\n\n"
    + "".join(
        f"- step {number}: water row {number} with care and patience\n" for number in range(9)
    )
)
"""A long message: a paragraph, code, a paragraph, a list."""

TO_EMBED = [
    "Hello, world!",
    "x",
    "Вона завжди п'є каву без цукру.",
    "我们明天去东京看樱花。",
    "🙂👍🏽 emoji",
    "tabs\tand\nlines " * 400,
    "</s> <unk> special",
]
"""Texts that embedders are tried on."""
