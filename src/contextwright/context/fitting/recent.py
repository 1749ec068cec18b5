"""The histories of recently built lists, for the next build of the same list with more messages.

Results never depend on them: a history is reused only for a list that begins with the same
messages, for the same format, model and recipe.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from threading import Lock
from typing import cast

from contextwright.context.fitting.meter import meter_of
from contextwright.context.fitting.priced_history import PricedHistory
from contextwright.context.recipe_data import RecipeData
from contextwright.formats.given import is_messages
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message
from contextwright.models import Model

__all__ = ["RECENT", "RecentHistories"]

MOST = 4
"""Number of lists to remember; each keeps its messages alive."""


class RecentHistories:
    """A few histories, each used by one build at a time."""

    def __init__(self) -> None:
        self._histories: list[PricedHistory] = []
        """The histories, most recently used last."""
        self._lock = Lock()

    def take(
        self, given: object, format: str, model: Model, recipe: RecipeData
    ) -> PricedHistory | None:
        """Take out the history of a list that this one continues, or None; `keep` returns it."""
        messages = given.messages if isinstance(given, Conversation | PricedHistory) else given
        if not isinstance(messages, list | tuple):
            return None
        messages = cast("Sequence[Message]", messages)
        with self._lock:
            for place, history in enumerate(self._histories):
                if (
                    history.fits(format, model, recipe)
                    and begins_with(messages, history)
                    and is_messages(messages[len(history) :])
                ):
                    return self._histories.pop(place)
        return None

    def keep(self, history: PricedHistory) -> None:
        """Remember a history that a build has finished with."""
        # A summariser would continue its last summary, but a new list needs a new one.
        history.summary = None
        with self._lock:
            self._histories = [*self._histories, history][-MOST:]

    def forget(self) -> None:
        """Drop all texts that are in memory."""
        with self._lock:
            self._histories = []
        meter_of.cache_clear()


RECENT = RecentHistories()


def begins_with(messages: Sequence[Message], history: PricedHistory) -> bool:
    """Whether a list begins with the messages of a history, and those it has read to the byte."""
    log, unread = history.log, history.unread
    start, last = log.start, len(log) - 1
    if len(unread) != start or not log.messages or len(messages) <= last:
        return False
    # Compare the ends first, because most lists differ there.
    if messages[start] is not log.messages[0] or messages[last] is not log.messages[-1]:
        return False
    end = messages[start:] if start else messages
    if not is_prefix(unread, messages) or not is_prefix(log.messages, end):
        return False
    return all(map(is_, log.inexact.values(), map(messages.__getitem__, log.inexact)))


def is_prefix(known: list[Message], messages: Sequence[Message]) -> bool:
    """Whether a list begins with equal messages; ten times as fast as asking for each of them."""
    try:
        return known <= (messages if isinstance(messages, list) else list(messages))
    except TypeError:  # the first two that are not equal have no order
        return False
