"""The language of a text by its function words."""

import pytest

from contextwright.text.languages import latin_language


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", "english"),
        ("computer", "english"),
        ("the train", "english"),
        ("auf train", "german"),
        ("bij train", "dutch"),
        ("esa train", "spanish"),
        ("zu train", "english"),  # two letters may be part of a name
        ("zu läuft", "german"),  # unless there is a letter that English lacks
        ("zu ob train", "german"),
        ("auf the train", "english"),
        ("auf aus the train", "german"),
    ],
)
def test_latin_language(words: str, expected: str) -> None:
    assert latin_language(set(words.split())) == expected
