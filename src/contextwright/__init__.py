"""contextwright decides what a language model sees."""

from contextwright.api import check, convert, count, parse, parse_reply, parse_stream, render
from contextwright.changes import Change
from contextwright.errors import (
    ContextwrightError,
    InvalidPayload,
    MissingExtra,
    ParseError,
    UnknownFormat,
    UnknownModel,
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
from contextwright.tokens import Count
from contextwright.wire.shapes import Problem

__version__ = "0.1.0"

__all__ = [
    "Author",
    "Change",
    "ContextwrightError",
    "Conversation",
    "Count",
    "InvalidPayload",
    "Media",
    "Message",
    "MissingExtra",
    "Model",
    "Models",
    "Opaque",
    "Options",
    "ParseError",
    "Part",
    "Problem",
    "Rendered",
    "Reply",
    "Settings",
    "Text",
    "Thinking",
    "Tool",
    "ToolCall",
    "ToolChoice",
    "ToolResult",
    "UnknownFormat",
    "UnknownModel",
    "UsageError",
    "assistant",
    "check",
    "convert",
    "count",
    "parse",
    "parse_reply",
    "parse_stream",
    "render",
    "system",
    "tool_result",
    "user",
]
