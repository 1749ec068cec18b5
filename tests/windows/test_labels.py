"""What speakers' names cost: nothing while one person speaks, then all of them at once."""

from __future__ import annotations

import pytest

import contextwright as cw
from contextwright.context.recipe import Recipe
from contextwright.windows.labels import Labels
from contextwright.windows.log import Log

ANN, BOB = cw.Author(id="1", name="Ann"), cw.Author(id="2", name="Bob")


def label(message: cw.Message) -> tuple[str, float] | None:
    return (message.author.label, len(message.author.label)) if message.author else None


def test_names_cost_nothing_until_a_second_person_speaks() -> None:
    log = Log([cw.user("a", author=ANN), cw.user("b"), cw.user("c", author=BOB)] * 2)
    labels = Labels(log, label)
    assert [labels.add(index) for index in (5, 4)] == [0, 0]
    assert labels.since is None
    assert [labels.add(index) for index in (3, 2, 1, 0)] == [6, 3, 0, 3]
    assert labels.since == 3
    assert Labels(log, None).add(0) == 0


@pytest.mark.parametrize(
    ("format", "model", "names"),
    [
        ("anthropic", "claude-sonnet-4-5", True),
        ("gemini", "gemini-3.8-flash", True),
        ("openai-responses", "gpt-5.6-sol", True),
        ("openai-chat", "gpt-4o", False),
        ("forge", "gpt-4o", True),
        ("aya", "gpt-4o", False),
    ],
)
def test_formats_that_write_names_before_texts(format: str, model: str, names: bool) -> None:
    """Others have a field for the name, which a message alone has too."""
    meter = Recipe().history(model=model, format=format).meter
    assert meter.names_speakers is names
    assert meter.label(cw.assistant("Hi", author=ANN)) is None
    assert meter.label(cw.user([cw.ToolResult("c", "x")], author=ANN)) is None
    name, tokens = meter.label(cw.user("Hi", author=ANN)) or ("", 0.0)
    assert name == "Ann"
    assert tokens >= 2


@pytest.mark.parametrize(
    ("format", "model", "merges"),
    [
        ("anthropic", "claude-sonnet-4-5", True),
        ("gemini", "gemini-3.8-flash", True),
        ("openai-responses", "gpt-5.6-sol", False),
        ("openai-chat", "gpt-4o", False),
    ],
)
def test_a_turn_of_several_messages_is_wrapped_once(format: str, model: str, merges: bool) -> None:
    meter = Recipe().history(model=model, format=format).meter
    assert (meter.shared_wrapping("user", "user") > 0) is merges
    assert (meter.shared_wrapping("tool", "tool") > 0) is merges
    assert (
        meter.shared_wrapping("user", "assistant") == meter.shared_wrapping("system", "user") == 0
    )
