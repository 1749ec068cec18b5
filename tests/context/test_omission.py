"""The note on omitted messages: when it is written, and what number it gives."""

import pytest

import contextwright as cw
from contextwright.context.omission import longest_note


@pytest.mark.parametrize(
    ("note", "omitted", "summarised", "expected"),
    [
        (cw.OmissionNote("{omitted}"), 0, 0, None),
        (cw.OmissionNote("{omitted}"), 1, 0, "1"),
        (cw.OmissionNote("{omitted}"), 9, 4, "5"),
        (cw.OmissionNote("{omitted}"), 9, 9, None),
        (cw.OmissionNote("{omitted}", beyond=5), 9, 3, "6"),
        (cw.OmissionNote("{omitted}", beyond=5), 9, 4, None),
        (cw.OmissionNote("{omitted}", count_beyond=20), 9, 0, "10"),
        (cw.OmissionNote("{omitted}", count_beyond=20), 9, 4, "6"),
        (cw.OmissionNote("{omitted}", count_beyond=30), 9, 0, None),
    ],
)
def test_what_a_summary_covers_is_not_counted(
    note: cw.OmissionNote, omitted: int, summarised: int, expected: str | None
) -> None:
    message = note.message(omitted, 30, summarised)
    assert (message and message.text) == expected


def test_its_words() -> None:
    note = cw.OmissionNote(role="assistant")
    assert [note.message(omitted, 30) for omitted in (1, 2)] == [
        cw.Message("assistant", (cw.Text(text),), kind="note")
        for text in (
            "[1 earlier message is left out here]",
            "[2 earlier messages are left out here]",
        )
    ]


@pytest.mark.parametrize(
    ("note", "length", "expected"),
    [
        (cw.OmissionNote("{omitted}"), 30, "99"),
        (cw.OmissionNote("{omitted}"), 31, "99"),
        (cw.OmissionNote("{omitted}"), 99, "99"),
        (cw.OmissionNote("{omitted}"), 100, "999"),
        (cw.OmissionNote("{omitted}", beyond=30), 30, None),
        (cw.OmissionNote("{omitted}", beyond=30), 31, "99"),
        (cw.OmissionNote("{omitted}", count_beyond=30), 30, None),
        (cw.OmissionNote("{omitted}", count_beyond=30), 31, "99"),
    ],
)
def test_the_longest_stays_the_same_while_a_history_grows(
    note: cw.OmissionNote, length: int, expected: str | None
) -> None:
    message = longest_note(note, length)
    assert (message and message.text) == expected
