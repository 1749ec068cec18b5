"""Five existing chat systems under their own names, one module each.

`aya`, `context_builder` (013), `forge`, `gryag`, `port42`: each has `recipe`, a recipe with the
system's own settings, and the functions and classes that its document names.
"""

from contextwright.systems import aya, context_builder, forge, gryag, port42
from contextwright.systems.context_builder import ContextBuilder, LLMMessage
from contextwright.systems.forge import ConversationMemory
from contextwright.systems.port42 import Agents, Sessions

__all__ = [
    "Agents",
    "ContextBuilder",
    "ConversationMemory",
    "LLMMessage",
    "Sessions",
    "aya",
    "context_builder",
    "forge",
    "gryag",
    "port42",
]
