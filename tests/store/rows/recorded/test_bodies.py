"""Recorded bodies: what two of them share is stored once."""

from hypothesis import given
from hypothesis import strategies as st

from contextwright.store.rows.recorded.bodies import STRIDES, shared_ends

WORDS = bytes(range(251)) * 60
"""Bytes that are others at every stride."""
AROUND = [stride + more for stride in STRIDES for more in (-1, 0, 1)]
sizes = st.sampled_from((0, 1, 7, *AROUND, 3 * STRIDES[0] + 5))


@given(sizes, sizes, st.binary(max_size=3), st.binary(max_size=3))
def test_as_much_is_shared_as_can_be(head: int, tail: int, one: bytes, other: bytes) -> None:
    old, new = (WORDS[:head] + middle + WORDS[-tail or len(WORDS) :] for middle in (one, other))
    first, last = shared_ends(old, new)
    least = min(len(old), len(new))
    assert old[:first] == new[:first]
    assert first == least or old[first] != new[first]
    assert first + last <= least
    assert old[len(old) - last :] == new[len(new) - last :]
    assert first + last == least or old[-last - 1] != new[-last - 1]
