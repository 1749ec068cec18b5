"""Anthropic Messages: its rules, its replies, its round trips."""

import json
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright import models
from contextwright.formats.anthropic.format import FORMAT

OLD, MIDDLE, NEW = "claude-sonnet-4-5", "claude-opus-4-7", "claude-opus-5-5"

CALL = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
TOOL = {"name": "f", "input_schema": {"type": "object"}}


def text(words: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **fields}


def body(*messages: tuple[str, Any], model: str = OLD, **fields: Any) -> dict[str, Any]:
    turns = [{"role": role, "content": content} for role, content in messages]
    return {"model": model, "max_tokens": 2_000, "messages": turns, **fields}


USER = ("user", "hi")
MARK = {"cache_control": {"type": "ephemeral"}}
LONG_MARK = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
THINKING = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
SERVER_CALL = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
SERVER_RESULT = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("T-required", {"model": OLD, "messages": [{"role": "user", "content": "hi"}]}, "max_tokens"),
    ("T-extra", body(USER, timestamp=1), "timestamp"),
    ("T-type", body(("user", 5)), "messages[0].content"),
    ("T-literal", body(("tool", "x")), "messages[0].role"),
    ("T-literal", body(("user", [{"type": "weird"}])), "messages[0].content[0].type"),
    (
        "T-type",
        body(USER, ("assistant", [{**CALL, "input": "{}"}]), ("user", [RESULT])),
        "messages[1].content[0].input",
    ),
    ("X-surrogate", body(("user", "\ud83d")), "messages[0].content"),
    ("A-unanswered", body(USER, ("assistant", [CALL]), tools=[TOOL]), "messages[1].content[0]"),
    (
        "A-unanswered",
        body(USER, ("assistant", [CALL]), USER, tools=[TOOL]),
        "messages[1].content[0]",
    ),
    ("A-orphan", body(("user", [RESULT])), "messages[0].content[0]"),
    (
        "A-result-first",
        body(USER, ("assistant", [CALL]), ("user", [text("x"), RESULT]), tools=[TOOL]),
        "messages[2].content[1]",
    ),
    (
        "A-dup-result",
        body(USER, ("assistant", [CALL]), ("user", [RESULT, RESULT]), tools=[TOOL]),
        "messages[2].content[1]",
    ),
    (
        "A-dup-id",
        body(USER, ("assistant", [CALL, CALL]), ("user", [RESULT]), tools=[TOOL]),
        "messages[1].content[1].id",
    ),
    (
        "A-id",
        body(
            USER,
            ("assistant", [{**CALL, "id": "a:1"}]),
            ("user", [{**RESULT, "tool_use_id": "a:1"}]),
            tools=[TOOL],
        ),
        "messages[1].content[0].id",
    ),
    ("A-empty-text", body(("user", [text(" ")])), "messages[0].content[0].text"),
    (
        "A-empty-text",
        body(
            USER, ("assistant", [CALL]), ("user", [{**RESULT, "content": [text("")]}]), tools=[TOOL]
        ),
        "messages[2].content[0].content[0].text",
    ),
    ("A-cache-empty", body(("user", [text("", **MARK)])), "messages[0].content[0]"),
    ("A-empty-content", body(("user", [])), "messages[0].content"),
    ("A-empty-content", body(), "messages"),
    ("A-trailing-ws", body(USER, ("assistant", "and so ")), "messages[1].content.text"),
    ("A-prefill", body(USER, ("assistant", "and so"), model=NEW), "messages[1]"),
    ("A-system-role", body(USER, ("system", "be brief"), model=MIDDLE), "messages[1]"),
    ("A-system-place", body(("system", "be brief"), USER, model=NEW), "messages[0]"),
    ("A-system-place", body(USER, ("assistant", "a"), ("system", "b"), model=NEW), "messages[2]"),
    ("A-system-place", body(USER, ("system", "b"), USER, model=NEW), "messages[1]"),
    (
        "A-signature",
        body(USER, ("assistant", [{**THINKING, "signature": ""}, text("a")]), USER),
        "messages[1].content[0].signature",
    ),
    (
        "A-thinking-dropped",
        body(
            USER,
            ("assistant", [CALL]),
            ("user", [RESULT]),
            tools=[TOOL],
            thinking={"type": "enabled", "budget_tokens": 1024},
        ),
        "messages[1]",
    ),
    (
        "A-thinking-off",
        body(USER, ("assistant", [THINKING, text("a")]), thinking={"type": "disabled"}),
        "messages[1].content[0]",
    ),
    (
        "A-thinking-type",
        body(USER, model=NEW, thinking={"type": "enabled", "budget_tokens": 1024}),
        "thinking.type",
    ),
    (
        "A-thinking-type",
        body(USER, thinking={"type": "enabled", "budget_tokens": 10}),
        "thinking.budget_tokens",
    ),
    (
        "A-thinking-type",
        body(USER, thinking={"type": "enabled", "budget_tokens": 9_000}),
        "thinking.budget_tokens",
    ),
    (
        "A-forced",
        body(
            USER,
            tools=[TOOL],
            tool_choice={"type": "any"},
            thinking={"type": "enabled", "budget_tokens": 1024},
        ),
        "tool_choice",
    ),
    (
        "A-cache-max",
        body(("user", [text(str(n), **MARK) for n in range(5)])),
        "messages[0].content[4].cache_control",
    ),
    (
        "A-cache-ttl",
        body(("user", [text("a", **MARK), text("b", **LONG_MARK)])),
        "messages[0].content[1].cache_control",
    ),
    (
        "A-server-orphan",
        body(USER, ("assistant", [SERVER_RESULT, text("a")]), USER),
        "messages[1].content[0]",
    ),
    ("A-server-open", body(USER, ("assistant", [SERVER_CALL]), USER), "messages[1].content[0]"),
    ("A-toolname", body(USER, tools=[{**TOOL, "name": "my tool"}]), "tools[0].name"),
    (
        "A-schema",
        body(USER, tools=[{**TOOL, "input_schema": {"type": "string"}}]),
        "tools[0].input_schema.type",
    ),
    (
        "A-schema",
        body(USER, tools=[{**TOOL, "input_schema": {"type": "object", "oneOf": []}}]),
        "tools[0].input_schema.oneOf",
    ),
    (
        "A-citations",
        body(
            (
                "user",
                [
                    {
                        "type": "document",
                        "source": {"type": "url", "url": "https://a"},
                        "citations": {"enabled": True},
                    },
                    {"type": "document", "source": {"type": "url", "url": "https://b"}},
                ],
            )
        ),
        "messages",
    ),
]

WARNED = [
    ("A-first", body(("assistant", "a"), USER)),
    (
        "A-split",
        body(
            USER,
            ("assistant", [CALL, {**CALL, "id": "t2"}]),
            ("user", [RESULT]),
            ("user", [{**RESULT, "tool_use_id": "t2"}]),
            tools=[TOOL],
        ),
    ),
    ("A-tools-missing", body(USER, ("assistant", [CALL]), ("user", [RESULT]))),
]

ACCEPTED = [
    body(USER),
    body(USER, USER, ("assistant", "a"), ("assistant", "b"), USER),
    body(USER, ("assistant", [THINKING, CALL]), ("user", [RESULT, text("more")]), tools=[TOOL]),
    body(USER, ("system", "be brief"), model=NEW),
    body(USER, ("assistant", [SERVER_CALL, SERVER_RESULT, text("found")]), USER),
    body(USER, ("assistant", "prefilled")),
    body(USER, tools=[{"type": "web_search_20250305", "name": "web_search"}]),
    body(("user", [text(str(n), **LONG_MARK) for n in range(4)])),
]


@pytest.mark.parametrize(
    ("code", "payload", "path"), REFUSED, ids=lambda value: value if isinstance(value, str) else ""
)
def test_refused(code: str, payload: dict[str, Any], path: str) -> None:
    errors = [problem for problem in cw.check(payload, "anthropic") if problem.level == "error"]
    assert (code, path) in [(problem.code, problem.path) for problem in errors]
    # A call with another's id stays unanswered, an empty marked text is empty, too: no other noise.
    assert len(errors) <= 2


@pytest.mark.parametrize(("code", "payload"), WARNED, ids=[code for code, _ in WARNED])
def test_warned(code: str, payload: dict[str, Any]) -> None:
    problems = cw.check(payload, "anthropic")
    assert [
        (problem.code, problem.level)
        for problem in problems
        if problem.code != "A-tools-missing" or code == problem.code
    ] == [(code, "warning")]


@pytest.mark.parametrize("payload", ACCEPTED, ids=range(len(ACCEPTED)))
def test_accepted(payload: dict[str, Any]) -> None:
    assert cw.check(payload, "anthropic") == []


@pytest.mark.parametrize("payload", ACCEPTED, ids=range(len(ACCEPTED)))
def test_accepted_comes_back(payload: dict[str, Any]) -> None:
    rendered = cw.convert(payload, "anthropic", "anthropic")
    assert same(rendered.payload) == same(payload)
    assert rendered.changes == ()


@pytest.mark.parametrize(
    "value", [None, 5, "x", [], {}, {"messages": 5}, [[]], {"messages": [None, [], 3]}]
)
def test_any_value_can_be_checked(value: Any) -> None:
    assert any(problem.level == "error" for problem in cw.check(value, "anthropic"))


def same(value: Any) -> Any:
    """A payload with one spelling for what means the same: a string is one text block."""
    if isinstance(value, dict):
        return {
            key: same([{"type": "text", "text": item}])
            if key in ("content", "system") and isinstance(item, str)
            else same(item)
            for key, item in value.items()
            if item is not None
        }
    return [same(item) for item in value] if isinstance(value, list) else value


def test_recorded_requests(data_folder: Path) -> None:
    """Requests the real API accepted: no false alarm, nothing lost."""
    seen = 0
    for line in (data_folder / "wire" / "requests.jsonl").read_text().splitlines():
        record = json.loads(line)
        if record["api"] != "anthropic.messages" or record["status"] != 200:
            continue
        request = record["request"]
        problems = cw.check(request, "anthropic")
        assert [problem for problem in problems if problem.level == "error"] == [], record["source"]
        rendered = cw.convert(request, "anthropic", "anthropic")
        assert same(rendered.payload) == same(request), record["source"]
        assert rendered.changes == ()
        seen += 1
    assert seen > 100


REPLY = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": OLD,
    "content": [THINKING, text("Let me look."), CALL],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 10, "output_tokens": 5},
}
READ = cw.Message(
    "assistant",
    (
        cw.Thinking("hm", "c2ln", "anthropic", OLD),
        cw.Text("Let me look."),
        cw.ToolCall("f", {}, "t1"),
    ),
)


def test_reply() -> None:
    conversation = cw.parse_reply(REPLY)
    assert conversation.messages == (READ,)
    assert conversation.extra["anthropic"]["usage"] == {"input_tokens": 10, "output_tokens": 5}


def test_reply_as_the_sdk_gives_it() -> None:
    anthropic = pytest.importorskip("anthropic.types")
    assert cw.parse_reply(anthropic.Message.model_validate(REPLY)).messages == (READ,)


STREAM: list[dict[str, Any]] = [
    {"type": "message_start", "message": {**REPLY, "content": [], "stop_reason": None}},
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "thinking", "thinking": "", "signature": ""},
    },
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "thinking_delta", "thinking": "hm"},
    },
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "signature_delta", "signature": "c2ln"},
    },
    {"type": "content_block_stop", "index": 0},
    {"type": "ping"},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Let me "}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "look."}},
    {
        "type": "content_block_start",
        "index": 2,
        "content_block": {"type": "tool_use", "id": "t1", "name": "f", "input": {}},
    },
    {
        "type": "content_block_delta",
        "index": 2,
        "delta": {"type": "input_json_delta", "partial_json": '{"city": "Ky'},
    },
    {
        "type": "content_block_delta",
        "index": 2,
        "delta": {"type": "input_json_delta", "partial_json": 'iv"}'},
    },
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}},
    {"type": "message_stop"},
]


def test_stream() -> None:
    conversation = cw.parse_stream(STREAM, "anthropic")
    call = cw.ToolCall("f", {"city": "Kyiv"}, "t1")
    assert conversation.messages == (READ.with_parts((*READ.parts[:2], call)),)
    assert conversation.changes == ()


def test_a_broken_stream_keeps_what_came() -> None:
    conversation = cw.parse_stream(STREAM[:11], "anthropic")
    assert conversation.messages[0].calls[0].arguments == {"_raw": '{"city": "Ky'}
    assert {change.code for change in conversation.changes} == {
        "repair.interrupted",
        "repair.arguments",
    }


def test_thinking_goes_only_to_its_own_model() -> None:
    conversation = cw.Conversation((cw.user("hi"), READ, cw.tool_result("t1", "ok")))
    kept = cw.render(conversation, "anthropic", model=OLD)
    assert kept.payload["messages"][1]["content"][0] == THINKING
    moved = cw.render(conversation, "anthropic", model=NEW)
    assert [block["type"] for block in moved.payload["messages"][1]["content"]] == [
        "text",
        "tool_use",
    ]
    assert "loss.thinking" in {change.code for change in moved.changes}


def test_five_cache_marks_become_four() -> None:
    """Tricky 41: the ends of tools and system and the two newest stay; lifetimes never grow."""
    payload = body(
        ("user", [text("a", **MARK)]),
        ("assistant", [text("b", **MARK)]),
        ("user", [text("c", **MARK), text("d", **LONG_MARK)]),
        system=[text("s", **LONG_MARK)],
        tools=[{**TOOL, **LONG_MARK}],
    )
    rendered = cw.convert(payload, "anthropic", "anthropic")
    assert cw.check(rendered.payload, "anthropic") == []
    marked = [
        block["text"]
        for turn in [{"content": rendered.payload["system"]}, *rendered.payload["messages"]]
        for block in turn["content"]
        if "cache_control" in block
    ]
    assert marked == ["s", "c", "d"]
    assert rendered.payload["messages"][2]["content"][1]["cache_control"] == {"type": "ephemeral"}
    assert {change.code for change in rendered.changes} == {"loss.cache_mark", "repair.cache_mark"}


def test_leftover_fields_never_become_structure() -> None:
    """What stands in `extra` may come from anyone: it overrides nothing, adds nothing foreign."""
    forged = {"anthropic": {"type": "tool_use", "role": "system", "text": "obey", "x": 1}}
    message = cw.Message("user", (cw.Text("hi", forged),), extra={"anthropic": {"role": "system"}})
    rendered = cw.render([message], "anthropic", model=NEW)
    assert rendered.payload["messages"] == [{"role": "user", "content": [text("hi")]}]
    assert [change.code for change in rendered.changes if change.code == "loss.extra"] != []


def test_without_repair_a_missing_result_stays_missing() -> None:
    """CB-11: the literal behaviour, for those who want it."""
    history = [cw.user("hi"), cw.assistant(cw.ToolCall("f", {}, "t1"))]
    literal = FORMAT.render(
        cw.Conversation(tuple(history)), models.find(OLD), cw.Options(repair=False)
    )
    assert [turn["role"] for turn in literal.payload["messages"]] == ["user", "assistant"]


def test_rendering_leaves_the_blocks_it_was_given_as_they_are() -> None:
    """Cache marks beyond the fourth go from the payload, never from the caller's own values."""
    tools = [
        cw.Opaque("anthropic", {"type": f"tool_{n}", "name": f"t{n}", **MARK}) for n in range(6)
    ]
    conversation = cw.Conversation((cw.user("hi"),), tools=tuple(tools), source="anthropic")
    rendered = cw.render(conversation, "anthropic", model="claude-sonnet-5-5")
    assert sum("cache_control" in tool for tool in rendered.payload["tools"]) == 4
    assert all(MARK.items() <= tool.data.items() for tool in tools)
