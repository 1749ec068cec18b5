"""The Hugging Face chat list: objects as arguments, results by order, turns that alternate."""

from typing import Any

import pytest
from hypothesis import given

import contextwright as cw
from samples.chat_payloads import wild_bodies
from strategies.messages import json_values

JSON = dict[str, Any]
MODEL = "qwen3-8b"
STRICT = "gemma-3-27b"


def user(content: Any, **fields: Any) -> JSON:
    return {"role": "user", "content": content, **fields}


def assistant(content: Any, **fields: Any) -> JSON:
    return {"role": "assistant", "content": content, **fields}


def system(content: Any) -> JSON:
    return {"role": "system", "content": content}


def call(name: str = "search", arguments: Any = None, **fields: Any) -> JSON:
    return {"type": "function", "function": {"name": name, "arguments": arguments or {}}, **fields}


def calling(*calls: JSON) -> JSON:
    return {"role": "assistant", "tool_calls": list(calls)}


def result(content: Any, name: str = "search", **fields: Any) -> JSON:
    return {"role": "tool", "name": name, "content": content, **fields}


TOOL = {
    "type": "function",
    "function": {"name": "search", "description": "Searches.", "parameters": {"type": "object"}},
}

ACCEPTED: list[Any] = [
    [user("hi")],
    [system("be brief"), user("hi"), assistant("hello"), user("x")],
    [user("q"), calling(call(arguments={"q": "x"})), result("found"), assistant("done")],
    [user("q"), calling(call(), call("calc")), result("a"), result("b", "calc"), assistant("done")],
    [user("q"), calling(call(id="abcdefghi")), result("a", tool_call_id="abcdefghi")],
    [
        user(
            [
                {"type": "image", "url": "https://example.com/a.png"},
                {"type": "text", "text": "what is it?"},
            ]
        )
    ],
    [
        user(
            [
                {"type": "image", "image": "iVBORw0KGgo="},
                {"type": "audio", "url": "https://example.com/a.mp3", "rate": 16_000},
                {"type": "video", "base64": "AAAA"},
                {"type": "image"},
            ]
        )
    ],
    [user("q"), assistant("4", reasoning_content="2 + 2"), user("x")],
    {"messages": [user("q"), calling(call())], "tools": [TOOL]},
    {"messages": [user("q")], "tools": [{"function": TOOL["function"]}]},
    {"messages": [user("q"), assistant("a")], "source": "mine"},
]


@pytest.mark.parametrize("chat", ACCEPTED, ids=range(len(ACCEPTED)))
def test_accepted_and_comes_back(chat: Any) -> None:
    assert cw.check(chat, "chatml", model=MODEL) == []
    rendered = cw.convert(chat, "chatml", "chatml", model=MODEL, repair=False)
    assert rendered.payload == chat
    assert rendered.changes == ()


REFUSED = [
    ("T-literal", [{"role": "human", "content": "x"}], "[0].role"),
    ("T-required", [{"role": "user"}], "[0].content"),
    ("T-type", {"messages": 5}, "messages"),
    ("T-type", [user(5)], "[0].content"),
    ("X-surrogate", [user("\ud800")], "[0].content"),
    ("H-alternate", [user("a"), user("b")], "[1]"),
    ("H-alternate", [assistant("a"), user("b")], "[0]"),
    ("H-system", {"messages": [user("a"), system("b")]}, "messages[1]"),
    ("H-orphan", [user("a"), result("x")], "[1]"),
]


@pytest.mark.parametrize(("code", "chat", "path"), REFUSED, ids=[code for code, _, _ in REFUSED])
def test_refused(code: str, chat: Any, path: str) -> None:
    errors = [
        problem for problem in cw.check(chat, "chatml", model=STRICT) if problem.level == "error"
    ]
    assert [(problem.code, problem.path) for problem in errors] == [(code, path)]


WARNED = [
    ("H-args", [user("q"), calling(call(arguments='{"q": 1}')), result("x")]),
    ("H-unanswered", [user("q"), calling(call()), user("x")]),
    ("H-order", [user("q"), calling(call("a"), call("b")), result("1", "b"), result("2", "a")]),
    ("H-alternate", [user("a"), user("b")]),
]


@pytest.mark.parametrize(("code", "chat"), WARNED, ids=[code for code, _ in WARNED])
def test_warned(code: str, chat: Any) -> None:
    problems = cw.check(chat, "chatml", model=MODEL)
    assert {(problem.code, problem.level) for problem in problems} == {(code, "warning")}


def openai(*messages: JSON, **fields: Any) -> JSON:
    return {"model": "gpt-4o", "messages": list(messages), **fields}


def openai_call(id: str, name: str, arguments: str) -> JSON:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def text(words: str) -> JSON:
    return {"type": "text", "text": words}


CONVERTED: list[tuple[str, JSON, Any]] = [
    (
        "19: same-role runs merge, their parts apart",
        openai(user("a"), user("b"), assistant("1"), assistant("2")),
        [user([text("a"), text("b")]), assistant([text("1"), text("2")])],
    ),
    (
        "29: arguments are objects",
        openai(
            user("q"),
            assistant(None, tool_calls=[openai_call("a", "f", '{"x": 1}')]),
            {"role": "tool", "tool_call_id": "a", "content": "4"},
        ),
        [user("q"), calling(call("f", {"x": 1}, id="a")), result("4", "f", tool_call_id="a")],
    ),
    (
        "results in the order of the calls",
        openai(
            user("q"),
            assistant(None, tool_calls=[openai_call("a", "f", "{}"), openai_call("b", "g", "{}")]),
            {"role": "tool", "tool_call_id": "b", "content": "2"},
            {"role": "tool", "tool_call_id": "a", "content": "1"},
        ),
        [
            user("q"),
            calling(call("f", id="a"), call("g", id="b")),
            result("1", "f", tool_call_id="a"),
            result("2", "g", tool_call_id="b"),
        ],
    ),
    (
        "first turn is the user's",
        openai(assistant("hi"), user("q")),
        [user("[start of conversation]"), assistant("hi"), user("q")],
    ),
    (
        "tools make it an object",
        openai(user("q"), tools=[TOOL]),
        {"messages": [user("q")], "tools": [TOOL]},
    ),
]


@pytest.mark.parametrize(
    ("name", "given", "wanted"), CONVERTED, ids=[name for name, _, _ in CONVERTED]
)
def test_converted(name: str, given: JSON, wanted: Any) -> None:
    rendered = cw.convert(given, "openai-chat", "chatml", model=MODEL)
    assert rendered.payload == wanted
    assert [
        problem for problem in cw.check(wanted, "chatml", model=STRICT) if problem.level == "error"
    ] == []


def test_system_text_in_the_middle_for_a_strict_template() -> None:
    given = openai(system("s"), user("u"), assistant("a"), system("be brief"), user("q"))
    rendered = cw.convert(given, "openai-chat", "chatml", model=STRICT)
    assert rendered.payload == [
        system("s"),
        user("u"),
        assistant("a"),
        user([text("q"), text("[System note: be brief]")]),
    ]


def test_strings_as_openai_writes_them_are_read() -> None:
    chat = [user("q"), calling(call("f", '{"x": 1}')), result("4", "f")]
    conversation = cw.parse(chat, "chatml")
    assert conversation.messages[1].calls == (cw.ToolCall("f", {"x": 1}, None, '{"x": 1}'),)
    assert cw.render(conversation, "chatml", model=MODEL).payload == [
        user("q"),
        calling(call("f", {"x": 1})),
        result("4", "f"),
    ]


def test_results_find_their_calls_by_order() -> None:
    chat = [
        user("q"),
        calling(call(arguments={"n": 1}), call(arguments={"n": 2})),
        result("one"),
        result("two"),
    ]
    payload = cw.convert(chat, "chatml", "openai-chat", model="gpt-4o").payload
    answers = {
        message["tool_call_id"]: message["content"]
        for message in payload["messages"]
        if message["role"] == "tool"
    }
    calls = [call["id"] for call in payload["messages"][1]["tool_calls"]]
    assert [answers[id] for id in calls] == ["one", "two"]


def test_a_name_that_is_no_text_is_left_out_of_a_result_and_said() -> None:
    chat = [user("q"), calling(call()), {**result("one"), "name": []}]
    rendered = cw.render(cw.parse(chat, "chatml"), "chatml", model=MODEL)
    assert isinstance(rendered.payload[-1]["name"], str)
    assert "loss.extra" in [change.code for change in rendered.changes]


def test_thinking_in_the_content_stays_there() -> None:
    """Its fields are its own: none becomes the content of its message."""
    thought = {"type": "thinking", "thinking": "Hm.", "content": "no"}
    chat = [
        {"role": "user", "content": "So?"},
        {"role": "assistant", "content": [thought, {"type": "text", "text": "Yes."}]},
    ]
    rendered = cw.render(cw.parse(chat, "chatml"), "chatml", model=MODEL)
    assert (rendered.payload, rendered.changes) == (chat, ())


@given(wild_bodies | json_values)
def test_anything_can_be_read_checked_and_written(data: Any) -> None:
    cw.check(data, "chatml", model=STRICT)
    try:
        conversation = cw.parse(data, "chatml")
    except cw.ParseError:
        return
    payload = cw.render(conversation, "chatml", model=MODEL).payload
    assert [
        problem for problem in cw.check(payload, "chatml", model=MODEL) if problem.level == "error"
    ] == []


def test_a_hosted_tool_is_written_if_it_is_ours_and_else_reported() -> None:
    hosted = {"type": "web_search"}
    asked = (cw.user("So?"),)
    ours = cw.render(cw.Conversation(asked, tools=(cw.Opaque("chatml", hosted),)), "chatml")
    assert (ours.payload["tools"], ours.changes) == ([hosted], ())
    other = cw.render(cw.Conversation(asked, tools=(cw.Opaque("anthropic", hosted),)), "chatml")
    assert other.payload == [{"role": "user", "content": "So?"}]
    assert list(map(str, other.changes)) == [
        str(cw.Change("loss.tool", "tools[0]", "hosted by anthropic"))
    ]
