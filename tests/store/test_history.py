"""What is stored of a recorded request besides its messages."""

import pytest

import contextwright as cw
from contextwright.messages.parts import Part
from contextwright.store.history import settings_of, title_of, without_marks

ANTHROPIC = {"cache_control": {"type": "ephemeral"}}
OPENAI = {"prompt_cache_breakpoint": {"mode": "explicit"}}
BLOCK = cw.Opaque("anthropic", {"type": "image", **ANTHROPIC})


@pytest.mark.parametrize(
    ("part", "stored"),
    [
        (cw.Text("a"), cw.Text("a")),
        (cw.Text("a", {"anthropic": ANTHROPIC}), cw.Text("a")),
        (cw.Text("a", {"openai-chat": OPENAI}), cw.Text("a")),
        (
            cw.Text("a", {"anthropic": {**ANTHROPIC, "citations": []}, "openai-chat": OPENAI}),
            cw.Text("a", {"anthropic": {"citations": []}}),
        ),
        (
            cw.Text("a", {"gemini": {"x": 1}, "anthropic": ANTHROPIC}),
            cw.Text("a", {"gemini": {"x": 1}}),
        ),
        (cw.ToolCall("f", {}, extra={"anthropic": ANTHROPIC}), cw.ToolCall("f", {})),
        (BLOCK, cw.Opaque("anthropic", {"type": "image"})),
    ],
)
def test_cache_marks_belong_to_one_request(part: Part, stored: Part) -> None:
    message = cw.Message("user", (cw.Text("before"), part))
    assert without_marks(message) == cw.Message("user", (cw.Text("before"), stored))


@pytest.mark.parametrize(
    ("messages", "title"),
    [
        ([], None),
        ([cw.system("Be kind."), cw.assistant("Hi")], None),
        ([cw.user("One?"), cw.assistant("Yes."), cw.user("Two?"), cw.user(" \n")], "Two?"),
        ([cw.user([cw.Text("<context/>"), cw.Text("Three?"), cw.Text(" ")])], "Three?"),
        ([cw.user("a\nb")], "a b"),
        ([cw.user("x" * 60)], "x" * 60),
        ([cw.user("x" * 61)], "x" * 57 + "..."),
    ],
)
def test_the_title_is_the_newest_question(messages: list[cw.Message], title: str | None) -> None:
    assert title_of(cw.Conversation(tuple(messages))) == title


def test_tools_and_model_are_settings() -> None:
    talk = cw.Conversation((cw.user("Hi"),))
    assert settings_of(talk) == {}
    tools = (cw.Tool("look", "Look at it"),)
    said = cw.Conversation((cw.user("Hi"),), tools=tools, model="gpt-4o")
    assert settings_of(said) == {
        "tools": ({"type": "tool", "name": "look", "description": "Look at it"},),
        "model": "gpt-4o",
    }
