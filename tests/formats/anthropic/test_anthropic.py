"""Anthropic Messages: its rules, its replies, its round trips."""

import json
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from golden_files import compare_problems
from samples.formats.anthropic import (
    CALL,
    LONG_MARK,
    MARK,
    MIDDLE,
    NEW,
    OLD,
    THINKING,
    TOOL,
    body,
    text,
)

RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
USER = ("user", "hi")
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
        "A-thinking-dropped",
        body(
            USER,
            ("assistant", [text("a")]),
            ("assistant", "b"),
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
        "A-thinking-type",
        body(USER, model="claude-opus-5-5", thinking={"type": "disabled"}),
        "thinking.type",
    ),
    (
        "A-schema",
        body(USER, tools=[{**TOOL, "name": f"t{i}", "strict": True} for i in range(21)]),
        "tools[20].strict",
    ),
    ("A-choice", body(USER, tool_choice={"type": "any"}), "tool_choice"),
    (
        "A-choice",
        body(USER, tools=[TOOL], tool_choice={"type": "tool", "name": "other"}),
        "tool_choice.name",
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
    body(USER, tools=[TOOL], tool_choice={"type": "auto"}),
    body(USER, tools=[TOOL], tool_choice={"type": "tool", "name": TOOL["name"]}),
    body(USER, tools=[{"type": "mcp_toolset"}], tool_choice={"type": "tool", "name": "x"}),
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


def test_the_words_of_every_problem() -> None:
    payloads = [*(payload for _, payload, _ in REFUSED), *(payload for _, payload in WARNED)]
    compare_problems("anthropic", ((payload, None) for payload in payloads))


@pytest.mark.parametrize(
    ("roles", "paths"),
    [
        (["user", "assistant", "user", "ASSISTANT"], []),
        (["user", "ASSISTANT", "user"], ["messages[1].content"]),
        (["user", "assistant", "USER"], ["messages[2].content"]),
        (["USER", "assistant", "user"], ["messages[0].content"]),
    ],
    ids=lambda value: value[-1] if value else "",
)
def test_only_a_prefill_may_be_empty(roles: list[str], paths: list[str]) -> None:
    """In capitals: a turn without content."""
    turns = [{"role": role.lower(), "content": [] if role.isupper() else "x"} for role in roles]
    body = {"model": "claude-sonnet-4-5", "max_tokens": 5, "messages": turns}
    problems = cw.check(body, "anthropic", model="claude-sonnet-4-5")
    assert [(one.code, one.path) for one in problems] == [
        ("A-empty-content", path) for path in paths
    ]


def test_an_empty_system_message_is_no_error() -> None:
    """Claude Code sends one after a compaction."""
    turns = body(USER, ("system", []), ("assistant", "a"), USER)
    problems = cw.check(turns, "anthropic", model="claude-sonnet-5-5")
    assert [(one.code, one.level) for one in problems] == [("A-empty-content", "warning")]
