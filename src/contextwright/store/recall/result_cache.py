"""Cache what was read from all conversations of a tenant, until anything is written."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from contextwright.store.engines.base import Connection, Version

__all__ = ["ResultCache"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

MAX_RESULTS = 64
"""Maximum number of results."""


class ResultCache:
    """A cache for functions that read a database. Safe for several threads.

    Checking 10,000 conversations for new messages takes longer than a search. The version of the
    database tells at once whether anything has changed.
    """

    def __init__(self) -> None:
        self._version: Version | None = None
        self._results: dict[tuple[Any, ...], Any] = {}
        self._lock = Lock()

    def of(
        self,
        connection: Connection,
        function: Callable[Concatenate[Connection, Arguments], Result],
        *values: Arguments.args,
        **others: Arguments.kwargs,
    ) -> Result:
        """Return the function's result, cached if possible. Callers must not change it."""
        version = connection.version()
        if version is None:
            return function(connection, *values, **others)
        key = (function, values, *others.items())
        with self._lock:
            if version != self._version or len(self._results) >= MAX_RESULTS:
                self._version, self._results = version, {}
            results = self._results
        if key not in results:
            results[key] = function(connection, *values, **others)
        return cast("Result", results[key])
