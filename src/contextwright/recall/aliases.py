"""Aliases: names in a question that are not names of speakers, but what others call them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from contextwright.recall.outline import Outline
from contextwright.recall.questions import Question
from contextwright.recall.signals import TermMatches

__all__ = ["resolve_aliases"]

MIN_USES, MIN_CALLER_SHARE, MIN_USE_RATE = 5, 0.8, 0.04
"""When a name counts as an alias of one of two people: the minimum number of uses, the minimum
share of them by the other person, and the minimum share of the other person's messages.
"""
MIN_PAIR_SHARE = 0.95
"""The share of all messages that two people must have, to count as a conversation between two."""


def resolve_aliases(
    question: Question, matches: Sequence[TermMatches], outline: Outline
) -> tuple[Question, Sequence[TermMatches]]:
    """Add the speakers whom a question names by an alias, and drop the alias as a search term.

    Between two people, a name that one uses often and the other hardly ever is the other's. Its
    weight becomes 0, because the messages of the person it names do not contain it. Speakers
    without a name, such as a model and its user, are left out: a word that one of them repeats is
    mostly a subject, such as Redis.
    """
    people = Counter[str]()
    for (name, _), count in outline.speaker_counts().items() if question.name_terms else ():
        people[name] += count
    two = people.most_common(2)
    if len(two) < 2 or sum(count for _, count in two) < MIN_PAIR_SHARE * people.total():
        return question, matches
    (first, _), (second, _) = two
    if not (first and second):
        return question, matches
    aliases: dict[str, str] = {}
    for one in matches:
        if one.term in question.name_terms and len(one.numbers) >= MIN_USES:
            entries = [entry for number in one.numbers if (entry := outline.entry(number))]
            callers = Counter(entry.speaker for entry in entries if entry.is_spoken)
            caller, calls = max(callers.items(), key=lambda pair: pair[1], default=("", 0))
            is_often = calls >= MIN_USE_RATE * people[caller]
            if (
                is_often
                and calls >= MIN_CALLER_SHARE * callers.total()
                and caller in (first, second)
            ):
                aliases[one.term] = second if caller == first else first
    if not aliases:
        return question, matches
    speakers = question.speakers | frozenset(aliases.values())
    rest = [one if one.term not in aliases else replace(one, weight=0.0) for one in matches]
    return replace(question, speakers=speakers), rest
