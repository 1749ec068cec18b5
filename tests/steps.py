"""Counting what a run does, where its time would depend on the machine."""

import sys
from collections.abc import Callable


def count_calls(run: Callable[[], object]) -> int:
    """How many functions a run calls, those written in C included."""
    taken = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal taken
        taken += event in ("call", "c_call")

    previous = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(previous)
    return taken
