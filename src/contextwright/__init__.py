"""contextwright decides what a language model sees."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from contextwright.api import check, convert, count, parse, parse_reply, parse_stream, render
from contextwright.changes import Change
from contextwright.errors import (
    BudgetError,
    Conflict,
    ContextwrightError,
    EmbedderError,
    InvalidPayload,
    MissingExtra,
    NotFound,
    ParseError,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreLost,
    SummaryError,
    UnknownFormat,
    UnknownModel,
    UnknownSchema,
    UsageError,
)
from contextwright.formats.base import Conversation, Options, Rendered, Settings, ToolChoice
from contextwright.messages import (
    Author,
    Media,
    Message,
    Opaque,
    Part,
    Reply,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolResult,
    assistant,
    system,
    tool_result,
    user,
)
from contextwright.models import Model, Models
from contextwright.tokens import Calibration, Count
from contextwright.wire.shapes import Problem

if TYPE_CHECKING:
    from contextwright.builder import ContextBuilder
    from contextwright.context import Context
    from contextwright.decisions import Decision
    from contextwright.fading import Fading
    from contextwright.history import History
    from contextwright.memories import Memory, Notes, Ranking, Recollection, Wanted
    from contextwright.memory import ConversationMemory
    from contextwright.recall.boundaries import Boundaries
    from contextwright.recall.embedding import Embedder
    from contextwright.recall.episodes import Episode, find_episodes
    from contextwright.recall.packing import Recall, RecallItem
    from contextwright.recall.providers import gemini_embedder, openai_embedder
    from contextwright.recall.refining import Refined
    from contextwright.recipe import Note, Recipe
    from contextwright.sections import (
        CurrentTime,
        CurrentUser,
        Episodes,
        File,
        Instructions,
        KeyFacts,
        Memories,
        Moment,
        Persona,
        Recalled,
        Relevant,
        ReplyTo,
        Section,
        Transcript,
        UserProfile,
    )
    from contextwright.simulation import simulate
    from contextwright.store.asynchronous import AsyncChat, AsyncStore
    from contextwright.store.base import Store
    from contextwright.store.chat import Chat
    from contextwright.store.records import (
        Details,
        Hit,
        Stored,
        StoredMemory,
        StoredSummary,
        Turn,
    )
    from contextwright.summaries import Summaries, Summarise, Summary, Told, Using
    from contextwright.windows import FirstAndRecent, KeepAll, KeepRecent, Layers, Stepped
    from contextwright.wire.openai_chat.types import LLMMessage

__version__ = "0.1.0"

__all__ = [
    "AsyncChat",
    "AsyncStore",
    "Author",
    "Boundaries",
    "BudgetError",
    "Calibration",
    "Change",
    "Chat",
    "Conflict",
    "Context",
    "ContextBuilder",
    "ContextwrightError",
    "Conversation",
    "ConversationMemory",
    "Count",
    "CurrentTime",
    "CurrentUser",
    "Decision",
    "Details",
    "Embedder",
    "EmbedderError",
    "Episode",
    "Episodes",
    "Fading",
    "File",
    "FirstAndRecent",
    "History",
    "Hit",
    "Instructions",
    "InvalidPayload",
    "KeepAll",
    "KeepRecent",
    "KeyFacts",
    "LLMMessage",
    "Layers",
    "Media",
    "Memories",
    "Memory",
    "Message",
    "MissingExtra",
    "Model",
    "Models",
    "Moment",
    "NotFound",
    "Note",
    "Notes",
    "Opaque",
    "Options",
    "ParseError",
    "Part",
    "Persona",
    "Problem",
    "Ranking",
    "Recall",
    "RecallItem",
    "Recalled",
    "Recipe",
    "Recollection",
    "Refined",
    "Relevant",
    "Rendered",
    "Reply",
    "ReplyTo",
    "Section",
    "Settings",
    "Stepped",
    "Store",
    "StoreBusy",
    "StoreError",
    "StoreFull",
    "StoreLost",
    "Stored",
    "StoredMemory",
    "StoredSummary",
    "Summaries",
    "Summarise",
    "Summary",
    "SummaryError",
    "Text",
    "Thinking",
    "Told",
    "Tool",
    "ToolCall",
    "ToolChoice",
    "ToolResult",
    "Transcript",
    "Turn",
    "UnknownFormat",
    "UnknownModel",
    "UnknownSchema",
    "UsageError",
    "UserProfile",
    "Using",
    "Wanted",
    "assistant",
    "check",
    "convert",
    "count",
    "find_episodes",
    "gemini_embedder",
    "openai_embedder",
    "parse",
    "parse_reply",
    "parse_stream",
    "render",
    "simulate",
    "system",
    "tool_result",
    "user",
]

LATER = {
    "AsyncChat": "contextwright.store.asynchronous",
    "AsyncStore": "contextwright.store.asynchronous",
    "Boundaries": "contextwright.recall.boundaries",
    "Chat": "contextwright.store.chat",
    "Context": "contextwright.context",
    "ContextBuilder": "contextwright.builder",
    "ConversationMemory": "contextwright.memory",
    "CurrentTime": "contextwright.sections",
    "CurrentUser": "contextwright.sections",
    "Decision": "contextwright.decisions",
    "Details": "contextwright.store.records",
    "Embedder": "contextwright.recall.embedding",
    "Episode": "contextwright.recall.episodes",
    "Episodes": "contextwright.sections",
    "Fading": "contextwright.fading",
    "File": "contextwright.sections",
    "FirstAndRecent": "contextwright.windows",
    "History": "contextwright.history",
    "Hit": "contextwright.store.records",
    "Instructions": "contextwright.sections",
    "KeepAll": "contextwright.windows",
    "KeepRecent": "contextwright.windows",
    "KeyFacts": "contextwright.sections",
    "LLMMessage": "contextwright.wire.openai_chat.types",
    "Layers": "contextwright.windows",
    "Memories": "contextwright.sections",
    "Memory": "contextwright.memories",
    "Moment": "contextwright.sections",
    "Note": "contextwright.recipe",
    "Notes": "contextwright.memories",
    "Persona": "contextwright.sections",
    "Ranking": "contextwright.memories",
    "Recall": "contextwright.recall.packing",
    "RecallItem": "contextwright.recall.packing",
    "Recalled": "contextwright.sections",
    "Recipe": "contextwright.recipe",
    "Recollection": "contextwright.memories",
    "Refined": "contextwright.recall.refining",
    "Relevant": "contextwright.sections",
    "ReplyTo": "contextwright.sections",
    "Section": "contextwright.sections",
    "Stepped": "contextwright.windows",
    "Store": "contextwright.store.base",
    "Stored": "contextwright.store.records",
    "StoredMemory": "contextwright.store.records",
    "StoredSummary": "contextwright.store.records",
    "Summaries": "contextwright.summaries",
    "Summarise": "contextwright.summaries",
    "Summary": "contextwright.summaries",
    "Told": "contextwright.summaries",
    "Transcript": "contextwright.sections",
    "Turn": "contextwright.store.records",
    "UserProfile": "contextwright.sections",
    "Using": "contextwright.summaries",
    "Wanted": "contextwright.memories",
    "gemini_embedder": "contextwright.recall.providers",
    "openai_embedder": "contextwright.recall.providers",
    "find_episodes": "contextwright.recall.episodes",
    "simulate": "contextwright.simulation",
}
"""Names loaded when they are first asked for: whoever only converts does not wait for recipes."""


def __getattr__(name: str) -> Any:
    if name in LATER:
        return getattr(import_module(LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
