"""Settings and tools that an API refuses together, or one without the other: found and mended."""

from typing import Any, NamedTuple

import pytest

import contextwright as cw

TURN = {"role": "user", "parts": [{"text": "hi"}]}
OBJECT = {"type": "object"}
STRING = {"type": "STRING"}
SAID = {"role": "user", "content": "hi"}
CLOSED = {"type": "json_schema", "schema": {**OBJECT, "additionalProperties": False}}
CALL = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
CITED = {
    "type": "document",
    "source": {"type": "text", "media_type": "text/plain", "data": "Words."},
    "citations": {"enabled": True},
}


class Case(NamedTuple):
    format: str
    model: str
    fields: dict[str, Any]
    """What the request has besides a question."""
    problems: list[str]
    mended: dict[str, Any]
    """The fields that are different then; None for one that is gone."""
    changes: list[str]


def declared(**fields: Any) -> dict[str, Any]:
    return {"functionDeclarations": [{"name": "f", "description": "d", **fields}]}


CASES = {
    "functions, search and JSON before Gemini 3": Case(
        "gemini",
        "gemini-2.5-flash",
        {
            "tools": [{"googleSearch": {}}, declared(), {"urlContext": {}}],
            "generationConfig": {"responseMimeType": "application/json", "topK": 3},
        },
        [
            "G-tools-mixed tools[0].googleSearch",
            "G-tools-mixed tools[2].urlContext",
            "G-tools-mixed generationConfig.responseMimeType",
        ],
        {"tools": [declared()], "generationConfig": {"topK": 3}},
        ["loss.tool tools[0]", "loss.tool tools[2]", "loss.setting output"],
    ),
    "search and JSON before Gemini 3": Case(
        "gemini",
        "gemini-2.0-flash",
        {
            "tools": [{"googleSearch": {}}],
            "generationConfig": {"responseMimeType": "application/json", "topK": 3},
        },
        ["G-tools-mixed generationConfig.responseMimeType"],
        {"generationConfig": {"topK": 3}},
        ["loss.setting output"],
    ),
    "a schema without JSON": Case(
        "gemini",
        "gemini-3.8-flash",
        {"generationConfig": {"responseSchema": STRING, "responseMimeType": "text/plain"}},
        ["G-schema generationConfig.responseMimeType"],
        {
            "generationConfig": {
                "responseSchema": STRING,
                "responseMimeType": "application/json",
            }
        },
        ["repair.setting generationConfig.responseMimeType"],
    ),
    "arguments that are no object": Case(
        "gemini",
        "gemini-3.8-flash",
        {"tools": [declared(parameters=STRING)]},
        ["G-schema tools[0].functionDeclarations[0].parameters.type"],
        {"tools": [declared(parametersJsonSchema=OBJECT)]},
        ["repair.schema tools[0].parameters"],
    ),
    "arguments that are a list": Case(
        "gemini",
        "gemini-3.8-flash",
        {"tools": [declared(parametersJsonSchema={"type": "array", "items": {}})]},
        ["G-schema tools[0].functionDeclarations[0].parametersJsonSchema.type"],
        {"tools": [declared(parametersJsonSchema=OBJECT)]},
        ["repair.schema tools[0].parameters"],
    ),
    "a choice without tools": Case(
        "anthropic",
        "claude-opus-5",
        {"tool_choice": {"type": "none"}},
        ["A-choice tool_choice"],
        {"tool_choice": None},
        ["repair.setting tool_choice"],
    ),
    "one call at a time, without tools": Case(
        "anthropic",
        "claude-opus-5",
        {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
        ["A-choice tool_choice"],
        {"tool_choice": None},
        ["loss.setting tool_choice"],
    ),
    "deferred tools alone": Case(
        "anthropic",
        "claude-opus-5",
        {"tools": [{"name": "f", "input_schema": OBJECT, "defer_loading": True}]},
        ["A-deferred tools"],
        {"tools": [{"name": "f", "input_schema": OBJECT}]},
        ["repair.tools tools"],
    ),
    "blank stop sequences": Case(
        "anthropic",
        "claude-opus-5",
        {"stop_sequences": ["\n", "END", ""]},
        ["A-stop stop_sequences[0]", "A-stop stop_sequences[2]"],
        {"stop_sequences": ["END"]},
        ["loss.setting stop"],
    ),
    "nothing but blank stop sequences": Case(
        "anthropic",
        "claude-opus-5",
        {"stop_sequences": [" "]},
        ["A-stop stop_sequences[0]"],
        {"stop_sequences": None},
        ["loss.setting stop"],
    ),
    "JSON and the beginning of an answer": Case(
        "anthropic",
        "claude-sonnet-4-5",
        {
            "messages": [SAID, {"role": "assistant", "content": "{"}],
            "output_config": {"effort": "low", "format": CLOSED},
        },
        ["A-output output_config.format"],
        {"output_config": {"effort": "low"}},
        ["loss.setting output"],
    ),
    "JSON and citations, one of them within a result": Case(
        "anthropic",
        "claude-opus-5",
        {
            "tools": [{"name": "f", "input_schema": OBJECT}],
            "messages": [
                SAID,
                {"role": "assistant", "content": [CALL]},
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "c1", "content": [CITED]},
                    ],
                },
            ],
            "output_format": CLOSED,
        },
        ["A-output output_format"],
        {"output_format": None},
        ["loss.setting output"],
    ),
    "settings without the one they need": Case(
        "openai-chat",
        "gpt-4o",
        {
            "stream_options": {"include_usage": True},
            "metadata": {"run": "7"},
            "logprobs": False,
            "top_logprobs": 2,
        },
        ["OC-needs stream_options", "OC-needs metadata", "OC-needs top_logprobs"],
        {"stream_options": None, "metadata": None, "top_logprobs": None},
        ["repair.setting stream_options", "loss.setting metadata", "loss.setting top_logprobs"],
    ),
    "a limit under both names": Case(
        "openai-chat",
        "gpt-4o",
        {"max_tokens": 30, "max_completion_tokens": 20},
        ["OC-max-output max_tokens"],
        {"max_tokens": None},
        ["repair.setting max_tokens"],
    ),
    "a hosted tool that is not among the tools": Case(
        "openai-responses",
        "gpt-5.6-sol",
        {
            "tools": [{"type": "code_interpreter", "container": "c"}],
            "tool_choice": {"type": "web_search"},
        },
        ["OR-choice tool_choice.type"],
        {"tool_choice": None},
        ["loss.setting tool_choice.type"],
    ),
    "thinking of a model that does not": Case(
        "gemini",
        "gemini-2.0-flash",
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": 100}, "topK": 3}},
        ["G-thinking generationConfig.thinkingConfig"],
        {"generationConfig": {"topK": 3}},
        ["loss.setting effort"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_refused_combination_is_found_and_mended(name: str) -> None:
    format, model, fields, problems, mended, changes = CASES[name]
    body = {**question(format, model), **fields}
    found = cw.check(body, format, model=model)
    assert [f"{one.code} {one.path}" for one in found if one.level == "error"] == problems
    made = cw.convert(body, format, format, model=model)
    assert [f"{change.code} {change.path}" for change in made.changes] == changes
    expected = {key: value for key, value in {**body, **mended}.items() if value is not None}
    assert cw.parse(made.payload, format) == cw.parse(expected, format)
    assert [
        one for one in cw.check(made.payload, format, model=model) if one.level == "error"
    ] == []


def question(format: str, model: str) -> dict[str, Any]:
    """A request that only asks."""
    match format:
        case "gemini":
            return {"contents": [TURN]}
        case "openai-responses":
            return {"model": model, "input": "hi"}
        case "anthropic":
            return {"model": model, "max_tokens": 5_000, "messages": [SAID]}
        case _:
            return {"model": model, "messages": [SAID]}


TAKEN = {
    "functions, search and JSON for Gemini 3": (
        "gemini",
        "gemini-3.8-flash",
        {
            "tools": [{"googleSearch": {}}, declared(parametersJsonSchema={"$ref": "#/$defs/a"})],
            "generationConfig": {"responseMimeType": "application/json"},
        },
    ),
    "a deferred tool beside the search for it": (
        "anthropic",
        "claude-opus-5",
        {
            "tools": [
                {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
                {"name": "f", "input_schema": OBJECT, "defer_loading": True},
            ],
            "tool_choice": {"type": "none"},
            "stop_sequences": ["\nEND"],
            "output_config": {"format": CLOSED},
        },
    ),
    "settings with the one they need": (
        "openai-chat",
        "gpt-4o",
        {
            "stream": True,
            "stream_options": {"include_usage": True},
            "store": True,
            "metadata": {"run": "7"},
            "logprobs": True,
            "top_logprobs": 2,
        },
    ),
    "another edition of the tool that is chosen": (
        "openai-responses",
        "gpt-5.6-sol",
        {
            "tools": [{"type": "web_search_preview_2025_03_11"}],
            "tool_choice": {"type": "web_search_preview"},
        },
    ),
    "no thinking of a model that does not": (
        "gemini",
        "gemini-2.0-flash",
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}},
    ),
}


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_taken_stays(name: str) -> None:
    format, model, fields = TAKEN[name]
    body = {**question(format, model), **fields}
    assert cw.check(body, format, model=model) == []
    assert cw.convert(body, format, format, model=model).payload is body


JSON_ANSWER = {
    "type": "json_schema",
    "json_schema": {"name": "a", "schema": {"type": "object", "properties": {}}},
}


def test_claude_gets_no_blank_stop_and_no_choice_of_tools_that_another_host_runs() -> None:
    body = {
        **question("openai-responses", "gpt-4o"),
        "tools": [{"type": "file_search", "vector_store_ids": ["vs_1"]}],
        "tool_choice": "auto",
    }
    made = cw.convert(body, "openai-responses", "anthropic", model="claude-opus-5")
    assert "tool_choice" not in made.payload
    stops = {**question("openai-chat", "gpt-4o"), "stop": ["\n", "END"]}
    made = cw.convert(stops, "openai-chat", "anthropic", model="claude-opus-5")
    assert made.payload["stop_sequences"] == ["END"]
    assert [str(change) for change in made.changes] == [
        "loss.setting stop: anthropic takes no blank stop sequence",
        "invent.max_tokens max_tokens: required by this API and not set; using 4,096",
    ]


def test_gemini_2_is_asked_for_calls_or_json_and_gemini_3_for_both() -> None:
    function = {"name": "f", "parameters": {"properties": {"a": {"type": "string"}}}}
    body = {
        **question("openai-chat", "gpt-4o"),
        "tools": [{"type": "function", "function": function}],
        "response_format": JSON_ANSWER,
    }
    old = cw.convert(body, "openai-chat", "gemini", model="gemini-2.5-flash")
    new = cw.convert(body, "openai-chat", "gemini", model="gemini-3.8-flash")
    assert [change.path for change in old.changes] == ["output"]
    assert "generationConfig" not in old.payload
    assert new.payload["generationConfig"]["responseMimeType"] == "application/json"
    for made in (old, new):
        [tool] = made.payload["tools"]
        assert tool["functionDeclarations"][0]["parametersJsonSchema"]["type"] == "object"


def test_metadata_goes_to_chat_only_with_what_is_stored() -> None:
    body = {**question("openai-responses", "gpt-5.6-sol"), "metadata": {"run": "7"}}
    plain = cw.convert(body, "openai-responses", "openai-chat", model="gpt-5.6-sol")
    assert "metadata" not in plain.payload
    assert [str(change) for change in plain.changes] == [
        "loss.setting metadata: not allowed without store"
    ]
    stored = cw.convert({**body, "store": True}, "openai-responses", "openai-chat")
    assert stored.payload["metadata"] == {"run": "7"}


def test_a_model_that_does_not_reason_is_asked_for_no_reasoning() -> None:
    include = ["reasoning.encrypted_content", "message.output_text.logprobs"]
    body = {**question("openai-responses", "gpt-5.6-sol"), "include": include}
    [found] = cw.check(body, "openai-responses", model="gpt-4o")
    assert (found.code, found.path) == ("OR-sampling", "include")
    made = cw.convert(body, "openai-responses", "openai-responses", model="gpt-4o")
    assert made.payload["include"] == ["message.output_text.logprobs"]
    assert [change.path for change in made.changes] == ["include"]
    alone = {**body, "include": include[:1]}
    made = cw.convert(alone, "openai-responses", "openai-responses", model="gpt-4o")
    assert "include" not in made.payload
