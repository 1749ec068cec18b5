"""LangGraph: a node that chooses what the model sees, and leaves the state as it is.

graph.add_node("trim", trim_node("gpt-5.6-sol", max_tokens=20_000))
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contextwright.context.recipe_data import RecipeData
from contextwright.errors import UsageError
from contextwright.integrations.langchain import BaseMessage, Runnable, RunnableLambda, trim
from contextwright.integrations.trimming import Trimming
from contextwright.models import Model

__all__ = ["trim_node"]


def trim_node(
    model: str | Model,
    *,
    max_tokens: int | None = None,
    recipe: RecipeData | str | None = None,
    messages_key: str = "messages",
    output_key: str = "llm_input_messages",
) -> Runnable[Any, dict[str, list[BaseMessage]]]:
    """Return a node that puts the messages that fit under `output_key`.

    The state keeps all messages, so every checkpoint does, and going back to one brings them back.
    `llm_input_messages` is where LangGraph's prebuilt agents look: the node is their
    `pre_model_hook` as well. Declare the key in a state of your own, without a reducer.

    `max_tokens` is by default the recipe's budget, else the model's input limit. System messages
    and the newest question stay, tool messages stay with their call.

    Raises:
        UsageError: the recipe does more than choose messages; when the node runs, the state has no
            such messages.
    """
    trimming = Trimming(model, budget=max_tokens, recipe=recipe)

    def node(state: Mapping[str, Any]) -> dict[str, list[BaseMessage]]:
        if messages_key not in state:
            raise UsageError(f"the state has no {messages_key!r}", hint="name it in messages_key")
        return {output_key: trim(trimming, state[messages_key])}

    return RunnableLambda(node, name="trim_messages")
