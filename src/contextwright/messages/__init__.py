"""The message model: parts, messages, conversations, and changes to them."""

from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, OutputFormat, Settings, ToolChoice
from contextwright.messages.make import (
    Content,
    as_author,
    as_parts,
    as_result,
    assistant,
    system,
    tool_result,
    user,
)
from contextwright.messages.message import Author, Kind, Message, Reply, Role, Tool, Visibility
from contextwright.messages.parts import (
    Extra,
    Media,
    MediaKind,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from contextwright.messages.times import as_time, read_time, with_zone

__all__ = [
    "Author",
    "Change",
    "Content",
    "Conversation",
    "Extra",
    "Kind",
    "Media",
    "MediaKind",
    "Message",
    "Opaque",
    "OutputFormat",
    "Part",
    "Reply",
    "Role",
    "Settings",
    "Text",
    "Thinking",
    "Tool",
    "ToolCall",
    "ToolChoice",
    "ToolResult",
    "Visibility",
    "as_author",
    "as_parts",
    "as_result",
    "as_time",
    "assistant",
    "read_time",
    "system",
    "tool_result",
    "user",
    "with_zone",
]
