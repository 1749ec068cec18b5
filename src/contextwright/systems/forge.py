"""Forge: message constructors, validators, its token estimate, and its conversation memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from contextwright.context.recipe import Recipe
from contextwright.context.recipe_files import find as find_recipe
from contextwright.errors import BudgetError, UsageError, require, shown
from contextwright.formats.base import Options
from contextwright.formats.forge import check
from contextwright.formats.forge import format as forge
from contextwright.formats.forge.check import fields_of
from contextwright.formats.forge.format import (
    Assistant,
    System,
    Tool,
    User,
    from_wire,
    on_wire,
    parse_reply,
    validate_tool_call,
)
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message
from contextwright.messages.parts import ToolCall
from contextwright.messages.validation import refuse_faults
from contextwright.models import find
from contextwright.tokens.count import counter
from contextwright.windows.decide import decide
from contextwright.windows.history import History
from contextwright.windows.policies import KeepRecent

__all__ = [
    "Assistant",
    "ConversationMemory",
    "EstimateTokens",
    "System",
    "Tool",
    "User",
    "from_wire",
    "on_wire",
    "parse_reply",
    "recipe",
    "validate_message",
    "validate_tool_call",
]

LITERALLY = Options(repair=False)
WINDOW = KeepRecent()
ANY_MODEL = find("gpt-4o")

replace = msgspec.structs.replace


def recipe() -> Recipe:
    """Return Forge's recipe: 8,000 tokens, oldest messages dropped first, system messages never."""
    return find_recipe("forge")


def EstimateTokens(message: Message | Mapping[str, Any] | str) -> int:
    """Estimate the tokens of a message, or of its content.

    A quarter of its UTF-8 bytes, 4 for the role, and 10 if it has a tool call. A message of ours
    counts as the messages that Forge makes of it: one for each tool result.
    """
    if isinstance(message, Message):
        refuse_faults([message])
        entries = entries_of((message,)) or [User("")]  # an empty one is not written
        return sum(map(EstimateTokens, entries))
    content = fields_of(message).get("content") if isinstance(message, Mapping) else message
    require(content, str, "content", "a message, or its text")
    return counter("forge")(cast("str", content))


def validate_message(message: Message | Mapping[str, Any]) -> list[str]:
    """Return Forge's errors for one message: its role, then its content.

    A message of ours has those of the messages that Forge makes of it.
    """
    if not isinstance(message, Message):
        return check.validate_message(message)
    refuse_faults([message])
    entries = entries_of((message,)) or [{**User(""), "role": message.role}]
    return [fault for entry in entries for fault in check.validate_message(entry)]


class ConversationMemory:
    """Messages within a number of tokens, as Forge counts them.

    System messages are never dropped and keep their place. The newest question, an open exchange
    and the newest message stay too; if these alone exceed the limit, `overflow` reports it. A call
    and its results are dropped together.

        memory = ConversationMemory(8000)
        memory.add(User("What is 5 + 3?"))
    """

    def __init__(self, limit: int, *, estimator: str = "forge", strict: bool = False) -> None:
        require(limit, int, "a limit", "a number of tokens")
        if limit < 0:
            raise UsageError(f"a limit of {shown(limit)} tokens", hint="0 or more")
        require(estimator, str, "an estimator", "forge, forge-table …")
        self.limit = limit
        self.strict = strict
        """Whether to raise a `BudgetError` for what does not fit, instead of reporting it."""
        self._count = counter(estimator)
        self._messages: list[Message] = []
        self._costs: dict[int, int] = {}
        """The price of each remembered message, by identity, so that none is counted twice."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The remembered messages, oldest first."""
        return tuple(self._messages)

    @property
    def entries(self) -> list[dict[str, Any]]:
        """The remembered messages, as Forge writes them."""
        return entries_of(self.messages)

    @property
    def tokens(self) -> int:
        """The tokens of the messages by the estimator."""
        return self._total(self._messages)

    @property
    def overflow(self) -> Change | None:
        """The problem if messages that must stay exceed the limit; None if they do not."""
        return self._overflow(self._messages)

    def add(self, message: Message | Mapping[str, Any]) -> tuple[Message, ...]:
        """Add a message of ours or of Forge's; return the messages dropped for it.

        A result whose call was dropped already is not kept either.

        Raises:
            UsageError: it is empty, or a message of Forge's with an unknown role.
            BudgetError: `strict` is set, and the messages that must stay exceed the limit.
        """
        added = message if isinstance(message, Message) else read(message)
        refuse_faults([added])
        if added.visibility == "public":  # what is hidden is not written
            require_valid(added)
        self._costs[id(added)] = self._counted(added)
        try:
            self._messages, dropped = self._fitted([*self._messages, added])
        finally:  # no price outlives its message, because another may get the same identity
            self._costs = {id(one): self._price(one) for one in self._messages}
        return tuple(dropped)

    def _fitted(self, messages: list[Message]) -> tuple[list[Message], list[Message]]:
        """Return the messages to remember, the last of which is new, and those to drop."""
        history = History(messages, price=self._price)
        if history.view().is_stray(len(messages) - 1) and messages[-1].results:
            return messages[:-1], messages[-1:]
        if self._total(messages) <= self.limit:
            return messages, []
        decisions = decide(WINDOW, history.view(), self.limit)
        kept = [one for index, one in enumerate(messages) if decisions.is_kept(index)]
        if self.strict and (overflow := self._overflow(kept)):
            raise BudgetError(self.limit, self._total(kept), {overflow.path: self._total(kept)})
        return kept, [one for index, one in enumerate(messages) if not decisions.is_kept(index)]

    def _total(self, messages: Sequence[Message]) -> int:
        """Return the tokens of messages; hidden ones cost nothing."""
        return sum(self._price(one) for one in messages if one.visibility == "public")

    def _overflow(self, messages: Sequence[Message]) -> Change | None:
        """Return the problem if nothing more may be dropped and the limit is exceeded."""
        total = self._total(messages)
        if total <= self.limit:
            return None
        always = History(messages, price=self._price).view().always
        system = self._total([messages[index] for index in always])
        if system > self.limit:
            reason = f"system messages cost {system:,} of {self.limit:,} tokens"
            return Change("budget.system_overflow", "system", reason)
        reason = f"system messages and the newest turn cost {total:,} of {self.limit:,} tokens"
        return Change("budget.overflow", "messages", reason)

    def _price(self, message: Message) -> int:
        return self._costs[id(message)]

    def _counted(self, message: Message) -> int:
        """Return a message's tokens by the estimator; its Forge messages count one by one."""
        return sum(self._count(entry["content"]) for entry in entries_of((message,)))


def entries_of(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    """Return messages as Forge writes them, even if some are missing."""
    return forge.FORMAT.render(Conversation(messages), ANY_MODEL, LITERALLY).payload


def require_valid(message: Message | Mapping[str, Any]) -> None:
    """Raise if Forge refuses a message."""
    if faults := validate_message(message):
        raise UsageError(f"not a message of Forge's: {'; '.join(faults)}")


def read(entry: Mapping[str, Any]) -> Message:
    """Read a message of Forge's; its calls have no ids, so results match by name and order."""
    require(entry, Mapping, "a message")
    require_valid(dict(entry))
    message = forge.FORMAT.parse([dict(entry)], False).messages[0]
    return message.with_parts(
        replace(part, id=None) if isinstance(part, ToolCall) else part for part in message.parts
    )
