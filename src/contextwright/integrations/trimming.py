"""Which messages of another framework stay within a budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from contextwright.context.build import build
from contextwright.context.recipe import Recipe
from contextwright.context.recipe_data import RecipeData
from contextwright.context.recipe_files import as_recipe
from contextwright.errors import UsageError
from contextwright.messages.exchanges import match_results
from contextwright.messages.message import Message
from contextwright.messages.parts import Part
from contextwright.models import Model

__all__ = ["Trimming", "joined"]

WRITING = ("system", "clearing", "summary", "oversize")
"""Fields of a recipe that write or change text, which a framework's own messages cannot show."""


class Trimming:
    """A choice of the messages that stay, for one model, by a recipe's window and budget."""

    def __init__(
        self,
        model: str | Model,
        *,
        budget: int | None = None,
        recipe: RecipeData | str | None = None,
        format: str | None = None,
    ) -> None:
        """Take the recipe's budget, or the model's input limit, unless there is a `budget`.

        Raises:
            UsageError: the recipe does more than choose messages.
        """
        chosen = Recipe() if recipe is None else as_recipe(recipe)
        for field in WRITING:
            if getattr(chosen, field) != getattr(Recipe(), field):
                raise UsageError(
                    f"a recipe with {field!r} does more than choose messages",
                    hint="use its window and budget alone; the framework writes the rest",
                )
        self.recipe = replace(chosen, note=None, cache=False)
        self.model, self.budget, self.format = model, budget, format

    def kept(self, messages: Sequence[Message]) -> list[int]:
        """Return the indexes of the messages that stay, in order.

        The newest question stays, and so does the result of every call that does. Adjacent
        assistant messages stay or go together, because reasoning may not leave its call. Results
        without a call are left out, because every provider refuses them; beside other parts in one
        message they stay.

        Raises:
            BudgetError: the newest question does not fit; it names the smallest budget that works.
        """
        if not messages:
            return []
        groups = grouped(messages)
        context = build(
            [joined([messages[index] for index in group]) for group in groups],
            self.recipe,
            model=self.model,
            format=self.format,
            budget=self.budget,
        )
        staying = [index for group in context.decisions.kept() for index in groups[group]]
        orphans = Counter(
            staying[place] for place, _ in match_results([messages[i] for i in staying]).orphans
        )
        return [i for i in staying if not orphans[i] or orphans[i] < len(messages[i].parts)]


def grouped(messages: Sequence[Message]) -> list[list[int]]:
    """Return the indexes of the messages, with adjacent assistant messages together."""
    groups: list[list[int]] = []
    for index, message in enumerate(messages):
        if index and message.role == "assistant" == messages[index - 1].role:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def joined(messages: Sequence[Message]) -> Message:
    """Return one message with the parts of all."""
    parts: list[Part] = [part for message in messages for part in message.parts]
    return messages[0] if len(messages) == 1 else messages[0].with_parts(parts)
