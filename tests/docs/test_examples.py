"""The examples run as a person runs them, and print what they are known to print.

`WRITE_CASES=1 pytest tests/docs/test_examples.py` writes the outputs anew; read the difference.
"""

import subprocess
import sys

import pytest

from golden_files import compare
from paths import EXAMPLES

SYSTEMS = ("aya", "context_builder", "forge", "gryag", "port42")
INTEGRATIONS = (
    "with_claude_agent",
    "with_google_adk",
    "with_langchain",
    "with_langgraph",
    "with_llama_index",
    "with_mcp",
    "with_openai_agents",
    "with_pydantic_ai",
)
NEEDS = {"with_google_adk": "google.adk"}
"""Packages that not every development environment has."""
PAGES = ("ask", "data_set", "first", "http_api", "tutorial")
HOW_TO = tuple(f"how_to/{path.stem}" for path in sorted((EXAMPLES / "how_to").glob("*.py")))
SLOW = (*INTEGRATIONS, *HOW_TO)
"""Those that the README's command leaves to the deep run, which has the time."""
FORMATS = ("openai-chat", "openai-responses", "anthropic", "gemini")


def test_every_example_is_run() -> None:
    """The outline is what the systems' examples share."""
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {
        *PAGES,
        "outline",
        *INTEGRATIONS,
        *SYSTEMS,
    }


@pytest.mark.parametrize("name", SYSTEMS)
def test_example(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-W", "error", str(EXAMPLES / f"{name}.py")],
        capture_output=True,
        encoding="utf-8",
    )
    assert done.stderr == ""
    heads = [line for line in done.stdout.splitlines() if line.endswith(": legal")]
    assert sorted(head.split()[1] for head in heads) == sorted(FORMATS)
    compare(f"example-{name}", done.stdout.rstrip("\n"))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in SLOW else ())
        for name in (*PAGES, *INTEGRATIONS, *HOW_TO)
    ],
)
def test_an_example_of_a_page(name: str) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{NEEDS[name]} is not installed")
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-W", "error", str(EXAMPLES / f"{name}.py")],
        capture_output=True,
        encoding="utf-8",
    )
    assert done.stderr == ""
    compare(f"example-{name.rpartition('/')[2]}", done.stdout.rstrip("\n"))
