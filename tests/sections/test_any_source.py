"""All that sections write of memories that a source of one's own gives in any order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import contextwright as cw
from contextwright import sections
from contextwright.recall.memories import Memory, MemoryQuery
from contextwright.sections import SectionInput
from golden_files import compare

OLENA = cw.Author("U1", "Olena", "olena_k")
QUESTION = cw.user("Which soup do I like, and what does @ada eat?", author=OLENA)
HISTORY = (
    cw.user("The soup was cold.", author=OLENA),
    cw.assistant("Sorry."),
    cw.user("Mine was not.", author=cw.Author("ada", "Lovelace", "@Ada")),
    QUESTION,
)
MEMORIES = [
    Memory("passage", "Soup is  cooked\nin the morning.", score=0.4, meta={"seq": 7}),
    Memory("passage", "The soup was cold.", score=0.95),
    Memory("passage", "No score at all for this soup."),
    Memory("passage", "Olena likes borscht with beans.", author="Ada", at="2026-03-02", score=0.9),
    Memory("passage", "olena LIKES borscht with beans.", score=0.8, scope="kitchen"),
    Memory("passage", "At the limit.", score=0.01, author="Ada", meta={"seq": 3, "title": "Tea"}),
    Memory("passage", "Below the limit.", score=0.0099, meta={"seq": 2, "place": "2/3"}),
    Memory("passage", "Long. " * 50, author="Гриць", at="2026-03-01T10:00:00Z", score=0.7),
    Memory("memory", "Likes tea", "U1", at="2026-03-01"),
    Memory("memory", "Likes  tea", "U1", weight=0.5),
    Memory("memory", "Has a dog", "U1", author="Ada"),
    Memory("memory", "Vegetarian", "U1"),
    Memory("memory", "vegetarian", "U1", weight=0.4),
    Memory("memory", "Eats no nuts", "ada"),
    Memory("memory", "The kitchen is closed on Mondays"),
    Memory("fact", "Kyiv", "U1", "Location", at="2026-01-01T00:00:00Z", weight=0.9),
    Memory("fact", "Lisbon", "U1", "location", at="2026-02-01T00:00:00Z", weight=0.6),
    Memory("fact", "Painter", "U1", "Work", weight=0.59),
    Memory("fact", "Is left-handed", "U1"),
    Memory("fact", "Nuts", "ada", "Allergy", weight=0.0),
    Memory("profile", "Olena is a painter.\n# From Kyiv", "U1"),
    Memory("profile", "Ada sings.", "ada"),
    Memory("episode", "All went to the harbour.", key="harbour", at="2026-03-04", weight=0.6),
    Memory("episode", "Ada was ill.", "ada", "nuts", weight=0.59),
    Memory("episode", "The soup boiled over.", "U1", "soup", score=0.3),
]


class Source:
    """Gives all it has of a kind, in its own order."""

    def __init__(self, memories: Sequence[Memory]) -> None:
        self.memories = memories

    def recall(self, wanted: MemoryQuery) -> list[Memory]:
        about = wanted.about
        return [
            one for one in self.memories if one.kind == wanted.kind and about in (None, one.about)
        ]


SECTIONS = [
    sections.PastExcerpts(),
    sections.PastExcerpts(most=2, least=0, longest=20),
    sections.PastExcerpts(least=0.4),
    sections.PastMessages(),
    sections.PastMessages(tokens=90, most=4),
    sections.PastMessages(tokens=200, least=0.02),
    sections.Memories(),
    sections.Memories(most=1, others=1, heading="# Known"),
    sections.Memories(most=2, others=0),
    sections.KeyFacts(),
    sections.KeyFacts(most=1, others=1),
    sections.KeyFacts(least=0.6, heading="# Facts"),
    sections.UserProfile(),
    sections.Episodes(),
    sections.Episodes(most=1, least=0),
]


def told() -> Iterator[str]:
    now = datetime(2026, 3, 5, 12, tzinfo=UTC)
    for memories in (MEMORIES, MEMORIES[::-1], []):
        for section in SECTIONS:
            moment = SectionInput(now, QUESTION, HISTORY, Source(memories), None, len)
            text = section.write(moment)
            yield f"{section!r}\n{section.absence(moment) if text is None else text}\n"
            if text is not None and not section.fills:
                yield "".join(
                    f"{n}: {section.shorten(text, n)!r}\n" for n in (len(text) - 1, 70, 9)
                )


def test_all_that_sections_write_of_memories_in_any_order() -> None:
    compare("sections-any-source", "\n".join(told()))
