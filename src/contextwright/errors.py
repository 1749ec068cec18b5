"""The error tree. Every error says what is wrong and, in `hint`, what to do about it.

ContextwrightError
├── UsageError            the call itself is wrong
│   ├── UnknownFormat     no format has that name
│   └── UnknownModel      no facts about that model, and no defaults
├── BudgetError           the smallest possible request does not fit
├── ParseError            the data does not match its format
├── InvalidPayload        the provider would refuse the payload
├── StoreError            the store cannot do what was asked
│   ├── NotFound          no such conversation or message
│   ├── Conflict          the key or name is already in use
│   ├── StoreBusy         other processes held the store for too long
│   ├── StoreFull         no room left to write
│   ├── StoreLost         the server went away and did not come back in time
│   └── UnknownSchema     made by a newer version, or not a contextwright store
├── ProviderError         a provider refused a request, or could not be reached
├── SummaryError          a summary could not be written
├── EmbedderError         an embedder failed
└── MissingExtra          an optional package is not installed
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import force_setattr

__all__ = [
    "BudgetError",
    "Conflict",
    "ContextwrightError",
    "EmbedderError",
    "InvalidPayload",
    "MissingExtra",
    "NotFound",
    "ParseError",
    "Problem",
    "ProviderError",
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
"""Characters of the user's data that an error may echo."""


LOGIN = re.compile(
    r"(?i)\b(postgres(?:ql)?(?:\+\w{1,20})?[:/]{1,4})\S{0,500}@"
    r"|\b([a-z][a-z0-9+.-]{1,20}://)[^\s/?#]{1,500}@"
)
"""User and password in the address of a store, of a host or of a proxy."""


LONG_NAME = re.compile(rf"[^\s.\[\]]{{{SHOWN + 1},}}")
"""A word, or a field of a path, that is longer than an error may echo."""


def without_login(text: str) -> str:
    """Return a text without the users and passwords of the addresses it names.

    People forget --store before an address, so any error may have to quote one.
    """
    return LOGIN.sub(r"\1\2…@", text)


def shown(value: object) -> str:
    """Return a value as errors quote it: one short line, no control characters, no password."""
    try:
        text = without_login(repr(value))
    except RecursionError:
        text = f"a deeply nested {type(value).__name__}"
    except Exception:  # a number of too many digits, an object that cannot show itself
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def words_of(error: BaseException) -> str:
    """Return the message of an error; an empty one if it cannot tell."""
    try:
        return str(error).strip()
    except Exception:
        return ""


def shortened(text: str, longest: int = 1_000) -> str:
    """Return a path or a reason with at most 80 characters of each name in it.

    A path names fields of the user's data, which may be megabytes long.
    """
    if len(text) <= SHOWN:
        return text
    text = LONG_NAME.sub(lambda name: name[0][: SHOWN - 1] + "…", text)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def visible(text: str) -> str:
    """Return a text on one line, with an escape for each character that prints nothing.

    The names of fields come from the user's data; they must not pass for further lines.
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def in_one_line(error: BaseException) -> str:
    """Return the type of an error and the first line of its message."""
    first = words_of(error).partition("\n")[0]
    return f"{type(error).__name__}: {shown(first)}" if first else type(error).__name__


class ContextwrightError(Exception):
    """The base class of all errors that contextwright raises."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        message = super().__str__()
        return visible(f"{message} ({self.hint})" if self.hint else message)


class UsageError(ContextwrightError):
    """The call itself is wrong: an invalid argument, or two that exclude each other."""


class UnknownFormat(UsageError):
    """No format has that name."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"unknown format {shown(name)}", hint=f"known: {', '.join(known)}")
        self.name = name


class UnknownModel(UsageError):
    """There are no facts about that model, and no provider to take defaults from."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"unknown model {shown(name)}",
            hint="name a format too, or add the model to a file passed as models",
        )
        self.name = name


class BudgetError(ContextwrightError):
    """System prompt, tools and newest question do not fit; `minimum` is the smallest budget."""

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
    """The data does not match its format; `file`, `line` and `path` say where."""

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
        """Return the same error for the data around it: a larger value, a line, a file."""
        dot = "." if path and self.path and not self.path.startswith("[") else ""
        return ParseError(
            self.message,
            path=f"{path}{dot}{self.path}",
            line=self.line if line is None else line,
            hint=self.hint,
            file=self.file or file,
        )


Level: TypeAlias = Literal["error", "warning"]


class Problem(Struct, frozen=True):
    """A reason why a provider refuses a payload, or might.

    *error*: the API refuses it. *warning*: depends on model or host, or degrades the answer.
    """

    code: str
    path: str
    message: str
    level: Level = "error"

    def __post_init__(self) -> None:
        if len(self.path) > SHOWN:
            force_setattr(self, "path", shortened(self.path))

    def __str__(self) -> str:
        place = f"{self.level} {self.code} {self.path}".rstrip()
        return visible(f"{place}: {self.message}")


class InvalidPayload(ContextwrightError):
    """The provider would refuse this payload; `problems` has the reasons."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        first = problems[0]
        more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
        super().__init__(f"{first.path}: {first.message} [{first.code}]{more}")
        self.problems = tuple(problems)


class StoreError(ContextwrightError):
    """The store cannot do what was asked; nothing was stored, unless the error says so."""


class NotFound(StoreError):
    """There is no such conversation, or no such message in it."""


class Conflict(StoreError):
    """A key is in use for another turn, or a name is taken."""


class StoreBusy(StoreError):
    """Other processes held the store for longer than the time limit."""


class StoreFull(StoreError):
    """There is no room to write: a full disk, a quota, a limit on the size of files."""


class StoreLost(StoreError):
    """The database server went away, and did not come back in time."""


class UnknownSchema(StoreError):
    """The store was made by a newer version, or is not one of ours; it is left unchanged."""


class ProviderError(ContextwrightError):
    """A provider refused a request, or could not be reached; nothing of an answer arrived."""

    def __init__(
        self,
        message: str,
        *,
        kind: str,
        status: int | None = None,
        retry_after: float | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind
        """`rate_limit`, `overloaded` …: the kinds of `contextwright.streams.ReplyError`."""
        self.status = status
        self.retry_after = retry_after
        """Seconds to wait, as the provider asked."""


class SummaryError(ContextwrightError):
    """The summariser wrote no summary; earlier summaries are kept."""


class EmbedderError(ContextwrightError):
    """An embedder failed, for example because a provider did not answer."""


class MissingExtra(ContextwrightError):
    """A feature needs a package that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs an optional package",
            hint=f"pip install 'contextwright[{extra}]'",
        )
        self.extra = extra


def require(value: object, kind: Any, name: str, hint: str = "") -> None:
    """Raise for an argument of the wrong type.

    Raises:
        UsageError: the value is not of that kind; True and False are not numbers.
    """
    for_number = isinstance(value, bool) and bool not in (get_args(kind) or (kind,))
    if for_number or not isinstance(value, kind):
        raise UsageError(f"{name} cannot be {shown(value)}", hint=hint)
