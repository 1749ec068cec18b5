"""What the Chat Completions API refuses, and what it takes."""

from typing import Any

import pytest

import contextwright as cw
from golden_files import compare_problems
from samples.chat_payloads import (
    ACCEPTED,
    GPT,
    JSON,
    SOUND,
    TOOL,
    assistant,
    body,
    call,
    calling,
    image,
    result,
    same,
    system,
    text,
    user,
)

REFUSED: list[tuple[str, JSON, str]] = [
    ("T-required", {"messages": [user("hi")]}, "model"),
    ("T-required", body({"role": "user"}), "messages[0].content"),
    ("T-required", body(user([{"text": "hi"}])), "messages[0].content[0].type"),
    ("T-required", body(system([{"text": "hi"}]), user("q")), "messages[0].content[0].type"),
    (
        "T-required",
        body(user("q"), calling("a"), {"role": "tool", "content": "4"}, result("a")),
        "messages[2].tool_call_id",
    ),
    (
        "T-required",
        body(
            user("q"),
            assistant(None, tool_calls=[{"id": "a", "function": {"name": "f", "arguments": "{}"}}]),
            result("a"),
        ),
        "messages[1].tool_calls[0].type",
    ),
    (
        "T-type",
        body(
            user("q"),
            assistant(None, tool_calls=[{**call("a"), "function": {"name": "f", "arguments": {}}}]),
            result("a"),
        ),
        "messages[1].tool_calls[0].function.arguments",
    ),
    ("T-type", body(user("q"), assistant("a", tool_calls=None)), "messages[1].tool_calls"),
    ("T-type", body(user("q", name=None)), "messages[0].name"),
    ("T-type", body(user(None)), "messages[0].content"),
    ("T-extra", body(user("q", timestamp=1)), "messages[0].timestamp"),
    (
        "T-extra",
        body(user("q"), assistant("a", reasoning_content="hm")),
        "messages[1].reasoning_content",
    ),
    (
        "T-extra",
        body(user([text("q", cache_control={"type": "ephemeral"})])),
        "messages[0].content[0].cache_control",
    ),
    ("T-extra", body(user("q"), top_k=5), "top_k"),
    ("T-literal", body({"role": "model", "content": "x"}), "messages[0].role"),
    (
        "T-literal",
        body(user([{"type": "video_url", "video_url": {"url": "https://a"}}])),
        "messages[0].content[0].type",
    ),
    (
        "T-literal",
        body(user("q"), calling("a"), result("a", [image()])),
        "messages[2].content[0].type",
    ),
    ("T-literal", body(user("q"), assistant([image()])), "messages[1].content[0].type"),
    ("T-literal", body(user("q"), tools=[TOOL], tool_choice="any"), "tool_choice"),
    (
        "T-literal",
        body(user([{**SOUND, "input_audio": {"data": "", "format": "ogg"}}]), model="gpt-audio"),
        "messages[0].content[0].input_audio.format",
    ),
    ("X-surrogate", body(user("\ud83d")), "messages[0].content"),
    ("OC-unanswered", body(user("q"), calling("a")), "messages[1].tool_calls[0]"),
    (
        "OC-unanswered",
        body(user("q"), calling("a", "b"), result("a"), user("x")),
        "messages[1].tool_calls[1]",
    ),
    (
        "OC-unanswered",
        body(user("q"), calling("a"), user("x"), result("a")),
        "messages[1].tool_calls[0]",
    ),
    ("OC-orphan", body(result("a"), user("q")), "messages[0]"),
    (
        "OC-orphan",
        body(user("q"), calling("a"), result("a"), assistant("x"), result("a")),
        "messages[4]",
    ),
    ("OC-calls-empty", body(user("q"), assistant("a", tool_calls=[])), "messages[1].tool_calls"),
    ("OC-calls-empty", body(user("q"), tools=[]), "tools"),
    ("OC-content", body(user("q"), assistant(None)), "messages[1].content"),
    ("OC-content", body(user("q"), {"role": "assistant"}), "messages[1].content"),
    ("OC-audio-model", body(user([SOUND]), model="gpt-5-mini"), "messages[0].content[0]"),
    (
        "OC-id-long",
        body(user("q"), calling("x" * 41), result("x" * 41)),
        "messages[1].tool_calls[0].id",
    ),
    (
        "OC-toolname",
        body(user("q"), tools=[{"type": "function", "function": {"name": "my tool"}}]),
        "tools[0].function.name",
    ),
    ("OC-toolname", body(user("q"), functions=[{"name": "x.y"}]), "functions[0].name"),
    (
        "OC-toolname",
        body(user("q"), tools=[TOOL, TOOL], model="deepseek-chat"),
        "tools[1].function.name",
    ),
    (
        "OC-callname",
        body(user("q"), assistant(None, tool_calls=[call("a", "my tool.v1")]), result("a")),
        "messages[1].tool_calls[0].function.name",
    ),
    ("OC-name", body(user("q", name="Alice B.")), "messages[0].name"),
    ("OC-name", body(user("q", name="<@U1>")), "messages[0].name"),
    ("OC-tools-max", body(user("q"), tools=[TOOL] * 129), "tools"),
    ("OC-tools-missing", body(user("q"), tool_choice="auto"), "tool_choice"),
    ("OC-tools-missing", body(user("q"), parallel_tool_calls=True), "parallel_tool_calls"),
    (
        "OC-choice",
        body(
            user("q"),
            tools=[TOOL],
            tool_choice={"type": "function", "function": {"name": "other"}},
        ),
        "tool_choice.function.name",
    ),
    (
        "OC-choice",
        body(user("q"), tools=[TOOL], tool_choice={"type": "custom", "custom": {"name": "f"}}),
        "tool_choice.custom.name",
    ),
    (
        "T-required",
        body(user([{"type": "file", "file": {"filename": "a.pdf"}}])),
        "messages[0].content[0].file.file_data",
    ),
    ("OC-empty", body(), "messages"),
    (
        "OC-prefill",
        body(
            user("q"),
            {"role": "assistant", "content": "It is"},
            model="anthropic/claude-sonnet-5-5",
        ),
        "messages[1]",
    ),
    ("OC-json-word", body(user("list it"), response_format={"type": "json_object"}), "messages"),
    ("OC-system-role", body(system("s"), user("q"), model="o1-mini"), "messages[0].role"),
]

WARNED = [
    (
        "OC-args",
        body(user("q"), assistant(None, tool_calls=[call("a", arguments='{"a": 1')]), result("a")),
    ),
    (
        "OC-args",
        body(user("q"), assistant(None, tool_calls=[call("a", arguments="[1]")]), result("a")),
    ),
    ("OC-dup-id", body(user("q"), calling("a", "a"), result("a"), result("a"))),
    (
        "OC-function",
        body(user("q"), assistant(None, function_call={"name": "f", "arguments": "{}"})),
    ),
    (
        "OC-function",
        body(user("q"), assistant(None, function_call={"name": "f", "arguments": "{}"}), user("r")),
    ),
    ("OC-sampling", body(user("q"), model="o3", max_tokens=5)),
    ("OC-sampling", body(user("q"), model="gpt-5", temperature=0.2)),
    ("OC-sampling", body(user("q"), model="o3", stop=["END"])),
    ("OC-sampling", body(user("q"), model="gpt-5-mini", stop="END")),
    ("OC-sampling", body(user("q"), model="gpt-5.6-sol", presence_penalty=0.5)),
    ("OC-sampling", body(user("q"), model="gpt-4o", reasoning_effort="low")),
    ("OC-sampling", body(user("q"), model="gpt-4o", verbosity="low")),
    ("OC-sampling", body(user("q"), model="gpt-5.6-sol", logit_bias={"50256": -100})),
    ("OC-system-role", body({"role": "developer", "content": "s"}, user("q"), model="gpt-4")),
    ("OC-system-role", body({"role": "developer", "content": "s"}, user("q"), model="kimi-k3")),
]


@pytest.mark.parametrize(("code", "payload", "path"), REFUSED, ids=[code for code, _, _ in REFUSED])
def test_refused(code: str, payload: JSON, path: str) -> None:
    errors = [problem for problem in cw.check(payload, "openai-chat") if problem.level == "error"]
    assert (code, path) in [(problem.code, problem.path) for problem in errors]
    # A late result is an orphan and leaves its call unanswered; a wrong part lacks fields, too.
    assert len(errors) <= 3


@pytest.mark.parametrize(("code", "payload"), WARNED, ids=[code for code, _ in WARNED])
def test_warned(code: str, payload: JSON) -> None:
    problems = cw.check(payload, "openai-chat")
    assert [(problem.code, problem.level) for problem in problems] == [(code, "warning")]


OLD_CALL = {"name": "f", "arguments": "{}"}
OLD_STYLE: list[tuple[list[JSON], str]] = [
    ([assistant(None, function_call=OLD_CALL), {"role": "function", "name": "f"}], ""),
    ([{"role": "function", "name": "f"}], "messages[1]: the message before does not call this"),
    (
        [assistant("x", function_call=OLD_CALL), {"role": "function", "name": "g"}],
        "messages[2]: the message before does not call this",
    ),
    (
        [assistant("x", function_call=OLD_CALL), user("q")],
        "messages[2]: the result of 'f' does not come before it",
    ),
    ([assistant("x", function_call=OLD_CALL)], "messages: no result of 'f'"),
    (
        [assistant("x", function_call=OLD_CALL, tool_calls=[call("a")]), result("a")],
        "messages[1].function_call: beside tool_calls, which replace it",
    ),
]


@pytest.mark.parametrize(("messages", "problem"), OLD_STYLE, ids=range(len(OLD_STYLE)))
def test_calls_in_the_old_style(messages: list[JSON], problem: str) -> None:
    given = [{**one, "content": "1"} if one["role"] == "function" else one for one in messages]
    found = [str(one) for one in cw.check(body(user("q"), *given), "openai-chat")]
    assert len(found) == bool(problem)
    assert all(one.startswith(f"warning OC-function {problem}") for one in found)


@pytest.mark.parametrize("payload", ACCEPTED, ids=range(len(ACCEPTED)))
def test_accepted_and_comes_back(payload: JSON) -> None:
    assert cw.check(payload, "openai-chat") == []
    rendered = cw.convert(payload, "openai-chat", "openai-chat")
    assert same(rendered.payload) == same(payload)
    lost = [change for change in rendered.changes if change.code != "invent.id"]
    assert lost == []  # calls from before there were tools have no ids; ours are not sent


@pytest.mark.parametrize(
    "value",
    [
        None,
        5,
        "x",
        [],
        {},
        {"messages": 5},
        [[]],
        {"messages": [None, [], 3]},
        {"model": [], "messages": [{"role": []}]},
    ],
)
@pytest.mark.parametrize("model", [GPT, "mistral-large-latest"])
def test_any_value_can_be_checked(value: Any, model: str) -> None:
    assert any(problem.level == "error" for problem in cw.check(value, "openai-chat", model=model))


def test_the_words_of_every_problem() -> None:
    payloads = [*(payload for _, payload, _ in REFUSED), *(payload for _, payload in WARNED)]
    compare_problems("openai-chat", ((payload, None) for payload in payloads))


def test_one_message_that_says_json_is_enough() -> None:
    asked = body(system("Write JSON."), user("list it"), response_format={"type": "json_object"})
    assert cw.check(asked, "openai-chat") == []
