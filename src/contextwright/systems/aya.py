"""Aya, a Slack bot whose every reply is a tool call: its recipe, and its array of entries."""

from __future__ import annotations

from typing import Any

from contextwright.context.recipe import Recipe
from contextwright.context.recipe_files import find
from contextwright.display import show
from contextwright.errors import Problem
from contextwright.formats import api
from contextwright.formats.base import Rendered
from contextwright.messages.conversation import Conversation

__all__ = ["REPLY_TOOLS", "check", "parse", "recipe", "render", "show"]

FORMAT = "aya"
REPLY_TOOLS = dict(find(FORMAT).reply_tools)
"""Tools whose call is speech, and the argument with the text; None for an end mark."""


def recipe() -> Recipe:
    """Return Aya's recipe: `postMessage` is speech, `finishRequest` ends a turn."""
    return find(FORMAT)


def parse(entries: Any, *, strict: bool = False) -> Conversation:
    """Read Aya's array of entries.

    Raises:
        ParseError: it is not such an array; with `strict`, also if anything would be repaired.
    """
    return api.parse(entries, FORMAT, strict=strict)


def render(conversation: Conversation) -> Rendered:
    """Write a conversation as Aya's array of entries."""
    return api.render(conversation, FORMAT)


def check(entries: Any) -> list[Problem]:
    """List what is wrong with an array of entries."""
    return api.check(entries, FORMAT)
