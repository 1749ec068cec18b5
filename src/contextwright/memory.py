"""Forge's conversation memory: messages up to a limit, the oldest forgotten as new ones come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from contextwright.changes import Change
from contextwright.errors import BudgetError
from contextwright.formats.base import Conversation, Options
from contextwright.formats.forge import format as forge
from contextwright.history import History
from contextwright.messages import Message, ToolCall
from contextwright.models import find
from contextwright.tokens import counter
from contextwright.windows import KeepRecent

__all__ = ["ConversationMemory"]

LITERALLY = Options(repair=False)
WINDOW = KeepRecent()
ANY_MODEL = find("gpt-4o")

replace = msgspec.structs.replace


class ConversationMemory:
    """Messages within a number of tokens, as Forge counts them.

    System messages are never forgotten and keep their place; the newest question and an exchange
    that is not yet over stay too, and where these alone exceed the limit, `overflow` says so. A
    call and its results are forgotten together.

        memory = ConversationMemory(8000)
        memory.add(forge.User("What is 5 + 3?"))
    """

    def __init__(self, limit: int, *, estimator: str = "forge", strict: bool = False) -> None:
        self.limit = limit
        self.strict = strict
        """Refuse what does not fit with a `BudgetError` instead of reporting it."""
        self._count = counter(estimator)
        self._history = History(price=self._price)

    @property
    def messages(self) -> tuple[Message, ...]:
        """What is remembered, oldest first."""
        return tuple(self._history.messages)

    @property
    def entries(self) -> list[dict[str, Any]]:
        """What is remembered, as Forge writes it."""
        return entries_of(self.messages)

    @property
    def tokens(self) -> int:
        """What the messages cost by the estimator."""
        return self._history.total

    @property
    def overflow(self) -> Change | None:
        """That what may not be forgotten exceeds the limit; None while it does not."""
        return overflow_of(self._history, self.limit)

    def add(self, message: Message | Mapping[str, Any]) -> tuple[Message, ...]:
        """Remember a message of ours or of Forge's; gives back what is forgotten for it.

        A result whose call is forgotten already is not remembered either.

        Raises:
            BudgetError: `strict`, and what may not be forgotten exceeds the limit.
        """
        added = message if isinstance(message, Message) else read(message)
        history, place = self._history, len(self._history)
        history.append(added)
        if is_orphan(history):
            self._history = self._only(range(place))
            return (added,)
        if history.total <= self.limit:
            return ()
        places = set(WINDOW.decide(history, self.limit).kept())
        kept = self._only(sorted(places))
        if self.strict and (overflow := overflow_of(kept, self.limit)):
            self._history = self._only(range(place))
            raise BudgetError(self.limit, kept.total, {overflow.path: kept.total})
        self._history = kept
        return tuple(
            message for index, message in enumerate(history.messages) if index not in places
        )

    def _only(self, places: Iterable[int]) -> History:
        """The history with these messages alone; none is counted again."""
        seen = self._history.seen()
        costs = {place: self._history.cost(place, seen) for place in places}
        messages = [self._history.messages[place] for place in costs]
        public = [place for place in costs if not self._history.is_hidden(place)]
        known = iter([costs[place] for place in public])
        history = History(messages, price=lambda message: next(known))
        history.price = self._price
        return history

    def _price(self, message: Message) -> int:
        """A message's cost by the estimator: each of its Forge messages counts for itself."""
        return sum(self._count(entry["content"]) for entry in entries_of((message,)))


def entries_of(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    """Messages as Forge writes them, whatever is missing among them."""
    return forge.FORMAT.render(Conversation(messages), ANY_MODEL, LITERALLY).payload


def read(entry: Mapping[str, Any]) -> Message:
    """A message of Forge's; its calls have no ids, results find them by name and order."""
    message = forge.FORMAT.parse([dict(entry)], False).messages[0]
    return message.with_parts(
        replace(part, id=None) if isinstance(part, ToolCall) else part for part in message.parts
    )


def is_orphan(history: History) -> bool:
    """Whether the last message holds nothing but results whose calls are not there."""
    last = history.messages[-1]
    alone = bool(last.results) and len(last.results) == len(last.parts)
    return alone and history.groups.get(len(history) - 1) is None


def overflow_of(history: History, limit: int) -> Change | None:
    """What exceeds the limit although nothing more may be forgotten."""
    if history.total <= limit:
        return None
    system = history.always_before(len(history))
    if system > limit:
        reason = f"system messages cost {system:,} of {limit:,} tokens"
        return Change("budget.system_overflow", "system", reason)
    reason = f"system messages and the newest turn cost {history.total:,} of {limit:,} tokens"
    return Change("budget.overflow", "messages", reason)
