"""What can go wrong, as one tree; every error says what to do about it.

ContextwrightError
├── UsageError            the call itself is wrong
│   ├── UnknownFormat     no format of that name
│   └── UnknownModel      no facts, and no way to guess them
├── BudgetError           what has to be sent does not fit
├── ParseError            the data is not what its format says it is
├── InvalidPayload        a payload its provider would refuse
├── StoreError            a store cannot do what was asked
│   ├── NotFound          no such conversation or message
│   ├── Conflict          the same key or name already means something else
│   ├── StoreBusy         others held the store for too long
│   ├── StoreFull         no room left to write
│   ├── StoreLost         the server went away and did not come back in time
│   └── UnknownSchema     made by a newer release, or no store of ours
├── SummaryError          a summary could not be written
└── MissingExtra          an optional package is not installed
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextwright.wire.shapes import Problem

__all__ = [
    "BudgetError",
    "Conflict",
    "ContextwrightError",
    "InvalidPayload",
    "MissingExtra",
    "NotFound",
    "ParseError",
    "StoreBusy",
    "StoreError",
    "StoreFull",
    "StoreLost",
    "SummaryError",
    "UnknownFormat",
    "UnknownModel",
    "UnknownSchema",
    "UsageError",
]

SHOWN = 80
"""Errors never echo more of the user's data than this many characters."""


def shown(value: object) -> str:
    """A value as errors quote it: one line, short, with nothing that moves a terminal."""
    try:
        text = repr(value)
    except RecursionError:
        text = f"a deeply nested {type(value).__name__}"
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def in_one_line(error: Exception) -> str:
    """The kind of anybody's error and its first line."""
    first = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {shown(first)}" if first else type(error).__name__


class ContextwrightError(Exception):
    """The root of the tree; catch it to catch everything of ours."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message} ({self.hint})" if self.hint else message


class UsageError(ContextwrightError):
    """The call itself is wrong: an argument of the wrong kind, or two that exclude each other."""


class UnknownFormat(UsageError):
    """No format has that name."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"unknown format {shown(name)}", hint=f"known: {', '.join(known)}")
        self.name = name


class UnknownModel(UsageError):
    """No fact about that model, and no provider to take defaults from."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"unknown model {shown(name)}",
            hint="name a format too, or add the model to a file passed as models",
        )
        self.name = name


class BudgetError(ContextwrightError):
    """System text, tools and the newest question do not fit; `minimum` is the least that works."""

    def __init__(self, budget: int, minimum: int, places: dict[str, int]) -> None:
        dearest = sorted(places.items(), key=lambda entry: -entry[1])[:3]
        where = ", ".join(f"{place} {tokens:,}" for place, tokens in dearest)
        super().__init__(
            f"a budget of {budget:,} tokens is too small: {where}",
            hint=f"the smallest that works is {minimum:,}",
        )
        self.budget = budget
        self.minimum = minimum
        self.places = places


class ParseError(ContextwrightError):
    """The data is not what its format says; `path` leads to the place in a `file` or a `line`."""

    def __init__(
        self,
        message: str,
        *,
        path: str = "",
        line: int | None = None,
        hint: str = "",
        file: str = "",
    ) -> None:
        place = path if line is None else f"line {line}{': ' + path if path else ''}"
        steps = [file if file.isprintable() else shown(file), place, message]
        super().__init__(": ".join(step for step in steps if step), hint=hint)
        self.message = message
        self.path = path
        self.line = line
        self.file = file

    def within(self, path: str = "", *, line: int | None = None, file: str = "") -> ParseError:
        """The same error as seen from outside: inside a larger value, at a line, in a file."""
        dot = "." if path and self.path and not self.path.startswith("[") else ""
        return ParseError(
            self.message,
            path=f"{path}{dot}{self.path}",
            line=self.line if line is None else line,
            hint=self.hint,
            file=self.file or file,
        )


class InvalidPayload(ContextwrightError):
    """The provider would refuse this payload; `problems` says why."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        first = problems[0]
        more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
        super().__init__(f"{first.path}: {first.message} [{first.code}]{more}")
        self.problems = tuple(problems)


class StoreError(ContextwrightError):
    """A store cannot do what was asked; nothing of it was stored, unless the error says so."""


class NotFound(StoreError):
    """There is no such conversation, or no such message in it."""


class Conflict(StoreError):
    """A key that was used for another turn, or a name that is taken."""


class StoreBusy(StoreError):
    """Other processes held the store for longer than one waits."""


class StoreFull(StoreError):
    """There is no room to write: a full disk, a quota, a limit on the size of files."""


class StoreLost(StoreError):
    """The database server went away, and did not come back in time."""


class UnknownSchema(StoreError):
    """The store was made by a newer release, or is not one of ours; it is left as it is."""


class SummaryError(ContextwrightError):
    """Whoever was asked for a summary wrote none; those that were written before are kept."""


class EmbedderError(ContextwrightError):
    """An embedder failed: a provider that does not answer, a limit that is reached."""


class MissingExtra(ContextwrightError):
    """A feature needs a package that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs an optional package",
            hint=f"pip install 'contextwright[{extra}]'",
        )
        self.extra = extra
