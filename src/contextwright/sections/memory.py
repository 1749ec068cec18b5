"""Memories and past messages that help with the newest question."""

from __future__ import annotations

from collections.abc import Iterable

from contextwright.messages.message import Author
from contextwright.recall.lines import dedup_key
from contextwright.recall.memories import (
    Memory,
    current_facts,
    took_part,
)
from contextwright.sections.base import (
    Section,
    SectionInput,
    Share,
    Volatility,
    best_entries,
    last_entries,
)
from contextwright.sections.queries import (
    about_person,
    about_user,
    asked_for,
    asker_of,
    others_of,
    unfound,
    unknown,
)
from contextwright.text.fields import Checked, Fraction, Natural
from contextwright.text.quoting import filled, labelled, one_line, quoted, quoted_lines

__all__ = ["Episodes", "KeyFacts", "Memories", "UserProfile"]

NAMED, UNNAMED = "# Memories about {name} (ID: {id})", "# Memories"
LONGEST_MEMORY = 500
LONGEST_PROFILE = 2_000
OLDER = 4
"""Number of facts read for each one wanted, because superseded ones are dropped."""


class Memories(
    Section, Checked, frozen=True, tag="memories", forbid_unknown_fields=True, omit_defaults=True
):
    """Notes about the person who asks, and about people they reply to or mention."""

    most: Natural = 15
    others: Natural = 5
    """Maximum number of memories about each of the others."""
    volatility: Volatility = "turn"
    priority: int = 45
    budget: Share = None
    heading: str = NAMED

    def write(self, moment: SectionInput) -> str | None:
        """Write a line for each memory, none twice."""
        found = about_user(moment, "memory", self.most)
        lines = [f"- {quoted(one.text, LONGEST_MEMORY)}" for one in different(found)]
        for person in others_of(moment):
            about = different(about_person(moment, "memory", person.id, self.others))
            lines += [f"- {named_line(person, one.text)}" for one in about]
        return "\n".join(lines) or None

    def absence(self, moment: SectionInput) -> str:
        """Say that nothing is known about the person who asks."""
        return unknown(moment, "memory")

    def title(self, moment: SectionInput) -> str:
        """Return the heading with the person's name."""
        author = moment.question.author if moment.question else None
        if author is None or not author.id:
            return UNNAMED if self.heading == NAMED else self.heading
        return filled(self.heading, name=author.label, id=author.id)

    def shorten(self, text: str, longest: int) -> str:
        """Keep the newest memories that fit."""
        return last_entries(text, longest)


class UserProfile(
    Section,
    Checked,
    frozen=True,
    tag="user-profile",
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    """A summary of the person who asks."""

    volatility: Volatility = "turn"
    priority: int = 35
    budget: Share = None
    heading: str = "## User Profile"

    def write(self, moment: SectionInput) -> str | None:
        """Write the newest profile."""
        found = about_user(moment, "profile", 1)
        return "\n".join(quoted_lines(one.text, LONGEST_PROFILE) for one in found) or None

    def absence(self, moment: SectionInput) -> str:
        """Say that nothing is known about the person who asks."""
        return unknown(moment, "profile")


class KeyFacts(
    Section, Checked, frozen=True, tag="key-facts", forbid_unknown_fields=True, omit_defaults=True
):
    """Labelled facts about the person who asks, and about people they reply to or mention."""

    most: Natural = 10
    others: Natural = 5
    """Maximum number of facts about each of the others."""
    least: Fraction = 0.0
    """Minimum certainty, from 0 to 1."""
    volatility: Volatility = "turn"
    priority: int = 35
    budget: Share = None
    heading: str = "## Key Facts"

    def write(self, moment: SectionInput) -> str | None:
        """Write the most certain facts first; only the newest of each label."""
        known = about_user(moment, "fact", self.most * OLDER)
        lines = [f"- {fact_line(fact)}" for fact in self.surest(known)[: self.most]]
        for person in others_of(moment):
            known = about_person(moment, "fact", person.id, self.others * OLDER)
            facts = self.surest(known)[: self.others]
            lines += [f"- {named_line(person, fact_line(fact))}" for fact in facts]
        return "\n".join(lines) or None

    def surest(self, facts: Iterable[Memory]) -> list[Memory]:
        """Return the newest fact of each label, the most certain first."""
        found = [fact for fact in current_facts(facts) if fact.weight >= self.least]
        return sorted(found, key=lambda fact: -fact.weight)

    def absence(self, moment: SectionInput) -> str:
        """Say that nothing is known about the person who asks."""
        return unknown(moment, "fact")

    def shorten(self, text: str, longest: int) -> str:
        """Keep the most certain facts that fit."""
        return best_entries(text, longest)


class Episodes(
    Section, Checked, frozen=True, tag="episodes", forbid_unknown_fields=True, omit_defaults=True
):
    """Events that match the newest question, shown to their participants only."""

    most: Natural = 3
    least: Fraction = 0.6
    """Minimum weight of an event, from 0 to 1."""
    volatility: Volatility = "turn"
    priority: int = 25
    budget: Share = None
    heading: str = "## Memorable Events"

    def write(self, moment: SectionInput) -> str | None:
        """Write topic and summary of each."""
        asker = asker_of(moment)
        entries = [
            f"- **Topic**: {one_line(episode.key or 'Unnamed')}\n"
            f"- **Summary**: {one_line(episode.text, LONGEST_MEMORY)}"
            for episode in asked_for(moment, "episode", self.most, least=self.least)
            if took_part(episode, asker)  # whatever the source
        ]
        return "\n\n".join(entries) or None

    def absence(self, moment: SectionInput) -> str:
        """Say that nothing matches the question."""
        return unfound(moment, "event")

    def shorten(self, text: str, longest: int) -> str:
        """Keep the best events that fit."""
        return best_entries(text, longest)


# --- saying it once --------------------------------------------------------------------------


def named_line(person: Author, text: str) -> str:
    """Return a line about another person, after their name."""
    name = one_line(person.label).replace(":", ";")
    return labelled(name, one_line(text, LONGEST_MEMORY))


def fact_line(fact: Memory) -> str:
    """Return a fact with its label, each word capitalised."""
    if not fact.key:
        return quoted(fact.text, LONGEST_MEMORY)
    words = one_line(fact.key.replace("_", " ")).split(" ")
    label = " ".join(word[:1].upper() + word[1:] for word in words)
    return labelled(label, one_line(fact.text, LONGEST_MEMORY))


def different(found: Iterable[Memory]) -> list[Memory]:
    """Return memories without those whose words a better one has; of passages, from one speaker."""
    kept: dict[tuple[str | None, str], Memory] = {}
    for one in found:
        speaker = one.author if one.kind == "passage" else None
        kept.setdefault((speaker, dedup_key(one.text)), one)
    return [*kept.values()]
