"""Histories that Chat Completions refuses are repaired, and every repair is reported."""

import pytest

import contextwright as cw
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
    result,
    system,
    text,
    user,
)

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


def test_tools_beyond_the_limit_are_left_out() -> None:
    tools = [{"name": f"t{n}", "input_schema": {"type": "object"}} for n in range(130)]
    forced = {"type": "tool", "name": "t129"}
    request = {"max_tokens": 9, "messages": [user("q")], "tools": tools, "tool_choice": forced}
    made = cw.convert({"model": "claude-opus-5", **request}, "anthropic", "openai-chat", model=GPT)
    names = [tool["function"]["name"] for tool in made.payload["tools"]]
    assert names == [f"t{n}" for n in range(128)]
    assert [f"{change.code} {change.path}" for change in made.changes] == [
        "loss.tool tools[128]",
        "loss.tool tools[129]",
        "loss.setting tool_choice",
    ]
    assert cw.check(made.payload, "openai-chat") == []


@pytest.mark.parametrize(
    ("head", "mime", "is_read"),
    [
        ("data:image/png;base64,", "image/png", True),
        ("data:image/png;charset=utf-8;base64,", "image/png", True),
        ("data:;base64,", "image/png", True),
        ("data:image/png,", None, False),
        ("data:image/png;base64", None, False),
    ],
)
def test_data_urls(head: str, mime: str | None, is_read: bool) -> None:
    """The type may be missing, and other words may be beside it; bytes that are not base64 go."""
    url = f"{head}iVBORw0KGgo="
    request = body(user([text("q"), {"type": "image_url", "image_url": {"url": url}}]))
    path = "messages[0].content[1].image_url.url"
    problems = [one for one in cw.check(request, "openai-chat") if one.level == "error"]
    refused = [] if is_read else [f"X-base64 {path}"]
    assert [f"{one.code} {one.path}" for one in problems] == refused
    (message,) = cw.parse(request, "openai-chat").messages
    _, media = message.parts
    assert isinstance(media, cw.Media)
    assert (media.mime, media.data is not None) == (mime, is_read)
    for api in ("openai-chat", "openai-responses", "anthropic", "gemini"):
        made = cw.convert(request, "openai-chat", api)
        assert ("iVBORw0KGgo=" in str(made.payload)) is is_read
        assert ("loss.media" in [change.code for change in made.changes]) is not is_read


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


FROM_RESPONSES = {
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


def test_from_responses_of_the_same_provider() -> None:
    """What both formats of one provider know is carried over, not lost."""
    rendered = cw.convert(FROM_RESPONSES, "openai-responses", "openai-chat")
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
