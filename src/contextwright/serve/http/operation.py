"""`Operation`: one route, declared once; routing, decoding and the document come from it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias, cast, get_type_hints

from msgspec import Struct, structs

__all__ = ["JSON", "Lines", "Method", "Operation", "operation"]

Method: TypeAlias = Literal["GET", "POST", "PATCH", "DELETE"]

JSON = "application/json"


class Operation(Struct, frozen=True, kw_only=True):
    """A method of a path, and the function that answers it."""

    method: Method
    path: str
    """Segments in braces are fields of `query`."""
    run: Callable[..., Any]
    """It is called in a thread, with those of store, query, body and so on that it names."""
    query: type[Struct] | None
    """The parameters of the path and behind the question mark."""
    body: Any
    """The type of the JSON body; None: there is none."""
    answer: Any
    """The type of the answer; None: it is empty."""
    media: str
    status: int
    takes: tuple[str, ...]
    conflicts: bool
    """Whether it may answer 409."""

    @property
    def segments(self) -> tuple[str, ...]:
        """The path, step by step."""
        return tuple(self.path.strip("/").split("/"))

    @property
    def path_fields(self) -> tuple[str, ...]:
        """The fields of the query that stand in the path."""
        return tuple(one[1:-1] for one in self.segments if one.startswith("{"))

    @property
    def streams(self) -> bool:
        """Whether the answer comes piece by piece."""
        return self.media != JSON

    @property
    def waits(self) -> bool:
        """Whether its function runs in the event loop, because it waits for something."""
        return inspect.iscoroutinefunction(self.run)

    @property
    def upload(self) -> bool:
        """Whether the body is a file of any kind."""
        return "file" in self.takes

    @property
    def name(self) -> str:
        """The name of the operation: that of its function."""
        return self.run.__name__

    @property
    def tag(self) -> str:
        """The file it is in, for readers of the document."""
        return self.run.__module__.rpartition(".")[2]

    @property
    def summary(self) -> str:
        """A description in one line."""
        return self.words[0].rstrip(".")

    @property
    def description(self) -> str:
        """The rest of the description."""
        return " ".join(line for line in self.words[1:] if line)

    @property
    def words(self) -> list[str]:
        """The lines of the function's docstring."""
        return (inspect.getdoc(self.run) or self.name).splitlines()

    @property
    def errors(self) -> list[int]:
        """The statuses of the errors it may answer."""
        found = {400, 401, 403, 500, 503}
        if self.query is not None:
            found.add(422)
        named = {field for type in (self.query, self.body) if type for field in fields_of(type)}
        if self.path_fields or "conversation" in named:
            found.add(404)
        if self.body is not None:
            found |= {408, 413, 415, 422}
        if self.upload:
            found |= {408, 413}
        if self.conflicts:
            found.add(409)
        return sorted(found)


def operation(
    method: Method,
    path: str,
    run: Callable[..., Any],
    *,
    status: int = 200,
    media: str = JSON,
    conflicts: bool = False,
) -> Operation:
    """Return an operation whose types are those in the signature of its function."""
    hints = get_type_hints(run)
    answer = hints.pop("return", None)
    query = cast("type[Struct] | None", hints.get("query"))
    made = Operation(
        method=method,
        path=path,
        run=run,
        query=query,
        body=hints.get("body"),
        answer=None if answer is type(None) else answer,
        media=media,
        status=status,
        takes=tuple(hints),
        conflicts=conflicts,
    )
    missing = set(made.path_fields) - set(fields_of(query) if query else ())
    assert not missing, f"{path}: {missing} are not fields of its query"
    return made


def fields_of(type: type[Struct]) -> list[str]:
    """Return the names of a struct's fields, as calls have them."""
    return [field.encode_name for field in structs.fields(type)]


Lines: TypeAlias = Iterator[bytes]
"""JSON Lines, each made as it is sent."""
