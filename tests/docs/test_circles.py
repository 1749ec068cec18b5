"""No two files import each other, not even for their types."""

from graphlib import CycleError, TopologicalSorter

from source import imports


def test_no_two_files_import_each_other() -> None:
    try:
        order = list(TopologicalSorter(imports()).static_order())
    except CycleError as error:
        raise AssertionError(" → ".join(error.args[1])) from None
    assert len(order) > 200
