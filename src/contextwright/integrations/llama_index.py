"""LlamaIndex: a memory whose messages are kept in a store, within a budget.

memory = StoreMemory.from_defaults("lunch", cw.Store("chat.db"), model="gpt-5.6-sol")
response = await agent.run("A table for three at one?", memory=memory)
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, cast

from contextwright.context.recipe_data import RecipeData
from contextwright.errors import MissingExtra, UsageError
from contextwright.integrations.originals import original_of, with_original
from contextwright.integrations.trimming import Trimming
from contextwright.messages.message import Message, Role
from contextwright.messages.parts import Media, Part, Text, Thinking, ToolCall, ToolResult
from contextwright.models import Model
from contextwright.store.records import Turn
from contextwright.store.store import Store
from contextwright.store.turns import replace_all
from contextwright.text.json import json_text, require_json

try:
    from llama_index.core.base.llms.types import (
        ChatMessage,
        ImageBlock,
        TextBlock,
        ThinkingBlock,
        ToolCallBlock,
    )
    from llama_index.core.bridge.pydantic import PrivateAttr
    from llama_index.core.memory import BaseMemory
except ModuleNotFoundError as error:
    raise MissingExtra("the integration of LlamaIndex", "llama-index") from error

__all__ = ["StoreMemory"]

NAME = "llama_index"
ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "assistant": "assistant",
    "chatbot": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}


class StoreMemory(BaseMemory):
    """A memory whose messages are those of one stored conversation.

    Messages come back as they were put, except those edited in the store since. Hidden, deleted and
    erased messages are left out. Messages that were added without LlamaIndex are there too.
    """

    session_id: str
    _store: Store = PrivateAttr()
    _trimming: Trimming | None = PrivateAttr(default=None)

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex knows the class by."""
        return "StoreMemory"

    @classmethod
    def from_defaults(  # pyright: ignore[reportIncompatibleMethodOverride]
        cls,
        session_id: str,
        store: Store,
        *,
        model: str | Model | None = None,
        token_limit: int | None = None,
        recipe: RecipeData | str | None = None,
    ) -> StoreMemory:
        """Return a memory in a store; with a `model`, `get` stays within a limit.

        The limit is that of the messages: the agent's system prompt and tools come on top. By
        default it is the recipe's budget, else the model's input limit.

        Raises:
            UsageError: a limit or a recipe without a model, or a recipe that writes text.
        """
        if model is None and (token_limit is not None or recipe is not None):
            raise UsageError("a token limit or a recipe without a model", hint="name the model too")
        memory = cls(session_id=session_id)
        memory._store = store
        if model is not None:
            memory._trimming = Trimming(model, budget=token_limit, recipe=recipe)
        return memory

    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        """Return the messages in order: those that fit the limit, if there is one.

        Raises:
            BudgetError: the newest question does not fit.
        """
        messages = self.get_all()
        if self._trimming is None:
            return messages
        kept = self._trimming.kept([message_of(message) for message in messages])
        return [messages[index] for index in kept]

    def get_all(self) -> list[ChatMessage]:
        """Return all visible messages, in order."""
        return [
            chat_message
            for stored in self._store.conversation(self.session_id).read()
            if stored.message.visibility == "public" and not stored.damage
            for chat_message in restored(stored.message)
        ]

    def put(self, message: ChatMessage) -> None:
        """Add a message."""
        self.put_messages([message])

    def put_messages(self, messages: list[ChatMessage]) -> None:
        """Add messages as one turn: all of them are stored, or none."""
        if messages:
            self._store.conversation(self.session_id).add(turn_of(messages))

    def set(self, messages: list[ChatMessage]) -> None:
        """Replace all messages, permanently.

        All of them are stored, or none; then what was there stays. Memories stay in any case.
        """
        if messages:
            replace_all(self._store.state, Turn(self.session_id, turn_of(messages)))
        else:
            self.reset()

    def reset(self) -> None:
        """Remove the conversation from the store, permanently."""
        self._store.forget(self.session_id)


def turn_of(messages: list[ChatMessage]) -> list[Message]:
    """Return messages of LlamaIndex as ours, with the originals.

    Raises:
        UsageError: a message has a value that JSON cannot hold.
    """
    return [with_original(message_of(message), NAME, plain(message)) for message in messages]


def plain(message: ChatMessage) -> dict[str, Any]:
    """Return a message as JSON from which LlamaIndex makes the same message again."""
    for holder in (message, *message.blocks):
        for value in holder.model_dump().values():
            if isinstance(value, dict):  # whatever people or a provider put beside the content
                require_json(cast("Any", value))
    return message.model_dump(mode="json")


def restored(message: Message) -> list[ChatMessage]:
    """Return the message that was put, else those that ours is for LlamaIndex."""
    original = original_of(message, NAME)
    if original is not None:
        return [ChatMessage.model_validate(original)]
    if message.role == "tool":
        return [
            ChatMessage(
                role="tool",
                content=result.text,
                additional_kwargs={"tool_call_id": result.call_id, "name": result.name},
            )
            for result in message.results
        ]
    return [ChatMessage(role=message.role, blocks=[block_of(part) for part in message.parts])]


def block_of(part: Part) -> Any:
    """Return a part as a block; what LlamaIndex has no block for becomes text."""
    if isinstance(part, ToolCall):
        return ToolCallBlock(
            tool_call_id=part.id, tool_name=part.name, tool_kwargs=part.arguments or {}
        )
    if isinstance(part, Thinking):
        return ThinkingBlock(content=part.text)
    if isinstance(part, Media) and part.kind == "image":
        data = base64.b64decode(part.data) if part.data else None
        return ImageBlock(image=data, url=part.url, image_mimetype=part.mime)
    return TextBlock(text=f"[{part.kind}]" if isinstance(part, Media) else part.text or "")


def message_of(message: ChatMessage) -> Message:
    """Return a message of LlamaIndex as ours."""
    role = ROLES.get(message.role.value, "user")
    extra = message.additional_kwargs
    if role == "tool":
        content = result_of(message.blocks)
        return Message("tool", (ToolResult(extra.get("tool_call_id"), content, extra.get("name")),))
    parts = [part_of(block) for block in message.blocks]
    if not any(isinstance(part, ToolCall) for part in parts):
        parts += legacy_calls(extra.get("tool_calls"))
    return Message(role, tuple(parts))


def result_of(blocks: Sequence[Any]) -> str | tuple[Text | Media, ...]:
    """Return the blocks of a tool's message as the content of a result."""
    parts = [
        part if isinstance(part, Text | Media) else Text(block.model_dump_json())
        for block, part in ((block, part_of(block)) for block in blocks)
    ]
    texts = [part.text for part in parts if isinstance(part, Text)]
    return "\n".join(texts) if len(texts) == len(parts) else tuple(parts)


def part_of(block: Any) -> Part:
    """Return a block as ours; what only LlamaIndex reads counts as its JSON."""
    match block:
        case TextBlock():
            return Text(block.text)
        case ToolCallBlock():
            arguments = block.tool_kwargs
            if isinstance(arguments, str):
                return ToolCall.from_json(block.tool_name, arguments, id=block.tool_call_id)
            return ToolCall(block.tool_name, cast("Any", arguments), block.tool_call_id)
        case ThinkingBlock():
            return Thinking(block.content or "")
        case ImageBlock():
            data = block.image.decode() if isinstance(block.image, bytes) else None
            return Media("image", block.image_mimetype, data, url=str(block.url or "") or None)
        case _:
            return Text(block.model_dump_json())


def legacy_calls(calls: Any) -> Sequence[ToolCall]:
    """Return the calls that some integrations keep beside the blocks.

    They are in the shape of OpenAI or Ollama, whose arguments are an object, or of Anthropic.
    """
    found: list[ToolCall] = []
    for call in cast("Sequence[Any]", calls) if isinstance(calls, list | tuple) else ():
        dump = getattr(call, "model_dump", None)
        given: Any = dump() if callable(dump) else call
        if not isinstance(given, dict):
            continue
        fields = cast("dict[str, Any]", given)
        held: dict[str, Any] = fields.get("function") or fields
        name, arguments = held.get("name") or "", held.get("arguments", held.get("input"))
        text = arguments if isinstance(arguments, str) else json_text(arguments or {})
        found.append(ToolCall.from_json(name, text or "{}", id=fields.get("id")))
    return found
