"""Agents as Port 42 keeps them in `agents.json`: name, instructions and model.

Reads both layouts: a `prompt` per agent with shared `base_guidance`, and the later `base_template`
that all agents fill. Takes the decoded file and reads nothing else.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

import msgspec
from msgspec import Struct

from contextwright.errors import ParseError, require, shown
from contextwright.messages.changes import Change
from contextwright.text.quoting import one_line

__all__ = ["Agent", "Agents", "AgentWindow", "parse_agents"]

LONGEST_NAME = 128
GUIDANCE = ("format_template", "implementation", "base_template")
"""The fields of base guidance."""
PLACE = re.compile(r"\{(name|personality|style|guidance)\}")


class AgentWindow(Struct, frozen=True):
    """The window of an agent's model; `recent` and `system` are what the file asks for."""

    max: int = 20
    recent: int = 17
    system: int = 3


class Agent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One agent: its names, its instructions, and its model."""

    key: str
    name: str
    prompt: str = ""
    personality: str = ""
    """A description for people; only a `base_template` puts it into the instructions."""
    style: str = ""
    description: str = ""
    example: Any = None
    suffix: str = ""
    no_implementation: bool = False
    custom_prompt: str = ""
    model: str | None = None
    """The model's id, looked up in the file's `models`."""
    temperature: float | None = None
    system_text: str = ""
    """The complete instructions, as sent to the model."""
    known: bool = True
    """Whether the file has this agent. An unknown agent gets one sentence of instructions."""


class Agents(Struct, frozen=True, kw_only=True):
    """All agents of a file, and their shared settings."""

    agents: dict[str, Agent]
    window: AgentWindow = AgentWindow()
    max_tokens: int = 4_096
    stream: bool = False
    changes: tuple[Change, ...] = ()
    """What the file lacks or has wrong."""

    def find(self, name: str) -> Agent:
        """Return the agent with this name, with or without `@` and `ai-`.

        An unknown name returns an agent with `known=False`, not an error.
        """
        require(name, str, "an agent's name")
        for key in spellings(name):
            if key in self.agents:
                return self.agents[key]
        for agent in self.agents.values():
            if agent.name == name:
                return agent
        label = one_line(name, LONGEST_NAME)
        text = f"You are {label}, an assistant within Port 42. Help the user with their system."
        return Agent(key=spellings(name)[0], name=label, system_text=text, known=False)


def spellings(name: str) -> list[str]:
    """Return the keys a name may stand for, most likely first: Port 42's reading, then others."""
    stripped = name.removeprefix("@ai-").removeprefix("@")
    return list(dict.fromkeys([stripped, stripped.removeprefix("ai-"), name]))


def parse_agents(data: Any, *, guidance: str = "") -> Agents:
    """Read a decoded `agents.json`; `guidance` is the text of its `guidance_file`.

    Raises:
        ParseError: the data is not an object with an object `agents`.
    """
    file = object_in(data, "")
    entries = object_in(file.get("agents"), "agents")
    shared = Shared(file, guidance)
    agents = {key: shared.agent(key, object_in(entries[key], f"agents.{key}")) for key in entries}
    config = shared.object("response_config")
    return Agents(
        agents=agents,
        window=window_of(config.get("context_window"), shared.changes),
        max_tokens=number_in(config, "max_tokens") or 4_096,
        stream=config.get("stream") is True,
        changes=tuple(shared.changes),
    )


def object_in(value: Any, path: str) -> dict[str, Any]:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    raise ParseError(f"must be an object, not {shown(value)}", path=path)


def window_of(value: Any, changes: list[Change]) -> AgentWindow:
    """Read the window's numbers; report `recent` if it does not fit."""
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    window = AgentWindow(
        number_in(fields, "max_messages") or AgentWindow().max,
        number_in(fields, "recent_messages") or AgentWindow().recent,
        number_in(fields, "system_messages") or AgentWindow().system,
    )
    if window.recent > window.max - 3:
        path = "response_config.context_window.recent_messages"
        reason = f"{window.recent} do not fit beside the first two and the note in {window.max}"
        changes.append(Change("repair.window", path, reason))
    return window


class Shared:
    """What all agents of a file share: guidance, template, models."""

    def __init__(self, file: dict[str, Any], guidance: str) -> None:
        self.file = file
        self.guidance = guidance
        self.changes: list[Change] = []
        self.base = self.guidance_in(file, "")
        self.template = text_in(file, "base_template") or text_in(self.base, "base_template")
        if file.get("guidance_file") and not guidance:
            reason = "its text was not passed; {guidance} stays empty"
            self.changes.append(Change("loss.guidance", "guidance_file", reason))

    def object(self, name: str) -> dict[str, Any]:
        value = self.file.get(name)
        return cast("dict[str, Any]", value) if isinstance(value, dict) else {}

    def guidance_in(self, fields: dict[str, Any], at: str) -> dict[str, Any]:
        """Read the base guidance of a file or an agent; a plain string is its `implementation`."""
        value = fields.get("base_guidance")
        if value is None or isinstance(value, str):
            return {"implementation": value} if value else {}
        guidance = cast("dict[str, Any]", value) if isinstance(value, dict) else {"": value}
        for name, text in guidance.items():
            if name not in GUIDANCE or not isinstance(text, str):
                path = f"{at}base_guidance{'.' if name else ''}{name}"
                known = ", ".join(GUIDANCE)
                self.changes.append(Change("loss.guidance", path, f"it is not text of: {known}"))
        return guidance

    def agent(self, key: str, fields: dict[str, Any]) -> Agent:
        """Read one agent and compose its instructions."""
        model, temperature = self.model(fields)
        agent = Agent(
            key=key,
            name=text_in(fields, "name") or f"@ai-{key}",
            prompt=text_in(fields, "prompt"),
            personality=text_in(fields, "personality"),
            style=text_in(fields, "style"),
            description=text_in(fields, "description"),
            example=fields.get("example"),
            suffix=text_in(fields, "suffix"),
            no_implementation=fields.get("no_implementation") is True,
            custom_prompt=text_in(fields, "custom_prompt"),
            model=model,
            temperature=temperature,
        )
        own = self.guidance_in(fields, f"agents.{key}.")
        pieces = self.filled(agent) if self.template else self.prompted(agent, own)
        text = "\n\n".join(piece for piece in pieces if piece)
        if not text:
            reason = "the agent has no instructions"
            self.changes.append(Change("repair.prompt", f"agents.{key}", reason))
        return msgspec.structs.replace(agent, system_text=text)

    def prompted(self, agent: Agent, own: dict[str, Any]) -> list[str]:
        """Compose the earlier layout: the agent's prompt, then its own or the shared guidance."""
        pieces = [agent.prompt]
        base = {**self.base, **own}
        if not agent.no_implementation:
            pieces.append(text_in(base, "format_template"))
            if agent.example is not None:
                example = json.dumps(agent.example, indent=2, ensure_ascii=False)
                pieces.append(f"Example:\n```json\n{example}\n```")
            pieces.append(text_in(base, "implementation"))
        return [*pieces, agent.suffix]

    def filled(self, agent: Agent) -> list[str]:
        """Compose the later layout: one template, filled once so that no value is refilled."""
        values = {
            "name": agent.name,
            "personality": agent.personality,
            "style": agent.style,
            "guidance": self.guidance,
        }
        own = f"<role_details>\n{agent.custom_prompt}\n</role_details>"
        return [
            PLACE.sub(lambda place: values[place[1]], self.template),
            agent.prompt,
            own if agent.custom_prompt else "",
            agent.suffix,
        ]

    def model(self, fields: dict[str, Any]) -> tuple[str | None, float | None]:
        """Return the model's id and temperature, by its key in `models`, else as written."""
        defaults = self.object("model_config")
        key = text_in(fields, "model") or text_in(self.file, "default_model")
        key = key or text_in(defaults, "default")
        found = self.object("models").get(key)
        model = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
        given: Any = fields.get("temperature_override", model.get("temperature"))
        temperature = float(given) if type(given) in (int, float) else None
        return text_in(model, "id") or key or None, temperature


def text_in(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def number_in(fields: dict[str, Any], name: str) -> int | None:
    value = fields.get(name)
    return value if type(value) is int and value > 0 else None
