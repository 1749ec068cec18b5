"""What becomes of every short text in forge's protocol, whichever marks stand in which order."""

from collections.abc import Iterator
from itertools import product

import contextwright as cw
from golden_files import compare_digests

PIECES = (
    "<thinking>",
    "</thinking>",
    "<tool>",
    "</tool>",
    '<tool>{"tool_name": "look", "arguments": {"at": 1}}</tool>',
    "<tool><tool_name>look</tool_name><arguments><at>1</at></arguments></tool>",
    "<![CDATA[",
    "&lt;tool>",
    "[a thought]",
    "[",
    "]",
    "```",
    "\n",
    " a word ",
)


def test_what_becomes_of_every_text() -> None:
    def outcomes() -> Iterator[tuple[object, object]]:
        for first in product(PIECES, repeat=2):
            texts = ["".join((*first, last)) for last in ("", *PIECES)]
            yield (
                first,
                [cw.parse([{"role": "assistant", "content": text}], "forge") for text in texts],
            )

    compare_digests("forge-texts", outcomes())
