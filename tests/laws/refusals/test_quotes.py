"""What errors quote."""

from contextwright.errors import SHOWN, shown


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError("it cannot show itself")


def test_a_value_that_python_cannot_write_is_quoted_by_its_type() -> None:
    assert shown(10**5000) == "a value of type int"
    assert shown([10**5000]) == "a value of type list"
    assert shown(Broken()) == "a value of type Broken"
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    assert shown(nested) == "a deeply nested list"


def test_a_long_value_is_cut() -> None:
    assert len(shown("x" * 1_000)) == SHOWN
