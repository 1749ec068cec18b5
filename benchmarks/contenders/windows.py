"""How other libraries keep a conversation within a budget, each with its recommended settings.

A `Way` opens a `Talk`: messages are added to it, and it gives the request that would be sent next,
rendered by the library itself. Some ways have a store of their own; the others hold messages in
memory. Where a library counts by a function that one passes in, it gets our tokenizer, which is
exact for the model and faster than theirs.
"""

# The peers are not installed here.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from contextwright import Conversation, Message
from contextwright.tokens.count import count_text

from . import naive, peers

MODEL = "gpt-4o"
MESSAGE_TOKENS = 190
"""What a message of the workload takes, for libraries that count messages and not tokens."""

decode = msgspec.json.decode


class Talk(Protocol):
    """A conversation in a library's hands."""

    def add(self, messages: Sequence[Message]) -> None: ...

    def request(self) -> dict[str, Any]: ...


class Way(Struct):
    """One way to keep a conversation within a budget of tokens."""

    library: str
    name: str
    begin: Callable[[int], Talk] | None
    """Opens a talk in memory, within a budget."""
    format: str = "openai-chat"
    budget: bool = True
    """Whether it takes a budget of tokens; if not, it takes a number of messages."""
    stored: Callable[[Path, int], Talk] | None = None
    """Opens a talk on disk."""
    chunk: int = 1_000_000
    """How many messages to fill it with at once: what the library does fastest."""


def tokens(text: str) -> int:
    return count_text(text, MODEL).tokens


def count_of(budget: int) -> int:
    """How many messages about fill a budget."""
    return max(budget // MESSAGE_TOKENS, 2)


def conversation(messages: Sequence[Message]) -> Conversation:
    return Conversation(tuple(messages))


class Loop:
    """An event loop that stays open between calls, as it does in a server."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(work)


class Trimmed:
    """A talk whose native messages are trimmed and rendered for every request."""

    def __init__(
        self,
        native: Callable[[Conversation], list[Any]],
        trim: Callable[[list[Any]], Any],
        render: Callable[[Any], list[dict[str, Any]]],
    ) -> None:
        self.native, self.trim, self.render = native, trim, render
        self.held: list[Any] = []

    def add(self, messages: Sequence[Message]) -> None:
        self.held += self.native(conversation(messages))

    def request(self) -> dict[str, Any]:
        return {"model": MODEL, "messages": self.render(self.trim(self.held))}


# --- langchain -------------------------------------------------------------------------------


def langchain_trim(budget: int, counter: Any) -> Callable[[list[Any]], list[Any]]:
    """As its documentation recommends: start on a question, keep the system message."""
    from langchain_core.messages import trim_messages

    return lambda messages: trim_messages(
        messages,
        max_tokens=budget,
        token_counter=counter,
        strategy="last",
        start_on="human",
        end_on=("human", "tool"),
        include_system=True,
    )


def langchain_exact(message: Any) -> int:
    from langchain_core.messages import convert_to_openai_messages

    wire = convert_to_openai_messages([message])[0]
    calls = "".join(
        call["function"]["name"] + call["function"]["arguments"]
        for call in wire.get("tool_calls", ())
    )
    content = wire["content"]
    parts = [content] if isinstance(content, str) else content
    text = "".join(part if isinstance(part, str) else part.get("text", "") for part in parts)
    return 4 + tokens(text) + tokens(calls)


def langchain_talk(budget: int, counter: Any) -> Talk:
    from langchain_core.messages import BaseMessage, convert_to_openai_messages

    def exactly(message: BaseMessage) -> int:  # the annotation says: one message at a time
        return langchain_exact(message)

    exactly.__annotations__["message"] = BaseMessage
    trim = langchain_trim(budget, exactly if counter == "exact" else counter)
    return Trimmed(peers.langchain_messages, trim, convert_to_openai_messages)


class LangchainHistory:
    """`SQLChatMessageHistory`, trimmed with the approximate counter."""

    def __init__(self, folder: Path, budget: int) -> None:
        from langchain_community.chat_message_histories import SQLChatMessageHistory
        from langchain_core.messages import convert_to_openai_messages

        self.history = SQLChatMessageHistory("chat", connection=f"sqlite:///{folder}/chat.db")
        self.trim = langchain_trim(budget, "approximate")
        self.render = convert_to_openai_messages

    def add(self, messages: Sequence[Message]) -> None:
        self.history.add_messages(peers.langchain_messages(conversation(messages)))

    def request(self) -> dict[str, Any]:
        return {"model": MODEL, "messages": self.render(self.trim(self.history.messages))}


class LanggraphState:
    """A graph with a `SqliteSaver`: the messages are its state, trimmed before they are sent."""

    def __init__(self, folder: Path, budget: int) -> None:
        import sqlite3

        from langchain_core.messages import convert_to_openai_messages
        from langgraph.checkpoint.sqlite import SqliteSaver
        from langgraph.graph import START, MessagesState, StateGraph

        graph = StateGraph(MessagesState)
        graph.add_node("model", lambda state: {})
        graph.add_edge(START, "model")
        connection = sqlite3.connect(folder / "graph.db", check_same_thread=False)
        self.graph = graph.compile(checkpointer=SqliteSaver(connection))
        self.config = {"configurable": {"thread_id": "chat"}}
        self.trim = langchain_trim(budget, "approximate")
        self.render = convert_to_openai_messages

    def add(self, messages: Sequence[Message]) -> None:
        native = peers.langchain_messages(conversation(messages))
        self.graph.invoke({"messages": native}, self.config)

    def request(self) -> dict[str, Any]:
        messages = self.graph.get_state(self.config).values["messages"]
        return {"model": MODEL, "messages": self.render(self.trim(messages))}


# --- litellm ---------------------------------------------------------------------------------


def litellm_talk(budget: int) -> Talk:
    from litellm.utils import trim_messages

    def trim(messages: list[Any]) -> list[Any]:
        return trim_messages(messages, model=MODEL, max_tokens=budget)

    return Trimmed(peers.chat_messages, trim, lambda messages: messages)


# --- llama-index -----------------------------------------------------------------------------


class LlamaMemory:
    """`Memory`, with the whole budget for the history; on disk if there is a folder."""

    def __init__(self, budget: int, folder: Path | None = None) -> None:
        from llama_index.core.memory import Memory
        from llama_index.llms.openai.utils import to_openai_message_dicts

        place = f"sqlite+aiosqlite:///{folder}/memory.db" if folder else None
        self.loop = Loop()
        self.memory = Memory.from_defaults(
            session_id="chat",
            token_limit=budget,
            chat_history_token_ratio=1.0,
            token_flush_size=max(budget // 10, 1),
            tokenizer_fn=lambda text: range(tokens(text)),
            async_database_uri=place,
        )
        self.render = to_openai_message_dicts

    def add(self, messages: Sequence[Message]) -> None:
        self.loop.run(self.memory.aput_messages(peers.llama_messages(conversation(messages))))

    def request(self) -> dict[str, Any]:
        messages = self.loop.run(self.memory.aget())
        return {"model": MODEL, "messages": self.render(messages, model=MODEL)}


# --- openai-agents ---------------------------------------------------------------------------


class AgentsSession:
    """`SQLiteSession` with a limit of items, prepared as the runner prepares its input."""

    def __init__(self, budget: int, folder: Path | None = None) -> None:
        from agents import SQLiteSession
        from agents.memory import SessionSettings
        from agents.models.chatcmpl_converter import Converter
        from agents.run_internal.session_persistence import prepare_input_with_session

        place = folder / "session.db" if folder else ":memory:"
        self.session = SQLiteSession("chat", place)
        self.settings = SessionSettings(limit=count_of(budget))
        self.prepare = prepare_input_with_session
        self.render = Converter.items_to_messages
        self.loop = Loop()
        self.system: list[dict[str, Any]] = []

    def add(self, messages: Sequence[Message]) -> None:
        said = [message for message in messages if message.role != "system"]
        if len(said) < len(messages):  # instructions are the agent's, not the session's
            self.system = [{"role": "system", "content": messages[0].text}]
        # The loop takes the first message for the instructions.
        items = decode(naive.openai_responses(conversation([messages[0], *said]), ""))["input"]
        self.loop.run(self.session.add_items(items))

    def request(self) -> dict[str, Any]:
        work = self.prepare([], self.session, None, self.settings)
        items = self.loop.run(work)[0]
        return {"model": MODEL, "messages": [*self.system, *self.render(items)]}
