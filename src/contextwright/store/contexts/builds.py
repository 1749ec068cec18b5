"""State that builds keep in memory for the next turn of their conversation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from contextwright.errors import require
from contextwright.lru import LruCache
from contextwright.models import Model
from contextwright.store.contexts.loader import Needs
from contextwright.store.rows.conversations import Head
from contextwright.tokens.count import Calibration
from contextwright.windows.log import Log

if TYPE_CHECKING:
    from contextwright.context.fitting.priced_history import PricedHistory

__all__ = ["Builds", "LoadedHistory"]

Key: TypeAlias = tuple[str, str]
"""A tenant and the id of a conversation."""
Moment: TypeAlias = tuple[str, str, int | None]
"""A tenant, the id of a conversation, and the number of its last message; None for now."""

MAX_LOADED = 64
"""Maximum number of histories that stay loaded."""
MAX_INCLUDED = 10_000
"""Maximum number of conversations whose included episodes are remembered."""


class LoadedHistory(Struct, frozen=True):
    """A conversation as a build loaded it; the next build loads only what is new."""

    history: PricedHistory
    head: Head
    needs: Needs
    marked: int
    """How many times its messages had been hidden or pinned."""
    length: int
    """The length of the loaded end in bytes."""

    @property
    def log(self) -> Log:
        """The messages as windows read them."""
        return self.history.log


class Builds:
    """Loaded histories and included episodes of the conversations that were built."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._loaded = LruCache[Moment, LoadedHistory](MAX_LOADED)
        self._included: dict[Key, list[str]] = {}
        """The episodes in the last context of a conversation, for its next turn to count."""
        self._calibrations: dict[tuple[str, str], Calibration] = {}

    def calibration(self, format: str, model: Model) -> Calibration:
        """Return what the providers' own counts have shown about ours so far."""
        require(format, str, "a format")
        return self._calibrations.get((format, model.id), Calibration())

    def learn(self, format: str, model: Model, counted: int, actual: int) -> None:
        """Compare our count of a request with the provider's."""
        known = self.calibration(format, model)
        estimated = round(counted * known.scale)
        self._calibrations[format, model.id] = known.learn(estimated, actual)

    def take(self, moment: Moment) -> LoadedHistory | None:
        """Return a conversation as the last build left it, once; None if it is not loaded."""
        with self._lock:
            return self._loaded.pop(moment)

    def keep(self, moment: Moment, loaded: LoadedHistory) -> None:
        """Keep a conversation for its next build; the least recently used ones are dropped."""
        with self._lock:
            self._loaded.put(moment, loaded)

    def forget(self) -> None:
        """Drop all texts in memory: those of lists too, and the prices that all builds share."""
        from contextwright.context.fitting.recent import RECENT

        with self._lock:
            self._loaded = LruCache[Moment, LoadedHistory](MAX_LOADED)
        RECENT.forget()

    def note_included(self, key: Key, episodes: Collection[str]) -> None:
        """Remember which episodes a context included, until a turn shows that it was sent.

        So no context waits for the count, and one that is not sent counts nothing.
        """
        self._included.pop(key, None)
        if len(self._included) >= MAX_INCLUDED:
            self._included.clear()
        if episodes:
            self._included[key] = sorted(episodes)

    def take_included(self, key: Key) -> Sequence[str]:
        """Return the episodes of the last context, once."""
        return self._included.pop(key, ())
