"""The first texts of a process have the same counts as all others.

`WRITE_CASES=1 pytest tests/tokens/test_byte_pairs.py` writes the table they are counted with again.
"""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwright.tokens.byte_pairs import (
    BUCKETS,
    LENGTH,
    LONGEST_WORD,
    NAME,
    PLACE,
    RANK,
    BytePairs,
    bucket_of,
)
from contextwright.tokens.tokenizers import FIRST_CHARS, encoder

PROJECT = Path(__file__).parents[2]
FILE = PROJECT / f"src/contextwright/data/{NAME}.bin"
WORDS = st.sampled_from(
    "the| The|'s|'LL| don't|HTTPServer|1234567| 3.14|_snake|camelCase|==\r\n| \n |\t\t|hazelnutty"
    "|antidisestablishment|Привіт| їжак|天气很好|，です|한국어|नमस्ते|\u0301|😀🧑‍🚀|<|im_end|>".split(
        "|"
    )
)
ODD = st.text("aAzZ'sStTſK \n\r\t09/.-—éЇї中あ한अा", max_size=LONGEST_WORD)


def tokens() -> list[bytes]:
    """All tokens by rank, without special ones, whose ids begin where a first one is missing."""
    from splintr import Tokenizer

    decode, found = Tokenizer.from_pretrained(NAME).decode_token_bytes, list[bytes]()
    while True:
        try:
            found.append(decode(len(found)))
        except ValueError:
            return found


def table() -> bytes:
    """The places of all buckets, and the buckets: length, rank and bytes of each token."""
    buckets = [bytearray() for _ in range(1 << BUCKETS)]
    for rank, token in enumerate(tokens()):
        head = len(token).to_bytes(LENGTH, "little") + rank.to_bytes(RANK, "little")
        buckets[bucket_of(token)] += head + token
    places = accumulate(map(len, buckets), initial=(len(buckets) + 1) * PLACE)
    return b"".join([*(place.to_bytes(PLACE, "little") for place in places), *buckets])


def test_the_table_is_that_of_splintr() -> None:
    if os.environ.get("WRITE_CASES"):
        FILE.write_bytes(table())
    assert FILE.read_bytes() == table()


@given(text=st.text(max_size=LONGEST_WORD) | ODD | st.lists(WORDS, max_size=20).map("".join))
def test_counts_are_those_of_splintr(text: str) -> None:
    assert BytePairs(FIRST_CHARS)(text) == len(encoder(NAME)(text))


def test_counts_of_pages_are_those_of_splintr() -> None:
    for page in PROJECT.glob("docs/*.md"):
        count, lines = BytePairs(sys.maxsize), page.read_text("utf-8").splitlines()
        lines = [line for line in lines if max(map(len, line.split()), default=0) <= LONGEST_WORD]
        for line in lines[:200]:
            assert count(line) == len(encoder(NAME)(line))


@pytest.mark.slow
def test_every_character_begins_and_ends_words_as_in_splintr() -> None:
    count = BytePairs(sys.maxsize)
    # All of the planes where most letters are, a sample of the others.
    for code in (*range(0x20000), *range(0x20000, sys.maxunicode, 101)):
        char = chr(code)
        if not "\ud800" <= char <= "\udfff":
            text = f"a{char}b A{char}{char}B {char} \n{char}1{char}'{char} .{char}\n"
            assert count(text) == len(encoder(NAME)(text)), ascii(char)


def test_a_long_word_is_not_counted() -> None:
    assert BytePairs(FIRST_CHARS)("a" * LONGEST_WORD) == len(encoder(NAME)("a" * LONGEST_WORD))
    count = BytePairs(FIRST_CHARS)
    assert count("b" * (LONGEST_WORD + 1)) is None
    assert count("c") is None


def test_splintr_is_loaded_once_it_is_worth_it() -> None:
    code = f"""
from contextwright.tokens.tokenizers import encoder, vocabulary
count, text = vocabulary({NAME!r}), "Привіт, hazelnuts! " * 1_024
counts = []
for _ in range(5):
    counts.append((count(text), encoder.cache_info().currsize))
print(counts, count("\\ud83d Привіт, hazelnuts! hazelnuts!"))
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    tokens = len(encoder(NAME)("Привіт, hazelnuts! " * 1_024))
    mended = len(encoder(NAME)("\ufffd Привіт, hazelnuts! hazelnuts!"))
    expected = [(tokens, 0), (tokens, 0), (tokens, 0), (tokens, 1), (tokens, 1)]
    assert shown.stdout == f"{expected} {mended}\n"
