"""Two of the systems as their own settings describe them, made into recipes."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from contextwright.agents import Agents
from contextwright.changes import Change
from contextwright.errors import UsageError, shown
from contextwright.recipe import Recipe
from contextwright.recipes import find
from contextwright.sections import (
    Episodes,
    KeyFacts,
    Persona,
    Relevant,
    Text,
    Transcript,
    UserProfile,
)
from contextwright.windows import FirstAndRecent, KeepRecent

__all__ = ["gryag", "port42"]

replace = msgspec.structs.replace

LEVELS = (UserProfile, KeyFacts, Relevant, Episodes)
"""The layers beyond the history; memories about the person who asks are no layer."""
YES, NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off", "")


def gryag(persona: str = "", settings: Mapping[str, str] | None = None) -> Recipe:
    """gryag's recipe with its persona and its switches, named as its environment names them.

    `ENABLE_MULTI_LEVEL_CONTEXT` (on) adds profile, facts, past words and events.
    `ENABLE_SYSTEM_CONTEXT_BLOCK` (off) puts the newest messages into the system text and sends no
    history; `SYSTEM_CONTEXT_BLOCK_MAX_MESSAGES` (60) and `SYSTEM_CONTEXT_BLOCK_INCLUDE_META` (on)
    say how.
    """
    said = Switches(settings or {})
    recipe = find("gryag")
    sections = [
        replace(section, text=persona) if isinstance(section, Persona) else section
        for section in recipe.system
    ]
    if not said.switch("ENABLE_MULTI_LEVEL_CONTEXT", default=True):
        sections = [section for section in sections if not isinstance(section, LEVELS)]
    if not said.switch("ENABLE_SYSTEM_CONTEXT_BLOCK", default=False):
        return replace(recipe, system=tuple(sections))
    block = Transcript(
        said.number("SYSTEM_CONTEXT_BLOCK_MAX_MESSAGES", default=60),
        said.switch("SYSTEM_CONTEXT_BLOCK_INCLUDE_META", default=True),
    )
    return replace(
        recipe,
        system=(*sections, block),
        window=KeepRecent(messages=1),
        note=None,
        reply_media=True,
        options={**recipe.options, "user_parts": True},
    )


class Switches:
    """Settings as an environment has them: names and text."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self.settings = settings

    def switch(self, name: str, *, default: bool) -> bool:
        """Whether something is on."""
        value = self.settings.get(name)
        if value is None:
            return default
        if value.strip().lower() not in (*YES, *NO):
            raise UsageError(f"{name} is {shown(value)}", hint="true or false")
        return value.strip().lower() in YES

    def number(self, name: str, *, default: int) -> int:
        """A whole number."""
        value = self.settings.get(name)
        if value is None:
            return default
        if not (value.strip().isascii() and value.strip().isdecimal()):
            raise UsageError(f"{name} is {shown(value)}", hint="a whole number")
        return int(value)


def port42(agents: Agents, name: str, *, exact: bool = False) -> tuple[Recipe, tuple[Change, ...]]:
    """The recipe of an agent: its instructions, its window, its answer; and what was unsaid.

    An agent that the file does not have gets one sentence of instructions, and a change says so.
    `exact` counts omitted messages as Port 42 does.
    """
    agent = agents.find(name)
    recipe = find("port42")
    recipe = replace(
        recipe,
        name=f"port42 {agent.key}",
        title=agent.description or f"Port 42: {agent.name}",
        system=(Text(agent.system_text),) if agent.system_text else (),
        window=FirstAndRecent(messages=agents.window.max, exact=exact),
        answer=agents.max_tokens,
    )
    if agent.known:
        return recipe, agents.changes
    known = ", ".join(agents.agents) or "none"
    reason = f"agents.json has no {shown(name)}; known: {known}"
    return recipe, (*agents.changes, Change("invent.agent", "agent", reason))
