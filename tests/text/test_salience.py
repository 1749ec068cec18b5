"""What makes a sentence worth telling later."""

from itertools import pairwise

import pytest

from contextwright.text.excerpts import Line, digest
from contextwright.text.salience import salience


@pytest.mark.parametrize(
    "texts",
    [
        ("x[0] = {self.y[1]};", "You look well.", "It is late.", "It is my birthday."),
        ("Are you there, Bob?", "It was there.", "It was in Lviv.", "I was in Lviv in 2019."),
        ("Як ти, Bob?", "Було пізно.", "У мене алергія."),
        ("你好吗", "下雨了", "我对花生过敏"),
    ],
)
def test_each_tells_more_than_the_one_before(texts: tuple[str, ...]) -> None:
    factors = [salience(text, "Ada", {"ada", "bob"}) for text in texts]
    assert all(one < other for one, other in pairwise(factors)), factors


def test_a_model_tells_less_than_a_person() -> None:
    assert salience("It is late.", "assistant", set()) < salience("It is late.", "user", set())


def test_greetings_are_left_out() -> None:
    said = ["Hey Bob! I adopted a puppy called Rex.", "Wow! Congratulations, Ada! See you!"] * 20
    said += ["Hi Ada! How are you?", "Thanks! We sold the house in Odesa for 90,000."]
    lines = [Line(n, "Ada" if n % 2 else "Bob", text) for n, text in enumerate(said, 1)]
    assert [line.text for line in digest(lines, 130)] == [
        "I adopted a puppy called Rex.",
        "We sold the house in Odesa for 90,000.",
    ]
