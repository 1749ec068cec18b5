"""OpenAI Chat Completions: its rules, its dialects, its replies and streams, its round trips."""

import json
from pathlib import Path
from typing import Any, get_type_hints

import openai.types.chat as sdk
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import completion_create_params
from pydantic import TypeAdapter

import contextwright as cw
from contextwright import models
from contextwright.formats.openai_chat import FORMAT
from contextwright.wire.openai_chat import LLMMessage, Request
from contextwright.wire.openai_chat_dialects import dialect_of
from strategies import json_values

GPT = "gpt-4o"
JSON = dict[str, Any]


def system(text: Any) -> JSON:
    return {"role": "system", "content": text}


def user(content: Any, **fields: Any) -> JSON:
    return {"role": "user", "content": content, **fields}


def assistant(content: Any, **fields: Any) -> JSON:
    return {"role": "assistant", "content": content, **fields}


def call(id: str, name: str = "calc", arguments: str = "{}") -> JSON:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*ids: str) -> JSON:
    return assistant(None, tool_calls=[call(id) for id in ids])


def result(id: str, content: Any = "4") -> JSON:
    return {"role": "tool", "tool_call_id": id, "content": content}


def body(*messages: JSON, model: str = GPT, **fields: Any) -> JSON:
    return {"model": model, "messages": list(messages), **fields}


def text(words: str, **fields: Any) -> JSON:
    return {"type": "text", "text": words, **fields}


def image(url: str = "https://example.com/a.png", **fields: Any) -> JSON:
    return {"type": "image_url", "image_url": {"url": url, **fields}}


TOOL = {"type": "function", "function": {"name": "calc", "parameters": {"type": "object"}}}
CUSTOM = {"type": "custom", "custom": {"name": "shell", "format": {"type": "text"}}}
MARK = {"prompt_cache_breakpoint": {"mode": "explicit"}}
SOUND = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
PDF = {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": "a.pdf"}}


# --- what is refused -------------------------------------------------------------------------

REFUSED: list[tuple[str, JSON, str]] = [
    ("T-required", {"messages": [user("hi")]}, "model"),
    ("T-required", body({"role": "user"}), "messages[0].content"),
    ("T-required", body(user([{"text": "hi"}])), "messages[0].content[0].type"),
    ("T-required", body(system([{"text": "hi"}]), user("q")), "messages[0].content[0].type"),
    ("T-required", body(user("q"), calling("a"), {"role": "tool", "content": "4"}, result("a")), "messages[2].tool_call_id"),
    ("T-required", body(user("q"), assistant(None, tool_calls=[{"id": "a", "function": {"name": "f", "arguments": "{}"}}]), result("a")), "messages[1].tool_calls[0].type"),
    ("T-type", body(user("q"), assistant(None, tool_calls=[{**call("a"), "function": {"name": "f", "arguments": {}}}]), result("a")), "messages[1].tool_calls[0].function.arguments"),
    ("T-type", body(user("q"), assistant("a", tool_calls=None)), "messages[1].tool_calls"),
    ("T-type", body(user("q", name=None)), "messages[0].name"),
    ("T-type", body(user(None)), "messages[0].content"),
    ("T-extra", body(user("q", timestamp=1)), "messages[0].timestamp"),
    ("T-extra", body(user("q"), assistant("a", reasoning_content="hm")), "messages[1].reasoning_content"),
    ("T-extra", body(user([text("q", cache_control={"type": "ephemeral"})])), "messages[0].content[0].cache_control"),
    ("T-extra", body(user("q"), top_k=5), "top_k"),
    ("T-literal", body({"role": "model", "content": "x"}), "messages[0].role"),
    ("T-literal", body(user([{"type": "video_url", "video_url": {"url": "https://a"}}])), "messages[0].content[0].type"),
    ("T-literal", body(user("q"), calling("a"), result("a", [image()])), "messages[2].content[0].type"),
    ("T-literal", body(user("q"), assistant([image()])), "messages[1].content[0].type"),
    ("T-literal", body(user("q"), tools=[TOOL], tool_choice="any"), "tool_choice"),
    ("T-literal", body(user([{**SOUND, "input_audio": {"data": "", "format": "ogg"}}]), model="gpt-audio"), "messages[0].content[0].input_audio.format"),
    ("X-surrogate", body(user("\ud83d")), "messages[0].content"),
    ("OC-unanswered", body(user("q"), calling("a")), "messages[1].tool_calls[0]"),
    ("OC-unanswered", body(user("q"), calling("a", "b"), result("a"), user("x")), "messages[1].tool_calls[1]"),
    ("OC-unanswered", body(user("q"), calling("a"), user("x"), result("a")), "messages[1].tool_calls[0]"),
    ("OC-orphan", body(result("a"), user("q")), "messages[0]"),
    ("OC-orphan", body(user("q"), calling("a"), result("a"), assistant("x"), result("a")), "messages[4]"),
    ("OC-calls-empty", body(user("q"), assistant("a", tool_calls=[])), "messages[1].tool_calls"),
    ("OC-calls-empty", body(user("q"), tools=[]), "tools"),
    ("OC-content", body(user("q"), assistant(None)), "messages[1].content"),
    ("OC-content", body(user("q"), {"role": "assistant"}), "messages[1].content"),
    ("OC-audio-model", body(user([SOUND]), model="gpt-5-mini"), "messages[0].content[0]"),
    ("OC-id-long", body(user("q"), calling("x" * 41), result("x" * 41)), "messages[1].tool_calls[0].id"),
    ("OC-toolname", body(user("q"), tools=[{"type": "function", "function": {"name": "my tool"}}]), "tools[0].function.name"),
    ("OC-toolname", body(user("q"), functions=[{"name": "x.y"}]), "functions[0].name"),
    ("OC-callname", body(user("q"), assistant(None, tool_calls=[call("a", "my tool.v1")]), result("a")), "messages[1].tool_calls[0].function.name"),
    ("OC-name", body(user("q", name="Alice B.")), "messages[0].name"),
    ("OC-name", body(user("q", name="<@U1>")), "messages[0].name"),
    ("OC-tools-max", body(user("q"), tools=[TOOL] * 129), "tools"),
    ("OC-tools-missing", body(user("q"), tool_choice="auto"), "tool_choice"),
    ("OC-tools-missing", body(user("q"), parallel_tool_calls=True), "parallel_tool_calls"),
    ("OC-empty", body(), "messages"),
    ("OC-json-word", body(user("list it"), response_format={"type": "json_object"}), "messages"),
    ("OC-system-role", body(system("s"), user("q"), model="o1-mini"), "messages[0].role"),
]

WARNED = [
    ("OC-args", body(user("q"), assistant(None, tool_calls=[call("a", arguments='{"a": 1')]), result("a"))),
    ("OC-args", body(user("q"), assistant(None, tool_calls=[call("a", arguments="[1]")]), result("a"))),
    ("OC-dup-id", body(user("q"), calling("a", "a"), result("a"), result("a"))),
    ("OC-sampling", body(user("q"), model="o3", max_tokens=5)),
    ("OC-sampling", body(user("q"), model="gpt-5", temperature=0.2)),
    ("OC-system-role", body({"role": "developer", "content": "s"}, user("q"), model="gpt-4")),
]

ACCEPTED = [
    body(user("hi")),
    body(system("s")),
    body({"role": "developer", "content": "be brief", "name": "ops"}, user("q"), model="gpt-5"),
    body(assistant("first"), user("a"), user("b"), assistant("1"), assistant("2")),
    body(system("s"), user("u"), assistant("a"), system("be brief"), user("q")),
    body(system([text("s", **MARK)]), user([text("u", **MARK), {**image(detail="low"), **MARK}, PDF])),
    body(user([SOUND, text("what is said?")]), assistant(None, audio={"id": "audio_1"}), user("more"), model="gpt-audio"),
    body(user([{"type": "file", "file": {"file_id": "file-1"}}])),
    body(user([image("data:image/png;base64,iVBORw0KGgo=")], name="alice")),
    body(user("q"), calling("a", "b"), result("b"), result("a"), assistant("done"), tools=[TOOL], tool_choice="auto"),
    body(user("q"), {"role": "assistant", "tool_calls": [call("a")]}, result("a", [text("4"), text("5")])),
    body(user("q"), assistant("let me see", tool_calls=[call("a", arguments='{ "b": 1.0 }')]), result("a")),
    body(user("q"), assistant(None, tool_calls=[{"id": "a", "type": "custom", "custom": {"name": "shell", "input": "ls"}}]), result("a"), tools=[CUSTOM]),
    body(user("q"), assistant(None, refusal="I cannot help"), user("why?")),
    body(user("q"), assistant([text("no: "), {"type": "refusal", "refusal": "I cannot"}], refusal=None), user("why?")),
    body(user("q"), assistant("a", annotations=[{"type": "url_citation"}], name="bot"), user("x")),
    body(user("q"), calling("a"), {**result("a"), "name": "calc"}),
    body(user("q"), assistant(None, function_call={"name": "f", "arguments": '{"a":1}'}), {"role": "function", "name": "f", "content": "4"}, functions=[{"name": "f", "parameters": {"type": "object"}}], function_call={"name": "f"}, model="gpt-4"),
    body(user("q"), assistant(None, function_call={"name": "f", "arguments": "{}"}), {"role": "function", "name": "f", "content": None}, model="gpt-4"),
    body(user(""), assistant(""), user("again")),
    body(
        user("give me JSON"),
        tools=[{"type": "function", "function": {"name": "f", "description": "", "strict": None}}, CUSTOM],
        tool_choice={"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "f"}}]}},
        response_format={"type": "json_object"},
        parallel_tool_calls=False,
        max_completion_tokens=100,
        stop=["x"],
        logit_bias={"50256": -100},
        metadata={"a": "b"},
        modalities=["text"],
        moderation={"model": "omni-moderation-latest", "policy": {"input": {"mode": "block"}}},
        prediction={"type": "content", "content": "x"},
        prompt_cache_key="k",
        prompt_cache_options={"mode": "explicit", "ttl": "30m"},
        reasoning_effort=None,
        service_tier="flex",
        stream=True,
        stream_options={"include_usage": True},
        temperature=1,
        verbosity="low",
        web_search_options={"search_context_size": "low", "user_location": {"type": "approximate", "approximate": {"city": "Kyiv"}}},
    ),
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


@pytest.mark.parametrize("payload", ACCEPTED, ids=range(len(ACCEPTED)))
def test_accepted_and_comes_back(payload: JSON) -> None:
    assert cw.check(payload, "openai-chat") == []
    rendered = cw.convert(payload, "openai-chat", "openai-chat")
    assert same(rendered.payload) == same(payload)
    lost = [change for change in rendered.changes if change.code != "invent.id"]
    assert lost == []  # calls from before there were tools have no ids; ours are not sent


@pytest.mark.parametrize("value", [None, 5, "x", [], {}, {"messages": 5}, [[]], {"messages": [None, [], 3]}, {"model": [], "messages": [{"role": []}]}])
@pytest.mark.parametrize("model", [GPT, "mistral-large-latest"])
def test_any_value_can_be_checked(value: Any, model: str) -> None:
    assert any(problem.level == "error" for problem in cw.check(value, "openai-chat", model=model))


def same(payload: Any) -> Any:
    """A payload with one spelling for what means the same: a string is one text part."""
    if isinstance(payload, list):
        return [same(item) for item in payload]
    if not isinstance(payload, dict):
        return payload
    spelled = {key: same(value) for key, value in payload.items()}
    if "role" in spelled and isinstance(spelled.get("content"), str):
        spelled["content"] = [text(spelled["content"])]
    return spelled


# --- dialects --------------------------------------------------------------------------------

DIALECTS: list[tuple[str, JSON]] = [
    ("reasoning of DeepSeek", body(user("q"), assistant(None, reasoning_content="hm", tool_calls=[call("a")]), result("a"), assistant("4", reasoning_content="so"), user("x"), model="deepseek-reasoner")),
    ("reasoning without words", body(user("q"), assistant(None, reasoning_content="", tool_calls=[call("a")]), result("a"), model="deepseek-reasoner")),
    ("prefix of DeepSeek", body(user("q"), assistant("```", prefix=True), model="deepseek-chat", stop=["```"])),
    ("reasoning of OpenRouter", body(user("q"), assistant("4", reasoning="hm", reasoning_details=[{"type": "reasoning.text", "text": "hm", "signature": "c2ln", "format": "anthropic-claude-v1", "index": 0}]), user("x"), model="anthropic/claude-sonnet-4.5", reasoning={"effort": "low"}, provider={"order": ["x"]}, usage={"include": True})),
    ("sealed reasoning", body(user("q"), assistant("4", reasoning_details=[{"type": "reasoning.encrypted", "data": "zzz"}]), user("x"), model="openai/gpt-5-mini")),
    ("cache marks behind a router", body(system([text("s", cache_control={"type": "ephemeral"})]), user([text("q", cache_control={"type": "ephemeral", "ttl": "1h"})]), model="anthropic/claude-sonnet-4.6")),
    ("media of OpenRouter", body(user([{"type": "video_url", "video_url": {"url": "https://example.com/a.webm"}}, {"type": "file", "file": {"file_data": "https://example.com/a.pdf", "filename": "a.pdf"}}]), model="google/gemini-2.5-flash")),
    ("tools of OpenRouter", body(user("q"), tools=[{"type": "openrouter:web_search", "parameters": {"max_uses": 1}}, {**TOOL, "eager_input_streaming": True}], model="anthropic/claude-sonnet-4.6")),
    ("thinking of Mistral", body(user("q"), assistant([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, text("4")], prefix=False), user("x"), model="magistral-medium-latest")),
    ("calls of Mistral", body(user("q"), assistant([], prefix=False, tool_calls=[{**call("abcdefghi"), "index": 0}]), result("abcdefghi"), tools=[{"function": {"name": "f", "description": "", "parameters": {}}}], tool_choice="any", model="mistral-large-latest", safe_prompt=False)),
    ("no calls of Mistral", body(user("q"), assistant([text("a"), text("b")], prefix=False, tool_calls=[]), user("x"), model="mistral-medium-latest")),
    ("media of Mistral", body(user([{"type": "document_url", "document_url": "https://example.com/a.pdf", "document_name": "a"}, {"type": "image_url", "image_url": "https://example.com/a.png"}, {"type": "input_audio", "input_audio": "UklGRg=="}]), model="mistral-small-latest")),
    ("nulls of Hugging Face", body({**user("q"), "name": None, "tool_calls": None}, {**assistant("a"), "name": None, "tool_calls": None}, {**user("x"), "name": None, "tool_calls": None}, model="deepseek-ai/DeepSeek-R1", tools=[])),
    ("settings of Groq", body(user("q"), model="qwen/qwen3-32b", service_tier="on_demand", reasoning_format="parsed", reasoning_effort="default", stop=None)),
    ("settings of Z.ai", body(user("q"), model="glm-4.7", thinking={"type": "enabled", "clear_thinking": False})),
    ("settings of Cerebras", body(user("q"), model="zai-glm-4.7", clear_thinking=False)),
    ("reasoning of Ollama", body(user("q"), assistant("4", reasoning="hm"), user("x"), model="gpt-oss:20b")),
    ("thought signatures of Gemini", body(user("q"), assistant(None, tool_calls=[{**call("a"), "extra_content": {"google": {"thought_signature": "c2ln"}}}]), result("a"), model="gemini-3.1-flash-lite")),
    ("media of vLLM", body(user([{"type": "audio_url", "audio_url": {"url": "https://example.com/a.wav"}}, {**image(), "uuid": "1"}]), model="qwen2-audio")),
    ("media of Qwen", body(user([{"type": "input_audio", "input_audio": {"data": "data:;base64,UklGRg==", "format": "wav"}}, {"type": "video", "video": ["https://example.com/1.jpg"]}]), model="qwen3-omni-flash")),
    ("bytes without their type", body(user([{"type": "file", "file": {"file_data": "JVBERi0=", "filename": "a.pdf"}}]), model="some-model")),
    ("a picture in a result", body(user("q"), calling("a"), {**result("a", [text("see"), image()]), "cache_control": {"type": "ephemeral"}}, model="anthropic/claude-sonnet-4.6")),
    ("unusual names", body(user("q", name="Alice B."), assistant(None, tool_calls=[call("x" * 60, "a.b:c")]), result("x" * 60), tools=[{"type": "function", "function": {"name": "a.b:c"}}], model="some-model")),
    ("what nobody knows yet", body({**user([{"type": "hologram", "hologram": {"x": 1}}]), "mood": "good"}, model="some-model", new_setting=[1])),
]  # fmt: skip


@pytest.mark.parametrize(("name", "payload"), DIALECTS, ids=[name for name, _ in DIALECTS])
def test_dialect_comes_back(name: str, payload: JSON) -> None:
    problems = cw.check(payload, "openai-chat")
    assert [problem for problem in problems if problem.level == "error"] == []
    rendered = cw.convert(payload, "openai-chat", "openai-chat")
    assert same(rendered.payload) == same(payload)
    assert rendered.changes == ()


@pytest.mark.parametrize(("name", "payload"), DIALECTS, ids=[name for name, _ in DIALECTS])
def test_dialect_made_fit_for_openai(name: str, payload: JSON) -> None:
    rendered = cw.convert(payload, "openai-chat", "openai-chat", model=GPT)
    problems = cw.check(rendered.payload, "openai-chat", model=GPT)
    assert [problem for problem in problems if problem.level == "error"] == []


def test_openai_gets_no_field_it_does_not_know() -> None:
    foreign = body(
        user([text("t", cache_control={"type": "ephemeral"}, **MARK), {"type": "weird", "text": "hm"}, image(detail="low", pixels=9)]),
        assistant("a", reasoning_content="think", prefix=True, annotations=[]),
        user("x", name=None),
        tools=[{"type": "openrouter:web_search"}, {"function": {"name": "f"}}],
        tool_choice="any",
        service_tier="on_demand",
        top_k=1,
        seed=3,
    )
    rendered = cw.convert(foreign, "openai-chat", "openai-chat", model=GPT)
    assert rendered.payload == body(
        user([text("t", **MARK), text("hm"), image(detail="low")]),
        assistant("a", annotations=[]),
        user("x"),
        tools=[{"type": "function", "function": {"name": "f"}}],
        tool_choice="required",
        seed=3,
    )
    assert [(change.code, change.path) for change in rendered.changes] == [
        ("loss.extra", "messages[0].parts[0]"),
        ("loss.opaque", "messages[0].parts[1]"),
        ("loss.extra", "messages[1]"),
        ("loss.tool", "tools[0]"),
        ("loss.thinking", "messages[1].parts[0]"),
        ("repair.setting", "tool_choice"),
        ("loss.setting", "service_tier"),
        ("loss.extra", "top_k"),
    ]


def test_unknown_field_is_a_warning_where_hosts_differ() -> None:
    problems = cw.check(body(user("q"), tempurature=1, model="llama-3.3-70b"), "openai-chat")
    assert [(problem.code, problem.path, problem.level) for problem in problems] == [("T-extra", "tempurature", "warning")]


@pytest.mark.parametrize(
    ("model", "dialect"),
    [
        ("gpt-4o", "openai"),
        ("o3-mini", "openai"),
        ("openai/gpt-4o", "routed"),
        ("mistralai/mistral-small", "routed"),
        ("mistral-small-latest", "mistral"),
        ("gpt-oss:20b", "gpt-oss"),
        ("llama-3.3-70b", "compatible"),
        ("muse-spark-1.1", "compatible"),
    ],
)
def test_dialect_of_a_model(model: str, dialect: str) -> None:
    assert dialect_of(models.find(model)).name == dialect


def test_other_words_for_mistral() -> None:
    """Another provider's conversation in Mistral's spelling."""
    conversation = cw.Conversation(
        (
            cw.user(["read", cw.Media("document", "application/pdf", "JVBERi0=", name="a.pdf")]),
            cw.assistant([cw.Thinking("hm", origin="openai-chat"), cw.ToolCall("f", {"a": 1}, id="toolu_01")]),
            cw.tool_result("toolu_01", "ok"),
        ),
        (cw.Tool("f"),),
        settings=cw.Settings(max_tokens=9, temperature=0.5, stop=("x",), tool_choice=cw.ToolChoice("required")),
    )
    rendered = cw.render(conversation, "openai-chat", model="mistral-large-latest")
    id = rendered.payload["messages"][2]["tool_call_id"]
    assert len(id) == 9
    assert id.isalnum()
    assert rendered.payload == body(
        user([text("read"), {"type": "document_url", "document_url": "data:application/pdf;base64,JVBERi0=", "document_name": "a.pdf"}]),
        assistant([{"type": "thinking", "thinking": [text("hm")]}], tool_calls=[call(id, "f", '{"a":1}')]),
        result(id, "ok"),
        model="mistral-large-latest",
        tools=[{"type": "function", "function": {"name": "f"}}],
        max_tokens=9,
        temperature=0.5,
        stop=["x"],
        tool_choice="any",
    )
    assert [change.code for change in rendered.changes] == ["repair.id"]


def test_settings_of_another_model_for_one_that_reasons() -> None:
    rendered = cw.convert(body(user("q"), max_tokens=5, temperature=0.3, seed=1), "openai-chat", "openai-chat", model="gpt-5")
    assert rendered.payload == body(user("q"), model="gpt-5", seed=1, max_completion_tokens=5)
    assert [change.code for change in rendered.changes] == ["repair.setting", "loss.setting"]


# --- the context builder of spec 013 ---------------------------------------------------------

PROMPT = cw.system("You are helpful.")
ROWS: list[JSON] = [
    {"id": "1", "conversation_id": "c", "role": "user", "content": "2 + 2?", "tool_calls": None, "tool_results": None, "created_at": "2025-12-13T10:00:00Z"},
    {"id": "2", "conversation_id": "c", "role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": {"name": "calc", "arguments": {"x": 2}}}, {"id": "b", "function": {"name": "calc", "arguments": ""}}], "tool_results": None, "created_at": "2025-12-13T10:00:01Z"},
    {"id": "3", "conversation_id": "c", "role": "tool", "content": None, "tool_calls": None, "tool_results": [{"tool_call_id": "a", "content": "4"}, {"tool_call_id": "b", "content": "0"}], "created_at": "2025-12-13T10:00:02Z"},
    {"id": "4", "conversation_id": "c", "role": "assistant", "content": "4", "tool_calls": None, "tool_results": None, "created_at": "2025-12-13T10:00:03Z"},
    {"id": "5", "conversation_id": "c", "role": "user", "content": "Thanks", "tool_calls": None, "tool_results": None, "created_at": "2025-12-13T10:00:04Z"},
]  # fmt: skip
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
    """CB-1…4, CB-6…9: order, roles, system first, types added, one message a result, null content."""
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
    import msgspec

    typed = msgspec.convert(BUILT, list[LLMMessage])
    assert [type(message).__name__ for message in typed[:4]] == ["SystemMessage", "UserMessage", "AssistantMessage", "ToolMessage"]


def test_missing_result_cb_11() -> None:
    rendered = cw.convert([user("q"), calling("a")], "openai-chat", "openai-chat", model=GPT)
    assert rendered.payload["messages"][:2] == [user("q"), calling("a")]
    assert rendered.payload["messages"][2]["tool_call_id"] == "a"
    assert "invent.result" in [change.code for change in rendered.changes]
    as_it_is = cw.convert([user("q"), calling("a")], "openai-chat", "openai-chat", model=GPT, repair=False)
    assert as_it_is.payload["messages"] == [user("q"), calling("a")]


# --- tricky histories ------------------------------------------------------------------------

REPAIRED: list[tuple[str, list[JSON], list[JSON], set[str]]] = [
    ("1", [user("q"), calling("a", "b"), result("a"), user("hurry"), result("b"), user("so?")], [user("q"), calling("a", "b"), result("a"), result("b"), user("hurry"), user("so?")], {"repair.order"}),
    ("5", [result("a"), assistant("done"), user("q")], [assistant("done"), user("q")], {"loss.orphan"}),
    ("7", [user("q"), calling("a", "a"), result("a", "1"), result("a", "2"), user("x")], [user("q"), calling("a", "a_2"), result("a", "1"), result("a_2", "2"), user("x")], {"repair.id"}),
    ("9", [user("q"), calling("a"), result("a", "1"), assistant("x"), user("y"), calling("a"), result("a", "2")], [user("q"), calling("a"), result("a", "1"), assistant("x"), user("y"), calling("a"), result("a", "2")], set()),
    ("13", [system("s"), user("u"), assistant("a"), system("be brief"), user("q")], [system("s"), user("u"), assistant("a"), system("be brief"), user("q")], set()),
    ("15", [system("s")], [system("s")], set()),
    ("19", [user("a"), user("b"), assistant("1"), assistant("2"), user("x")], [user("a"), user("b"), assistant("1"), assistant("2"), user("x")], set()),
    ("21", [user("a"), assistant(None), user("b")], [user("a"), user("b")], {"loss.blank"}),
    ("23", [user("q"), calling("a", "b"), result("a", [text("see"), image()]), result("b")], [user("q"), calling("a", "b"), result("a", [text("see"), text("[image]")]), result("b"), user([text("[media of the tool message above]"), image()])], {"repair.media"}),
    ("25", [user("q"), assistant(None, refusal="I cannot help"), user("x")], [user("q"), assistant(None, refusal="I cannot help"), user("x")], set()),
    ("27", [user("hi", name="Alice B."), user("hey", name="Гряг")], [user("hi", name="Alice_B"), user("Гряг: hey")], {"repair.author"}),
    ("29", [user("q"), assistant(None, tool_calls=[call("a", arguments='{"a": 1'), call("b", arguments="[1,2]")]), result("a"), result("b")], [user("q"), assistant(None, tool_calls=[call("a", arguments='{"a": 1'), call("b", arguments="[1,2]")]), result("a"), result("b")], {"repair.arguments"}),
    ("31", [user("q"), assistant(None, tool_calls=[call("a", "my tool.v1")]), result("a")], [user("q"), assistant(None, tool_calls=[call("a", "my_tool_v1")]), result("a")], {"repair.tool_name"}),
    ("35", [user("q"), assistant([text("t"), {"type": "tool_use", "id": "a", "name": "calc", "input": {}}], tool_calls=[call("a")]), result("a")], [user("q"), assistant("t", tool_calls=[call("a")]), result("a")], {"repair.call", "repair.copy"}),
    ("long id", [user("q"), calling("x" * 50), result("x" * 50)], [user("q"), calling("x" * 40), result("x" * 40)], {"repair.id"}),
    ("blocks of another provider", [user("q"), assistant([{"type": "tool_use", "id": "a", "name": "calc", "input": {}}]), user([{"type": "tool_result", "tool_use_id": "a", "content": [text("4")]}, text("so?")])], [user("q"), calling("a"), result("a"), user("so?")], {"repair.call", "repair.result"}),
    ("loose content", [{"role": "user", "content": {"type": "text", "text": "q"}}, user(["a", {"text": "b"}]), calling("a"), result("a", {"x": [1]})], [user("q"), user([text("a"), text("b")]), calling("a"), result("a", '{"x":[1]}')], {"repair.content"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given", "wanted", "codes"), REPAIRED, ids=[name for name, *_ in REPAIRED])
def test_tricky(name: str, given: list[JSON], wanted: list[JSON], codes: set[str]) -> None:
    rendered = cw.convert(given, "openai-chat", "openai-chat", model=GPT)
    assert rendered.payload == body(*wanted)
    assert {change.code for change in rendered.changes} == codes


def test_forced_tool_keeps_its_name() -> None:
    """31: the same new spelling in definitions, calls and the forced choice."""
    conversation = cw.Conversation((cw.user("q"),), (cw.Tool("my tool"),), settings=cw.Settings(tool_choice=cw.ToolChoice("required", "my tool")))
    payload = cw.render(conversation, "openai-chat", model=GPT).payload
    assert payload["tools"][0]["function"]["name"] == "my_tool"
    assert payload["tool_choice"] == {"type": "function", "function": {"name": "my_tool"}}


def test_system_text_for_a_model_without_system_role() -> None:
    rendered = cw.render([cw.system("be brief"), cw.user("q")], "openai-chat", model="o1-mini")
    assert rendered.payload == body(user("[System note: be brief]"), user("q"), model="o1-mini")
    assert [change.code for change in rendered.changes] == ["repair.system"]


def test_text_file_of_another_provider_is_said_as_text() -> None:
    notes = cw.Media("document", "text/plain", "aGVsbG8=", name="notes.txt")
    rendered = cw.render([cw.user(["read", notes])], "openai-chat", model=GPT)
    assert rendered.payload == body(user([text("read"), text("notes.txt:\nhello")]))


STRICT = [
    (body(user(None)), "messages[0].content"),
    (body(user("q"), assistant(None, tool_calls=[{"id": "a", "name": "f", "arguments": "{}"}])), "messages[1].tool_calls[0]"),
    (body(user("q"), assistant(None, tool_calls=[call("a", arguments="[1]")])), "messages[1].tool_calls[0].function.arguments"),
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
            {"role": "user", "content": [{"type": "input_text", "text": "q", **MARK}, {"type": "input_image", "image_url": "https://example.com/a.png", "detail": "low"}, {"type": "input_file", "file_id": "file-1"}]},
            {"type": "custom_tool_call", "call_id": "c1", "name": "shell", "input": "ls"},
            {"type": "custom_tool_call_output", "call_id": "c1", "output": "a b"},
            {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot"}]},
            {"role": "user", "content": "why?"},
        ],
        "tools": [{"type": "custom", "name": "shell", "format": {"type": "grammar", "syntax": "regex", "definition": ".*"}}],
        "tool_choice": "auto",
        "max_output_tokens": 50,
        "reasoning": {"effort": "low"},
        "text": {"verbosity": "low", "format": {"type": "json_schema", "name": "x", "schema": {}}},
        "store": False,
    }
    rendered = cw.convert(request, "openai-responses", "openai-chat")
    assert rendered.payload == body(
        system("be brief"),
        user([text("q", **MARK), image(detail="low"), {"type": "file", "file": {"file_id": "file-1"}}]),
        assistant(None, tool_calls=[{"id": "c1", "type": "custom", "custom": {"name": "shell", "input": "ls"}}]),
        result("c1", "a b"),
        assistant(None, refusal="I cannot"),
        user("why?"),
        model="gpt-5.6-sol",
        tools=[{"type": "custom", "custom": {"name": "shell", "format": {"type": "grammar", "grammar": {"syntax": "regex", "definition": ".*"}}}}],
        tool_choice="auto",
        max_completion_tokens=50,
        reasoning_effort="low",
        verbosity="low",
        response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": {}}},
        store=False,
    )
    assert [change for change in rendered.changes if change.code == "loss.setting"] == []


def test_custom_tool_is_a_function_elsewhere() -> None:
    payload = cw.convert(ACCEPTED[12], "openai-chat", "anthropic", model="claude-sonnet-4-5").payload
    assert payload["tools"][0]["input_schema"]["required"] == ["input"]
    assert payload["messages"][1]["content"][0]["input"] == {"input": "ls"}


# --- replies and streams ---------------------------------------------------------------------

USAGE = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
REPLY = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-4o-2024-08-06",
    "choices": [
        {"index": 0, "finish_reason": "tool_calls", "logprobs": None, "message": {"role": "assistant", "content": "let me see", "refusal": None, "annotations": [], "tool_calls": [call("a", "search", '{"q":"x"}')]}},
        {"index": 1, "finish_reason": "stop", "message": {"role": "assistant", "content": "other"}},
    ],
    "usage": USAGE,
}
CALLED = cw.assistant([cw.Text("let me see"), cw.ToolCall("search", {"q": "x"}, "a")])


@pytest.mark.parametrize("reply", [REPLY, sdk.ChatCompletion.model_validate(REPLY)], ids=["json", "sdk"])
def test_reply(reply: Any) -> None:
    conversation = FORMAT.parse_reply(reply)  # pyright: ignore
    assert conversation.messages == (CALLED,)
    assert conversation.model == "gpt-4o-2024-08-06"
    assert conversation.extra["openai-chat"]["finish_reason"] == "tool_calls"
    assert conversation.changes == ()


def test_reply_that_refuses() -> None:
    message = {"role": "assistant", "content": None, "refusal": "I cannot"}
    parsed = cw.parse_reply({"object": "chat.completion", "choices": [{"message": message}]})
    assert parsed.messages[0].text == "I cannot"
    rendered = cw.render([cw.user("q"), *parsed.messages], "openai-chat", model=GPT)
    assert rendered.payload == body(user("q"), assistant(None, refusal="I cannot"))


def test_reply_aloud() -> None:
    """The voice goes back by its handle; other readers get its transcript."""
    audio = {"id": "audio_1", "data": "UklGRg==", "expires_at": 9, "transcript": "Hello"}
    parsed = cw.parse_reply({"object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": None, "audio": audio}}]})
    history = [cw.user("q"), *parsed.messages, cw.user("x")]
    rendered = cw.render(history, "openai-chat", model="gpt-audio")
    assert rendered.payload == body(user("q"), assistant(None, audio={"id": "audio_1"}), user("x"), model="gpt-audio")
    assert cw.render(history, "anthropic", model="claude-sonnet-4-5").payload["messages"][1]["content"] == [text("Hello")]


def chunk(delta: JSON, finish: str | None = None, index: int = 0, **fields: Any) -> JSON:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": GPT, "choices": [choice], **fields}


def piece(index: int, arguments: str, **fields: Any) -> JSON:
    return {"tool_calls": [{"index": index, "function": {"arguments": arguments}, **fields}]}


CHUNKS = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": "let me "}),
    chunk({"content": "ignored"}, index=1),
    chunk({"content": "see"}),
    chunk({"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "search", "arguments": ""}}]}),
    chunk({"tool_calls": [{"index": 1, "id": "b", "type": "function", "function": {"name": "calc", "arguments": ""}}]}),
    chunk(piece(1, "{}")),
    chunk(piece(0, '{"q":')),
    chunk(piece(0, '"x"}')),
    chunk({}, "tool_calls"),
    {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": GPT, "choices": [], "usage": USAGE},
]


@pytest.mark.parametrize("events", [CHUNKS, [sdk.ChatCompletionChunk.model_validate(event) for event in CHUNKS]], ids=["json", "sdk"])
def test_stream(events: list[Any]) -> None:
    conversation = cw.parse_stream(events, "openai-chat")
    assert conversation.messages == (cw.assistant([*CALLED.parts, cw.ToolCall("calc", {}, "b")]),)
    assert conversation.model == GPT
    assert conversation.extra == {"openai-chat": {"id": "chatcmpl-1", "finish_reason": "tool_calls", "usage": USAGE}}
    assert conversation.changes == ()


def test_interrupted_stream_keeps_what_came() -> None:
    conversation = cw.parse_stream(CHUNKS[:8], "openai-chat")
    calls = conversation.messages[0].calls
    assert [(call.name, call.arguments) for call in calls] == [("search", {"_raw": '{"q":'}), ("calc", {})]
    assert [change.code for change in conversation.changes] == ["repair.arguments", "repair.interrupted"]


def test_stream_of_reasoning_and_refusal() -> None:
    events = [
        chunk({"role": "assistant", "reasoning_content": "so "}),
        chunk({"reasoning_content": "what"}),
        chunk({"reasoning_details": [{"type": "reasoning.text", "text": "a", "index": 0}]}),
        chunk({"reasoning_details": [{"type": "reasoning.text", "text": "b", "signature": "s", "index": 0}]}),
        chunk({"refusal": "I "}),
        chunk({"refusal": "cannot"}),
        chunk({}, "stop"),
    ]
    thinking, words = cw.parse_stream(events, "openai-chat").messages[0].parts
    assert isinstance(thinking, cw.Thinking)
    assert (thinking.text, thinking.signature) == ("so what", "s")
    assert isinstance(words, cw.Text)
    assert words.text == "I cannot"


@pytest.mark.parametrize("events", [[], [None], ["[DONE]"], [{}], [{"choices": [None, {"delta": 5}]}], [chunk({"tool_calls": [{"id": "a"}, 5, {"index": "x"}]})]], ids=range(6))
def test_broken_streams(events: list[Any]) -> None:
    try:
        conversation = cw.parse_stream(events, "openai-chat")
    except cw.ParseError:
        return
    assert "repair.interrupted" in [change.code for change in conversation.changes]


# --- laws ------------------------------------------------------------------------------------

words = st.sampled_from(("", "q", "json", "\ud800", "{}", "a b", "й", "x" * 70)) | st.text(max_size=5)
odd = json_values | words


def objects(_required: JSON | None = None, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[JSON]:
    """Objects with some of these fields, now and then of a wrong type, and a few unknown ones."""
    optional = {name: st.one_of(strategy, strategy, strategy, odd) for name, strategy in fields.items()}
    optional |= dict.fromkeys(("mood", "name", "cache_control", "index", "prompt_cache_breakpoint"), odd)
    required = _required or {}
    optional = {name: strategy for name, strategy in optional.items() if name not in required}
    return st.fixed_dictionaries(required, optional=optional)


KINDS = ("text", "refusal", "thinking", "image_url", "input_audio", "file", "video_url", "document_url", "tool_use", "tool_result", "audio", "hologram")
ROLES = ("system", "developer", "user", "assistant", "assistant", "tool", "function")
ids = st.sampled_from(("a", "b", "x" * 50, ""))
sources = objects(url=words, data=words, format=words, file_data=words, file_id=words, filename=words, detail=words)
wild_parts = objects({"type": st.sampled_from(KINDS)}, text=words, refusal=words, thinking=words, image_url=sources, input_audio=sources, file=sources, video_url=sources, document_url=words, id=ids, tool_use_id=ids, content=words, audio=objects(id=words))
functions = objects({"name": words}, arguments=words, parameters=st.just({}), strict=st.booleans())
wild_calls = objects({"id": ids, "function": functions}, type=st.sampled_from(("function", "custom")), custom=objects(name=words, input=words))
contents = st.one_of(words, words, st.none(), st.lists(wild_parts, max_size=3))
wild_messages = objects(
    {"role": st.sampled_from(ROLES), "content": contents},
    tool_calls=st.lists(wild_calls, max_size=2),
    function_call=functions,
    tool_call_id=ids,
    refusal=words,
    audio=objects(id=words),
    reasoning=words,
    reasoning_details=st.lists(odd, max_size=2),
    tool_results=st.lists(objects(tool_call_id=ids, content=words), max_size=2),
    created_at=words,
)
wild_bodies = objects(
    {"messages": st.lists(wild_messages, max_size=5)},
    model=words,
    tools=st.lists(objects(type=st.sampled_from(("function", "custom")), function=functions, custom=functions), max_size=2),
    functions=st.lists(functions, max_size=1),
    tool_choice=words,
    stop=words,
    max_tokens=odd,
)


@given(wild_bodies | odd, st.sampled_from((GPT, "gpt-5.6-sol", "o1-mini", "mistral-large-latest", "some-model")))
def test_anything_can_be_read_checked_and_written(data: Any, model: str) -> None:
    """Nothing but a ParseError comes out; what can be read can be written, legally."""
    cw.check(data, "openai-chat", model=model)
    try:
        conversation = cw.parse(data, "openai-chat")
    except cw.ParseError:
        return
    payload = cw.render(conversation, "openai-chat", model=model).payload
    problems = [problem for problem in cw.check(payload, "openai-chat", model=model) if problem.level == "error"]
    assert [problem for problem in problems if problem.code not in ("OC-empty", "OC-json-word")] == []


@given(st.lists(st.sampled_from(CHUNKS), max_size=12))
def test_any_order_of_chunks_can_be_read(events: list[JSON]) -> None:
    assert len(cw.parse_stream(events, "openai-chat").messages) == 1


# --- against the SDK -------------------------------------------------------------------------

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


# --- recorded requests -----------------------------------------------------------------------


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
        errors = [problem for problem in cw.check(request, "openai-chat") if problem.level == "error"]
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
        errors = [problem.path for problem in cw.check(request, "openai-chat") if problem.level == "error"]
        assert row["error"]["error"]["param"] in errors
        again = cw.convert(request, "openai-chat", "openai-chat").payload
        assert [problem for problem in cw.check(again, "openai-chat") if problem.level == "error"] == []
