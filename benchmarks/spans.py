"""Whether an excerpt of a message holds the evidence for an answer.

The sets say which messages answer a question, not which part of them. So the part is taken to be
the sentence that shares most with question and answer, where rare words count more and those of the
answer twice. An excerpt holds the evidence if it has that sentence, and two thirds of all that the
message shares with the answer beyond the question.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import pairwise
from math import log
from typing import Any

from contextwright.recall.passages import Excerpt
from contextwright.text.excerpts import ends_of
from contextwright.text.terms import keywords, terms_of

ENOUGH = 2 / 3


class Evidence:
    """The evidence in the messages of a conversation."""

    def __init__(self, conversation: dict[str, Any]) -> None:
        self.texts = {said["id"]: said["text"] for said in conversation["messages"]}
        self.has = Counter(term for text in self.texts.values() for term in terms_of(text))
        self.part_of = cache(self._part_of)

    def is_in(self, excerpt: Excerpt | None, question: dict[str, Any], id: str) -> bool:
        """Whether an excerpt, or a whole message, has it."""
        if excerpt is None:
            return True
        asked, answer = question["q"], answer_of(question)
        start, end = self.part_of(id, asked, answer)
        if not any(first <= start and end <= last for first, last in excerpt.spans):
            return False
        text = self.texts[id]
        shared = keywords(answer) & terms_of(text) - keywords(asked) if answer else set()
        held = terms_of(excerpt.of(text))
        return self.weigh(shared & held) >= ENOUGH * self.weigh(shared)

    def weigh(self, terms: set[str]) -> float:
        return sum(log(1 + len(self.texts) / self.has[term]) for term in sorted(terms))

    def _part_of(self, id: str, asked: str, answer: str) -> tuple[int, int]:
        """The sentence that shares most with question and answer."""
        text = self.texts[id]
        told = keywords(answer) if answer else set()

        def shares(sentence: tuple[int, int]) -> float:
            terms = terms_of(text[slice(*sentence)]) & self.has.keys()
            return 2 * self.weigh(terms & told) + self.weigh(terms & keywords(asked) - told)

        start, end = max(pairwise([0, *ends_of(text)]), key=shares)
        blanks = len(text[start:end]) - len(text[start:end].lstrip())
        return start + blanks, start + len(text[start:end].rstrip())


def answer_of(question: dict[str, Any]) -> str:
    """The answer, and what a rubric expects of it without its set phrases."""
    told = [str(question["answer"] or "")]
    told += [line.partition(":")[2] or line for line in question.get("rubric") or ()]
    return "\n".join(told).strip()
