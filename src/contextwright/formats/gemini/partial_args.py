"""Arguments of a call that arrive in pieces, each at a JSON path."""

from __future__ import annotations

import re
from typing import Any

from contextwright.wire.values import Object, is_list, is_object

__all__ = ["add_arguments"]

STEP = re.compile(r"\.([^.\[\]]+)|\[(\d{1,4})\]|\['([^']*)'\]")
"""One step of a JSON path such as `$.items[0].name`."""
VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")


def add_arguments(arguments: Object, pieces: Any) -> None:
    """Set pieces of arguments at their paths; append to text that is already there."""
    for piece in pieces if is_list(pieces) else ():
        if not is_object(piece) or not isinstance(piece.get("jsonPath"), str):
            continue
        steps = [
            name or quoted or int(index or 0)
            for name, index, quoted in STEP.findall(piece["jsonPath"])
        ]
        key = next((key for key in VALUES if key in piece), None)
        if steps and key is not None:
            put(arguments, steps, None if key == "nullValue" else piece[key])


def put(holder: Any, steps: list[str | int], value: Any) -> None:
    """Set a value at a path, creating objects and lists as needed."""
    for here, following in zip(steps, steps[1:], strict=False):
        holder = child(holder, here, [] if isinstance(following, int) else {})
    last = steps[-1]
    before = child(holder, last, None)
    if isinstance(before, str) and isinstance(value, str):
        value = before + value
    if is_list(holder) and isinstance(last, int):
        holder[last] = value
    elif is_object(holder):
        holder[str(last)] = value


def child(holder: Any, step: str | int, otherwise: Any) -> Any:
    """Return the value at a step, set to `otherwise` if there is none."""
    if is_list(holder) and isinstance(step, int):
        holder.extend([None] * (step + 1 - len(holder)))
        if holder[step] is None:
            holder[step] = otherwise
        return holder[step]
    return holder.setdefault(str(step), otherwise) if is_object(holder) else None
