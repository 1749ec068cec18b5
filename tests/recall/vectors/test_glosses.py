"""Words of Ukrainian and Hindi, in a language that the embedder knows."""

from __future__ import annotations

import pkgutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwright.recall.vectors.glosses import gloss, gloss_of, in_latin

UKRAINIAN = "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя'"
HINDI = "".join(map(chr, range(0x900, 0x980)))
UNREAD = st.sampled_from("іїєґ" + HINDI)


def lines() -> list[tuple[str, str, list[str]]]:
    """The language, the gloss and the words of each line of the file."""
    found: list[tuple[str, str, list[str]]] = []
    language = ""
    data = pkgutil.get_data("contextwright", "data/glosses.txt") or b""
    for line in data.decode().splitlines():
        if line.startswith("["):
            language = line.strip("[]")
        else:
            gloss, colon, words = line.partition(": ")
            assert gloss, line
            assert colon, line
            found.append((language, gloss, words.split()))
    return found


def test_each_word_of_the_file_has_its_gloss() -> None:
    for language, meaning, words in lines():
        assert words
        for word in words:
            assert gloss_of(language, word) == meaning, word


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Моя сестра чекає дитину.", "Моя сестра ждать ребёнок."),
        ("Моя сестра чекала на дітей.", "Моя сестра ждать на дети."),
        ("М’ясо й п'ять яблук", "мясо й пять яблоко"),
        ("राहुल की बहनें", "raahul of sister"),
        ("मेरा नंबर १२३ है।", "my marks 123 is."),
        ("Ждать ребёнка, word, 说", "Ждать ребёнка, word, 说"),
    ],
)
def test_words_are_read_in_a_language_that_the_embedder_knows(text: str, read: str) -> None:
    assert gloss(text) == read


@pytest.mark.parametrize(
    ("word", "latin"),
    [
        ("जयपुर", "jayapur"),
        ("हिन्दी", "hindii"),
        ("हिंदी", "hindii"),
        ("ओम", "om"),
        ("ज़ोया", "joyaa"),
    ],
)
def test_an_unknown_word_of_hindi_is_spelled_as_it_sounds(word: str, latin: str) -> None:
    assert in_latin(word) == latin


@given(st.text(st.characters() | UNREAD))
def test_nothing_is_left_of_hindi_and_nothing_changes_in_other_scripts(text: str) -> None:
    read = gloss(text)
    assert not set(HINDI[:100]) & set(read)
    if text.isascii():
        assert read == text
