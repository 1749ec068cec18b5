"""What translation once got wrong, by number; the laws are in laws/test_translation."""

import base64
from typing import Any

import pytest

import contextwright as cw
from contextwright.formats.replies.events import ErrorEvent, ReplyError
from contextwright.formats.replies.reply import ModelReply, events_of, gather
from contextwright.formats.replies.streams import read_stream, write_stream

MODELS = {
    "anthropic": "claude-opus-5",
    "gemini": "gemini-3.8-flash",
    "openai-chat": "gpt-5.6-sol",
    "openai-responses": "gpt-5.6-sol",
}


def errors(payload: Any, format: str, model: str | None = None) -> list[str]:
    found = cw.check(payload, format, model=model or MODELS[format])
    return [problem.code for problem in found if problem.level == "error"]


def chat(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"model": "gpt-5.6-sol", "messages": list(messages), **fields}


def call(id: str, name: str = "f") -> dict[str, Any]:
    function = {"name": name, "arguments": "{}"}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": id, "type": "function", "function": function}],
    }


def answer(id: str, content: Any = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def user(content: Any = "hi") -> dict[str, Any]:
    return {"role": "user", "content": content}


def claude(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"model": "claude-opus-5", "max_tokens": 100, "messages": list(messages), **fields}


def test_1_a_call_id_used_again_is_renumbered_where_ids_pair() -> None:
    body = chat(user(), call("a"), answer("a"), user(), call("a"), answer("a"))
    rendered = cw.convert(body, "openai-chat", "openai-responses", model="gpt-5.6-sol")
    ids = [item["call_id"] for item in rendered.payload["input"] if "call_id" in item]
    assert ids == ["a", "a", "a_2", "a_2"]
    assert [str(change) for change in rendered.changes] == [
        "repair.id messages[4].parts[0]: 'a' gets the id 'a_2'"
    ]


def test_1_a_call_id_used_twice_in_responses_is_a_problem_and_mended() -> None:
    pair = [
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "ok"},
    ]
    body = {"model": "gpt-5.6-sol", "input": [user(), *pair, user(), *pair]}
    assert errors(body, "openai-responses") == ["OR-dup-id", "OR-dup-id"]
    rendered = cw.convert(body, "openai-responses", "openai-responses")
    assert errors(rendered.payload, "openai-responses") == []
    assert [change.code for change in rendered.changes] == ["repair.id"]


SEARCH = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}


@pytest.mark.parametrize(
    ("blocks", "kept"),
    [
        ([SEARCH], []),
        ([SEARCH, {**FOUND, "content": "wrong"}], []),
        ([FOUND], []),
        ([SEARCH, FOUND], ["server_tool_use", "web_search_tool_result"]),
    ],
    ids=["an open call", "a malformed result", "a lone result", "a pair"],
)
def test_3_hosted_blocks_stay_in_pairs(blocks: list[dict[str, Any]], kept: list[str]) -> None:
    said = {"type": "text", "text": "Looking."}
    body = claude(user(), {"role": "assistant", "content": [said, *blocks]}, user("go on"))
    rendered = cw.convert(body, "anthropic", "anthropic")
    kinds = [block["type"] for block in rendered.payload["messages"][1]["content"]]
    assert [kind for kind in kinds if kind != "text"] == kept
    assert errors(rendered.payload, "anthropic") == []
    assert bool(rendered.changes) == (len(kept) < len(blocks))


def test_3_an_open_hosted_call_at_the_end_stays_open() -> None:
    body = claude(user(), {"role": "assistant", "content": [SEARCH]})
    assert cw.convert(body, "anthropic", "anthropic").payload is body


def test_3_a_leading_call_behind_a_models_words_follows_a_user_turn() -> None:
    body = {
        "contents": [
            {"role": "model", "parts": [{"text": "Let me see."}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": "f", "response": {"output": "ok"}}}],
            },
        ]
    }
    rendered = cw.convert(body, "gemini", "gemini", model="gemini-2.5-flash")
    assert [content["role"] for content in rendered.payload["contents"]] == [
        "user",
        "model",
        "model",
        "user",
    ]
    assert errors(rendered.payload, "gemini", "gemini-2.5-flash") == []


@pytest.mark.parametrize("target", MODELS)
def test_3_an_empty_file_is_named_and_not_sent(target: str) -> None:
    media = cw.Media("document", "application/pdf", "", name="a.pdf")
    rendered = cw.render(cw.user(["See:", media]), target, model=MODELS[target])
    assert errors(rendered.payload, target) == []
    assert rendered.changes[0].code == "loss.media"


def test_4_an_error_without_words_gets_some() -> None:
    history = [
        cw.user("go"),
        cw.assistant(cw.ToolCall("f", {}, "a")),
        cw.tool_result("a", "", is_error=True),
    ]
    rendered = cw.render(cw.Conversation(tuple(history)), "anthropic", model="claude-opus-5")
    result = rendered.payload["messages"][-1]["content"][0]
    assert result["content"] == "[error without a message]"
    assert "invent.error" in [change.code for change in rendered.changes]
    assert errors(rendered.payload, "anthropic") == []
    del result["content"]
    assert errors(rendered.payload, "anthropic") == ["A-error-empty"]


@pytest.mark.parametrize("target", ["anthropic", "gemini", "openai-responses"])
@pytest.mark.parametrize("role", ["system", "developer", "assistant"])
def test_5_the_name_of_a_message_that_is_no_users_is_not_lost_silently(
    role: str, target: str
) -> None:
    body = chat({"role": role, "content": "yes", "name": "Bob"}, user())
    rendered = cw.convert(body, "openai-chat", target, model=MODELS[target])
    assert "loss.author" in [change.code for change in rendered.changes]


def test_5_what_a_document_says_beside_its_words_is_not_lost_silently() -> None:
    document = {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": "words"},
        "context": "from the archive",
        "citations": {"enabled": True},
    }
    for target in ("openai-chat", "openai-responses", "gemini"):
        rendered = cw.convert(claude(user([document])), "anthropic", target, model=MODELS[target])
        lost = [change.reason for change in rendered.changes if change.code == "loss.extra"]
        assert any("context" in reason and "citations" in reason for reason in lost), target


def test_5_the_words_of_a_fetched_page_stay() -> None:
    page = {"type": "document", "source": {"type": "text", "media_type": "text/plain"}}
    page["source"]["data"] = "The whole page."  # type: ignore[index]
    fetched = {"type": "web_fetch_result", "url": "https://x.org", "content": page}
    body = claude(
        user(),
        {
            "role": "assistant",
            "content": [
                {**SEARCH, "name": "web_fetch"},
                {"type": "web_fetch_tool_result", "tool_use_id": "s1", "content": fetched},
            ],
        },
        user("so?"),
    )
    for target in ("openai-chat", "openai-responses", "gemini"):
        rendered = cw.convert(body, "anthropic", target, model=MODELS[target])
        assert b"The whole page." in rendered.json, target


def test_5_a_compaction_arrives_by_its_delta() -> None:
    events = [
        {"type": "message_start", "message": {"id": "msg_1", "model": "m"}},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "compaction", "content": None},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {
                "type": "compaction_delta",
                "content": "So far.",
                "encrypted_content": "e30=",
            },
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ]
    block = {"type": "compaction", "content": "So far.", "encrypted_content": "e30="}
    reply = cw.parse_stream(events, "anthropic")
    assert reply.messages[0].parts == (cw.Opaque("anthropic", block, "So far."),)
    assert reply.changes == ()


@pytest.mark.parametrize("format", MODELS)
def test_5_an_error_in_a_stream_keeps_its_message(format: str) -> None:
    error = ReplyError("overloaded", "Overloaded, try later", 529, "overloaded_error")
    begun = list(events_of(ModelReply((cw.assistant("Hel"),))))[:2]
    data = b"".join(write_stream([*begun, ErrorEvent(error)], format))
    broken = gather(read_stream([data], format), format)
    assert broken.message is not None
    assert broken.message.text == "Hel"
    assert broken.finish == "error"
    assert broken.error is not None
    assert (broken.error.kind, broken.error.message) == ("overloaded", "Overloaded, try later")
    (change,) = broken.changes
    assert change.code == "repair.interrupted"
    assert "Overloaded, try later" in change.reason


def test_6_gemini_takes_one_tool_without_its_list() -> None:
    declared = {"name": "f", "description": "d", "parameters": {"type": "OBJECT"}}
    body = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "tools": {}}
    body["tools"] = {"functionDeclarations": [declared]}
    assert errors(body, "gemini") == []
    assert cw.convert(body, "gemini", "gemini").payload is body
    rendered = cw.convert(body, "gemini", "openai-chat", model="gpt-5.6-sol")
    assert rendered.payload["tools"][0]["function"]["name"] == "f"


def test_6_a_tool_search_may_be_answered_as_a_function() -> None:
    body = {
        "model": "gpt-5.6-sol",
        "input": [
            user(),
            {"type": "tool_search_call", "call_id": "t", "execution": "client", "arguments": {}},
            {"type": "function_call_output", "call_id": "t", "output": "[]"},
            user("so?"),
        ],
    }
    assert errors(body, "openai-responses") == []
    assert cw.convert(body, "openai-responses", "openai-responses").payload is body


def test_6_a_developer_is_one_in_both_of_openais_formats() -> None:
    body = chat({"role": "developer", "content": "Be brief."}, user())
    there = cw.convert(body, "openai-chat", "openai-responses", model="gpt-5.6-sol")
    assert there.payload["input"][0] == {"role": "developer", "content": "Be brief."}
    assert there.changes == ()
    back = cw.convert(there.payload, "openai-responses", "openai-chat", model="gpt-5.6-sol")
    assert back.payload["messages"] == body["messages"]


@pytest.mark.parametrize(
    ("format", "body"),
    [
        (
            "openai-responses",
            {
                "model": "gpt-5.6-sol",
                "client_metadata": {"x": "1"},
                "input": [{**user(), "internal_chat_message_metadata_passthrough": {"turn": "1"}}],
            },
        ),
        (
            "openai-responses",
            {"type": "response.create", "model": "gpt-5.6-sol", "generate": False, "input": []},
        ),
        ("anthropic", claude(user(), thinking={"type": "adaptive", "display": "updates"})),
        ("anthropic", claude(user(), billing_policy={"type": "billing_policy"})),
    ],
    ids=["metadata", "a warm-up", "thinking shown as updates", "who pays"],
)
def test_6_what_the_vendors_own_client_sends_is_no_error(format: str, body: Any) -> None:
    assert errors(body, format) == []
    assert cw.convert(body, format, format).payload is body


LARGE = base64.b64encode(b"\0" * 6_000_000).decode()


def images(data: str) -> dict[str, Any]:
    url = f"data:image/png;base64,{data}"
    source = {"type": "base64", "media_type": "image/png", "data": data}
    inline = {"inlineData": {"mimeType": "image/png", "data": data}}
    return {
        "anthropic": claude(user([{"type": "image", "source": source}])),
        "gemini": {"contents": [{"role": "user", "parts": [inline]}]},
        "openai-chat": chat(user([{"type": "image_url", "image_url": {"url": url}}])),
        "openai-responses": {
            "model": "gpt-5.6-sol",
            "input": [user([{"type": "input_image", "image_url": url, "detail": "auto"}])],
        },
    }


@pytest.mark.parametrize("format", MODELS)
def test_7_bytes_that_are_not_base64_are_a_problem_and_not_sent(format: str) -> None:
    body = images("not base64!")[format]
    assert errors(body, format) == ["X-base64"]
    rendered = cw.convert(body, format, format, model=MODELS[format])
    assert "loss.media" in [change.code for change in rendered.changes]
    assert errors(rendered.payload, format) == []


@pytest.mark.parametrize("format", MODELS)
def test_7_an_image_too_large_for_a_provider_is_a_problem_there(format: str) -> None:
    body = images(LARGE)[format]
    assert errors(body, format) == (["X-size"] if format == "anthropic" else [])


def test_7_an_empty_call_id_is_a_problem_and_gets_a_name() -> None:
    body = chat(user(), call(""), answer(""))
    assert errors(body, "openai-chat") == ["OC-id-empty"]
    rendered = cw.convert(body, "openai-chat", "openai-chat")
    assert rendered.payload["messages"][1]["tool_calls"][0]["id"] == "call"
    assert rendered.payload["messages"][2]["tool_call_id"] == "call"
    assert [change.code for change in rendered.changes] == ["repair.id"]


def test_7_an_empty_list_of_parts_is_a_problem_and_not_sent() -> None:
    body = chat(user([]), {**call("a"), "content": []}, answer("a"), user())
    assert errors(body, "openai-chat") == ["OC-content", "OC-content"]
    rendered = cw.convert(body, "openai-chat", "openai-chat")
    assert errors(rendered.payload, "openai-chat") == []


def test_8_parallel_calls_in_two_messages_stay_where_they_are() -> None:
    def use(id: str) -> dict[str, Any]:
        block = {"type": "tool_use", "id": id, "name": "f", "input": {}}
        return {"role": "assistant", "content": [block]}

    results = [{"type": "tool_result", "tool_use_id": id, "content": "ok"} for id in "ab"]
    body = claude(user(), use("a"), use("b"), user(results))
    rendered = cw.convert(body, "anthropic", "anthropic")
    assert (rendered.payload is body, rendered.changes) == (True, ())


def test_8_thinking_of_an_unknown_model_stays_as_it_is() -> None:
    body = claude(user(), thinking={"type": "enabled", "budget_tokens": 2000}, max_tokens=4000)
    body["model"] = "house-model-3"
    assert cw.convert(body, "anthropic", "anthropic").payload is body


@pytest.mark.parametrize(
    ("format", "body"),
    [
        ("anthropic", claude(user("one string"), system="Be brief.", tools=[])),
        ("openai-chat", chat(user([{"type": "text", "text": "one part"}]))),
        (
            "openai-responses",
            {"input": [user([{"type": "input_text", "text": "one part"}])], "model": "gpt-5.6-sol"},
        ),
        (
            "gemini",
            {
                "contents": [{"parts": [{"text": "hi"}], "role": "user"}],
                "generation_config": {"max_output_tokens": 5},
            },
        ),
    ],
)
def test_8_what_has_nothing_to_mend_is_the_same_body(format: str, body: Any) -> None:
    rendered = cw.convert(body, format, format, model=body.get("model"))
    assert rendered.payload is body
    assert [change.code for change in rendered.changes if change.code != "invent.model"] == []


TWO = cw.Conversation(
    (
        cw.user("I like tea.", author=cw.Author("U1", "Alice")),
        cw.user("I do not.", author=cw.Author("U2", "Alice")),
        cw.user("Really.", author=cw.Author("U2", "Alice")),
    )
)


def test_9_two_people_of_one_name_are_told_apart() -> None:
    named = cw.render(TWO, "openai-chat", model="gpt-5.6-sol").payload["messages"]
    assert [message["name"] for message in named] == ["Alice", "Alice__U2", "Alice__U2"]
    for target in ("anthropic", "gemini", "openai-responses"):
        body = cw.render(TWO, target, model=MODELS[target]).json.decode()
        assert "Alice: I like tea." in body, target
        assert "Alice (U2): I do not." in body, target
        assert "Alice (U2): Really." in body, target


def test_9_a_tool_whose_name_fits_is_never_renamed() -> None:
    tools = (cw.Tool("get weather"), cw.Tool("get_weather"))
    history = (cw.user("go"), cw.assistant(cw.ToolCall("get_weather", {}, "a")))
    rendered = cw.render(cw.Conversation(history, tools), "anthropic", model="claude-opus-5")
    assert [tool["name"] for tool in rendered.payload["tools"]] == ["get_weather_2", "get_weather"]
    assert rendered.payload["messages"][1]["content"][0]["name"] == "get_weather"
