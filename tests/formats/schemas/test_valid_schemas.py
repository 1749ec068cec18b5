"""Schemas that break JSON Schema 2020-12: OpenAI and Anthropic refuse the whole request."""

from __future__ import annotations

from typing import Any

import pytest

import contextwright as cw

TEXT = {"type": "string"}
SCHEMAS: dict[str, tuple[Any, Any, list[str]]] = {
    "a tuple of draft 7": (
        {"type": "array", "items": [TEXT, {"const": 5}], "additionalItems": False},
        {"type": "array", "prefixItems": [TEXT, {"const": 5}], "items": False},
        ["repair.schema items"],
    ),
    "an exclusive bound of draft 4": (
        {"type": "number", "minimum": 0, "exclusiveMinimum": True, "exclusiveMaximum": False},
        {"type": "number", "exclusiveMinimum": 0},
        ["repair.schema exclusiveMinimum", "repair.schema exclusiveMaximum"],
    ),
    "required properties of draft 3": (
        {"type": "object", "properties": {"a": {**TEXT, "required": True}, "b": {"required": 0}}},
        {"type": "object", "properties": {"a": TEXT, "b": {}}, "required": ["a"]},
        ["repair.schema properties.a.required", "loss.schema properties.b.required"],
    ),
    "types of programming languages": (
        {"anyOf": [{"type": "STRING"}, {"type": ["int", "None"]}, {"type": "any"}]},
        {"anyOf": [TEXT, {"type": ["integer", "null"]}, {}]},
        [
            "repair.schema anyOf[0].type",
            "repair.schema anyOf[1].type",
            "repair.schema anyOf[2].type",
        ],
    ),
    "a type that nobody knows": (
        {"type": "date", "description": "a day"},
        {"description": "a day"},
        ["loss.schema type"],
    ),
    "nulls": (
        {"type": "string", "title": None, "enum": None, "default": None},
        {"type": "string", "default": None},
        ["repair.schema title", "repair.schema enum"],
    ),
    "a name twice": (
        {"type": "object", "required": ["a", "a"]},
        {"type": "object", "required": ["a"]},
        ["repair.schema required"],
    ),
    "schemas that are none": (
        {"type": "object", "properties": {"a": "string", "b": True}, "allOf": []},
        {"type": "object", "properties": {"a": {}, "b": True}},
        ["loss.schema properties.a", "loss.schema allOf"],
    ),
    "deep inside": (
        {"propertyNames": {"not": {"minLength": "3"}}},
        {"propertyNames": {"not": {}}},
        ["loss.schema propertyNames.not.minLength"],
    ),
}
MODELS = {"openai-chat": "gpt-5.4", "openai-responses": "gpt-5.4", "anthropic": "claude-opus-5"}


def body(format: str, schema: Any) -> dict[str, Any]:
    """A request with one tool that takes one argument of this schema."""
    root = {"type": "object", "properties": {"p": schema}}
    head: dict[str, Any] = {"model": MODELS[format]}
    turns = [{"role": "user", "content": "Hi."}]
    match format:
        case "openai-chat":
            tool = {"type": "function", "function": {"name": "f", "parameters": root}}
            return {**head, "messages": turns, "tools": [tool]}
        case "openai-responses":
            tool = {"type": "function", "name": "f", "parameters": root, "strict": False}
            return {**head, "input": turns, "tools": [tool]}
        case _:
            tool = {"name": "f", "input_schema": root}
            return {**head, "max_tokens": 9, "messages": turns, "tools": [tool]}


def schema_in(payload: dict[str, Any]) -> Any:
    tool = payload["tools"][0]
    root = tool.get("input_schema") or tool.get("parameters") or tool["function"]["parameters"]
    return root["properties"]["p"]


def schema_changes(rendered: cw.Rendered) -> list[cw.Change]:
    return [change for change in rendered.changes if change.code.endswith(".schema")]


@pytest.mark.parametrize("target", MODELS)
@pytest.mark.parametrize("source", MODELS)
@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_become_valid(name: str, source: str, target: str) -> None:
    given, expected, changes = SCHEMAS[name]
    refused = cw.check(body(source, given), source)
    assert refused
    assert {problem.code.partition("-")[2] for problem in refused} == {"schema"}
    rendered = cw.convert(body(source, given), source, target, model=MODELS[target])
    assert schema_in(rendered.payload) == expected
    prefix = "tools[0].parameters.properties.p."
    assert [
        f"{change.code} {change.path.removeprefix(prefix)}" for change in schema_changes(rendered)
    ] == changes
    assert cw.check(rendered.payload, target) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array"},
        {"type": ["string", "array"]},
        {"type": "array", "prefixItems": [TEXT], "maxItems": 1},
    ],
)
def test_openai_wants_the_items_of_arrays(schema: dict[str, Any]) -> None:
    assert cw.check(body("anthropic", schema), "anthropic") == []
    for format in ("openai-chat", "openai-responses"):
        [problem] = cw.check(body(format, schema), format)
        assert problem.path.endswith("properties.p.items")
        for source in (format, "anthropic"):
            rendered = cw.convert(body(source, schema), source, format, model="gpt-5.4")
            assert schema_in(rendered.payload) == {**schema, "items": {}}
            assert [change.code for change in schema_changes(rendered)] == ["repair.schema"]
            assert cw.check(rendered.payload, format) == []


def test_schemas_of_answers_become_valid() -> None:
    given = {"type": "object", "properties": {"n": {"type": "INTEGER"}}, "required": None}
    mended = {"type": "object", "properties": {"n": {"type": "integer"}}}
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": given}}
    chat = {"messages": [{"role": "user", "content": "Hi."}], "response_format": form}
    assert {problem.code for problem in cw.check(chat, "openai-chat")} >= {"OC-schema"}
    responses = cw.convert(chat, "openai-chat", "openai-responses", model="gpt-5.4")
    assert responses.payload["text"]["format"]["schema"] == mended
    gemini = cw.convert(chat, "openai-chat", "gemini", model="gemini-3.8-flash")
    assert gemini.payload["generationConfig"]["responseJsonSchema"] == mended
    claude = cw.convert(chat, "openai-chat", "anthropic", model="claude-opus-5")
    assert claude.payload["output_config"]["format"]["schema"] == {
        **mended,
        "additionalProperties": False,
    }
    for rendered in (responses, gemini, claude):
        paths = [change.path for change in rendered.changes if change.code == "repair.schema"]
        assert paths == ["output.schema.properties.n.type", "output.schema.required"]


def test_schemas_of_answers_become_valid_in_their_own_format() -> None:
    given = {"type": "object", "properties": {"n": {"type": "array"}}}
    mended = {"type": "object", "properties": {"n": {"type": "array", "items": {}}}}
    turns = [{"role": "user", "content": "Hi."}]
    form: dict[str, Any] = {"type": "json_schema", "json_schema": {"name": "n", "schema": given}}
    chat = {"model": "gpt-5.4", "messages": turns, "response_format": form}
    sent = cw.convert(chat, "openai-chat", "openai-chat")
    assert sent.payload["response_format"]["json_schema"] == {"name": "n", "schema": mended}
    path = "response_format.json_schema.schema.properties.n.items"
    assert [(change.code, change.path) for change in sent.changes] == [("repair.schema", path)]
    text = {"format": {"type": "json_schema", "name": "n", "schema": given}}
    asked = {"model": "gpt-5.4", "input": turns, "text": text}
    sent = cw.convert(asked, "openai-responses", "openai-responses")
    assert sent.payload["text"]["format"]["schema"] == mended
    path = "text.format.schema.properties.n.items"
    assert [(change.code, change.path) for change in sent.changes] == [("repair.schema", path)]


def test_anthropic_refuses_only_alternatives_at_the_root() -> None:
    schema = {"type": "object", "not": {"required": ["a", "b"]}}
    given = body("anthropic", TEXT)
    given["tools"][0]["input_schema"] = schema
    rendered = cw.convert(given, "anthropic", "anthropic")
    assert (rendered.payload, rendered.changes) == (given, ())
    chat = cw.convert(given, "anthropic", "openai-chat", model="gpt-5.4")
    assert chat.payload["tools"][0]["function"]["parameters"] == {"type": "object"}


def test_arrays_of_the_proto_say_what_they_hold() -> None:
    schema = {"type": "OBJECT", "properties": {"p": {"type": "ARRAY"}}}
    function = {"name": "f", "parameters": schema}
    turns = [{"role": "user", "parts": [{"text": "Hi."}]}]
    given = {"contents": turns, "tools": [{"functionDeclarations": [function]}]}
    [problem] = cw.check(given, "gemini")
    assert problem.path == "tools[0].functionDeclarations[0].parameters.properties.p.items"
    rendered = cw.convert(given, "gemini", "gemini")
    [mended] = rendered.payload["tools"][0]["functionDeclarations"]
    plain = {"type": "object", "properties": {"p": {"type": "array"}}}
    assert mended == {"name": "f", "parametersJsonSchema": plain}
    assert [change.code for change in schema_changes(rendered)] == ["repair.schema"]
