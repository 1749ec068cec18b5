"""Request bodies as clients of the four APIs send them: every kind of tool, block and setting.

Texts are numbered (`¶7`), so that one that is missing is missed. Most bodies are ones their API
takes; some have ids that are repeated or empty, hosted blocks without their partner, an error
without words, or a field that nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from hypothesis import strategies as st

from strategies.bodies.anthropic import anthropic_body
from strategies.bodies.chat import chat_body
from strategies.bodies.gemini import gemini_body
from strategies.bodies.pen import MODELS, Body, Pen
from strategies.bodies.responses import responses_body

__all__ = ["MODELS", "bodies", "fixed_bodies"]


WRITERS: dict[str, Callable[[Pen], Body]] = {
    "anthropic": anthropic_body,
    "gemini": gemini_body,
    "openai-chat": chat_body,
    "openai-responses": responses_body,
}


@st.composite
def bodies(draw: st.DrawFn, api: str) -> Body:
    """Request bodies of an API."""
    return WRITERS[api](Pen(lambda count: draw(st.integers(0, count - 1))))


def fixed_bodies(api: str, count: int) -> Iterator[Body]:
    """Yield the same request bodies each time, on every version of Python."""
    random = Random(api).random
    for _ in range(count):
        yield WRITERS[api](Pen(lambda options: int(random() * options)))
