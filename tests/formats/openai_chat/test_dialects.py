"""OpenAI's chat format as other hosts speak it."""

import pytest

import contextwright as cw
from contextwright import models
from contextwright.wire.openai_chat.dialects import dialect_of
from samples.chat_payloads import (
    GPT,
    JSON,
    MARK,
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

DIALECTS: list[tuple[str, JSON]] = [
    (
        "reasoning of DeepSeek",
        body(
            user("q"),
            assistant(None, reasoning_content="hm", tool_calls=[call("a")]),
            result("a"),
            assistant("4", reasoning_content="so"),
            user("x"),
            model="deepseek-reasoner",
        ),
    ),
    (
        "reasoning without words",
        body(
            user("q"),
            assistant(None, reasoning_content="", tool_calls=[call("a")]),
            result("a"),
            model="deepseek-reasoner",
        ),
    ),
    (
        "prefix of DeepSeek",
        body(user("q"), assistant("```", prefix=True), model="deepseek-chat", stop=["```"]),
    ),
    (
        "reasoning of OpenRouter",
        body(
            user("q"),
            assistant(
                "4",
                reasoning="hm",
                reasoning_details=[
                    {
                        "type": "reasoning.text",
                        "text": "hm",
                        "signature": "c2ln",
                        "format": "anthropic-claude-v1",
                        "index": 0,
                    }
                ],
            ),
            user("x"),
            model="anthropic/claude-sonnet-4.5",
            reasoning={"effort": "low"},
            provider={"order": ["x"]},
            usage={"include": True},
        ),
    ),
    (
        "sealed reasoning",
        body(
            user("q"),
            assistant("4", reasoning_details=[{"type": "reasoning.encrypted", "data": "zzz"}]),
            user("x"),
            model="openai/gpt-5-mini",
        ),
    ),
    (
        "cache marks behind a router",
        body(
            system([text("s", cache_control={"type": "ephemeral"})]),
            user([text("q", cache_control={"type": "ephemeral", "ttl": "1h"})]),
            model="anthropic/claude-sonnet-4.6",
        ),
    ),
    (
        "media of OpenRouter",
        body(
            user(
                [
                    {"type": "video_url", "video_url": {"url": "https://example.com/a.webm"}},
                    {
                        "type": "file",
                        "file": {"file_data": "https://example.com/a.pdf", "filename": "a.pdf"},
                    },
                ]
            ),
            model="google/gemini-2.5-flash",
        ),
    ),
    (
        "tools of OpenRouter",
        body(
            user("q"),
            tools=[
                {"type": "openrouter:web_search", "parameters": {"max_uses": 1}},
                {**TOOL, "eager_input_streaming": True},
            ],
            model="anthropic/claude-sonnet-4.6",
        ),
    ),
    (
        "thinking of Mistral",
        body(
            user("q"),
            assistant(
                [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, text("4")],
                prefix=False,
            ),
            user("x"),
            model="magistral-medium-latest",
        ),
    ),
    (
        "calls of Mistral",
        body(
            user("q"),
            assistant([], prefix=False, tool_calls=[{**call("abcdefghi"), "index": 0}]),
            result("abcdefghi"),
            tools=[{"function": {"name": "f", "description": "", "parameters": {}}}],
            tool_choice="any",
            model="mistral-large-latest",
            safe_prompt=False,
        ),
    ),
    (
        "no calls of Mistral",
        body(
            user("q"),
            assistant([text("a"), text("b")], prefix=False, tool_calls=[]),
            user("x"),
            model="mistral-medium-latest",
        ),
    ),
    (
        "media of Mistral",
        body(
            user(
                [
                    {
                        "type": "document_url",
                        "document_url": "https://example.com/a.pdf",
                        "document_name": "a",
                    },
                    {"type": "image_url", "image_url": "https://example.com/a.png"},
                    {"type": "input_audio", "input_audio": "UklGRg=="},
                ]
            ),
            model="mistral-small-latest",
        ),
    ),
    (
        "nulls of Hugging Face",
        body(
            {**user("q"), "name": None, "tool_calls": None},
            {**assistant("a"), "name": None, "tool_calls": None},
            {**user("x"), "name": None, "tool_calls": None},
            model="deepseek-ai/DeepSeek-R1",
            tools=[],
        ),
    ),
    (
        "settings of Groq",
        body(
            user("q"),
            model="qwen/qwen3-32b",
            service_tier="on_demand",
            reasoning_format="parsed",
            reasoning_effort="default",
            stop=None,
        ),
    ),
    (
        "settings of Z.ai",
        body(user("q"), model="glm-4.7", thinking={"type": "enabled", "clear_thinking": False}),
    ),
    ("settings of Cerebras", body(user("q"), model="zai-glm-4.7", clear_thinking=False)),
    (
        "reasoning of Ollama",
        body(user("q"), assistant("4", reasoning="hm"), user("x"), model="gpt-oss:20b"),
    ),
    (
        "thought signatures of Gemini",
        body(
            user("q"),
            assistant(
                None,
                tool_calls=[
                    {**call("a"), "extra_content": {"google": {"thought_signature": "c2ln"}}}
                ],
            ),
            result("a"),
            model="gemini-3.1-flash-lite",
        ),
    ),
    (
        "media of vLLM",
        body(
            user(
                [
                    {"type": "audio_url", "audio_url": {"url": "https://example.com/a.wav"}},
                    {**image(), "uuid": "1"},
                ]
            ),
            model="qwen2-audio",
        ),
    ),
    (
        "media of Qwen",
        body(
            user(
                [
                    {
                        "type": "input_audio",
                        "input_audio": {"data": "data:;base64,UklGRg==", "format": "wav"},
                    },
                    {"type": "video", "video": ["https://example.com/1.jpg"]},
                ]
            ),
            model="qwen3-omni-flash",
        ),
    ),
    (
        "bytes without their type",
        body(
            user([{"type": "file", "file": {"file_data": "JVBERi0=", "filename": "a.pdf"}}]),
            model="some-model",
        ),
    ),
    (
        "a picture in a result",
        body(
            user("q"),
            calling("a"),
            {**result("a", [text("see"), image()]), "cache_control": {"type": "ephemeral"}},
            model="anthropic/claude-sonnet-4.6",
        ),
    ),
    (
        "unusual names",
        body(
            user("q", name="Alice B."),
            assistant(None, tool_calls=[call("x" * 60, "a.b:c")]),
            result("x" * 60),
            tools=[{"type": "function", "function": {"name": "a.b:c"}}],
            model="some-model",
        ),
    ),
    (
        "what nobody knows yet",
        body(
            {**user([{"type": "hologram", "hologram": {"x": 1}}]), "mood": "good"},
            model="some-model",
            new_setting=[1],
        ),
    ),
]


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
        user(
            [
                text("t", cache_control={"type": "ephemeral"}, **MARK),
                {"type": "weird", "text": "hm"},
                image(detail="low", pixels=9),
            ]
        ),
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
        ("loss.thinking", "messages[1].parts[0]"),
        ("loss.tool", "tools[0]"),
        ("repair.setting", "tool_choice"),
        ("loss.setting", "service_tier"),
        ("loss.extra", "top_k"),
    ]


def test_unknown_field_is_a_warning_where_hosts_differ() -> None:
    problems = cw.check(body(user("q"), tempurature=1, model="llama-3.3-70b"), "openai-chat")
    assert [(problem.code, problem.path, problem.level) for problem in problems] == [
        ("T-extra", "tempurature", "warning")
    ]


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
            cw.assistant(
                [cw.Thinking("hm", origin="openai-chat"), cw.ToolCall("f", {"a": 1}, id="toolu_01")]
            ),
            cw.tool_result("toolu_01", "ok"),
        ),
        (cw.Tool("f"),),
        settings=cw.Settings(
            max_tokens=9, temperature=0.5, stop=("x",), tool_choice=cw.ToolChoice("required")
        ),
    )
    rendered = cw.render(conversation, "openai-chat", model="mistral-large-latest")
    id = rendered.payload["messages"][2]["tool_call_id"]
    assert len(id) == 9
    assert id.isalnum()
    assert rendered.payload == body(
        user(
            [
                text("read"),
                {
                    "type": "document_url",
                    "document_url": "data:application/pdf;base64,JVBERi0=",
                    "document_name": "a.pdf",
                },
            ]
        ),
        assistant(
            [{"type": "thinking", "thinking": [text("hm")]}], tool_calls=[call(id, "f", '{"a":1}')]
        ),
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
    rendered = cw.convert(
        body(user("q"), max_tokens=5, temperature=0.3, seed=1),
        "openai-chat",
        "openai-chat",
        model="gpt-5",
    )
    assert rendered.payload == body(user("q"), model="gpt-5", seed=1, max_completion_tokens=5)
    assert [change.code for change in rendered.changes] == ["repair.setting", "loss.setting"]
