"""Agents as Port 42 keeps them in `agents.json`: name, instructions and model.

Reads both layouts: a `prompt` per agent with shared `base_guidance`, and the later `base_template`
that all agents fill. Takes the decoded file and reads nothing else.
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar, cast

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
Value = TypeVar("Value")


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
    """Repairs of missing and wrong fields."""

    def find(self, name: str) -> Agent:
        """Return the agent with this name, with or without `@` and `ai-`.

        An unknown name returns an agent with `known=False`, not an error.
        """
        require(name, str, "an agent's name")
        wanted = spellings(name)
        for key in wanted:
            if key in self.agents:
                return self.agents[key]
        for agent in self.agents.values():
            if not set(wanted).isdisjoint(spellings(agent.name)):
                return agent
        label = one_line(name, LONGEST_NAME)
        named = f"{label}, " if name.strip() else ""
        text = f"You are {named}an assistant within Port 42. Help the user with their system."
        return Agent(key=wanted[0], name=label, system_text=text, known=False)


def spellings(name: str) -> list[str]:
    """Return the keys a name may stand for, most likely first: Port 42's reading, then others."""
    stripped = name.removeprefix("@ai-").removeprefix("@")
    others = stripped.removeprefix("ai-"), name.removeprefix("@"), name
    return list(dict.fromkeys([stripped, *others]))


def parse_agents(data: Any, *, guidance: str = "") -> Agents:
    """Read a decoded `agents.json`; `guidance` is the text of its `guidance_file`.

    A field of another type than Port 42's is left out, and a change says so.

    Raises:
        ParseError: the data is not an object with an object `agents`, or an agent is not an object.
        UsageError: `guidance` is not text.
    """
    require(guidance, str, "guidance")
    changes: list[Change] = []
    file = Fields(object_in(data, ""), "", changes)
    entries = object_in(file.fields.get("agents"), "agents")
    shared = Shared(file, guidance)
    agents = {
        key: shared.agent(key, Fields(object_in(entry, f"agents.{key}"), f"agents.{key}.", changes))
        for key, entry in entries.items()
    }
    config = file.object("response_config")
    return Agents(
        agents=agents,
        window=window_of(config.object("context_window")),
        max_tokens=config.number("max_tokens") or 4_096,
        stream=config.switch("stream"),
        changes=tuple(changes),
    )


def object_in(value: Any, path: str) -> dict[str, Any]:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    raise ParseError(f"must be an object, not {shown(value)}", path=path)


class Fields:
    """An object of the file. A value of the wrong type is reported, and counts as missing."""

    def __init__(self, fields: dict[str, Any], path: str, changes: list[Change]) -> None:
        self.fields = fields
        self.path = path
        """The path above its fields: empty, or with a dot at the end."""
        self.changes = changes

    def text(self, name: str) -> str:
        return self.value(name, str, "text") or ""

    def switch(self, name: str) -> bool:
        return self.value(name, bool, "true or false") or False

    def number(self, name: str) -> int | None:
        value = self.value(name, int, "a whole number")
        if value is None or value > 0:
            return value
        self.report("loss.field", name, f"{value} is not above 0; it is not used")
        return None

    def decimal(self, name: str) -> float | None:
        whole = type(self.fields.get(name)) is int
        return self.value(name, int if whole else float, "a number")

    def object(self, name: str) -> Fields:
        fields = cast("dict[str, Any] | None", self.value(name, dict, "an object"))
        return Fields(fields or {}, f"{self.path}{name}.", self.changes)

    def value(self, name: str, kind: type[Value], what: str) -> Value | None:
        """Return the value of a field, if it has this type."""
        value = self.fields.get(name)
        if value is None or type(value) is kind:
            return value
        self.report("loss.field", name, f"{shown(value)} is not {what}; it is not used")
        return None

    def report(self, code: str, name: str, reason: str) -> None:
        """Report a field as a change."""
        self.changes.append(Change(code, f"{self.path}{name}", reason))


def window_of(fields: Fields) -> AgentWindow:
    """Read the window's numbers; report `recent` if it does not fit."""
    most, recent = fields.number("max_messages"), fields.number("recent_messages")
    default = AgentWindow()
    window = AgentWindow(
        most or default.max,
        recent or default.recent,
        fields.number("system_messages") or default.system,
    )
    if recent is not None and recent > window.max - 3:
        reason = f"{recent} do not fit beside the first two and the note in {window.max}"
        fields.report("repair.window", "recent_messages", reason)
    return window


class Shared:
    """The settings that all agents of a file share: guidance, template, models."""

    def __init__(self, file: Fields, guidance: str) -> None:
        self.guidance = guidance
        self.base = guidance_in(file)
        self.template = file.text("base_template") or self.base.get("base_template", "")
        self.models = file.object("models")
        default = file.object("model_config").text("default")
        self.default_model = file.text("default_model") or default
        if file.text("guidance_file") and not guidance:
            reason = "its text was not passed; {guidance} stays empty"
            file.report("loss.guidance", "guidance_file", reason)

    def agent(self, key: str, fields: Fields) -> Agent:
        """Read one agent and compose its instructions."""
        model, temperature = self.model(fields)
        agent = Agent(
            key=key,
            name=fields.text("name") or f"@ai-{key}",
            prompt=fields.text("prompt"),
            personality=fields.text("personality"),
            style=fields.text("style"),
            description=fields.text("description"),
            example=fields.fields.get("example"),
            suffix=fields.text("suffix"),
            no_implementation=fields.switch("no_implementation"),
            custom_prompt=fields.text("custom_prompt"),
            model=model,
            temperature=temperature,
        )
        own = guidance_in(fields)
        pieces = self.filled(agent) if self.template else self.prompted(agent, own)
        text = "\n\n".join(piece for piece in pieces if piece)
        if not text:
            reason = "the agent has no instructions"
            fields.changes.append(Change("repair.prompt", f"agents.{key}", reason))
        return msgspec.structs.replace(agent, system_text=text)

    def prompted(self, agent: Agent, own: dict[str, str]) -> list[str]:
        """Compose the earlier layout: the agent's prompt, then its own or the shared guidance."""
        pieces = [agent.prompt]
        base = {**self.base, **own}
        if not agent.no_implementation:
            pieces.append(base.get("format_template", ""))
            if agent.example is not None:
                example = json.dumps(agent.example, indent=2, ensure_ascii=False)
                pieces.append(f"Example:\n```json\n{example}\n```")
            pieces.append(base.get("implementation", ""))
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

    def model(self, fields: Fields) -> tuple[str | None, float | None]:
        """Return the model's id and temperature, by its key in `models`, else as written."""
        key = fields.text("model") or self.default_model
        known = self.models.object(key)
        own = fields.decimal("temperature_override")
        temperature = known.decimal("temperature") if own is None else own
        return known.text("id") or key or None, temperature


def guidance_in(fields: Fields) -> dict[str, str]:
    """Read the base guidance of a file or an agent; a plain string is its `implementation`."""
    value = fields.fields.get("base_guidance")
    if isinstance(value, str):
        return {"implementation": value} if value else {}
    given = fields.object("base_guidance")
    for name in given.fields:
        if name not in GUIDANCE:
            given.report("loss.field", name, f"it is not one of: {', '.join(GUIDANCE)}")
    return {name: given.text(name) for name in GUIDANCE if name in given.fields}
