"""The clients: how each is set up, asked, and continued.

`{address}` is the gateway, `{key}` what the client shows.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from serve.upstreams import FORMATS, MODELS

FIRST = "Print both words with your tool."
SECOND = "Is there anything else?"

ENDINGS = {"anthropic": "", "gemini": "/v1beta"}


class Client(NamedTuple):
    """A program that speaks one of the four APIs."""

    name: str
    package: str
    """The folder that `install.py` puts it in; empty: it is installed for all tests."""
    format: str
    tool: str
    """How the name of the tool that prints a word ends."""
    arguments: Callable[[str], dict[str, Any]]
    """What the tool wants for printing `42-WORD`."""
    commands: tuple[tuple[str, ...], ...]
    """The first turn and the second, or a program that does both."""
    environment: Mapping[str, str] = {}
    files: Mapping[str, str] = {}
    """What stands in its home folder."""
    program: str = ""
    """A file of `programs/`, put into the folder it works in."""
    refused_once: bool = True
    """Whether the second turn is refused once with 429."""
    mended: Mapping[str, str] = {}
    """Upstreams of its own API that refuse what the client sends, and why."""

    @property
    def slug(self) -> str:
        """The name in the names of tests."""
        return re.sub(r"[^a-z]+", "-", self.name.lower())


def shell(word: str) -> dict[str, Any]:
    """Arguments of most tools that run a command."""
    return {"command": f"echo 42-{word}", "description": f"Print {word}"}


def codex_shell(word: str) -> dict[str, Any]:
    return {"cmd": f"echo 42-{word}"}


def codex_script(word: str) -> dict[str, Any]:
    return {"input": f"text(`${{6*7}}-{word}`)"}


def pi(format: str) -> Client:
    kinds = {
        "openai-chat": "openai-completions",
        "openai-responses": "openai-responses",
        "anthropic": "anthropic-messages",
        "gemini": "google-generative-ai",
    }
    # It asks for thinking as models up to this one do.
    model = "claude-sonnet-4-5" if format == "anthropic" else MODELS[format]
    provider = {
        "baseUrl": "{address}" + ENDINGS.get(format, "/v1"),
        "api": kinds[format],
        "apiKey": "{key}",
        "models": [{"id": model, "reasoning": True}],
    }
    command = ("pi", "--model", f"own/{model}", "-p")
    return Client(
        "pi",
        "pi",
        format,
        "bash",
        shell,
        ((*command, FIRST), (*command, "-c", SECOND)),
        {"PI_OFFLINE": "1"},
        {".pi/agent/models.json": json.dumps({"providers": {"own": provider}})},
    )


def opencode(format: str) -> Client:
    names = {
        "openai-chat": "own",
        "openai-responses": "openai",
        "anthropic": "anthropic",
        "gemini": "google",
    }
    name, model = names[format], MODELS[format]
    provider: dict[str, Any] = {
        "options": {
            "baseURL": "{address}" + ("/v1beta" if format == "gemini" else "/v1"),
            "apiKey": "{key}",
        },
        "models": {model: {"tool_call": True, "limit": {"context": 200_000, "output": 8_000}}},
    }
    if format == "openai-chat":
        provider["npm"] = "@ai-sdk/openai-compatible"
    settings = {"autoupdate": False, "share": "disabled", "provider": {name: provider}}
    command = ("opencode", "run", "--auto", "-m", f"{name}/{model}")
    return Client(
        "opencode",
        "opencode",
        format,
        "bash",
        shell,
        ((*command, FIRST), (*command, "-c", SECOND)),
        {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"},
        {".config/opencode/opencode.json": json.dumps(settings)},
    )


def claude_code() -> Client:
    command = ("claude", "--model", MODELS["anthropic"], "--allowedTools", "Bash", "-p")
    return Client(
        "Claude Code",
        "claude",
        "anthropic",
        "Bash",
        shell,
        ((*command, FIRST), (*command, SECOND, "-c")),
        {
            "ANTHROPIC_BASE_URL": "{address}",
            "ANTHROPIC_API_KEY": "{key}",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    )


def codex(name: str, model: str = "gpt-5.6-sol") -> Client:
    """Codex sends other tools to a model that it does not know."""
    known = model == MODELS["openai-responses"]
    provider = '{name="x",base_url="{address}/v1",env_key="CODEX_API_KEY",wire_api="responses"}'
    own = ("-c", "model_provider=x", "-c", f"model_providers.x={provider}")
    # As itself it first tries a WebSocket.
    itself = ("-c", 'openai_base_url="{address}/v1"')
    settings = (
        *(itself if name == "Codex" else own),
        *("-m", model, "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
    )
    command = ("codex", "exec")
    return Client(
        name,
        "codex",
        "openai-responses",
        "exec" if known else "exec_command",
        codex_script if known else codex_shell,
        ((*command, *settings, FIRST), (*command, "resume", "--last", *settings, SECOND)),
        {"CODEX_API_KEY": "{key}"},
    )


def gemini_cli() -> Client:
    command = ("gemini", "-m", MODELS["gemini"], "--skip-trust", "-y")
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    return Client(
        "Gemini CLI",
        "gemini",
        "gemini",
        "run_shell_command",
        shell,
        ((*command, "-p", FIRST), (*command, "--resume", "latest", "-p", SECOND)),
        {"GOOGLE_GEMINI_BASE_URL": "{address}", "GEMINI_API_KEY": "{key}"},
        {".gemini/settings.json": json.dumps(settings)},
        refused_once=False,  # it comes back only after half a minute
        mended={"gemini": "resumed, it sends each tool result twice, which Gemini refuses"},
    )


def program(name: str, package: str, file: str, *command: str) -> Callable[[str], Client]:
    """A client that is a library: a program of ours that uses it."""

    def client(format: str) -> Client:
        return Client(
            name,
            package,
            format,
            "print_word",
            lambda word: {"word": word},
            ((*command, file, "{address}", "{key}", format, MODELS[format], FIRST, SECOND),),
            program=file,
        )

    return client


sdk = program("SDK", "", "vendors.py", "python")
vercel = program("Vercel AI SDK", "ai", "vercel.mjs", "node")
langchain = program("LangChain", "langchain", "chains.py", "python")
agents = program("OpenAI Agents", "agents", "agents_sdk.py", "python")

CLIENTS = (
    *map(sdk, FORMATS),
    *map(pi, FORMATS),
    *map(opencode, FORMATS),
    *map(vercel, FORMATS),
    *map(langchain, FORMATS),
    *map(agents, FORMATS[:2]),
    claude_code(),
    codex("Codex"),
    codex("Codex, own provider"),
    codex("Codex, unknown model", "gpt-own"),
    gemini_cli(),
)
