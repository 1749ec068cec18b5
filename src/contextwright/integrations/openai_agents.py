"""A session of the OpenAI Agents SDK (`pip install openai-agents`) in a store.

session = StoreSession("lunch", cw.AsyncStore("chat.db"), model="gpt-5.6-sol", budget=20_000)
result = await Runner.run(agent, "A table for three at one?", session=session)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from contextwright.context.recipe_data import RecipeData
from contextwright.errors import UsageError, require
from contextwright.formats.api import render
from contextwright.formats.openai_responses.read import Gatherer
from contextwright.formats.reader import Reader
from contextwright.integrations.originals import original_of, with_original
from contextwright.integrations.trimming import Trimming
from contextwright.messages.message import Message
from contextwright.models import Model
from contextwright.store.async_store import AsyncStore
from contextwright.store.records import StoredMessage

if TYPE_CHECKING:
    from agents import SessionSettings, TResponseInputItem

__all__ = ["StoreSession"]

NAME = "openai_agents"
FORMAT = "openai-responses"
BATCH = 16
"""Messages read at once while looking for the newest visible ones."""


class StoreSession:
    """A session whose items are the messages of one stored conversation.

    Items come back exactly as they were added, except those edited in the store since. Hidden,
    deleted and erased messages are left out. Messages that were added without the SDK are items
    too, so a conversation may begin anywhere.
    """

    session_settings: SessionSettings | None = None

    def __init__(
        self,
        session_id: str,
        store: AsyncStore,
        *,
        model: str | Model | None = None,
        budget: int | None = None,
        recipe: RecipeData | str | None = None,
    ) -> None:
        """Keep the session in a store; with a `model`, `get_items` stays within a budget.

        The budget is that of the history: instructions, tools and the new question come on top.
        By default it is the recipe's, else the model's input limit. Only the recipe's window and
        budget apply.

        Raises:
            UsageError: a budget or a recipe without a model, or a recipe that writes text.
        """
        if model is None and (budget is not None or recipe is not None):
            raise UsageError("a budget or a recipe without a model", hint="name the model too")
        self.session_id = session_id
        self.store = store
        self._chat = store.conversation(session_id)
        self._trimming = (
            None if model is None else Trimming(model, budget=budget, recipe=recipe, format=FORMAT)
        )

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items in order: the newest `limit`, else those that fit the budget.

        Raises:
            BudgetError: the newest question of the history does not fit.
        """
        if limit is not None:
            found = await self._newest(limit)
            return items_of(found)[-limit:] if limit > 0 else []
        items = items_of([stored async for stored in self._chat.read()])
        if self._trimming is None:
            return items
        return [items[index] for index in self._trimming.kept(messages_of(items))]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items as one turn: all of them are stored, or none."""
        if items:
            pairs = zip(messages_of(items), items, strict=True)
            await self._chat.add(
                [with_original(message, NAME, cast("Any", item)) for message, item in pairs]
            )

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove and return the newest item; None if there is none.

        Of several calls at once, each gets an item of its own.

        The store keeps its text as a deleted message, until it is erased or forgotten. A message
        that was added without the SDK goes as a whole, also if it is several items.
        """
        while newest := await self._newest(1):
            is_ours = await self._chat.delete(newest[-1].seq)  # not another's at the same moment
            items = items_of(newest[-1:]) if is_ours else []
            if items:
                return items[-1]
        return None

    async def clear_session(self) -> None:
        """Remove the conversation from the store, permanently."""
        await self.store.forget(self.session_id)

    async def _newest(self, count: int) -> list[StoredMessage]:
        """Return at least the newest visible messages, as many as asked for and there are."""
        stop = await self._chat.length() + 1
        found: list[StoredMessage] = []
        while len(found) < count and stop > 1:
            start = max(stop - max(count, BATCH), 1)
            batch = [stored async for stored in self._chat.read(start, stop)]
            found = [*(stored for stored in batch if is_visible(stored)), *found]
            stop = start
        return found


def is_visible(stored: StoredMessage) -> bool:
    """Whether a message is one that models see."""
    return stored.message.visibility == "public" and not stored.damage


def items_of(messages: Iterable[StoredMessage]) -> list[TResponseInputItem]:
    """Return the items of stored messages; what the SDK did not add is rendered."""
    items: list[Any] = []
    foreign: list[Message] = []
    for stored in filter(is_visible, messages):
        original = original_of(stored.message, NAME)
        if original is None:
            foreign.append(stored.message)
        else:
            items += [*rendered(foreign), original]
            foreign = []
    return items + rendered(foreign)


def rendered(messages: list[Message]) -> list[Any]:
    """Return the items that messages render to, without repairs."""
    if not messages:
        return []
    return render(messages, FORMAT, repair=False).payload["input"]


def messages_of(items: Sequence[TResponseInputItem]) -> list[Message]:
    """Return a message for each item; without parts if the item cannot be read."""
    gatherer = Gatherer(Reader(FORMAT, strict=False))
    messages: list[Message] = []
    for index, item in enumerate(items):
        require(item, dict, f"input[{index}]", "an item of the Responses API")
        reached = len(gatherer.messages)
        gatherer.take(cast("Any", item), f"input[{index}]")
        gatherer.close()
        read = gatherer.messages[reached:]
        messages.append(read[0] if read else Message("assistant"))
    return messages
