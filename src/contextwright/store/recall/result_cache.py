"""Results of reading all conversations of a tenant, kept until anything is written."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from contextwright.store.engines.base import Connection, Version

__all__ = ["ResultCache"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

MOST = 64
"""Maximum number of results."""


class ResultCache:
    """Results of functions of a database, for any number of threads.

    Looking whether 10,000 conversations have anything new takes longer than a search; the version
    of the database says at once that it has not changed.
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
        """Return what a function of the database returns; callers do not change it."""
        version = connection.version()
        if version is None:
            return function(connection, *values, **others)
        key = (function, values, *others.items())
        with self._lock:
            if version != self._version or len(self._results) >= MOST:
                self._version, self._results = version, {}
            results = self._results
        if key not in results:
            results[key] = function(connection, *values, **others)
        return cast("Result", results[key])
