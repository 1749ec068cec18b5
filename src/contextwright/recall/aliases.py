"""Names that people call each other: a name in a question that no speaker has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from contextwright.recall.outline import Outline
from contextwright.recall.questions import Question
from contextwright.recall.signals import TermMatches

__all__ = ["with_aliases"]

FEWEST_CALLS, MOSTLY, OFTEN = 5, 0.8, 0.04
"""When a name counts as what one of two people calls the other: the number of uses, the share of
them by one person, and the share of that person's messages.
"""
BETWEEN_TWO = 0.95
"""The share of all messages from which on two people talk, whoever else has said something."""


def with_aliases(
    question: Question, found: Sequence[TermMatches], outline: Outline
) -> tuple[Question, Sequence[TermMatches]]:
    """Return a question with the person it names as others call them.

    If two people talk, a name that one of them uses often, and the other hardly ever, is the
    other's. It is not searched for, because that person does not use it. Who has no name is a
    model or its user: what one of them says again and again is mostly the subject, such as Redis.
    """
    people = Counter[str]()
    for (name, _), count in outline.people().items() if question.names else ():
        people[name] += count
    two = people.most_common(2)
    if len(two) < 2 or sum(count for _, count in two) < BETWEEN_TWO * people.total():
        return question, found
    (first, _), (second, _) = two
    if not (first and second):
        return question, found
    called: dict[str, str] = {}
    for one in found:
        if one.term in question.names and len(one.numbers) >= FEWEST_CALLS:
            entries = [entry for number in one.numbers if (entry := outline.entry(number))]
            callers = Counter(entry.speaker for entry in entries if entry.is_said)
            caller, calls = max(callers.items(), key=lambda pair: pair[1], default=("", 0))
            is_often = calls >= OFTEN * people[caller]
            if is_often and calls >= MOSTLY * callers.total() and caller in (first, second):
                called[one.term] = second if caller == first else first
    if not called:
        return question, found
    speakers = question.speakers | frozenset(called.values())
    rest = [one if one.term not in called else replace(one, weight=0.0) for one in found]
    return replace(question, speakers=speakers), rest
