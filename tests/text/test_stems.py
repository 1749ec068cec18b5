"""Stems of words."""

import pytest

from contextwright.text.stems import stemmer

ENGLISH = {
    "paint": "paint paints painted painting paintings",
    "swim": "swim swims swimming",
    "plan": "plan plans planned planning",
    "run": "run runs running",
    "stop": "stop stops stopped stopping",
    "beg": "beg begs begged begging",
    "puff": "puff puffs puffed puffing",
    "stuff": "stuff stuffed stuffing",
    "webb": "webb webbs",
    "fall": "fall falls falling",
    "miss": "miss missed missing",
    "buzz": "buzz buzzed buzzing",
    "add": "add adds added adding",
    "citi": "city cities",
    "try": "try tries tried",
    "bak": "bake bakes baked baking",
    "hous": "house houses housing",
    "class": "class",
    "status": "status",
    "basis": "basis",
    "string": "string strings",
    "being": "being",
    "sing": "sing sings",
    "repeat": "repeat repeats repeatedly",
    "bus": "bus",
    "gas": "gas",
    "key": "key keys",
    "naiv": "naïve naive",
    "b2b": "b2b",
    "2nds": "2nds",
}


@pytest.mark.parametrize("stem", ENGLISH)
def test_english(stem: str) -> None:
    forms = ENGLISH[stem].split()
    assert [*map(stemmer("english"), forms)] == [stem] * len(forms)


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("ma", "ma"),
        ("dům", "dum"),
        ("domy", "dom"),
        ("domami", "domam"),
        ("domácí", "domac"),
        ("domácím", "domac"),
    ],
)
def test_a_language_without_rules_loses_letters(word: str, stem: str) -> None:
    """One of a short word, two of one with more than six letters, and accents."""
    assert stemmer("")(word) == stem
