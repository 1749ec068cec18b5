"""Readers of people's text take linear time, not quadratic.

`benchmarks/formats/linear.py` measures it up to a megabyte. Here a quarter of the text must take
clearly more than a sixteenth of the time, in one of several tries, because a busy machine can only
make a try slower.
"""

import gc
import time
from collections.abc import Callable, Iterator

import pytest

from paths import benchmark

SIZES = (pytest.param(5_000, 20_000), pytest.param(25_000, 100_000, marks=pytest.mark.slow))
"""Small texts show what is grossly quadratic; the deep run finds the rest."""
TRIES = 15
TOO_STEEP = 9
"""Linear time gives 4, quadratic time 16."""


LINEAR = benchmark("formats/linear")


@pytest.fixture(autouse=True)
def quiet_garbage_collection() -> Iterator[None]:
    """Collected between readings only, and only what they left behind."""
    gc.disable()
    gc.freeze()
    yield
    gc.unfreeze()
    gc.enable()


@pytest.mark.slow
@pytest.mark.parametrize(("small", "large"), SIZES)
@pytest.mark.parametrize("shape", LINEAR.SHAPES)
def test_reading_is_linear(shape: str, small: int, large: int) -> None:
    texts = [LINEAR.text_of(shape, size) for size in (small, large)]
    steep = [name for name, read in LINEAR.READERS.items() if not is_linear(read, *texts)]
    assert steep == []


def is_linear(read: Callable[[str], object], small: str, large: str) -> bool:
    best_small = best_large = float("inf")
    for _ in range(TRIES):
        best_small = min(best_small, LINEAR.cost(read, small))
        best_large = min(best_large, LINEAR.cost(read, large))
        if best_large < TOO_STEEP * max(best_small, 0.001):
            return True
        time.sleep(0.05)  # whatever held up this try may be over
    return False


@pytest.mark.slow
def test_what_is_quadratic_is_found() -> None:
    """The measure itself notices who looks through the whole text again and again."""

    def quadratic(text: str) -> int:
        return sum(text.count("x", place) for place in range(0, len(text), 50))

    assert not is_linear(quadratic, "y" * 25_000, "y" * 100_000)
