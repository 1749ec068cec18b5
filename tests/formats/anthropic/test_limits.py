"""Histories and settings of others that exceed what one Messages request may hold."""

import base64
from typing import Any

import pytest

import contextwright as cw
from samples.formats.anthropic import LONG_MARK, MARK, NEW, OLD, THINKING, TOOL, body, text

ASKED = {"role": "user", "content": "hi"}
PHOTO = cw.Media("image", "image/png", base64.b64encode(b"\x89PNG" + bytes(4 * 1024**2)).decode())


def strict(number: int, **schema: Any) -> list[dict[str, Any]]:
    """Strict functions of OpenAI's."""
    closed = {"type": "object", "properties": {}, "additionalProperties": False, **schema}
    return [
        {"type": "function", "function": {"name": f"f{n}", "parameters": closed, "strict": True}}
        for n in range(number)
    ]


def either(number: int) -> dict[str, Any]:
    names = [f"p{n}" for n in range(number)]
    types = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    return {"properties": dict.fromkeys(names, types), "required": names}


@pytest.mark.parametrize(
    ("tools", "kept"),
    [
        (strict(21), 20),
        (strict(3, **either(8)), 2),
        (strict(1, **either(17)), 0),
        (strict(5, properties={f"p{n}": {"type": "string"} for n in range(8)}), 3),
    ],
    ids=["tools", "unions", "unions of one", "optional"],
)
def test_strict_tools_beyond_the_limit_are_not_strict(tools: list[Any], kept: int) -> None:
    request = {"model": "gpt-4o", "messages": [ASKED], "tools": tools, "max_tokens": 9}
    made = cw.convert(request, "openai-chat", "anthropic", model=NEW)
    assert [tool["strict"] for tool in made.payload["tools"]] == [
        number < kept for number in range(len(tools))
    ]
    assert [(change.code, change.path) for change in made.changes] == [
        ("loss.strict", f"tools[{number}]") for number in range(kept, len(tools))
    ]
    assert cw.check(made.payload, "anthropic") == []


MENDED: dict[str, tuple[dict[str, Any], str, dict[str, Any], list[str]]] = {
    "an automatic breakpoint that is to live longer than one before it": (
        body(("user", "hi"), tools=[{**TOOL, **MARK}], cache_control=LONG_MARK["cache_control"]),
        OLD,
        {"cache_control": {"type": "ephemeral"}},
        ["repair.cache_mark cache_control"],
    ),
    "thinking in a turn that is continued without thinking": (
        body(("user", "hi"), ("assistant", [THINKING, text("a")])),
        OLD,
        {"messages": [ASKED, {"role": "assistant", "content": [text("a")]}]},
        ["loss.thinking messages[1]"],
    ),
    "a turn of thinking alone": (
        body(("user", "hi"), ("assistant", [THINKING])),
        OLD,
        {"messages": [ASKED]},
        ["loss.thinking messages[1]"],
    ),
    "thinking, where there is no room for a budget": (
        body(
            ("user", "hi"),
            ("assistant", [THINKING, text("a")]),
            max_tokens=9,
            thinking={"type": "enabled", "budget_tokens": 1_024},
        ),
        OLD,
        {"messages": [ASKED, {"role": "assistant", "content": [text("a")]}]},
        ["loss.setting thinking", "loss.thinking messages[1]"],
    ),
    "thinking, where the beginning of the answer has none": (
        body(
            ("user", "hi"),
            ("assistant", "So far"),
            thinking={"type": "enabled", "budget_tokens": 1_024},
        ),
        OLD,
        {"messages": [ASKED, {"role": "assistant", "content": [text("So far")]}]},
        ["loss.setting thinking"],
    ),
    "sampling settings of an older model": (
        body(("user", "hi"), temperature=0.5, top_p=1),
        NEW,
        {"top_p": 1},
        ["loss.setting temperature"],
    ),
}


@pytest.mark.parametrize("name", MENDED)
def test_requests_of_its_own_are_mended(name: str) -> None:
    request, model, fields, changes = MENDED[name]
    made = cw.convert({**request, "model": model}, "anthropic", "anthropic", model=model)
    gone = ("temperature", "thinking", "messages", "cache_control")
    rest = {key: value for key, value in request.items() if key not in gone}
    expected: dict[str, Any] = {"messages": [ASKED], **rest, "model": model, **fields}
    assert same(made.payload) == same(expected)
    assert [f"{change.code} {change.path}" for change in made.changes] == changes
    assert [one for one in cw.check(made.payload, "anthropic") if one.level == "error"] == []


def same(payload: dict[str, Any]) -> dict[str, Any]:
    """A payload in which every content is a list."""
    messages = [
        {
            **one,
            "content": [text(one["content"])]
            if isinstance(one["content"], str)
            else one["content"],
        }
        for one in payload["messages"]
    ]
    return {**payload, "messages": messages}


def test_the_oldest_photos_are_left_out_of_a_request_that_is_too_large() -> None:
    call = cw.ToolCall("look", {}, "c1")
    messages = [
        cw.user([cw.Text("one"), PHOTO]),
        cw.assistant(call),
        cw.Message("tool", (cw.ToolResult("c1", (cw.Text("two"), PHOTO)),)),
        cw.assistant("Go on."),
        cw.user([cw.Text("the others"), *[PHOTO] * 5]),
    ]
    made = cw.render(messages, "anthropic", model=NEW)
    first, _, third, *_ = made.payload["messages"]
    assert first["content"] == [text("one"), text("[image]")]
    assert third["content"][0]["content"] == [text("two"), text("[image]")]
    assert [f"{change.code} {change.path}" for change in made.changes] == [
        "invent.max_tokens max_tokens",
        "loss.media messages[0].content[1]",
        "loss.media messages[2].content[0].content[1]",
    ]
    assert [one.code for one in cw.check(made.payload, "anthropic")] == ["A-tools-missing"]
    assert cw.render(messages[-1:], "anthropic", model=NEW).changes == made.changes[:1]
