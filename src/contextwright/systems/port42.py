"""Port 42, agents on Claude: an agent's recipe, `agents.json`, and its session files."""

from __future__ import annotations

import msgspec

from contextwright.context.recipe import Recipe
from contextwright.context.recipe_files import find
from contextwright.errors import require, shown
from contextwright.formats.port42.agents import Agent, Agents, AgentWindow, parse_agents
from contextwright.formats.port42.format import instructed
from contextwright.messages.changes import Change
from contextwright.sections import Text
from contextwright.systems.sessions import Sessions, log_lines
from contextwright.windows.policies import FirstAndRecent

__all__ = [
    "Agent",
    "AgentWindow",
    "Agents",
    "Sessions",
    "instructed",
    "log_lines",
    "parse_agents",
    "recipe",
]

replace = msgspec.structs.replace


def recipe(agents: Agents, name: str, *, exact: bool = False) -> tuple[Recipe, tuple[Change, ...]]:
    """Return the recipe of an agent (instructions, window, answer) and what had to be changed.

    An agent that the file does not have gets one sentence of instructions, and a change says so.
    `exact` counts omitted messages as Port 42 does.
    """
    require(agents, Agents, "agents", "parse_agents reads agents.json")
    agent = agents.find(name)
    found = replace(
        find("port42"),
        name=f"port42 {agent.key}",
        title=agent.description or f"Port 42: {agent.name}",
        system=(Text(agent.system_text),) if agent.system_text else (),
        window=FirstAndRecent(messages=agents.window.max),
        answer=agents.max_tokens,
    )
    if exact and found.note is not None:
        found = replace(found, note=replace(found.note, count_beyond=agents.window.max))
    if agent.known:
        return found, agents.changes
    known = ", ".join(agents.agents) or "none"
    reason = f"agents.json has no {shown(name)}; known: {known}"
    return found, (*agents.changes, Change("invent.agent", "agent", reason))
