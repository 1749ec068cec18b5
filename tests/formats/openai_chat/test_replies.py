"""Chat Completions replies, whole and streamed."""

import json
from typing import Any

import openai.types.chat as sdk
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.formats.openai_chat.format import FORMAT
from contextwright.formats.replies.events import ArgumentsDelta, CallStart
from contextwright.formats.replies.streams import read_stream
from contextwright.streams import write_reply
from samples.chat_payloads import GPT, JSON, assistant, body, call, text, user

USAGE = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
REPLY = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-4o-2024-08-06",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "logprobs": None,
            "message": {
                "role": "assistant",
                "content": "let me see",
                "refusal": None,
                "annotations": [],
                "tool_calls": [call("a", "search", '{"q":"x"}')],
            },
        },
        {"index": 1, "finish_reason": "stop", "message": {"role": "assistant", "content": "other"}},
    ],
    "usage": USAGE,
}
CALLED = cw.assistant([cw.Text("let me see"), cw.ToolCall("search", {"q": "x"}, "a")])


@pytest.mark.parametrize(
    "reply", [REPLY, sdk.ChatCompletion.model_validate(REPLY)], ids=["json", "sdk"]
)
def test_reply(reply: Any) -> None:
    conversation = FORMAT.parse_reply(reply)  # pyright: ignore
    assert conversation.messages == (CALLED,)
    assert conversation.model == "gpt-4o-2024-08-06"
    assert conversation.extra["openai-chat"]["finish_reason"] == "tool_calls"
    assert [change.code for change in conversation.changes] == ["loss.candidate"]


def test_reply_that_refuses() -> None:
    message = {"role": "assistant", "content": None, "refusal": "I cannot"}
    parsed = cw.parse_reply({"object": "chat.completion", "choices": [{"message": message}]})
    assert parsed.messages[0].text == "I cannot"
    rendered = cw.render([cw.user("q"), *parsed.messages], "openai-chat", model=GPT)
    assert rendered.payload == body(user("q"), assistant(None, refusal="I cannot"))


def test_reply_aloud() -> None:
    """The voice goes back by its handle; other readers get its transcript."""
    audio = {"id": "audio_1", "data": "UklGRg==", "expires_at": 9, "transcript": "Hello"}
    parsed = cw.parse_reply(
        {
            "object": "chat.completion",
            "choices": [{"message": {"role": "assistant", "content": None, "audio": audio}}],
        }
    )
    history = [cw.user("q"), *parsed.messages, cw.user("x")]
    rendered = cw.render(history, "openai-chat", model="gpt-audio")
    assert rendered.payload == body(
        user("q"), assistant(None, audio={"id": "audio_1"}), user("x"), model="gpt-audio"
    )
    assert cw.render(history, "anthropic", model="claude-sonnet-4-5").payload["messages"][1][
        "content"
    ] == [text("Hello")]


def chunk(delta: JSON, finish: str | None = None, index: int = 0, **fields: Any) -> JSON:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": GPT,
        "choices": [choice],
        **fields,
    }


def piece(index: int, arguments: str, **fields: Any) -> JSON:
    return {"tool_calls": [{"index": index, "function": {"arguments": arguments}, **fields}]}


CHUNKS = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": "let me "}),
    chunk({"content": "ignored"}, index=1),
    chunk({"content": "see"}),
    chunk(
        {
            "tool_calls": [
                {
                    "index": 0,
                    "id": "a",
                    "type": "function",
                    "function": {"name": "search", "arguments": ""},
                }
            ]
        }
    ),
    chunk(
        {
            "tool_calls": [
                {
                    "index": 1,
                    "id": "b",
                    "type": "function",
                    "function": {"name": "calc", "arguments": ""},
                }
            ]
        }
    ),
    chunk(piece(1, "{}")),
    chunk(piece(0, '{"q":')),
    chunk(piece(0, '"x"}')),
    chunk({}, "tool_calls"),
    {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": GPT,
        "choices": [],
        "usage": USAGE,
    },
]


@pytest.mark.parametrize(
    "events",
    [CHUNKS, [sdk.ChatCompletionChunk.model_validate(event) for event in CHUNKS]],
    ids=["json", "sdk"],
)
def test_stream(events: list[Any]) -> None:
    conversation = cw.parse_stream(events, "openai-chat")
    assert conversation.messages == (cw.assistant([*CALLED.parts, cw.ToolCall("calc", {}, "b")]),)
    assert conversation.model == GPT
    assert conversation.extra == {
        "openai-chat": {"id": "chatcmpl-1", "finish_reason": "tool_calls", "usage": USAGE}
    }
    assert [change.code for change in conversation.changes] == ["loss.candidate"]


def test_a_whole_reply_in_the_place_of_a_stream() -> None:
    """Some hosts answer so, whatever was asked for."""
    conversation = cw.parse_stream([json.dumps(REPLY).encode()], "openai-chat")
    assert conversation.messages == (CALLED,)
    assert conversation.finish == "tool_calls"


def test_interrupted_stream_keeps_what_came() -> None:
    conversation = cw.parse_stream(CHUNKS[:8], "openai-chat")
    calls = conversation.messages[0].calls
    assert [(call.name, call.arguments) for call in calls] == [
        ("search", {"_raw": '{"q":'}),
        ("calc", {}),
    ]
    assert [change.code for change in conversation.changes] == [
        "loss.candidate",
        "repair.arguments",
        "repair.interrupted",
    ]


def test_stream_of_reasoning_and_refusal() -> None:
    events = [
        chunk({"role": "assistant", "reasoning_content": "so "}),
        chunk({"reasoning_content": "what"}),
        chunk({"reasoning_details": [{"type": "reasoning.text", "text": "a", "index": 0}]}),
        chunk(
            {
                "reasoning_details": [
                    {"type": "reasoning.text", "text": "b", "signature": "s", "index": 0}
                ]
            }
        ),
        chunk({"refusal": "I "}),
        chunk({"refusal": "cannot"}),
        chunk({}, "stop"),
    ]
    thinking, words = cw.parse_stream(events, "openai-chat").messages[0].parts
    assert isinstance(thinking, cw.Thinking)
    assert (thinking.text, thinking.signature) == ("so what", "s")
    assert isinstance(words, cw.Text)
    assert words.text == "I cannot"


@pytest.mark.parametrize(
    "events",
    [
        [],
        [None],
        ["[DONE]"],
        [{}],
        [{"choices": [None, {"delta": 5}]}],
        [chunk({"tool_calls": [{"id": "a"}, 5, {"index": "x"}]})],
        [chunk({"content": 5}), chunk({}, "stop")],
        [chunk({"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": 5}}]})],
        [chunk({"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {"q": 1}}}]})],
    ],
    ids=range(9),
)
def test_broken_streams(events: list[Any]) -> None:
    try:
        conversation = cw.parse_stream(events, "openai-chat")
    except cw.ParseError:
        return
    assert "repair.interrupted" in [change.code for change in conversation.changes]


@pytest.mark.parametrize(
    ("chunks", "calls"),
    [
        ([[("a", "f", "{")], [(None, None, "}")]], [("a", "f", "{}")]),
        ([[("a", "f", "{")], [("b", "g", "{}")]], [("a", "f", "{"), ("b", "g", "{}")]),
        (
            [[("a", "f", "{}")], [("b", "g", "{")], [(None, None, "}")]],
            [("a", "f", "{}"), ("b", "g", "{}")],
        ),
        ([[(None, "f", "{")], [(None, None, "}")]], [(None, "f", "{}")]),
    ],
)
def test_calls_without_a_number(chunks: list[Any], calls: list[Any]) -> None:
    """A piece with an id begins a call; one without goes on with the last."""

    def entry(id: str | None, name: str | None, arguments: str) -> JSON:
        function = {"arguments": arguments, **({"name": name} if name else {})}
        return {"function": function, **({"id": id} if id else {})}

    deltas = [{"tool_calls": [entry(*call) for call in some]} for some in chunks]
    reply = cw.parse_stream([*map(chunk, deltas), chunk({}, "tool_calls")], "openai-chat")
    assert [(one.id, one.name, one.json) for one in reply.messages[0].calls] == calls


ONE, OTHER = {"name": "f", "arguments": '{"a":1}'}, {"name": "g", "arguments": "{}"}
NUMBERED: dict[str, tuple[list[JSON], list[tuple[str, str, str]]]] = {
    "every call has the same number": (
        [{"id": "a", "function": ONE}, {"id": "b", "function": OTHER}],
        [("a", "f", '{"a":1}'), ("b", "g", "{}")],
    ),
    "and comes in pieces": (
        [
            {"id": "a", "function": {"name": "f", "arguments": '{"a"'}},
            {"function": {"arguments": ":1}"}},
            {"id": "b", "function": {"name": "f", "arguments": '{"a"'}},
            {"function": {"arguments": ":2}"}},
        ],
        [("a", "f", '{"a":1}'), ("b", "f", '{"a":2}')],
    ),
    "id and name are repeated": (
        [
            {"id": "a", "function": {"name": "look", "arguments": '{"a"'}},
            {"id": "a", "function": {"name": "look", "arguments": ":1}"}},
        ],
        [("a", "look", '{"a":1}')],
    ),
    "they are empty later": (
        [{"id": "a", "function": ONE}, {"id": "", "function": {"name": "", "arguments": ""}}],
        [("a", "f", '{"a":1}')],
    ),
    "every piece has another id": (
        [
            {"id": "a", "function": {"name": "f", "arguments": '{"a"'}},
            {"id": "b", "function": {"arguments": ":1}"}},
        ],
        [("a", "f", '{"a":1}')],
    ),
}


@pytest.mark.parametrize("name", NUMBERED)
def test_calls_of_hosts_that_number_and_name_them_otherwise(name: str) -> None:
    pieces, calls = NUMBERED[name]
    deltas: list[JSON] = [
        {"tool_calls": [{"index": 0, "type": "function", **one}]} for one in pieces
    ]
    sent = [*map(chunk, deltas), chunk({}, "tool_calls")]
    reply = cw.parse_stream(sent, "openai-chat")
    assert [(one.id, one.name, one.json) for one in reply.messages[0].calls] == calls
    starts = [one for one in read_stream(sent, "openai-chat") if isinstance(one, CallStart)]
    assert [(one.id, one.name) for one in starts] == [call[:2] for call in calls]


def test_arguments_are_streamed_as_text() -> None:
    """Some hosts send an object, which comes with the end of the call."""
    given: list[tuple[Any, list[str]]] = [
        ('{"q":', ['{"q":']),
        (" 1}", [" 1}"]),
        (None, ["{}"]),
        ({"q": 1}, ['{"q":1,"r":2}']),
    ]
    for arguments, sent in given:
        more = {"r": 2} if isinstance(arguments, dict) else None
        events = read_stream([chunk(called(arguments)), chunk(called(more))], "openai-chat")
        assert [event.text for event in events if isinstance(event, ArgumentsDelta)] == sent


def called(arguments: Any) -> JSON:
    function = {"name": "f", "arguments": arguments}
    return {"tool_calls": [{"index": 0, "id": "a", "function": function}]}


@given(st.lists(st.sampled_from(CHUNKS), max_size=12))
def test_any_order_of_chunks_can_be_read(events: list[JSON]) -> None:
    assert len(cw.parse_stream(events, "openai-chat").messages) == 1


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_forced_call_ends_with_stop(is_streamed: bool) -> None:
    """Clients of Anthropic's run a tool only if the reply ended for it."""
    call = {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    if is_streamed:
        reply = cw.parse_stream([chunk(message), chunk({}, "stop")], "openai-chat")
    else:
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        reply = cw.parse_reply({"id": "1", "model": "gpt-4o", "choices": [choice]}, "openai-chat")
    assert reply.finish == "tool_calls"
    assert write_reply(reply, "anthropic").body["stop_reason"] == "tool_use"
    assert write_reply(reply, "openai-chat").body["choices"][0]["finish_reason"] == "stop"
