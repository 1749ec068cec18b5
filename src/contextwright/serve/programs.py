"""How programs get the address of a gateway: variables, arguments and settings, as one table."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from contextwright.errors import UsageError
from contextwright.serve.settings import ECHO, Api, GatewaySettings, Route
from contextwright.text.json import decode_json
from contextwright.wire.values import is_object

__all__ = ["Launch", "launch", "passing_settings"]

VARIABLES = {
    "ANTHROPIC_BASE_URL": "{address}",  # Claude Code, Anthropic's SDKs, llm-anthropic
    "ANTHROPIC_API_BASE": "{address}",  # aider, mini-swe-agent, LiteLLM
    "GOOGLE_GEMINI_BASE_URL": "{address}",  # Gemini CLI, Google's SDKs
    "GEMINI_API_BASE": "{address}/v1beta",  # aider, mini-swe-agent, LiteLLM
    "OPENAI_BASE_URL": "{address}/v1",  # OpenAI's SDKs, Qwen Code, llm, gptme
    "OPENAI_API_BASE": "{address}/v1",  # aider, mini-swe-agent, LiteLLM
}
"""The variables of every program; each reads those that it knows."""
STRING = r'(?P<string>"(?:\\.|[^"\\])*")'
COMMENT = re.compile(rf"{STRING}|//[^\n]*|/\*(?s:.*?)\*/")
TRAILING_COMMA = re.compile(rf"{STRING}|,(?=\s*[}}\]])")
NO_PROXY = ("NO_PROXY", "no_proxy")
LOOPBACK = "127.0.0.1,localhost"


class Settings(Struct, frozen=True):
    """Settings that a program reads from a file in a folder of its own."""

    variable: str
    """Names another folder."""
    folder: str
    """The folder, below the user's home."""
    file: str
    content: dict[str, Any]


class Program(Struct, frozen=True, kw_only=True):
    """The other settings of one program."""

    names: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    """Put before its own."""
    environment: dict[str, Any] = {}
    """Text, or a value that is written as JSON, with what the variable has already."""
    settings: Settings | None = None


PROGRAMS = (
    Program(names=("codex",), arguments=("-c", 'openai_base_url="{address}/v1"')),
    Program(
        names=("opencode",),
        environment={
            "OPENCODE_CONFIG_CONTENT": {
                "provider": {
                    "anthropic": {"options": {"baseURL": "{address}/v1"}},
                    "openai": {"options": {"baseURL": "{address}/v1"}},
                    "google": {"options": {"baseURL": "{address}/v1beta"}},
                }
            }
        },
    ),
    Program(names=("sgpt",), environment={"API_BASE_URL": "{address}/v1"}),
    Program(
        names=("pi",),
        settings=Settings(
            variable="PI_CODING_AGENT_DIR",
            folder=".pi/agent",
            file="models.json",
            content={
                "providers": {
                    "anthropic": {"baseUrl": "{address}"},
                    "openai": {"baseUrl": "{address}/v1"},
                    "google": {"baseUrl": "{address}/v1beta"},
                }
            },
        ),
    ),
)

UPSTREAMS: dict[Api, tuple[str, dict[str, str]]] = {
    "anthropic": ("anthropic", {"ANTHROPIC_BASE_URL": "", "ANTHROPIC_API_BASE": ""}),
    "gemini": ("gemini", {"GOOGLE_GEMINI_BASE_URL": "/v1beta", "GEMINI_API_BASE": ""}),
    "openai-chat": ("openai", {"OPENAI_BASE_URL": "", "OPENAI_API_BASE": ""}),
    "openai-responses": ("openai", {"OPENAI_BASE_URL": "", "OPENAI_API_BASE": ""}),
}
"""For each API: its provider, and variables with another address and what is added to that."""


class FolderCopy(NamedTuple):
    """A folder like a program's own, with other settings in one of its files."""

    folder: Path
    own: Path
    file: str

    def give_back(self) -> None:
        """Put what the program made here, such as its first session, into its own folder."""
        for entry in self.folder.iterdir():
            if entry.name == self.file or entry.is_symlink():
                continue
            place = self.own / entry.name
            if entry.is_dir():
                shutil.copytree(entry, place, symlinks=True, dirs_exist_ok=True)
            else:
                self.own.mkdir(parents=True, exist_ok=True)
                shutil.copy2(entry, place)


class Launch(NamedTuple):
    """A command, and the environment it runs in."""

    command: list[str]
    environment: dict[str, str]
    copy: FolderCopy | None = None
    """Gives back what the command leaves there, when it has ended."""


def launch(
    command: Sequence[str], address: str, environment: Mapping[str, str], folder: Path
) -> Launch:
    """Return a command as it has to run to use the gateway at an address.

    `folder` is empty, and there as long as the command runs: settings are put there.
    """
    given = {
        **environment,
        **{name: value.format(address=address) for name, value in VARIABLES.items()},
    }
    for name in NO_PROXY:
        given[name] = ",".join(filter(None, (environment.get(name), LOOPBACK)))
    name = PurePath(command[0]).name
    program = next((one for one in PROGRAMS if name in one.names), Program(names=()))
    for variable, value in program.environment.items():
        written = filled(value, address)
        if not isinstance(written, str):
            own = decode_settings(environment.get(variable) or "{}", variable)
            written = json.dumps(merged(own, written))
        given[variable] = written
    copy = None
    if program.settings is not None:
        copy = copied(program.settings, address, given, folder)
    arguments = [filled(argument, address) for argument in program.arguments]
    return Launch([command[0], *arguments, *command[1:]], given, copy)


def filled(value: Any, address: str) -> Any:
    """Return a value with the address in its place."""
    if isinstance(value, str):
        return value.replace("{address}", address)
    if isinstance(value, dict):
        return {key: filled(item, address) for key, item in value.items()}  # pyright: ignore
    return value


def copied(
    settings: Settings, address: str, environment: dict[str, str], folder: Path
) -> FolderCopy:
    """Make a folder like the program's own, with our settings added to those of its file."""
    own = Path(environment.get(settings.variable) or Path.home() / settings.folder)
    for entry in own.iterdir() if own.is_dir() else ():
        if entry.name != settings.file:
            (folder / entry.name).symlink_to(entry)
    held: Any = {}
    if (own / settings.file).is_file():
        path = own / settings.file
        held = decode_settings(path.read_text("utf-8", "replace"), str(path))
    content = merged(held, filled(settings.content, address))
    (folder / settings.file).write_text(json.dumps(content), "utf-8")
    environment[settings.variable] = str(folder)
    return FolderCopy(folder, own, settings.file)


def decode_settings(text: str, name: str) -> Any:
    """Return settings: JSON with comments and trailing commas, as opencode and pi have it.

    Raises:
        UsageError: it is something else.
    """
    for left_out in (COMMENT, TRAILING_COMMA):
        text = left_out.sub(lambda found: found["string"] or "", text)
    try:
        return decode_json(text)
    except msgspec.DecodeError as error:
        raise UsageError(f"{name} is not valid JSON: {error}") from None


def merged(old: Any, new: Any) -> Any:
    """Two JSON values as one; the new one wins."""
    if not is_object(old) or not is_object(new):
        return new
    return {**old, **{key: merged(old.get(key), value) for key, value in new.items()}}


def passing_settings(environment: Mapping[str, str]) -> GatewaySettings:
    """Routes that pass every request on to the provider that its client would have asked.

    A variable that names another address for a provider is followed.
    """
    routes = [Route(ECHO, ECHO)]
    for api, (upstream, variables) in UPSTREAMS.items():
        named = (
            environment[name].rstrip("/") + ending
            for name, ending in variables.items()
            if environment.get(name)
        )
        base = next(named, None)
        routes.append(Route("*", upstream, api=api, base_url=base))
    return GatewaySettings(tuple(routes))
