"""Install the clients that the gateway is tested with.

    python tests/serve/clients/install.py FOLDER [NAME …]

Names are those of `PACKAGES`; without any, all are installed. What cannot be installed is named
and left out. Needs npm, and uv for the clients in Python. The tests look for the folder in
`CONTEXTWRIGHT_CLIENTS`.
"""

import shutil
import subprocess
import sys
from pathlib import Path

NODE = "node@22.23.3"
"""With an older Node, npm silently picks older clients."""
PACKAGES: dict[str, tuple[str, ...]] = {
    "pi": ("@earendil-works/pi-coding-agent@0.87.1",),
    "opencode": ("opencode-ai@1.18.33",),
    "claude": ("@anthropic-ai/claude-code@2.1.328",),
    "codex": ("@openai/codex@0.169.0",),
    "gemini": ("@google/gemini-cli@0.61.0",),
    "ai": (
        "ai@7.0.173",
        "@ai-sdk/openai@4.0.118",
        "@ai-sdk/anthropic@4.0.105",
        "@ai-sdk/google@4.0.121",
        "zod@4.1.12",
    ),
    "langchain": (
        "langchain-openai==1.7.3",
        "langchain-anthropic==1.7.7",
        "langchain-google-genai==4.4.2",
    ),
    "agents": ("openai-agents==0.24.0",),
    "llm": ("llm==0.36",),
    "aider": ("aider-chat==0.86.2",),
    "mini": ("mini-swe-agent==2.4.6", "mcp==2.3.0"),
    "gptme": ("gptme==0.35.1",),
    "sgpt": ("shell-gpt==1.5.1", "click==8.1.8"),
    "smolagents": ("smolagents[openai,litellm]==1.26.0", "mcp==2.3.0"),
    "dspy": ("dspy==3.4.1", "mcp==2.3.0"),
    "openhands": ("openhands-sdk==1.58.0",),
    "browser_use": ("browser-use==0.13.14",),
    "autogen": ("autogen-ext[openai]==0.7.5",),
    "qwen": ("@qwen-code/qwen-code@0.24.4",),
}
"""With what some of them import, and do not name."""
PYTHONS = {"openhands": ">=3.12"}
"""Where a client needs a newer Python than the tests."""
IN_NODE = ("pi", "opencode", "claude", "codex", "gemini", "ai", "qwen")
SECONDS = 600
"""How long one client may take."""


def main(folder: Path, names: list[str]) -> int:
    """Install each client into a folder of its own; return how many were left out."""
    missing = 0
    for name in names or PACKAGES:
        place = folder / name
        try:
            if name in IN_NODE:
                install_from_npm(place, (NODE, *PACKAGES[name]))
            else:
                install_from_pypi(place, PACKAGES[name], PYTHONS.get(name, ">=3.11"))
        except (OSError, subprocess.SubprocessError) as error:
            shutil.rmtree(place, ignore_errors=True)
            print(f"{name}: not installed: {error}", flush=True)
            missing += 1
        else:
            print(f"{name}: installed", flush=True)
    return missing


def install_from_npm(place: Path, packages: tuple[str, ...]) -> None:
    # Under its name only when it is whole: the install may be stopped.
    part = place.with_name(f"{place.name}.part")
    part.mkdir(parents=True, exist_ok=True)
    quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
    run(["npm", "install", "--prefix", str(part), *quiet, *packages])
    shutil.rmtree(place, ignore_errors=True)
    part.rename(place)


def install_from_pypi(place: Path, packages: tuple[str, ...], python: str) -> None:
    run(["uv", "venv", "--quiet", "--allow-existing", "--python", python, str(place)])
    run(["uv", "pip", "install", "--quiet", "--python", str(place), *packages])


def run(command: list[str]) -> None:
    subprocess.run(command, check=True, timeout=SECONDS, stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    folder, *names = sys.argv[1:] or sys.exit(__doc__)
    sys.exit(main(Path(folder), names) > 0)
