"""gryag, a Telegram bot on Gemini: its recipe, its metadata, and clean replies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from contextwright.context.recipe import Recipe
from contextwright.context.recipe_files import find
from contextwright.errors import UsageError, require, shown
from contextwright.formats.gryag.media import limit_media
from contextwright.formats.gryag.meta import clean_reply, format_metadata, read_metadata
from contextwright.sections import (
    Episodes,
    KeyFacts,
    PastExcerpts,
    Persona,
    Transcript,
    UserProfile,
)
from contextwright.windows.policies import KeepRecent

__all__ = ["clean_reply", "format_metadata", "limit_media", "read_metadata", "recipe"]

Setting: TypeAlias = str | int | bool
"""A value of the environment, or the same value already parsed."""

replace = msgspec.structs.replace

LEVELS = (UserProfile, KeyFacts, PastExcerpts, Episodes)
"""The layers besides the history; memories about the person who asks are not a layer."""
WHOLE = re.compile(r"-?[0-9]{1,18}")
YES, NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off", "")


def recipe(persona: str = "", settings: Mapping[str, Setting] | None = None) -> Recipe:
    """Return gryag's recipe with its persona and switches, named as its environment names them.

    `ENABLE_MULTI_LEVEL_CONTEXT` (on) adds profile, facts, past messages and episodes.
    `ENABLE_SYSTEM_CONTEXT_BLOCK` (off) puts the newest messages into the system text and sends no
    history; `SYSTEM_CONTEXT_BLOCK_MAX_MESSAGES` (60) and `SYSTEM_CONTEXT_BLOCK_INCLUDE_META` (on)
    shape that block.

    Raises:
        UsageError: a setting is neither text nor a value of its type.
    """
    require(persona, str, "persona")
    require(settings, Mapping | None, "settings", "names and values")
    switches = Switches(settings or {})
    found = find("gryag")
    sections = [
        replace(section, text=persona) if isinstance(section, Persona) else section
        for section in found.system
    ]
    if not switches.switch("ENABLE_MULTI_LEVEL_CONTEXT", default=True):
        sections = [section for section in sections if not isinstance(section, LEVELS)]
    block = Transcript(
        switches.number("SYSTEM_CONTEXT_BLOCK_MAX_MESSAGES", default=60),
        switches.switch("SYSTEM_CONTEXT_BLOCK_INCLUDE_META", default=True),
    )
    if not switches.switch("ENABLE_SYSTEM_CONTEXT_BLOCK", default=False):
        return replace(found, system=tuple(sections))
    return replace(
        found,
        system=(*sections, block),
        window=KeepRecent(messages=1),
        note=None,
        reply_media=True,
        options={**found.options, "user_parts": True},
    )


class Switches:
    """Settings as in an environment, names and text; booleans and numbers are accepted too."""

    def __init__(self, settings: Mapping[str, Setting]) -> None:
        self.settings = settings

    def switch(self, name: str, *, default: bool) -> bool:
        """Whether a switch is on."""
        value = self.settings.get(name)
        if value is None:
            return default
        word = spelled(value)
        if word not in (*YES, *NO):
            raise UsageError(f"{name} is not true or false: {shown(value)}")
        return word in YES

    def number(self, name: str, *, default: int) -> int:
        """Return a whole number."""
        value = self.settings.get(name)
        if value is None:
            return default
        word = spelled(value)
        if isinstance(value, bool) or not WHOLE.fullmatch(word):
            raise UsageError(f"{name} is not a whole number: {shown(value)}")
        return int(word)


def spelled(value: Setting) -> str:
    """Return a setting as an environment would spell it."""
    try:
        return str(value).strip().lower()
    except ValueError:  # of more digits than Python writes
        return shown(value)
