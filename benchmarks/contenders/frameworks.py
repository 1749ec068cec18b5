"""How agent frameworks keep a conversation within bounds: the rest of `windows.py`."""

# The peers are not installed here.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

import sqlite3
from base64 import b64decode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from contextwright import Conversation, Media, Message, Recipe, Store, Text, ToolCall, build
from contextwright.windows.policies import KeepRecent

from . import naive, peers
from .windows import (
    MODEL,
    AgentsSession,
    LangchainHistory,
    LanggraphState,
    LlamaMemory,
    Loop,
    Trimmed,
    Way,
    conversation,
    count_of,
    langchain_talk,
    litellm_talk,
    tokens,
)

__all__ = ["RENDERERS", "WAYS"]

encode = msgspec.json.Encoder().encode


# --- google-adk ------------------------------------------------------------------------------


class AdkSession:
    """`SqliteSessionService` with its newest events, through the processor of contents."""

    def __init__(self, budget: int, folder: Path | None = None) -> None:
        from tempfile import mkdtemp

        from google.adk.flows.llm_flows.contents import _get_contents
        from google.adk.sessions.base_session_service import GetSessionConfig
        from google.adk.sessions.sqlite_session_service import SqliteSessionService

        place = folder or Path(mkdtemp())
        self.loop = Loop()
        self.service = SqliteSessionService(str(place / "adk.db"))
        self.config = GetSessionConfig(num_recent_events=count_of(budget))
        self.contents = _get_contents
        self.key = {"app_name": "app", "user_id": "user", "session_id": "chat"}
        self.session = self.loop.run(self.service.create_session(**self.key))
        self.system = ""

    def add(self, messages: Sequence[Message]) -> None:
        for message in messages:
            if message.role == "system":
                self.system = message.text
            else:
                event = adk_event(message)
                self.loop.run(self.service.append_event(self.session, event))
        self.session.events.clear()  # a server does not keep them between requests

    def request(self) -> dict[str, Any]:
        session = self.loop.run(self.service.get_session(**self.key, config=self.config))
        contents = self.contents(None, session.events, "agent")
        dumped = [
            content.model_dump(mode="json", exclude_none=True, by_alias=True)
            for content in contents
        ]
        instruction = {"parts": [{"text": self.system}]}
        return {"systemInstruction": instruction, "contents": dumped}


def adk_event(message: Message) -> Any:
    from google.adk.events.event import Event
    from google.genai import types

    parts: list[Any] = []
    for part in message.parts:
        if isinstance(part, Text):
            parts.append(types.Part(text=part.text))
        elif isinstance(part, ToolCall):
            call = types.FunctionCall(name=part.name, args=part.arguments, id=part.id)
            parts.append(types.Part(function_call=call, thought_signature=b"signed"))
        elif isinstance(part, Media):
            parts.append(types.Part.from_bytes(data=b64decode(part.data), mime_type=part.mime))
        else:
            response = {"output": part.content}
            result = types.FunctionResponse(name=part.name, id=part.call_id, response=response)
            parts.append(types.Part(function_response=result))
    agent = message.role == "assistant"
    content = types.Content(role="model" if agent else "user", parts=parts)
    author = "agent" if agent or message.role == "tool" else "user"
    return Event(author=author, content=content, invocation_id="i")


# --- semantic-kernel -------------------------------------------------------------------------


class KernelHistory:
    """`ChatHistoryTruncationReducer`, which counts messages."""

    def __init__(self, budget: int) -> None:
        from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
        from semantic_kernel.contents import ChatHistoryTruncationReducer

        self.make = lambda held: ChatHistoryTruncationReducer(
            target_count=count_of(budget), threshold_count=0, messages=held
        )
        service = OpenAIChatCompletion(ai_model_id=MODEL, api_key="-")
        self.render = service._prepare_chat_history_for_request
        self.loop = Loop()
        self.held: list[Any] = []

    def add(self, messages: Sequence[Message]) -> None:
        self.held += kernel_messages(messages)

    def request(self) -> dict[str, Any]:
        history = self.make(list(self.held))
        self.loop.run(history.reduce())
        return {"model": MODEL, "messages": self.render(history)}


def kernel_messages(messages: Sequence[Message]) -> list[Any]:
    from semantic_kernel.contents import (
        ChatMessageContent,
        FunctionCallContent,
        FunctionResultContent,
        ImageContent,
        TextContent,
    )

    def item(part: Any) -> Any:
        if isinstance(part, Text):
            return TextContent(text=part.text)
        if isinstance(part, ToolCall):
            arguments = encode(part.arguments).decode()
            return FunctionCallContent(id=part.id, name=part.name, arguments=arguments)
        if isinstance(part, Media):
            return ImageContent(
                data=b64decode(part.data), data_format="base64", mime_type=part.mime
            )
        return FunctionResultContent(id=part.call_id, name=part.name, result=part.content)

    return [
        ChatMessageContent(role=message.role, items=[item(part) for part in message.parts])
        for message in messages
    ]


# --- agent-framework -------------------------------------------------------------------------


class FrameworkHistory:
    """`TruncationStrategy` by tokens; on disk if there is a folder."""

    def __init__(self, budget: int, folder: Path | None = None) -> None:
        from agent_framework import FileHistoryProvider, TruncationStrategy
        from agent_framework._compaction import apply_compaction
        from agent_framework.openai import OpenAIChatCompletionClient

        class Tokenizer:
            def count_tokens(self, text: str) -> int:
                return tokens(text)

        self.tokenizer = Tokenizer()
        self.strategy = TruncationStrategy(
            max_n=budget, compact_to=budget, tokenizer=self.tokenizer
        )
        self.compact = apply_compaction
        client = OpenAIChatCompletionClient(MODEL, api_key="-")
        self.render = client._prepare_messages_for_openai
        self.history = FileHistoryProvider(folder) if folder else None
        self.loop = Loop()
        self.held: list[Any] = []

    def add(self, messages: Sequence[Message]) -> None:
        native = framework_messages(messages)
        if self.history is None:
            self.held += native
        else:
            self.loop.run(self.history.save_messages("chat", native))

    def request(self) -> dict[str, Any]:
        held = list(self.held)
        if self.history is not None:
            held = list(self.loop.run(self.history.get_messages("chat")))
        work = self.compact(held, strategy=self.strategy, tokenizer=self.tokenizer)
        return {"model": MODEL, "messages": self.render(self.loop.run(work))}


def framework_messages(messages: Sequence[Message]) -> list[Any]:
    from agent_framework import Content
    from agent_framework import Message as Native

    def content(part: Any) -> Any:
        if isinstance(part, Text):
            return Content.from_text(part.text)
        if isinstance(part, ToolCall):
            return Content.from_function_call(part.id, part.name, arguments=part.arguments)
        if isinstance(part, Media):
            return Content.from_data(b64decode(part.data), part.mime)
        return Content.from_function_result(part.call_id, result=part.content)

    return [Native(message.role, [content(part) for part in message.parts]) for message in messages]


# --- pydantic-ai -----------------------------------------------------------------------------


def pydantic_talk(budget: int) -> Trimmed:
    """The processor of its documentation: the newest messages."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(api_key="-"))
    count = count_of(budget) * 9 // 10  # its requests hold several messages

    def render(messages: list[Any]) -> list[dict[str, Any]]:
        return peers.finished(model._map_messages(messages, ModelRequestParameters()))

    return Trimmed(peers.pydantic_messages, lambda messages: messages[-count:], render)


# --- rendering alone -------------------------------------------------------------------------


def kernel_openai(model: str) -> peers.Loaded:
    from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
    from semantic_kernel.contents import ChatHistory

    render = OpenAIChatCompletion(ai_model_id=model, api_key="-")._prepare_chat_history_for_request

    def prepare(held: Conversation) -> peers.Run:
        history = ChatHistory(messages=kernel_messages(held.messages))
        return lambda: encode(render(history))

    return prepare


def framework_openai(model: str) -> peers.Loaded:
    from agent_framework.openai import OpenAIChatCompletionClient

    render = OpenAIChatCompletionClient(model, api_key="-")._prepare_messages_for_openai

    def prepare(held: Conversation) -> peers.Run:
        messages = framework_messages(held.messages)
        return lambda: encode(render(messages))

    return prepare


def adk_gemini(model: str) -> peers.Loaded:
    from google.adk.flows.llm_flows.contents import _get_contents
    from google.genai.types import Content
    from pydantic import TypeAdapter

    dump = TypeAdapter(list[Content]).dump_json

    def prepare(held: Conversation) -> peers.Run:
        events = [adk_event(message) for message in held.messages if message.role != "system"]

        def run() -> bytes:
            contents = _get_contents(None, events, "agent")
            return dump(contents, exclude_none=True, by_alias=True)

        return run

    return prepare


RENDERERS = (
    *peers.PEERS,
    peers.Peer("semantic-kernel", "semantic-kernel", "openai-chat", kernel_openai),
    peers.Peer("agent-framework", "agent-framework-core", "openai-chat", framework_openai),
    peers.Peer("google-adk", "google-adk", "gemini", adk_gemini),
)


# --- ours, and a loop by hand ----------------------------------------------------------------


class Ours:
    """A list of messages, built by a recipe whenever there is a request."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.held: list[Message] = []

    def add(self, messages: Sequence[Message]) -> None:
        self.held += messages

    def request(self) -> dict[str, Any]:
        return build(self.held, self.recipe, model=MODEL).payload


class OursStored:
    """A conversation in a store."""

    def __init__(self, folder: Path, budget: int) -> None:
        self.chat = Store(folder / "chat.db").conversation("chat")
        self.recipe = Recipe(budget=budget)

    def add(self, messages: Sequence[Message]) -> None:
        self.chat.add(messages)

    def request(self) -> dict[str, Any]:
        return self.chat.context(self.recipe, model=MODEL).payload


class ByHand:
    """What one writes: rows with their counts, the newest first until they fill the budget."""

    def __init__(self, budget: int, folder: Path | None = None) -> None:
        self.budget = budget
        place = str(folder / "hand.db") if folder else ":memory:"
        self.rows = sqlite3.connect(place, isolation_level=None)
        self.rows.execute("PRAGMA journal_mode = WAL")
        self.rows.execute("PRAGMA synchronous = FULL")
        self.rows.execute("CREATE TABLE messages (seq INTEGER PRIMARY KEY, tokens, body)")
        self.decode = msgspec.json.Decoder(Message).decode
        self.system: tuple[Message, ...] = ()

    def add(self, messages: Sequence[Message]) -> None:
        if messages[0].role == "system":
            self.system, messages = (messages[0],), messages[1:]
        bodies = [encode(message) for message in messages]
        rows = [(tokens(body.decode()), body) for body in bodies]
        self.rows.execute("BEGIN")
        self.rows.executemany("INSERT INTO messages (tokens, body) VALUES (?, ?)", rows)
        self.rows.execute("COMMIT")

    def request(self) -> dict[str, Any]:
        kept: list[Message] = []
        used = sum(tokens(message.text) for message in self.system)
        newest = "SELECT tokens, body FROM messages ORDER BY seq DESC"
        for count, body in self.rows.execute(newest):
            used += count
            if used > self.budget:
                break
            kept.append(self.decode(body))
        held: Conversation = conversation([*self.system, *reversed(kept)])
        return msgspec.json.decode(naive.openai_chat(held, MODEL))


def sliding(budget: int) -> Ours:
    return Ours(Recipe(window=KeepRecent(), budget=budget))


WAYS = (
    Way("contextwright", "default", lambda n: Ours(Recipe(budget=n)), stored=OursStored),
    Way("contextwright", "KeepRecent", sliding),
    Way("by hand", "newest rows", ByHand, stored=lambda folder, n: ByHand(n, folder)),
    Way(
        "langchain",
        "trim_messages, approximate",
        lambda n: langchain_talk(n, "approximate"),
        stored=LangchainHistory,
    ),
    Way("langchain", "trim_messages, exact counter", lambda n: langchain_talk(n, "exact")),
    Way("langgraph", "SqliteSaver", None, stored=LanggraphState),
    Way("litellm", "trim_messages", litellm_talk),
    Way(
        "llama-index",
        "Memory",
        LlamaMemory,
        stored=lambda folder, n: LlamaMemory(n, folder),
        chunk=50,
    ),
    Way(
        "openai-agents",
        "SQLiteSession, limit",
        AgentsSession,
        budget=False,
        stored=lambda folder, n: AgentsSession(n, folder),
    ),
    Way("pydantic-ai", "processor of its docs", pydantic_talk, budget=False),
    Way(
        "google-adk",
        "SqliteSessionService, num_recent_events",
        AdkSession,
        format="gemini",
        budget=False,
        stored=lambda folder, n: AdkSession(n, folder),
    ),
    Way("semantic-kernel", "ChatHistoryTruncationReducer", KernelHistory, budget=False),
    Way(
        "agent-framework",
        "TruncationStrategy",
        FrameworkHistory,
        stored=lambda folder, n: FrameworkHistory(n, folder),
    ),
)
