"""Whoever reads people's words does so in time that grows with them, not with their square.

`benchmarks/linear.py` measures it up to a megabyte; here a quarter of the text must take clearly
more than a sixteenth of the time, in one of several tries: a busy machine only makes one slower.
"""

import gc
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "linear.py"
SMALL, LARGE = 25_000, 100_000
TOO_STEEP = 9
"""Linear time gives 4, quadratic time 16."""


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("linear", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LINEAR = script()


@pytest.fixture(autouse=True)
def no_garbage_collection() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("shape", LINEAR.SHAPES)
def test_reading_is_linear(shape: str) -> None:
    small, large = (LINEAR.text_of(shape, size) for size in (SMALL, LARGE))
    steep = [name for name, read in LINEAR.READERS.items() if not is_linear(read, small, large)]
    assert steep == []


def is_linear(read: Callable[[str], object], small: str, large: str) -> bool:
    best_small = best_large = float("inf")
    for _ in range(5):
        best_small = min(best_small, LINEAR.cost(read, small))
        best_large = min(best_large, LINEAR.cost(read, large))
        if best_large < TOO_STEEP * max(best_small, 0.001):
            return True
    return False


def test_what_is_quadratic_is_found() -> None:
    """The measure itself notices who looks through the whole text again and again."""

    def quadratic(text: str) -> int:
        return sum(text.count("x", place) for place in range(0, len(text), 50))

    assert not is_linear(quadratic, "y" * SMALL, "y" * LARGE)
