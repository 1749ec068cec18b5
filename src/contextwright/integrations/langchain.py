"""LangChain and LangGraph: `trim_messages` by a recipe, and a chat history in a store.

trimmed = trim_messages(messages, max_tokens=20_000, model="gpt-5.6-sol")
history = StoreChatMessageHistory("lunch", cw.Store("chat.db"))
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, TypeAlias, cast, overload

from msgspec.structs import replace

from contextwright.context.recipe_data import RecipeData
from contextwright.errors import MissingExtra, UsageError
from contextwright.formats.api import parse, render
from contextwright.integrations.originals import original_of, with_original
from contextwright.integrations.trimming import Trimming, joined
from contextwright.messages.message import Message
from contextwright.messages.parts import Media, Text, ToolResult
from contextwright.models import Model
from contextwright.store.store import Store

try:
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.messages import (
        AIMessage,
        BaseMessage,
        ChatMessage,
        InvalidToolCall,
        MessageLikeRepresentation,
        convert_to_messages,
        convert_to_openai_messages,
        message_to_dict,
        messages_from_dict,
    )
    from langchain_core.prompt_values import PromptValue
    from langchain_core.runnables import Runnable, RunnableLambda
except ModuleNotFoundError as error:
    raise MissingExtra("the integration of LangChain", "langchain") from error

__all__ = ["StoreChatMessageHistory", "trim_messages"]

NAME = "langchain"
FORMAT = "openai-chat"
ROLES = ("system", "developer", "user", "assistant", "tool", "function")
UNREADABLE = (AttributeError, KeyError, TypeError, ValueError)
"""What LangChain raises for a message that it cannot convert."""
Given: TypeAlias = Iterable[MessageLikeRepresentation] | PromptValue


@overload
def trim_messages(
    messages: None = None,
    *,
    model: str | Model,
    max_tokens: int | None = None,
    recipe: RecipeData | str | None = None,
) -> Runnable[Given, list[BaseMessage]]: ...
@overload
def trim_messages(
    messages: Given,
    *,
    model: str | Model,
    max_tokens: int | None = None,
    recipe: RecipeData | str | None = None,
) -> list[BaseMessage]: ...
def trim_messages(
    messages: Given | None = None,
    *,
    model: str | Model,
    max_tokens: int | None = None,
    recipe: RecipeData | str | None = None,
) -> list[BaseMessage] | Runnable[Given, list[BaseMessage]]:
    """Return the messages that fit, themselves and in order; a runnable if called without any.

    `max_tokens` is by default the recipe's budget, else the model's input limit. System messages
    and the newest question stay, tool messages stay with their call. Tool messages without a call
    are left out, because every provider refuses them.

    Raises:
        BudgetError: the newest question does not fit; it names the smallest budget that works.
        UsageError: the recipe does more than choose messages.
    """
    trimming = Trimming(model, budget=max_tokens, recipe=recipe)
    if messages is None:
        return RunnableLambda(partial(trim, trimming), name="trim_messages")
    return trim(trimming, messages)


def trim(trimming: Trimming, given: Given) -> list[BaseMessage]:
    """Return the messages that fit."""
    messages = convert_to_messages(given)
    kept = trimming.kept([message_of(message) for message in messages])
    return [messages[index] for index in kept]


class StoreChatMessageHistory(BaseChatMessageHistory):
    """A chat history whose messages are those of one stored conversation.

    Messages come back as they were added, except those edited in the store since. Hidden, deleted
    and erased messages are left out. Messages that were added without LangChain are there too.
    """

    def __init__(self, session_id: str, store: Store) -> None:
        self.session_id = session_id
        self.store = store

    @property
    def messages(self) -> list[BaseMessage]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The visible messages, in order."""
        found: list[BaseMessage] = []
        for stored in self.store.conversation(self.session_id).read():
            if stored.message.visibility == "public" and not stored.damage:
                found += restored(stored.message)
        return found

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages as one turn: all of them are stored, or none."""
        turn = [
            with_original(message_of(message), NAME, message_to_dict(message))
            for message in messages
        ]
        if turn:
            self.store.conversation(self.session_id).add(turn)

    def clear(self) -> None:
        """Remove the conversation from the store, permanently."""
        self.store.forget(self.session_id)


def restored(message: Message) -> list[BaseMessage]:
    """Return the LangChain message that was stored, else those that ours renders to."""
    original = original_of(message, NAME)
    if original is not None:
        return messages_from_dict([original])
    return convert_to_messages(render([message], FORMAT, repair=False).payload["messages"])


def message_of(message: BaseMessage) -> Message:
    """Return a LangChain message as ours; one that cannot be read has no parts.

    Raises:
        UsageError: LangChain has no wire message for it.
    """
    try:
        wire: list[dict[str, Any]] = convert_to_openai_messages([message])
    except UNREADABLE as error:
        return read_by_block(message, error)
    if isinstance(message, ChatMessage) and message.role not in ROLES:
        wire[0]["role"] = "user"
    if isinstance(message, AIMessage) and message.invalid_tool_calls:
        # Sent as calls all the same, so that their error results have a call.
        calls = [invalid_call(call) for call in message.invalid_tool_calls]
        wire[0]["tool_calls"] = [*wire[0].get("tool_calls", ()), *calls]
    read = parse(wire, FORMAT).messages
    return joined(read) if read else Message("assistant")


def read_by_block(message: BaseMessage, error: Exception) -> Message:
    """Return a message with blocks that only another provider reads, such as a PDF for Claude.

    Raises:
        UsageError: LangChain has no wire message for it, whatever its blocks.
    """
    known: list[Any] = []
    foreign: list[Text | Media] = []
    for block in message.content if isinstance(message.content, list) else ():
        try:
            convert_to_openai_messages([message.model_copy(update={"content": [block]})])
            known.append(block)
        except UNREADABLE:
            foreign.append(foreign_part(cast("Any", block)))
    if not foreign:
        raise UsageError(f"a {type(message).__name__} cannot be sent to a model") from error
    read = message_of(message.model_copy(update={"content": known}))
    if not read.results:
        return read.with_parts([*read.parts, *foreign])
    results = [
        replace(result, content=(Text(result.text), *foreign))
        if isinstance(result, ToolResult)
        else result
        for result in read.parts
    ]
    return read.with_parts(results)


def foreign_part(block: dict[str, Any]) -> Text | Media:
    """Return a block as the media it holds, else as its JSON, so that it is counted."""
    source: dict[str, Any] = block["source"] if isinstance(block.get("source"), dict) else block
    mime = source.get("mime_type") or source.get("media_type")
    data, url = (
        source.get("base64") or source.get("data"),
        source.get("url") or source.get("file_uri"),
    )
    if isinstance(mime, str) and isinstance(data or url, str) and source.get("type") != "text":
        kind = mime.partition("/")[0]
        named = kind if kind in ("image", "audio", "video") else "document"
        return Media(named, mime, data, url=None if data else url)
    return Text(json.dumps(block, default=repr, ensure_ascii=False))


def invalid_call(call: InvalidToolCall) -> dict[str, Any]:
    """Return a call whose arguments are not JSON, as chat completions spell it."""
    function = {"name": call["name"] or "", "arguments": call["args"] or ""}
    return {"id": call["id"], "type": "function", "function": function}
