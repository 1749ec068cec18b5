"""A cache of limited size, against a list."""

from hypothesis import given
from hypothesis import strategies as st

from contextwright.lru import LruCache

KEYS = st.sampled_from("abcdef")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), KEYS, st.integers(0, 6)),
        st.tuples(st.sampled_from(["get", "pop"]), KEYS, st.just(0)),
    )
)


@given(st.integers(0, 12), STEPS)
def test_the_least_recently_used_go(room: int, steps: list[tuple[str, str, int]]) -> None:
    cache = LruCache[str, int](room)
    expected: list[tuple[str, int, int]] = []
    for number, (step, key, size) in enumerate(steps):
        found = [entry for entry in expected if entry[0] == key]
        value = found[0][1] if found else None
        expected = [entry for entry in expected if entry[0] != key]
        if step == "put":
            cache.put(key, number, size)
            expected.append((key, number, size))
        elif step == "get":
            assert cache.get(key) == value
            expected += found
        else:
            assert cache.pop(key) == value
        while sum(size for _, _, size in expected) > room:
            del expected[0]
        assert [*cache] == [key for key, _, _ in expected]
        assert len(cache) == len(expected)
        assert [key for key in "abcdef" if key in cache] == sorted(cache)


def test_a_value_counts_as_one() -> None:
    cache = LruCache[int, str](2)
    for number in range(4):
        cache.put(number, str(number))
    assert [(key, cache.get(key)) for key in [*cache]] == [(2, "2"), (3, "3")]
