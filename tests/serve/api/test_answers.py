"""Calls of the API, one after the other: all that it answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contextwright.serve.api.routes import OPERATIONS
from golden_files import compare
from serve.api.calls import SOUND
from serve.api.client import Client, filled, of, served

APART = {
    "build_context_with", "fly", "forget_conversation", "list_models", "listen", "simulate_recipes"
}  # fmt: skip
"""Called below on less, or never ready, or told by the table of models."""
HERE = of("small")
Call = tuple[str, str, Any]
SMALL: list[Call] = [
    ("GET", f"{HERE}/messages?count=2", None),
    ("GET", f"{HERE}/messages?before=3&preview=10&model=gpt-4o", None),
    ("GET", f"{HERE}/messages?from=7&count=9", None),
    ("GET", f"{HERE}/messages/9", None),
    ("POST", f"{HERE}/turns", {"messages": [{"role": "user", "content": "More?"}], "key": "more"}),
    ("POST", f"{HERE}/turns", {"messages": [{"role": "user", "content": "More?"}], "key": "more"}),
    ("POST", f"{HERE}/turns", {"messages": [{"role": "user", "content": "Less?"}], "key": "more"}),
    ("GET", f"{HERE}/messages?from=9", None),
    ("GET", f"{HERE}/context?model=gpt-4o&budget=200&payload=false", None),
    ("GET", f"{HERE}/context?model=gpt-4o&at=99", None),
    ("GET", f"{HERE}/context?model=gpt-4o&budget=5", None),
    ("POST", f"{HERE}/context?model=gpt-4o", {"recipe": {"system": ["Be short."], "budget": 90}}),
    ("GET", f"{HERE}/compare?model=gpt-4o&with=budget:200", None),
    ("GET", f"{HERE}/compare?model=gpt-4o&with=model:claude-sonnet-5-5", None),
    ("GET", f"{HERE}/compare?model=gpt-4o&at=8&budget=200&with=at:4", None),
    ("GET", f"{HERE}/compare?model=gpt-4o&with=request:1", None),
    ("GET", f"{HERE}/compare?model=gpt-4o&with=nothing", None),
    ("GET", f"{HERE}/flight?model=claude-sonnet-5-5&budget=250", None),
    ("GET", f"{HERE}/export?format=anthropic", None),
    ("GET", "/conversations?limit=1", None),
    ("GET", "/conversations?q=more", None),
    ("GET", "/search?q=more&conversation=small", None),
    ("GET", "/recall?q=Which%20soup%20does%20Alice%20like&conversation=small&budget=60", None),
    ("GET", "/requests?before=1", None),
    ("GET", "/requests/7", None),
    ("GET", f"/requests/{2**53}", None),
    ("GET", "/memories?about=U1234546&limit=1&cursor=1", None),
    ("GET", "/memories?kind=fact", None),
    ("POST", "/convert", {"data": {"messages": [{"role": "tool"}]}, "to": "gemini"}),
    ("POST", "/convert", {"data": [{"mapping": {}}], "to": "gemini"}),
    ("POST", "/check", {"payload": {"messages": [3]}, "format": "anthropic"}),
    ("POST", "/check", {"payload": {"messages": [3]}, "model": "claude-sonnet-5-5"}),
    ("POST", "/check", {"payload": {"contents": [3]}}),
    ("POST", "/check", {"payload": {"mapping": {}}}),
    ("POST", "/check", {"payload": {"x": 1}}),
    ("POST", "/count", {"text": "Hello", "payload": {"messages": []}, "model": "gpt-4o"}),
    ("POST", "/count", {"model": "gpt-4o"}),
    ("POST", "/count", {"payload": {"messages": []}, "model": "gpt-4o"}),
    ("POST", "/simulate", {"conversation": "small", "recipes": ["013"], "model": "gpt-4o"}),
]


@pytest.fixture
def both(tmp_path: Path) -> Iterator[Client]:
    with served(tmp_path) as client:
        filled(client.store, "small", 2)
        yield client


def test_all_that_the_api_answers(both: Client) -> None:
    sound = [(one.method, *SOUND[one.name]) for one in OPERATIONS if one.name not in APART]
    compare(
        "http-answers",
        "\n\n".join(told(both, *one) for one in [*SMALL, *sound, ("DELETE", HERE, None)]),
    )


def told(client: Client, method: str, path: str, body: Any) -> str:
    """A call and its answer, without times and made-up names."""
    answer = client.call(path, body, method=method)
    text = answer.body.decode()
    kind = answer.headers.get("content-type", "")
    text = json.dumps(json.loads(text), ensure_ascii=False, indent=1) if "/json" in kind else text
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)", "TIME", text)
    text = re.sub(r'("id": ")[0-9a-f]{16}', r"\1ID", text)
    text = re.sub(r"(Alice likes soup \d+\. )\1+", r"\1… ", text)
    said = "" if body is None else f" {json.dumps(body)}"
    return f"{method} {path}{said}\n{answer.status} {kind}\n{text}".rstrip()
