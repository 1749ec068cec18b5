"""Names that one of two people calls the other."""

import pytest

import contextwright as cw
from contextwright.recall.aliases import resolve_aliases
from contextwright.recall.questions import parse_question
from samples.recall import ANNA, BORIS, found_of, outline_of


@pytest.mark.parametrize(
    ("calls", "others", "rest", "called"),
    [
        (5, 0, 0, True),
        (4, 0, 0, False),
        (4, 1, 0, True),
        (4, 2, 0, False),
        (8, 2, 0, True),
        (7, 2, 0, False),
        (5, 0, 120, True),
        (5, 0, 121, False),
    ],
    ids=str,
)
@pytest.mark.parametrize("people", [(ANNA, BORIS), (BORIS, ANNA)])
def test_when_a_name_is_the_other_s(
    people: tuple[cw.Author, cw.Author], calls: int, others: int, rest: int, called: bool
) -> None:
    """Said five times, mostly by one person, and in at least 4 % of what that person says."""
    caller, other = people
    messages = [
        *[cw.user("Bobby, come.", author=caller)] * calls,
        *[cw.user("Bobby?", author=other)] * others,
        *[cw.user("The rain is back.", author=caller)] * rest,
        *[cw.user("I hate it.", author=other)] * 9,
    ]
    question = parse_question("What does Bobby hate?", ("Anna", "Boris"))
    found = found_of(question, messages)
    learnt, left = resolve_aliases(question, found, outline_of(messages))
    assert learnt.speakers == ({other.name} if called else frozenset())
    weights = {one.term: one.weight for one in left}
    expected = {one.term: 0.0 if called and one.term == "bobbi" else one.weight for one in found}
    assert weights == expected


@pytest.mark.parametrize(("guests", "called"), [(0, True), (1, True), (2, False)])
def test_who_says_hardly_anything_is_not_one_of_two(guests: int, called: bool) -> None:
    guest = cw.Author("3", "Clara")
    messages = [
        *[cw.user("Bobby, come.", author=ANNA)] * 10,
        *[cw.user("I hate it.", author=BORIS)] * 10,
        *[cw.user("Hello", author=guest)] * guests,
    ]
    question = parse_question("What does Bobby hate?", ("Anna", "Boris", "Clara"))
    learnt, _ = resolve_aliases(question, found_of(question, messages), outline_of(messages))
    assert learnt.speakers == ({"Boris"} if called else frozenset())
