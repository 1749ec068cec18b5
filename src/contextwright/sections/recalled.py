"""What is known beyond the conversation, as far as it helps with the newest question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from contextwright.errors import UsageError, shown
from contextwright.memories import Memory, MemoryKind, Ranking, Wanted, had_part
from contextwright.messages import Message
from contextwright.quoting import filled, one_line, quoted
from contextwright.recall.lines import below_headings, heading_of, line_of
from contextwright.sections.base import Moment, Section, Share, Volatility, last_entries

__all__ = ["Episodes", "KeyFacts", "Memories", "Recalled", "Relevant", "UserProfile"]

LONGEST_MEMORY = 500
LONGEST_PROFILE = 2_000
RECENT = 30
"""Words of so many of the newest messages are taken to be in the history, and not recalled."""
ALIKE = 0.85
"""The share of common words from which on two passages say the same."""


class Memories(
    Section, Struct, frozen=True, tag="memories", forbid_unknown_fields=True, omit_defaults=True
):
    """What was noted about the person who asks."""

    most: int = 15
    volatility: Volatility = "turn"
    priority: int = 45
    budget: Share = None
    heading: str = "# Memories about {name} (ID: {id})"

    def __post_init__(self) -> None:
        require_counts(most=self.most)

    def write(self, moment: Moment) -> str | None:
        """A line for each memory, none said twice."""
        found = about_user(moment, "memory", self.most)
        return "\n".join(f"- {line}" for line in unique(found, LONGEST_MEMORY)) or None

    def title(self, moment: Moment) -> str:
        """The heading with the person's name."""
        author = moment.question.author if moment.question else None
        if author is None or not author.id:
            return self.heading
        return filled(self.heading, name=author.label, id=author.id)

    def shorten(self, text: str, longest: int) -> str:
        """The newest memories that fit."""
        return last_entries(text, longest)


class UserProfile(
    Section, Struct, frozen=True, tag="user-profile", forbid_unknown_fields=True, omit_defaults=True
):
    """A summary of the person who asks."""

    volatility: Volatility = "turn"
    priority: int = 35
    budget: Share = None
    heading: str = "## User Profile"

    def write(self, moment: Moment) -> str | None:
        """The newest summary."""
        found = about_user(moment, "profile", 1)
        return "\n".join(unique(found, LONGEST_PROFILE)) or None


class KeyFacts(
    Section, Struct, frozen=True, tag="key-facts", forbid_unknown_fields=True, omit_defaults=True
):
    """Labelled facts about the person who asks."""

    most: int = 10
    least: float = 0.0
    """Only facts at least so sure."""
    volatility: Volatility = "turn"
    priority: int = 35
    budget: Share = None
    heading: str = "## Key Facts"

    def __post_init__(self) -> None:
        require_counts(most=self.most)
        require_share(least=self.least)

    def write(self, moment: Moment) -> str | None:
        """The surest facts first."""
        found = [
            fact for fact in about_user(moment, "fact", self.most) if fact.weight >= self.least
        ]
        found.sort(key=lambda fact: -fact.weight)
        lines = [fact_line(fact) for fact in found]
        return "\n".join(f"- {line}" for line in dict.fromkeys(lines)) or None


class Relevant(
    Section, Struct, frozen=True, tag="relevant", forbid_unknown_fields=True, omit_defaults=True
):
    """Past words that fit the newest question."""

    most: int = 5
    least: float = 0.02
    """Only what is at least so likely to be needed."""
    longest: int = 200
    """Characters of one passage."""
    ranking: Ranking = Ranking()
    """What counts beside the question."""
    volatility: Volatility = "turn"
    priority: int = 30
    budget: Share = None
    heading: str = "## Relevant Past Context"

    def __post_init__(self) -> None:
        require_counts(most=self.most, longest=self.longest)
        require_share(least=self.least)

    def write(self, moment: Moment) -> str | None:
        """The best first, each with how well it fits."""
        found = [
            passage
            for passage in asked_for(moment, "passage", self.most * 2, ranking=self.ranking)
            if (passage.score or 0) >= self.least
        ]
        found.sort(key=lambda passage: -(passage.score or 0))
        kept = different(not_recent(found, moment.messages))[: self.most]
        lines = [
            f"- [Relevance: {passage.score or 0:.2f}] {quoted(passage.text, self.longest)}"
            for passage in kept
        ]
        return "\n".join(lines) or None

    def reach(self) -> int:
        """Those that are not recalled."""
        return RECENT


class Recalled(
    Section, Struct, frozen=True, tag="recalled", forbid_unknown_fields=True, omit_defaults=True
):
    """Past words that the newest question needs, whole and in the order in which they were said."""

    tokens: int = 1_000
    """At most so many, by a count that holds for most models."""
    most: int = 100
    least: float = 0.01
    """Only what is at least so likely to be needed."""
    ranking: Ranking = Ranking()
    """What counts beside the question."""
    volatility: Volatility = "turn"
    priority: int = 30
    budget: Share = None
    heading: str = "## Recalled From Earlier"

    def __post_init__(self) -> None:
        require_counts(tokens=self.tokens, most=self.most)
        require_share(least=self.least)

    def write(self, moment: Moment) -> str | None:
        """A line for each, with its number and its speaker, below the day it was said on."""
        asked = asked_for(moment, "passage", self.most, tokens=self.tokens, ranking=self.ranking)
        found = [passage for passage in asked if (passage.score or 0) >= self.least]
        kept = sorted(different(not_recent(found, moment.messages)), key=place_of)
        entries = (
            (heading_of(passage.at, passage.scope), line_of(*origin_of(passage), passage.text))
            for passage in kept
        )
        return below_headings(entries) or None

    def reach(self) -> int:
        """Those that are not recalled."""
        return RECENT


class Episodes(
    Section, Struct, frozen=True, tag="episodes", forbid_unknown_fields=True, omit_defaults=True
):
    """Events that fit the newest question, told to who had part in them."""

    most: int = 3
    least: float = 0.6
    """Only events that weigh at least so much."""
    volatility: Volatility = "turn"
    priority: int = 25
    budget: Share = None
    heading: str = "## Memorable Events"

    def __post_init__(self) -> None:
        require_counts(most=self.most)
        require_share(least=self.least)

    def write(self, moment: Moment) -> str | None:
        """Topic and summary of each."""
        asker = asker_of(moment)
        entries = [
            f"- **Topic**: {one_line(episode.key or 'Unnamed')}\n"
            f"- **Summary**: {one_line(episode.text, LONGEST_MEMORY)}"
            for episode in asked_for(moment, "episode", self.most, least=self.least)
            if had_part(episode, asker)  # wherever it comes from
        ]
        return "\n\n".join(entries) or None


def require_counts(**numbers: int) -> None:
    """Refuse what cannot be counted to."""
    for name, number in numbers.items():
        if type(number) is not int or number < 0:
            raise UsageError(f"{name} cannot be {shown(number)}", hint="a whole number, 0 or more")


def require_share(least: float) -> None:
    """Refuse what nothing can reach."""
    if type(least) not in (int, float) or not 0 <= least <= 1:
        raise UsageError(f"least cannot be {shown(least)}", hint="from 0 to 1")


# --- asking ----------------------------------------------------------------------------------


def about_user(moment: Moment, kind: MemoryKind, most: int) -> list[Memory]:
    """Memories about the author of the question; none for people without an id."""
    author = moment.question.author if moment.question else None
    if moment.memories is None or author is None or not author.id:
        return []
    prefer = moment.question.text if moment.question else ""
    wanted = Wanted(kind=kind, about=author.id, most=most, now=moment.now, prefer=prefer)
    return list(moment.memories.recall(wanted))[:most]


def asked_for(
    moment: Moment,
    kind: MemoryKind,
    most: int,
    *,
    least: float = 0.0,
    tokens: int | None = None,
    ranking: Ranking | None = None,
) -> list[Memory]:
    """Memories that fit the words of the question."""
    query = moment.question.text if moment.question else ""
    if moment.memories is None or not query.strip():
        return []
    wanted = Wanted(
        kind=kind,
        query=query,
        most=most,
        now=moment.now,
        asker=asker_of(moment),
        least=least,
        tokens=tokens,
        ranking=ranking or Ranking(),
    )
    return list(moment.memories.recall(wanted))[:most]


def asker_of(moment: Moment) -> str | None:
    """The id of who asks."""
    author = moment.question.author if moment.question else None
    return author.id if author else None


def place_of(passage: Memory) -> tuple[str, int]:
    """Where a passage stands among others: by its number, and those without one as they came."""
    number = passage.meta.get("seq")
    return (passage.scope, number) if isinstance(number, int) else ("", 0)


def origin_of(passage: Memory) -> tuple[int | None, str]:
    """The number of a passage and who said it."""
    number = passage.meta.get("seq")
    return (number if isinstance(number, int) else None), passage.author or "unknown"


# --- saying it once --------------------------------------------------------------------------


def unique(memories: Iterable[Memory], longest: int) -> list[str]:
    """The words of memories as lines, each once."""
    return list(dict.fromkeys(quoted(memory.text, longest) for memory in memories))


def fact_line(fact: Memory) -> str:
    """A fact with its label, which begins with a capital letter however it is stored."""
    if not fact.key:
        return quoted(fact.text, LONGEST_MEMORY)
    label = one_line(fact.key.replace("_", " "))
    return f"{quoted(label[:1].upper() + label[1:])}: {one_line(fact.text, LONGEST_MEMORY)}"


def not_recent(passages: Iterable[Memory], messages: Sequence[Message]) -> list[Memory]:
    """Passages that the newest messages do not say themselves.

    Those with a number come from a store, which knows what the window has.
    """
    said = {" ".join(message.text.split()) for message in messages[-RECENT:]}
    return [
        passage
        for passage in passages
        if "seq" in passage.meta or " ".join(passage.text.split()) not in said
    ]


def different(passages: Iterable[Memory]) -> list[Memory]:
    """Passages without those that say what a better one has said already."""
    kept: list[tuple[Memory, set[str]]] = []
    for passage in passages:
        words = set(passage.text.casefold().split())
        if not any(likeness(words, other) >= ALIKE for _, other in kept):
            kept.append((passage, words))
    return [passage for passage, _ in kept]


def likeness(first: set[str], second: set[str]) -> float:
    """The share of all their words that both have."""
    return len(first & second) / max(len(first | second), 1)
