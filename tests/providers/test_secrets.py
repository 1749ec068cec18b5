"""Keys in text are hidden, however they are spelt."""

import json

from hypothesis import given
from hypothesis import strategies as st

from contextwright.providers.secrets import masked
from profiles import BODY, examples

KEY = "secret/with+slashes/0123"


def test_a_key_is_hidden_where_its_slashes_are_escaped() -> None:
    body = rb'{"plain": "secret/with+slashes/0123", "escaped": "secret\/with+slashes\/0123"}'
    hidden = b'{"plain": "%s", "escaped": "%s"}' % (b"*" * 24, b"*" * 26)
    assert masked(body, (KEY,)) == hidden


@examples(BODY)
@given(st.lists(st.booleans(), min_size=len(KEY), max_size=len(KEY)), st.integers(0, 2))
def test_a_key_is_hidden_whatever_of_it_is_escaped(escaped: list[bool], depth: int) -> None:
    """JSON may hold any character as an escape; some writers escape each slash, or each plus."""
    pairs = zip(KEY, escaped, strict=True)
    spelt = "".join(f"\\u{ord(one):04X}" if is_escaped else one for one, is_escaped in pairs)
    for _ in range(depth):  # JSON in a string of JSON
        spelt = json.dumps(spelt)[1:-1]
    for one in (spelt, spelt.replace("/", r"\/")):
        text = rf'{{"a": "\\{one}\u001b b"}}'.encode()
        hidden = masked(text, (KEY,))
        assert len(hidden) == len(text)
        assert hidden.replace(b"*", b"") in (
            rb'{"a": "\\\u001b b"}',
            rb'{"a": "\u001b b"}',  # what stands before an escape is one
        )
        json.loads(hidden)
