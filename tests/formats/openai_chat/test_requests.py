"""Chat Completions requests: repairs, round trips, real recordings."""

import json
from pathlib import Path
from typing import Any, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import completion_create_params
from pydantic import TypeAdapter

import contextwright as cw
from contextwright.wire.openai_chat.types import LLMMessage, Request
from samples.chat_payloads import (
    ACCEPTED,
    GPT,
    JSON,
    MARK,
    assistant,
    body,
    call,
    calling,
    image,
    odd,
    result,
    same,
    system,
    text,
    user,
    wild_bodies,
)

# --- the context builder of spec 013 ----------------------------------------------------------

PROMPT = cw.system("You are helpful.")
ROWS: list[JSON] = [
    {
        "id": "1",
        "conversation_id": "c",
        "role": "user",
        "content": "2 + 2?",
        "tool_calls": None,
        "tool_results": None,
        "created_at": "2025-12-13T10:00:00Z",
    },
    {
        "id": "2",
        "conversation_id": "c",
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "a", "function": {"name": "calc", "arguments": {"x": 2}}},
            {"id": "b", "function": {"name": "calc", "arguments": ""}},
        ],
        "tool_results": None,
        "created_at": "2025-12-13T10:00:01Z",
    },
    {
        "id": "3",
        "conversation_id": "c",
        "role": "tool",
        "content": None,
        "tool_calls": None,
        "tool_results": [
            {"tool_call_id": "a", "content": "4"},
            {"tool_call_id": "b", "content": "0"},
        ],
        "created_at": "2025-12-13T10:00:02Z",
    },
    {
        "id": "4",
        "conversation_id": "c",
        "role": "assistant",
        "content": "4",
        "tool_calls": None,
        "tool_results": None,
        "created_at": "2025-12-13T10:00:03Z",
    },
    {
        "id": "5",
        "conversation_id": "c",
        "role": "user",
        "content": "Thanks",
        "tool_calls": None,
        "tool_results": None,
        "created_at": "2025-12-13T10:00:04Z",
    },
]
BUILT = [
    system("You are helpful."),
    user("2 + 2?"),
    assistant(None, tool_calls=[call("a", arguments='{"x":2}'), call("b")]),
    result("a"),
    result("b", "0"),
    assistant("4"),
    user("Thanks"),
]


@pytest.mark.parametrize("model", [GPT, "claude-sonnet-4-6", "some-model"])
def test_stored_rows_cb_1_to_9(model: str) -> None:
    """CB-1…4, CB-6…9: order, roles, system first, types, one message a result, null content."""
    parsed = cw.parse(ROWS, "openai-chat")
    assert [message.meta["id"] for message in parsed.messages] == ["1", "2", "3", "4", "5"]
    assert parsed.messages[0].sent_at == "2025-12-13T10:00:00Z"
    assert parsed.changes == ()
    conversation = cw.Conversation((PROMPT, *parsed.messages), source="openai-chat")
    rendered = cw.render(conversation, "openai-chat", model=model)
    assert rendered.payload["messages"] == BUILT
    assert {change.code for change in rendered.changes} == {"loss.envelope"}


def test_empty_conversation_cb_3() -> None:
    rendered = cw.render(cw.Conversation((PROMPT,)), "openai-chat", model=GPT)
    assert rendered.payload == body(system("You are helpful."))


def test_typed_messages_cb_14a() -> None:
    typed = msgspec.convert(BUILT, list[LLMMessage])
    assert [type(message).__name__ for message in typed[:4]] == [
        "SystemMessage",
        "UserMessage",
        "AssistantMessage",
        "ToolMessage",
    ]


def test_missing_result_cb_11() -> None:
    rendered = cw.convert([user("q"), calling("a")], "openai-chat", "openai-chat", model=GPT)
    assert rendered.payload["messages"][:2] == [user("q"), calling("a")]
    assert rendered.payload["messages"][2]["tool_call_id"] == "a"
    assert "invent.result" in [change.code for change in rendered.changes]
    as_it_is = cw.convert(
        [user("q"), calling("a")], "openai-chat", "openai-chat", model=GPT, repair=False
    )
    assert as_it_is.payload["messages"] == [user("q"), calling("a")]


# --- tricky histories -------------------------------------------------------------------------

REPAIRED: list[tuple[str, list[JSON], list[JSON], set[str]]] = [
    (
        "1",
        [user("q"), calling("a", "b"), result("a"), user("hurry"), result("b"), user("so?")],
        [user("q"), calling("a", "b"), result("a"), result("b"), user("hurry"), user("so?")],
        {"repair.order"},
    ),
    (
        "5",
        [result("a"), assistant("done"), user("q")],
        [assistant("done"), user("q")],
        {"loss.orphan"},
    ),
    (
        "7",
        [user("q"), calling("a", "a"), result("a", "1"), result("a", "2"), user("x")],
        [user("q"), calling("a", "a_2"), result("a", "1"), result("a_2", "2"), user("x")],
        {"repair.id"},
    ),
    (
        "9",
        [
            user("q"),
            calling("a"),
            result("a", "1"),
            assistant("x"),
            user("y"),
            calling("a"),
            result("a", "2"),
        ],
        [
            user("q"),
            calling("a"),
            result("a", "1"),
            assistant("x"),
            user("y"),
            calling("a"),
            result("a", "2"),
        ],
        set(),
    ),
    (
        "13",
        [system("s"), user("u"), assistant("a"), system("be brief"), user("q")],
        [system("s"), user("u"), assistant("a"), system("be brief"), user("q")],
        set(),
    ),
    ("15", [system("s")], [system("s")], set()),
    (
        "19",
        [user("a"), user("b"), assistant("1"), assistant("2"), user("x")],
        [user("a"), user("b"), assistant("1"), assistant("2"), user("x")],
        set(),
    ),
    ("21", [user("a"), assistant(None), user("b")], [user("a"), user("b")], {"loss.blank"}),
    (
        "23",
        [user("q"), calling("a", "b"), result("a", [text("see"), image()]), result("b")],
        [
            user("q"),
            calling("a", "b"),
            result("a", [text("see"), text("[image]")]),
            result("b"),
            user([text("[media of the tool message above]"), image()]),
        ],
        {"repair.media"},
    ),
    (
        "25",
        [user("q"), assistant(None, refusal="I cannot help"), user("x")],
        [user("q"), assistant(None, refusal="I cannot help"), user("x")],
        set(),
    ),
    (
        "27",
        [user("hi", name="Alice B."), user("hey", name="Гряг")],
        [user("hi", name="Alice_B"), user("Гряг: hey")],
        {"repair.author"},
    ),
    (
        "29",
        [
            user("q"),
            assistant(
                None, tool_calls=[call("a", arguments='{"a": 1'), call("b", arguments="[1,2]")]
            ),
            result("a"),
            result("b"),
        ],
        [
            user("q"),
            assistant(
                None, tool_calls=[call("a", arguments='{"a": 1'), call("b", arguments="[1,2]")]
            ),
            result("a"),
            result("b"),
        ],
        {"repair.arguments"},
    ),
    (
        "31",
        [user("q"), assistant(None, tool_calls=[call("a", "my tool.v1")]), result("a")],
        [user("q"), assistant(None, tool_calls=[call("a", "my_tool_v1")]), result("a")],
        {"repair.tool_name"},
    ),
    (
        "35",
        [
            user("q"),
            assistant(
                [text("t"), {"type": "tool_use", "id": "a", "name": "calc", "input": {}}],
                tool_calls=[call("a")],
            ),
            result("a"),
        ],
        [user("q"), assistant("t", tool_calls=[call("a")]), result("a")],
        {"repair.call", "repair.copy"},
    ),
    (
        "long id",
        [user("q"), calling("x" * 50), result("x" * 50)],
        [user("q"), calling("x" * 40), result("x" * 40)],
        {"repair.id"},
    ),
    (
        "blocks of another provider",
        [
            user("q"),
            assistant([{"type": "tool_use", "id": "a", "name": "calc", "input": {}}]),
            user(
                [{"type": "tool_result", "tool_use_id": "a", "content": [text("4")]}, text("so?")]
            ),
        ],
        [user("q"), calling("a"), result("a"), user("so?")],
        {"repair.call", "repair.result"},
    ),
    (
        "loose content",
        [
            {"role": "user", "content": {"type": "text", "text": "q"}},
            user(["a", {"text": "b"}]),
            calling("a"),
            result("a", {"x": [1]}),
        ],
        [user("q"), user([text("a"), text("b")]), calling("a"), result("a", '{"x":[1]}')],
        {"repair.content"},
    ),
]


@pytest.mark.parametrize(
    ("name", "given", "wanted", "codes"), REPAIRED, ids=[name for name, *_ in REPAIRED]
)
def test_tricky(name: str, given: list[JSON], wanted: list[JSON], codes: set[str]) -> None:
    rendered = cw.convert(given, "openai-chat", "openai-chat", model=GPT)
    assert rendered.payload == body(*wanted)
    assert {change.code for change in rendered.changes} == codes


def test_an_old_style_call_and_a_modern_one_of_the_same_id() -> None:
    """Results are spelled as their own call is, not as an earlier one that had its id."""
    old = cw.ToolCall("look", {}, "c1", extra={"openai-chat": {"role": "function"}})
    messages = [
        cw.user("look"),
        cw.assistant(old),
        cw.tool_result("c1", "a dot"),
        cw.assistant(cw.ToolCall("listen", {}, "c1")),
        cw.tool_result("c1", "a note"),
        cw.user("and?"),
    ]
    listen = {"id": "c1", "type": "function", "function": {"name": "listen", "arguments": "{}"}}
    assert cw.render(messages, "openai-chat", model="gpt-4o").payload["messages"] == [
        {"role": "user", "content": "look"},
        {
            "role": "assistant",
            "content": None,
            "function_call": {"name": "look", "arguments": "{}"},
        },
        {"role": "function", "name": "look", "content": "a dot"},
        {"role": "assistant", "content": None, "tool_calls": [listen]},
        {"role": "tool", "tool_call_id": "c1", "content": "a note"},
        {"role": "user", "content": "and?"},
    ]


def test_forced_tool_keeps_its_name() -> None:
    """31: the same new spelling in definitions, calls and the forced choice."""
    conversation = cw.Conversation(
        (cw.user("q"),),
        (cw.Tool("my tool"),),
        settings=cw.Settings(tool_choice=cw.ToolChoice("required", "my tool")),
    )
    payload = cw.render(conversation, "openai-chat", model=GPT).payload
    assert payload["tools"][0]["function"]["name"] == "my_tool"
    assert payload["tool_choice"] == {"type": "function", "function": {"name": "my_tool"}}


def test_system_text_for_a_model_without_system_role() -> None:
    rendered = cw.render([cw.system("be brief"), cw.user("q")], "openai-chat", model="o1-mini")
    assert rendered.payload == body(user("[System note: be brief]"), user("q"), model="o1-mini")
    assert [change.code for change in rendered.changes] == ["repair.system"]


def test_hidden_system_text_stays_hidden_from_a_model_without_system_role() -> None:
    hidden = cw.system("the password is plum", visibility="internal")
    rendered = cw.render([hidden, cw.user("q")], "openai-chat", model="o1-mini")
    assert rendered.payload == body(user("q"), model="o1-mini")


def test_without_repair_results_in_an_assistant_message_follow_it() -> None:
    odd = cw.Message(
        "assistant", (cw.Text("so"), cw.ToolCall("calc", {}, "a"), cw.ToolResult("a", "r"))
    )
    rendered = cw.render([cw.user("q"), odd], "openai-chat", model=GPT, repair=False)
    assert rendered.payload == body(
        user("q"), assistant("so", tool_calls=[call("a")]), result("a", "r")
    )


def test_text_file_of_another_provider_is_said_as_text() -> None:
    notes = cw.Media("document", "text/plain", "aGVsbG8=", name="notes.txt")
    rendered = cw.render([cw.user(["read", notes])], "openai-chat", model=GPT)
    assert rendered.payload == body(user([text("read"), text("notes.txt:\nhello")]))


STRICT = [
    (body(user(None)), "messages[0].content"),
    (
        body(user("q"), assistant(None, tool_calls=[{"id": "a", "name": "f", "arguments": "{}"}])),
        "messages[1].tool_calls[0]",
    ),
    (
        body(user("q"), assistant(None, tool_calls=[call("a", arguments="[1]")])),
        "messages[1].tool_calls[0].function.arguments",
    ),
    (body({"role": "model", "content": "x"}), "messages[0].role"),
]


@pytest.mark.parametrize(("payload", "path"), STRICT, ids=[path for _, path in STRICT])
def test_strict(payload: JSON, path: str) -> None:
    with pytest.raises(cw.ParseError) as caught:
        cw.parse(payload, "openai-chat", strict=True)
    assert caught.value.path == path


def test_from_responses_of_the_same_provider() -> None:
    """What both formats of one provider know is carried over, not lost."""
    request = {
        "model": "gpt-5.6-sol",
        "instructions": "be brief",
        "input": [
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "q", **MARK},
                    {
                        "type": "input_image",
                        "image_url": "https://example.com/a.png",
                        "detail": "low",
                    },
                    {"type": "input_file", "file_id": "file-1"},
                ],
            },
            {"type": "custom_tool_call", "call_id": "c1", "name": "shell", "input": "ls"},
            {"type": "custom_tool_call_output", "call_id": "c1", "output": "a b"},
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "refusal", "refusal": "I cannot"}],
            },
            {"role": "user", "content": "why?"},
        ],
        "tools": [
            {
                "type": "custom",
                "name": "shell",
                "format": {"type": "grammar", "syntax": "regex", "definition": ".*"},
            }
        ],
        "tool_choice": "auto",
        "max_output_tokens": 50,
        "reasoning": {"effort": "low"},
        "text": {"verbosity": "low", "format": {"type": "json_schema", "name": "x", "schema": {}}},
        "store": False,
    }
    rendered = cw.convert(request, "openai-responses", "openai-chat")
    assert rendered.payload == body(
        system("be brief"),
        user(
            [
                text("q", **MARK),
                image(detail="low"),
                {"type": "file", "file": {"file_id": "file-1"}},
            ]
        ),
        assistant(
            None,
            tool_calls=[{"id": "c1", "type": "custom", "custom": {"name": "shell", "input": "ls"}}],
        ),
        result("c1", "a b"),
        assistant(None, refusal="I cannot"),
        user("why?"),
        model="gpt-5.6-sol",
        tools=[
            {
                "type": "custom",
                "custom": {
                    "name": "shell",
                    "format": {
                        "type": "grammar",
                        "grammar": {"syntax": "regex", "definition": ".*"},
                    },
                },
            }
        ],
        tool_choice="auto",
        max_completion_tokens=50,
        reasoning_effort="low",
        verbosity="low",
        response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": {}}},
        store=False,
    )
    assert [change for change in rendered.changes if change.code == "loss.setting"] == []


def test_custom_tool_is_a_function_elsewhere() -> None:
    payload = cw.convert(
        ACCEPTED[12], "openai-chat", "anthropic", model="claude-sonnet-4-5"
    ).payload
    assert payload["tools"][0]["input_schema"]["required"] == ["input"]
    assert payload["messages"][1]["content"][0]["input"] == {"input": "ls"}


# --- laws -------------------------------------------------------------------------------------


@given(
    wild_bodies | odd,
    st.sampled_from((GPT, "gpt-5.6-sol", "o1-mini", "mistral-large-latest", "some-model")),
)
def test_anything_can_be_read_checked_and_written(data: Any, model: str) -> None:
    """Nothing but a ParseError comes out; what can be read can be written, legally."""
    cw.check(data, "openai-chat", model=model)
    try:
        conversation = cw.parse(data, "openai-chat")
    except cw.ParseError:
        return
    payload = cw.render(conversation, "openai-chat", model=model).payload
    problems = [
        problem
        for problem in cw.check(payload, "openai-chat", model=model)
        if problem.level == "error"
    ]
    assert [
        problem for problem in problems if problem.code not in ("OC-empty", "OC-json-word")
    ] == []


# --- against the SDK --------------------------------------------------------------------------

PARAMS = TypeAdapter(completion_create_params.CompletionCreateParamsNonStreaming)


def drained(value: Any) -> Any:
    """The SDK's types hold lazy iterators, which check nothing until they are read."""
    if isinstance(value, dict):
        return {key: drained(item) for key, item in value.items()}
    if isinstance(value, str | int | float | type(None)):
        return value
    return [drained(item) for item in value]


@pytest.mark.parametrize("payload", ACCEPTED, ids=range(len(ACCEPTED)))
def test_rendered_payloads_are_what_the_sdk_types_say(payload: JSON) -> None:
    rendered = cw.convert({**payload, "stream": False}, "openai-chat", "openai-chat").payload
    drained(PARAMS.validate_python(rendered))


def test_types_know_every_field_of_the_sdk() -> None:
    base = get_type_hints(completion_create_params.CompletionCreateParamsBase)
    assert set(get_type_hints(Request)) == {*base, "stream"}


# --- recorded requests ------------------------------------------------------------------------


def recorded(folder: Path) -> list[JSON]:
    lines = (folder / "wire" / "requests.jsonl").read_text("utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["api"] == "openai.chat"]


def test_accepted_recordings(data_folder: Path) -> None:
    """What the APIs answered with 200 is read, found faultless, and written back unchanged."""
    rows = [row for row in recorded(data_folder) if row["status"] == 200]
    assert len(rows) > 100
    for row in rows:
        request = row["request"]
        before = json.dumps(request)
        errors = [
            problem for problem in cw.check(request, "openai-chat") if problem.level == "error"
        ]
        rendered = cw.convert(request, "openai-chat", "openai-chat")
        assert (errors, rendered.changes) == ([], ()), row["source"]
        assert same(rendered.payload) == same(request), row["source"]
        assert json.dumps(request) == before


def test_refused_recordings(data_folder: Path) -> None:
    """What was refused for its structure is flagged, and repaired when written again."""
    rows = [row for row in recorded(data_folder) if row["status"] == 400]
    structural = [row for row in rows if "param" in row["error"]["error"]]
    assert structural
    for row in structural:
        request = row["request"]
        errors = [
            problem.path for problem in cw.check(request, "openai-chat") if problem.level == "error"
        ]
        assert row["error"]["error"]["param"] in errors
        again = cw.convert(request, "openai-chat", "openai-chat").payload
        assert [
            problem for problem in cw.check(again, "openai-chat") if problem.level == "error"
        ] == []
