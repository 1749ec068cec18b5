"""contextwright decides what a language model sees."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from contextwright.api import check, convert, count, parse, parse_reply, parse_stream, render
from contextwright.changes import Change
from contextwright.errors import (
    BudgetError,
    Conflict,
    ContextwrightError,
    InvalidPayload,
    MissingExtra,
    NotFound,
    ParseError,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreLost,
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
    from contextwright.memory import ConversationMemory
    from contextwright.recipe import Note, Recipe
    from contextwright.sections import CurrentTime, CurrentUser, Instructions, ReplyTo, Section
    from contextwright.simulation import simulate
    from contextwright.store.asynchronous import AsyncChat, AsyncStore
    from contextwright.store.base import Chat, Store
    from contextwright.store.records import Details, Stored, Turn
    from contextwright.windows import FirstAndRecent, KeepAll, KeepRecent, Layers, Stepped
    from contextwright.wire.openai_chat.types import LLMMessage

__version__ = "0.1.0"

__all__ = [
    "AsyncChat",
    "AsyncStore",
    "Author",
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
    "Fading",
    "FirstAndRecent",
    "History",
    "Instructions",
    "InvalidPayload",
    "KeepAll",
    "KeepRecent",
    "LLMMessage",
    "Layers",
    "Media",
    "Message",
    "MissingExtra",
    "Model",
    "Models",
    "NotFound",
    "Note",
    "Opaque",
    "Options",
    "ParseError",
    "Part",
    "Problem",
    "Recipe",
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
    "Text",
    "Thinking",
    "Tool",
    "ToolCall",
    "ToolChoice",
    "ToolResult",
    "Turn",
    "UnknownFormat",
    "UnknownModel",
    "UnknownSchema",
    "UsageError",
    "assistant",
    "check",
    "convert",
    "count",
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
    "Chat": "contextwright.store.base",
    "Context": "contextwright.context",
    "ContextBuilder": "contextwright.builder",
    "ConversationMemory": "contextwright.memory",
    "CurrentTime": "contextwright.sections",
    "CurrentUser": "contextwright.sections",
    "Decision": "contextwright.decisions",
    "Details": "contextwright.store.records",
    "Fading": "contextwright.fading",
    "FirstAndRecent": "contextwright.windows",
    "History": "contextwright.history",
    "Instructions": "contextwright.sections",
    "KeepAll": "contextwright.windows",
    "KeepRecent": "contextwright.windows",
    "LLMMessage": "contextwright.wire.openai_chat.types",
    "Layers": "contextwright.windows",
    "Note": "contextwright.recipe",
    "Recipe": "contextwright.recipe",
    "ReplyTo": "contextwright.sections",
    "Section": "contextwright.sections",
    "Stepped": "contextwright.windows",
    "Store": "contextwright.store.base",
    "Stored": "contextwright.store.records",
    "Turn": "contextwright.store.records",
    "simulate": "contextwright.simulation",
}
"""Names loaded when they are first asked for: whoever only converts does not wait for recipes."""


def __getattr__(name: str) -> Any:
    if name in LATER:
        return getattr(import_module(LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
