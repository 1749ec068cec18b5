"""What every section shares: how its text is shortened."""

import pytest

from contextwright.sections.base import first_entries, last_entries

LINES = "one\ntwo\nthree"
PARAGRAPHS = "one\nmore\n\ntwo\n\nthree"


@pytest.mark.parametrize(
    ("text", "longest", "first", "last"),
    [
        (LINES, 13, LINES, LINES),  # exactly filled
        (LINES, 12, "one\ntwo", "two\nthree"),
        (LINES, 9, "one\ntwo", "two\nthree"),
        (LINES, 8, "one\ntwo", "three"),
        (LINES, 7, "one\ntwo", "three"),
        (LINES, 6, "one", "three"),
    ],
)
def test_entries_stay_whole_and_fill_their_length(
    text: str, longest: int, first: str, last: str
) -> None:
    assert first_entries(text, longest) == first
    assert last_entries(text, longest) == last


@pytest.mark.parametrize(
    ("longest", "kept"),
    [
        (len(PARAGRAPHS), PARAGRAPHS),
        (len(PARAGRAPHS) - 1, "one\nmore\n\ntwo"),
        (13, "one\nmore\n\ntwo"),
        (12, "one\nmore"),
        (8, "one\nmore"),
    ],
)
def test_paragraphs_are_entries(longest: int, kept: str) -> None:
    assert first_entries(PARAGRAPHS, longest) == kept
