"""Passages are priced in linear time: the characters that are counted grow as the text does."""

import pytest

import contextwright as cw
from contextwright.recall.packing import Packing, Price, RecallHit, default_price
from contextwright.recall.passages import Excerpt, passages_of

SMALL, LARGE = 14_000, 56_000
STEEPEST = 5.2
"""Linear time gives 4, quadratic time 16."""


def text_of(size: int) -> str:
    """Paragraphs that have nothing in common."""
    paragraphs = (
        " ".join(f"word{number}x{place}" for place in range(40)) for number in range(size)
    )
    text = ""
    while len(text) < size:
        text += next(paragraphs) + "\n\n"
    return text


def counted(size: int, share: float, backwards: bool) -> int:
    """The characters that are priced while all passages of some messages are packed."""
    seen = 0

    def price(item: RecallHit) -> int:
        nonlocal seen
        seen += len(item.line)
        return default_price(len).of_hit(item)

    budget = int(6 * size * share)
    packing = Packing(budget, Price(price, default_price(len).lower_bound))
    messages = [cw.user(text_of(size).replace("word", f"word{number}")) for number in range(6)]
    for number, message in enumerate(messages, 1):
        passages = tuple(passages_of(message.text))
        order = range(len(passages), 0, -1) if backwards else range(1, len(passages) + 1)
        for place in order:
            packing.add(
                RecallHit("a", number, message, 0.5, (), 0, excerpt=Excerpt(passages, (place,)))
            )
    found = packing.result("?", budget, has_meaning=False)
    assert found.tokens == sum(default_price(len).of_hit(item) for item in found) <= budget
    assert found.tokens > 0.95 * min(budget, 6 * size)
    return seen


@pytest.mark.parametrize("share", [0.3, 0.9, 2.0])
@pytest.mark.parametrize("backwards", [False, True])
def test_pricing_passages_is_linear(share: float, backwards: bool) -> None:
    small, large = (counted(size, share, backwards) for size in (SMALL, LARGE))
    assert large < STEEPEST * small
