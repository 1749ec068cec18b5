"""What becomes of every short text in gryag's protocol, whichever marks stand in which order."""

from collections.abc import Iterator
from itertools import product

import contextwright as cw
from contextwright.formats.gryag.meta import clean_reply
from golden_files import compare_digests

PIECES = (
    "[meta] ",
    "[meta",
    ' chat_id=-1 name="Al \\"A\\""',
    " user_id=456",
    "reply_to_message_id=7 ",
    "=",
    '"',
    "]",
    "[speaker: Al]",
    "```",
    "Alice#98: ",
    "Bob#11 → Alice#98: ",
    "[↩︎ Alice: hi] ",
    "\n",
    " a word ",
)


def test_what_becomes_of_every_text() -> None:
    def outcomes() -> Iterator[tuple[object, object]]:
        for first in product(PIECES, repeat=2):
            texts = ["".join((*first, last)) for last in ("", *PIECES)]
            yield first, [outcome(text) for text in texts]

    compare_digests("gryag-texts", outcomes())


def outcome(text: str) -> list[object]:
    """The text as a turn of a user, as a compact history, and as a reply to be cleaned."""
    turn = {"role": "user", "parts": [{"text": text}, {"text": "Hi"}]}
    return [cw.parse([turn], "gryag"), cw.parse(text, "gryag"), clean_reply(text)]
