"""How much a sentence tells somebody who reads it later, judged without a model.

People ask later about what others did, have, like and plan, about names and about numbers; not
about greetings, wishes and what was said a moment before.
"""

from __future__ import annotations

import re
import string
from collections.abc import Set

from contextwright.text.persons import addresses_somebody, means_speaker
from contextwright.text.terms import plain

__all__ = ["MODEL", "salience"]

MODEL = "assistant"
"""The speaker of a model's messages. People ask less about these: they can ask again."""

SIGNS = 0.15
"""A sentence with a larger share of signs is code or data."""
SIGN = str.maketrans("", "", string.punctuation)
WORD, DIGIT = re.compile(r"[^\W_]+"), re.compile(r"\d")

OWN, NAME, NUMBER, ADDRESS, BY_MODEL = 2.0, 1.5, 1.5, 0.5, 1 / 3
"""Factors of a sentence about the speaker, with a name, with a number, to somebody, by a model."""


def salience(text: str, speaker: str, people: Set[str]) -> float:
    """Return the factor by which the words of a sentence count; 0 for code.

    Args:
        people: words of the speakers' names, because calling somebody tells nothing.
    """
    if len(text) - len(text.translate(SIGN)) > SIGNS * len(text):
        return 0.0
    simple = set(WORD.findall(plain(text)))
    factor = 1.0
    if means_speaker(simple, text):
        factor *= OWN
    if addresses_somebody(simple, text):
        factor *= ADDRESS
    if any(is_name(word, people) for word in WORD.findall(text)[1:]):
        factor *= NAME
    if DIGIT.search(text):
        factor *= NUMBER
    return factor * BY_MODEL if speaker == MODEL else factor


def is_name(word: str, people: Set[str]) -> bool:
    """Whether a word inside a sentence is a name, other than of somebody who speaks.

    A word in capitals throughout is an abbreviation, or loud.
    """
    is_capital = word[0].isupper() and not word.isupper()
    return is_capital and plain(word) not in people
