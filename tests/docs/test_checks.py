"""Every numbered check has a test that names it, and the page says which."""

import checks


def test_every_check_is_held_by_a_test() -> None:
    held = checks.tests()
    table = checks.table()
    missing = [check.number for check in table if check.number not in held and not check.left_out]
    assert missing == []
    unknown = set(held) - {check.number for check in table}
    assert unknown == set()


def test_only_extras_are_left_out() -> None:
    left_out = {check.number: check.level for check in checks.table() if check.left_out}
    # The document's own commands, of which it says itself that they are out of date.
    assert {number for number, level in left_out.items() if level != "X"} == {"GRY-59"}


def test_numbers_are_whole() -> None:
    """All numbers of the five documents are in the table, each once, in their order."""
    expected = [
        *(f"AYA-{number}" for number in (*range(1, 17), *range(20, 34))),
        *(f"CB-{number}" for number in (*range(1, 15), "14a", *range(15, 26))),
        *(f"FRG-{number}" for number in range(1, 38)),
        *(f"GRY-{number}" for number in range(1, 60)),
        *(f"P42-{number}" for number in (*range(1, 6), "5b", *range(6, 22))),
    ]
    assert [check.number for check in checks.table()] == expected


def test_the_page_is_up_to_date() -> None:
    assert checks.PAGE.read_text("utf-8") == checks.page(), "run: python tests/checks.py"
