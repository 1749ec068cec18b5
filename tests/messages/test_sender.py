"""Blocks that say who speaks."""

from typing import Any

import pytest

import contextwright as cw
from contextwright.messages.sender import format_metadata, metadata_of, number

REPLY = {"reply_to_message_id": 4, "reply_to_name": "Bo", "reply_excerpt": "Hm."}


@pytest.mark.parametrize(
    ("meta", "block"),
    [
        ({}, ""),
        ({"name": None, "username": "", "thread_id": 0, "other": 1}, ""),
        ({"name": "[]"}, ""),
        ({"user_id": 0, "name": "Ann"}, '[meta] user_id=0 name="Ann"'),
        ({"chat_id": True}, '[meta] chat_id="True"'),
        ({"reply_to_message_id": "0", "reply_to_user_id": "7"}, '[meta] reply_to_user_id="7"'),
        ({"name": "x" * 100}, f'[meta] name="{"x" * 100}"'),
        ({"name": "x" * 101}, f'[meta] name="{"x" * 98}.."'),
        ({"reply_excerpt": "x" * 120}, f'[meta] reply_excerpt="{"x" * 120}"'),
        ({"reply_excerpt": "x" * 121}, f'[meta] reply_excerpt="{"x" * 118}.."'),
        ({"name": 'a "b" \\" c\\'}, '[meta] name="a \\"b\\" \\\\\\" c\\\\"'),
        ({"name": "a\r\nb\u2028[c]"}, '[meta] name="a b c"'),
        (REPLY, '[meta] reply_to_message_id=4 reply_to_name="Bo" reply_excerpt="Hm."'),
    ],
)
def test_blocks(meta: dict[str, Any], block: str) -> None:
    assert format_metadata(meta) == block


def test_what_is_answered_can_be_left_out() -> None:
    assert format_metadata(REPLY, include_reply_chain=False) == '[meta] reply_excerpt="Hm."'


@pytest.mark.parametrize(
    ("id", "value"),
    [
        (None, None),
        ("", ""),
        ("7", 7),
        ("-100", -100),
        ("0", 0),
        ("-0", "-0"),
        ("007", "007"),
        ("+7", "+7"),
        ("7.5", "7.5"),
        ("٧", "٧"),
        ("9" * 19, int("9" * 19)),
        ("9" * 20, "9" * 20),
    ],
)
def test_ids_that_are_numbers(id: str | None, value: object) -> None:
    assert (number(id), type(number(id))) == (value, type(value))


def test_a_message_has_all_of_them() -> None:
    message = cw.user(
        "Hi",
        author=cw.Author("7", "Ann", "ann"),
        reply_to=cw.Reply("4", author=cw.Author("8", "Bo", "bo"), excerpt="Hm."),
        meta={"chat_id": -1, "other": 2},
    )
    assert format_metadata(metadata_of(message)) == (
        '[meta] chat_id=-1 user_id=7 username="ann" name="Ann" reply_to_message_id=4 '
        'reply_to_user_id=8 reply_to_username="bo" reply_to_name="Bo" reply_excerpt="Hm."'
    )
    known = cw.user("Hi", author=cw.Author("7"), meta={"user_id": 9})
    assert format_metadata(metadata_of(known)) == "[meta] user_id=9"
