"""What callers hand in: messages as dicts, objects of SDKs, tools in any spelling."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, get_args

import pytest

import contextwright as cw
from contextwright import formats
from contextwright.formats.base import Options
from contextwright.formats.given import as_given, is_reply

SCHEMA = {"type": "object", "properties": {"zone": {"type": "string"}}}
OPENAI = {
    "type": "function",
    "function": {"name": "clock", "description": "Tells the time.", "parameters": SCHEMA},
}
CUSTOM = {"type": "custom", "custom": {"name": "run", "description": "Runs a line."}}
ANTHROPIC = {"name": "clock", "description": "Tells the time.", "input_schema": SCHEMA}
RESPONSES = {
    "type": "function",
    "name": "clock",
    "description": "Tells the time.",
    "parameters": SCHEMA,
}
GEMINI = {
    "functionDeclarations": [
        {"name": "clock", "description": "Tells the time.", "parametersJsonSchema": SCHEMA}
    ]
}
ASKED = [cw.user("Котра година?")]


@pytest.mark.parametrize(
    "given",
    [
        [{"role": "user", "content": "Котра година?"}],
        ({"role": "user", "content": [{"type": "text", "text": "Котра година?"}]},),
        {"role": "user", "content": "Котра година?"},
        {"model": "gpt-4o", "messages": [{"role": "user", "content": "Котра година?"}]},
        {"contents": [{"role": "user", "parts": [{"text": "Котра година?"}]}]},
        [{"role": "user", "parts": [{"text": "Котра година?"}]}],
        [{"role": "user", "parts": [{"type": "text", "text": "Котра година?"}]}],
        {"input": "Котра година?"},
        {"input": [{"role": "user", "content": "Котра година?"}]},
        iter([{"role": "user", "content": "Котра година?"}]),
        cw.user("Котра година?"),
        cw.Conversation(tuple(ASKED)),
    ],
)
def test_messages_are_taken_where_their_format_can_be_told(given: Any) -> None:
    expected = {"role": "user", "content": [{"type": "text", "text": "Котра година?"}]}
    if not isinstance(given, dict | list | tuple | cw.Message | cw.Conversation):
        given = list(given)
    for built in (
        cw.render(given, "anthropic").payload,
        cw.Recipe(cache=False).build(given, model="claude-sonnet-5-5").payload,
    ):
        assert built["messages"] == [expected]


def test_ours_and_others_keep_their_order_and_repairs_are_said() -> None:
    given = [
        cw.user("One"),
        {"role": "assistant", "content": "Two"},
        cw.user("Three"),
        {"role": "user", "content": None},
    ]
    context = cw.Recipe().build(given, model="gpt-4o")
    texts = [message["content"] for message in context.payload["messages"]]
    assert texts[:3] == ["One", "Two", "Three"]


@pytest.mark.parametrize("name", ["aya", "contextwright", "forge", "gryag", "port42"])
def test_data_of_a_file_format_is_read_as_such(name: str) -> None:
    """Aya's calls and Forge's results were lost, because both were read as Chat Completions."""
    talk = [
        cw.system("Be brief."),
        cw.user("What time is it?", author="U1"),
        cw.assistant(cw.ToolCall("clock", {"zone": "Kyiv"}, "c1")),
        cw.tool_result("c1", "Result: 12:00"),
        cw.assistant("Noon."),
    ]
    data = cw.render(talk, name).payload
    parsed = cw.parse(data, name)
    assert cw.render(data, "anthropic").payload == cw.render(parsed, "anthropic").payload
    built = cw.build(data, model="gpt-4o").payload
    assert built == cw.build(parsed, model="gpt-4o").payload
    assert "clock" in str(built["messages"])
    if name != "forge":  # a text protocol is counted as it is
        assert cw.count(data, model="gpt-4o") == cw.count(parsed, model="gpt-4o")


@pytest.mark.parametrize(
    ("content", "fields"),
    [
        ("Tool: the hammer", {"tool_call_id": "c1"}),
        ("Result: 1", {}),
        ([{"type": "text", "text": "Tool: clock"}], {}),
    ],
)
def test_results_of_chat_completions_are_not_read_as_those_of_forge(
    content: Any, fields: dict[str, Any]
) -> None:
    said = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "<tool>"},
        {"role": "tool", "content": content, **fields},
    ]
    assert as_given(said).messages == cw.parse(said, "openai-chat").messages


def test_messages_with_parts_of_ours_may_stand_beside_others() -> None:
    """All were read as Gemini's, because they had parts: the question and the call were lost."""
    call = {"type": "tool_call", "name": "clock", "arguments": {}, "id": "c1"}
    said = [
        {"role": "user", "content": "What time is it?"},
        {"role": "assistant", "parts": [{"type": "text", "text": "I look."}, call]},
        {"role": "tool", "tool_call_id": "c1", "content": "Noon."},
    ]
    assert as_given(said).messages == (
        cw.user("What time is it?"),
        cw.assistant([cw.Text("I look."), cw.ToolCall("clock", {}, "c1")]),
        cw.tool_result("c1", "Noon."),
    )


HELLO = {"role": "user", "content": "Hello"}
ITEM = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]}
CONTENT = {"role": "user", "parts": [{"text": "Hello"}]}
OURS = {"role": "user", "parts": [{"type": "text", "text": "Hello"}]}


@pytest.mark.parametrize(
    ("given", "request_", "model"),
    [
        ([HELLO], {"messages": [HELLO]}, "gpt-4o"),
        (HELLO, {"messages": [HELLO]}, "gpt-4o"),
        ([HELLO, cw.user("Hello")], {"messages": [HELLO, HELLO]}, "gpt-4o"),
        ((HELLO, HELLO), {"messages": [HELLO, HELLO]}, "gpt-4o"),
        ([OURS], {"messages": [HELLO]}, "gpt-4o"),
        ([ITEM], {"input": [ITEM]}, "gpt-5.6-sol"),
        ([HELLO], {"messages": [HELLO]}, "claude-sonnet-5-5"),
        ([CONTENT], {"contents": [CONTENT]}, "gemini-3.8-flash"),
        (CONTENT, {"contents": [CONTENT]}, "gemini-3.8-flash"),
    ],
)
def test_messages_are_counted_as_a_request_that_has_nothing_else(
    given: Any, request_: Any, model: str
) -> None:
    assert cw.count(given, model=model) == cw.count(request_, model=model)


def test_only_whole_lists_of_messages_are_exact() -> None:
    assert cw.count([HELLO], model="gpt-4o").exact
    with pytest.raises(cw.UsageError, match=r"^messages\[1\] is 'Hello', not a message"):
        cw.count([HELLO, "Hello"], model="gpt-4o")


def test_json_that_is_not_decoded_is_told() -> None:
    for name in set(formats.NAMES) - {"gryag"}:  # which has a spelling as text
        with pytest.raises(cw.ContextwrightError, match="decode JSON first: json.loads"):
            cw.parse('{"messages": []}', name)


@pytest.mark.parametrize(
    "given", ["Hello", b"x", 3, None, ["Hello"], [{"foo": 1}], {"foo": 1}, [{"role": 3}], [None]]
)
def test_what_cannot_be_told_is_refused_in_words(given: Any) -> None:
    with pytest.raises((cw.UsageError, cw.ParseError)):
        cw.Recipe().build(given, model="gpt-4o")
    with pytest.raises((cw.UsageError, cw.ParseError)):
        cw.render(given, "anthropic")


@pytest.mark.slow
def test_objects_of_sdks_are_taken() -> None:
    anthropic = pytest.importorskip("anthropic.types")
    openai = pytest.importorskip("openai.types.chat")
    reply = anthropic.Message.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-5-5",
            "content": [{"type": "text", "text": "Two"}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )
    message = openai.ChatCompletionMessage(role="assistant", content="Four")
    completion = openai.ChatCompletion.model_validate(
        {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "gpt-4o",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "logprobs": None,
                    "message": {"role": "assistant", "content": "Six", "refusal": None},
                }
            ],
        }
    )
    given = [cw.user("One"), reply, cw.user("Three"), message, cw.user("Five"), completion]
    payload = cw.render([*given, cw.user("Seven")], "openai-chat").payload
    texts = [one["content"] for one in payload["messages"]]
    assert texts == ["One", "Two", "Three", "Four", "Five", "Six", "Seven"]


@pytest.mark.parametrize("tool", [OPENAI, ANTHROPIC, RESPONSES, GEMINI])
def test_tools_are_taken_in_every_spelling(tool: Any) -> None:
    own = cw.Tool("clock", "Tells the time.", SCHEMA)
    usual = cw.Recipe().build(ASKED, model="gpt-4o", tools=[own]).payload["tools"]
    assert cw.Recipe().build(ASKED, model="gpt-4o", tools=[tool]).payload["tools"] == usual
    both = cw.Recipe().build(ASKED, model="gpt-4o", tools=[cw.Tool("f"), tool]).payload["tools"]
    assert both[1:] == usual


@pytest.mark.parametrize("given", [[OPENAI, CUSTOM], [CUSTOM]])
def test_tools_that_take_free_text_are_taken_too(given: Any) -> None:
    assert cw.Recipe().build(ASKED, model="gpt-4o", tools=given).payload["tools"] == given


@pytest.mark.parametrize(
    "tools", [3, "x", OPENAI, [3], [None], [{}], [[]], [{"type": []}], [{"type": 5}]]
)
def test_what_is_no_tool_is_refused(tools: Any) -> None:
    with pytest.raises((cw.UsageError, cw.ParseError)):
        cw.Recipe().build(ASKED, model="gpt-4o", tools=tools)


def test_bytes_of_media_are_taken() -> None:
    content = b"\x89PNG"
    media: Any = cw.Media
    assert media("image", "image/png", content) == cw.Media.from_bytes(
        "image", content, "image/png"
    )


EVENTS = [
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hel"}}]},
    {"choices": [{"index": 0, "delta": {"content": "lo"}, "finish_reason": "stop"}]},
]


def test_streams_may_be_asynchronous() -> None:
    async def events() -> AsyncIterator[Any]:
        for event in EVENTS:
            yield event

    whole = asyncio.run(cw.parse_stream(events(), "openai-chat"))
    assert whole == cw.parse_stream(EVENTS, "openai-chat")
    assert whole.message.text == "Hello"


def test_names_of_formats_are_a_type() -> None:
    assert get_args(formats.FormatName) == formats.NAMES


@pytest.mark.parametrize("role", ["boss", "", None, ["user"], 3])
@pytest.mark.parametrize("format", formats.NAMES)
def test_a_role_that_is_none_reaches_no_request(role: Any, format: str) -> None:
    messages = [cw.user("x"), cw.Message(role, (cw.Text("y"),))]
    for write in (cw.render, cw.Recipe(budget=900).build):
        with pytest.raises(cw.UsageError, match=r"messages\[1\]\.role cannot be "):
            write(messages, format=format, model="gpt-4o")


@pytest.mark.parametrize(
    "wrong",
    [{"kind": "foo"}, {"author": 3}, {"sent_at": 3}, {"meta": 3}, {"turn": "x"}, {"pinned": 1}],
)
def test_wrong_fields_of_a_message_are_refused(wrong: dict[str, Any]) -> None:
    unknown: dict[str, Any] = {"nonsense": 3}
    for make in (cw.user, cw.assistant, cw.system):
        with pytest.raises(cw.UsageError, match=r"cannot be"):
            make("x", **wrong)
        with pytest.raises(TypeError, match="nonsense"):
            make("x", **unknown)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"role": "user", "content": "x"}, False),
        ({"role": "assistant", "content": [], "stop_reason": None}, True),
        ({"stop_reason": "end_turn"}, False),
        ({"type": "message", "model": "m", "content": []}, True),
        ({"type": "message", "content": []}, False),
        ({"model": "m", "content": []}, False),
        ({"choices": []}, True),
        ({"candidates": []}, True),
        ({"output": []}, True),
        ({"type": "function_call_output", "output": ""}, False),
        (["content", "stop_reason"], False),
    ],
)
def test_a_whole_reply_is_told_from_a_message(entry: Any, expected: bool) -> None:
    assert is_reply(entry) is expected


def test_replies_may_stand_among_messages() -> None:
    said = {"role": "assistant", "content": "Soup."}
    chat = {"id": "x", "object": "chat.completion", "choices": [{"index": 0, "message": said}]}
    whole = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Yes."}]}
    whole["stop_reason"] = "end_turn"
    entries = [cw.user("Lunch?"), chat, {"role": "user", "content": "Sure?"}, whole, cw.user("Ok.")]
    context = cw.build(entries, cw.Recipe(), model="gpt-4o")
    assert context.payload["messages"] == [
        {"role": "user", "content": "Lunch?"},
        said,
        {"role": "user", "content": "Sure?"},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "Ok."},
    ]


def test_repairs_of_replies_are_said() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "clock", "arguments": 3}}
    reply = {"choices": [{"message": {"role": "assistant", "content": "", "tool_calls": [call]}}]}
    for given in (reply, [cw.user("Lunch?"), reply]):
        codes = [change.code for change in cw.render(given, "openai-chat").changes]
        assert "repair.arguments" in codes


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (
            {"turn_rule": "x"},
            "turn_rule cannot be 'x' (one of: 'speaker', 'exchange', 'user', None)",
        ),
        ({"repair": "no"}, "repair cannot be 'no' (one of: True, False)"),
        ({"thinking": None}, "thinking cannot be None (one of: 'keep', 'drop', 'text')"),
        (
            {"repair": True, "speaker_prefix": "\ud800"},
            r"speaker_prefix cannot be '\ud800' (one of: True, False, None)",
        ),
        (
            {"repiar": True},
            f"no such option: 'repiar' (options: {', '.join(Options.__struct_fields__)})",
        ),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], error: str) -> None:
    with pytest.raises(cw.UsageError) as raised:
        cw.render([cw.user("hi")], "aya", **options)
    assert str(raised.value) == error
