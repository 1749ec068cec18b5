"""The faults that no test can notice are in lines that exist."""

from mutation.equivalents import EQUIVALENT
from source import SOURCE


def test_no_line_of_an_equivalent_fault_is_gone() -> None:
    places = [(file, line) for file, line, _ in EQUIVALENT]
    assert [one for one in places if one[1] not in (SOURCE / one[0]).read_text("utf-8")] == []
