"""Where JSON strings end."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwright.text.json import string_end


@given(text=st.text(st.characters(codec="utf-8") | st.sampled_from('\\"')), ascii=st.booleans())
def test_a_string_ends_at_its_quote(text: str, ascii: bool) -> None:
    written = json.dumps(text, ensure_ascii=ascii)
    assert string_end(written + ', "more"', 1) == len(written)
    encoded = written.encode()
    assert string_end(encoded + b'"', 1) == len(encoded)
    assert string_end(encoded[:-1], 1) == -1


@pytest.mark.parametrize(
    ("text", "end"),
    [('"', 1), ('\\"', -1), ('\\\\"', 3), ('a\\"b"c"', 5), ("", -1), ('\\\\\\"\\""', 7)],
)
def test_escapes_are_passed_over(text: str, end: int) -> None:
    assert string_end(text, 0) == end
