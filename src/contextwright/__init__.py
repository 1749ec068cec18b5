"""contextwright decides what a language model sees.

The names most programs need are here. The rest are in public modules: `contextwright.ask`,
`.batch`, `.errors`, `.importers`, `.messages`, `.providers`, `.recall`, `.sections`, `.store`,
`.streams`, `.summaries`, `.systems`, `.tokens`, `.windows`. Each name is loaded on first use, so
that `import contextwright` is fast.
"""

from contextwright.lazy import lazily

TYPE_CHECKING = False  # `typing` would take most of the time of this import

if TYPE_CHECKING:
    from contextwright import ask as ask
    from contextwright import batch as batch
    from contextwright import errors as errors
    from contextwright import importers as importers
    from contextwright import messages as messages
    from contextwright import providers as providers
    from contextwright import recall as recall
    from contextwright import sections as sections
    from contextwright import store as store
    from contextwright import streams as streams
    from contextwright import summaries as summaries
    from contextwright import systems as systems
    from contextwright import tokens as tokens
    from contextwright import windows as windows
    from contextwright.context.api import build as build
    from contextwright.context.context import Context as Context
    from contextwright.context.omission import OmissionNote as OmissionNote
    from contextwright.context.recipe import Recipe as Recipe
    from contextwright.context.simulation.simulate import simulate as simulate
    from contextwright.errors import BudgetError as BudgetError
    from contextwright.errors import ContextwrightError as ContextwrightError
    from contextwright.errors import ParseError as ParseError
    from contextwright.errors import Problem as Problem
    from contextwright.errors import UsageError as UsageError
    from contextwright.formats.api import check as check
    from contextwright.formats.api import convert as convert
    from contextwright.formats.api import count as count
    from contextwright.formats.api import parse as parse
    from contextwright.formats.api import parse_reply as parse_reply
    from contextwright.formats.api import parse_stream as parse_stream
    from contextwright.formats.api import render as render
    from contextwright.formats.base import Options as Options
    from contextwright.formats.base import Rendered as Rendered
    from contextwright.messages.changes import Change as Change
    from contextwright.messages.conversation import Conversation as Conversation
    from contextwright.messages.conversation import Settings as Settings
    from contextwright.messages.conversation import ToolChoice as ToolChoice
    from contextwright.messages.make import assistant as assistant
    from contextwright.messages.make import system as system
    from contextwright.messages.make import tool_result as tool_result
    from contextwright.messages.make import user as user
    from contextwright.messages.message import Author as Author
    from contextwright.messages.message import Message as Message
    from contextwright.messages.message import Reply as Reply
    from contextwright.messages.message import Tool as Tool
    from contextwright.messages.parts import Media as Media
    from contextwright.messages.parts import Opaque as Opaque
    from contextwright.messages.parts import Text as Text
    from contextwright.messages.parts import Thinking as Thinking
    from contextwright.messages.parts import ToolCall as ToolCall
    from contextwright.messages.parts import ToolResult as ToolResult
    from contextwright.models import Model as Model
    from contextwright.models import Models as Models
    from contextwright.recall.memories import Memory as Memory
    from contextwright.sections import CurrentTime as CurrentTime
    from contextwright.sections import Memories as Memories
    from contextwright.sections import Section as Section
    from contextwright.store.async_chat import AsyncChat as AsyncChat
    from contextwright.store.async_store import AsyncStore as AsyncStore
    from contextwright.store.chat import Chat as Chat
    from contextwright.store.records import StoredMessage as StoredMessage
    from contextwright.store.records import Turn as Turn
    from contextwright.store.store import Store as Store
    from contextwright.summaries.policy import SummaryPolicy as SummaryPolicy
    from contextwright.tokens.count import Count as Count
    from contextwright.version import __version__ as __version__
    from contextwright.windows.clearing import Clearing as Clearing
else:
    __all__, __getattr__, __dir__ = lazily(
        __name__,
        {
            "contextwright.context.api": "build",
            "contextwright.context.context": "Context",
            "contextwright.context.omission": "OmissionNote",
            "contextwright.context.recipe": "Recipe",
            "contextwright.context.simulation.simulate": "simulate",
            "contextwright.errors": "BudgetError ContextwrightError ParseError Problem UsageError",
            "contextwright.formats.api": (
                "check convert count parse parse_reply parse_stream render"
            ),
            "contextwright.formats.base": "Options Rendered",
            "contextwright.messages.changes": "Change",
            "contextwright.messages.conversation": "Conversation Settings ToolChoice",
            "contextwright.messages.make": "assistant system tool_result user",
            "contextwright.messages.message": "Author Message Reply Tool",
            "contextwright.messages.parts": "Media Opaque Text Thinking ToolCall ToolResult",
            "contextwright.models": "Model Models",
            "contextwright.recall.memories": "Memory",
            "contextwright.sections": "CurrentTime Memories Section",
            "contextwright.store.async_chat": "AsyncChat",
            "contextwright.store.async_store": "AsyncStore",
            "contextwright.store.chat": "Chat",
            "contextwright.store.records": "StoredMessage Turn",
            "contextwright.store.store": "Store",
            "contextwright.summaries.policy": "SummaryPolicy",
            "contextwright.tokens.count": "Count",
            "contextwright.version": "__version__",
            "contextwright.windows.clearing": "Clearing",
        },
        modules=(
            "ask",
            "batch",
            "errors",
            "importers",
            "messages",
            "providers",
            "recall",
            "sections",
            "store",
            "streams",
            "summaries",
            "systems",
            "tokens",
            "windows",
        ),
    )
