"""Anthropic's replies and streams are read; histories of others are written."""

from typing import Any

import pytest

import contextwright as cw
from contextwright import models
from contextwright.formats.anthropic.format import FORMAT
from samples.formats.anthropic import CALL, LONG_MARK, MARK, NEW, OLD, THINKING, TOOL, body, text

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


def test_calls_and_thinking_in_a_result_are_opaque() -> None:
    """They may not stand there; other readers keep the words of a result."""
    inner = [CALL, THINKING, {"type": "tool_result", "tool_use_id": "t9", "content": "4"}]
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [text("3"), *inner]}
    request = body(("user", "q"), ("assistant", [CALL]), ("user", [result]))
    (held,) = cw.parse(request, "anthropic").messages[-1].parts
    assert isinstance(held, cw.ToolResult)
    assert [type(piece) for piece in held.content] == [cw.Text, *[cw.Opaque] * 3]
    made = cw.convert(request, "anthropic", "anthropic", model=NEW)
    assert made.payload["messages"][-1]["content"][0]["content"] == [text("3"), text("4")]
    assert [change.code for change in made.changes] == ["loss.opaque"] * 3


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


@pytest.mark.parametrize("of_others", [{}, {"citations": {"enabled": False}}], ids=["none", "off"])
def test_citations_of_one_document_are_those_of_all(of_others: dict[str, Any]) -> None:
    source = {"type": "text", "media_type": "text/plain", "data": "words"}
    silent = {"type": "document", "source": source, **of_others}
    cited = {**silent, "citations": {"enabled": True}}

    def sent(*blocks: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
        asked = ("user", [*blocks, text("Which?")])
        rendered = cw.convert(body(asked), "anthropic", "anthropic")
        documents = rendered.payload["messages"][0]["content"][:-1]
        return documents, [change.code for change in rendered.changes]

    assert sent(silent, silent) == ([silent, silent], [])
    assert sent(cited, cited) == ([cited, cited], [])
    assert sent(cited, silent) == ([cited, cited], ["repair.citations"])
    assert sent(silent, cited) == ([cited, cited], ["repair.citations"])


FILE = {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}}
FOUND = {
    "type": "search_result",
    "source": "https://example.com",
    "title": "Found",
    "content": [text("words")],
}


@pytest.mark.parametrize("kind", [FILE, FOUND], ids=["documents", "search results"])
@pytest.mark.parametrize("beside", ["result", "turn"])
def test_citations_of_one_source_within_results_are_those_of_all(
    kind: dict[str, Any], beside: str
) -> None:
    """Documents and search results are each cited all, or none; where they stand says nothing."""
    cited = {**kind, "citations": {"enabled": True}}
    other = FOUND if kind is FILE else FILE

    def asked(*held: dict[str, Any]) -> dict[str, Any]:
        inside = held if beside == "result" else held[:1]
        answer = {"type": "tool_result", "tool_use_id": "c1", "content": [*inside, other]}
        called = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
        spoken = [("assistant", [called]), ("user", [answer, *held[len(inside) :]])]
        return body(("user", "Hi"), *spoken, tools=[TOOL])

    for same in (asked(kind, kind), asked(cited, cited)):
        assert cw.check(same, "anthropic") == []
        assert cw.convert(same, "anthropic", "anthropic").payload is same
    for uneven in (asked(kind, cited), asked(cited, kind)):
        assert [one.code for one in cw.check(uneven, "anthropic")] == ["A-citations"]
        rendered = cw.convert(uneven, "anthropic", "anthropic")
        assert [change.code for change in rendered.changes] == ["repair.citations"]
        assert rendered.payload["messages"][1:] == asked(cited, cited)["messages"][1:]


@pytest.mark.parametrize("begun", [None, "", "Hel"])
def test_a_block_goes_on_from_the_text_it_begins_with(begun: str | None) -> None:
    events = [
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "text", "text": begun},
        },
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "lo"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ]
    reply = cw.parse_stream(events, "anthropic")
    assert reply.messages[0].text == f"{begun or ''}lo"


@pytest.mark.parametrize(
    ("media", "is_sent"),
    [
        (cw.Media("image", "image/png", "iVBORw0KGgoA" + "A" * (4 << 20)), True),
        (cw.Media("image", "image/png", "iVBORw0KGgoA" + "A" * (8 << 20)), False),
        (cw.Media("document", "application/pdf", "JVBERi0xLjcK" + "A" * (8 << 20)), True),
    ],
    ids=["a picture of 3 MB", "a picture of 6 MB", "a document of 6 MB"],
)
def test_a_picture_has_a_limit_of_its_own(media: cw.Media, is_sent: bool) -> None:
    rendered = cw.render([cw.user([media])], "anthropic", model="claude-sonnet-5-5")
    (turn,) = rendered.payload["messages"]
    assert (turn["content"][0]["type"] == media.kind) is is_sent
    assert ("loss.media" in [change.code for change in rendered.changes]) is not is_sent


@pytest.mark.parametrize(
    ("asked", "stays"), [("claude-sonnet-4-5", True), ("claude-sonnet-4-6", False)]
)
def test_thinking_goes_back_to_the_model_that_answered_under_a_date(
    asked: str, stays: bool
) -> None:
    """Anthropic names the edition in its answer: the thinking in it is still that model's own."""
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    call = {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}}
    answer = {"type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929"}
    reply = cw.parse_reply({**answer, "content": [thought, call], "usage": {}}, "anthropic")
    messages = [cw.user("What is here?"), reply.message, cw.tool_result("toolu_1", "a.txt")]
    sent = cw.render(messages, "anthropic", model=asked)
    assert (thought in sent.payload["messages"][1]["content"]) is stays
    assert ("loss.thinking" in [change.code for change in sent.changes]) is not stays
