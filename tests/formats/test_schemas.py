"""Schemas between JSON Schema, Gemini's proto and Anthropic's plain objects."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwright.formats.schemas import gemini_schema, json_schema, object_schema
from contextwright.wire.gemini.schema import schema_problems
from gemini_sdk import types

PROTO_TO_JSON = {
    "types are small": (
        {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, "required": ["city"]},
        {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    ),
    "nullable is a type": (
        {"type": "INTEGER", "nullable": True, "format": "int32"},
        {"type": ["integer", "null"], "format": "int32"},
    ),
    "nullable values": (
        {"type": "STRING", "enum": ["a", "b"], "nullable": True},
        {"type": ["string", "null"], "enum": ["a", "b", None]},
    ),
    "nullable alternatives": (
        {"any_of": [{"type": "STRING"}, {"type": "NUMBER"}], "nullable": True},
        {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]},
    ),
    "snake_case, and numbers as text": (
        {"type": "ARRAY", "items": {"type": "STRING"}, "min_items": "1", "maxItems": 3},
        {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
    ),
    "properties in their order": (
        {
            "type": "OBJECT",
            "properties": {"b": {"type": "STRING"}, "a": {"type": "STRING", "example": "x"}},
            "propertyOrdering": ["a", "b"],
        },
        {
            "type": "object",
            "properties": {"a": {"type": "string", "examples": ["x"]}, "b": {"type": "string"}},
        },
    ),
}


@pytest.mark.parametrize("name", PROTO_TO_JSON)
def test_gemini_schemas_become_json_schema(name: str) -> None:
    proto, plain = PROTO_TO_JSON[name]
    assert json_schema(proto) == plain
    properties = plain.get("properties")
    if properties:
        assert list(json_schema(proto)["properties"]) == list(properties)


JSON_TO_PROTO = {
    "plain": (
        {
            "type": "object",
            "properties": {"n": {"type": "integer", "minimum": 1}},
            "required": ["n"],
        },
        {
            "type": "OBJECT",
            "properties": {"n": {"type": "INTEGER", "minimum": 1}},
            "required": ["n"],
        },
        [],
    ),
    "what the proto has no word for": (
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "t": {"type": "array", "uniqueItems": True, "items": {"type": "string"}}
            },
        },
        {"type": "OBJECT", "properties": {"t": {"type": "ARRAY", "items": {"type": "STRING"}}}},
        ["additionalProperties", "uniqueItems"],
    ),
    "type lists": (
        {"type": ["string", "null"], "format": "date-time"},
        {"nullable": True, "type": "STRING", "format": "date-time"},
        [],
    ),
    "several types": (
        {"type": ["string", "integer"]},
        {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]},
        [],
    ),
    "an alternative to null": (
        {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "maybe"},
        {"nullable": True, "type": "STRING", "description": "maybe"},
        [],
    ),
    "one constant": ({"const": "on"}, {"type": "STRING", "enum": ["on"]}, []),
    "numbers cannot be listed": (
        {"type": "integer", "enum": [1, 2]},
        {"type": "INTEGER"},
        ["enum"],
    ),
    "references": (
        {
            "type": "object",
            "properties": {"home": {"$ref": "#/$defs/Place", "description": "where"}},
            "$defs": {"Place": {"type": "object", "properties": {"city": {"type": "string"}}}},
        },
        {
            "type": "OBJECT",
            "properties": {
                "home": {
                    "type": "OBJECT",
                    "properties": {"city": {"type": "STRING"}},
                    "description": "where",
                }
            },
        },
        [],
    ),
    "a reference into itself": (
        {
            "$ref": "#/$defs/Node",
            "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
        },
        {"type": "OBJECT", "properties": {"next": {"type": "OBJECT"}}},
        ["$ref #/$defs/Node"],
    ),
    "open bounds": (
        {
            "type": "object",
            "properties": {
                "n": {"type": "integer", "exclusiveMinimum": 0},
                "x": {"type": "number", "exclusiveMaximum": 1.5},
            },
        },
        {
            "type": "OBJECT",
            "properties": {
                "n": {"type": "INTEGER", "minimum": 1},
                "x": {"type": "NUMBER", "maximum": 1.5},
            },
        },
        ["exclusiveMaximum"],
    ),
    "all of": (
        {
            "allOf": [
                {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"properties": {"b": {"type": "string"}}, "required": ["b"]},
            ]
        },
        {
            "type": "OBJECT",
            "properties": {"a": {"type": "STRING"}, "b": {"type": "STRING"}},
            "required": ["a", "b"],
        },
        ["allOf"],
    ),
    "a list of anything": (
        {"type": "array"},
        {"type": "ARRAY", "items": {"type": "STRING"}},
        ["items"],
    ),
}


@pytest.mark.parametrize("name", JSON_TO_PROTO)
def test_json_schema_becomes_a_gemini_schema(name: str) -> None:
    plain, proto, lost = JSON_TO_PROTO[name]
    assert gemini_schema(plain) == (proto, lost)
    types.Schema.model_validate(proto)


OBJECTS = {
    "as it is": ({"type": "object"}, {"type": "object"}, []),
    "no type": ({"properties": {}}, {"properties": {}, "type": "object"}, []),
    "a root that is a reference": (
        {
            "$ref": "#/$defs/A",
            "$defs": {"A": {"type": "object", "properties": {"x": {"type": "string"}}}},
        },
        {
            "type": "object",
            "properties": {"x": {"type": "string"}},
            "$defs": {"A": {"type": "object", "properties": {"x": {"type": "string"}}}},
        },
        [],
    ),
    "a root that leads into itself": ({"$ref": "#"}, {"type": "object"}, ["$ref"]),
    "alternatives": (
        {
            "anyOf": [
                {
                    "properties": {"id": {"type": "string"}, "n": {"type": "integer"}},
                    "required": ["id", "n"],
                },
                {
                    "properties": {"id": {"type": "integer"}, "url": {"type": "string"}},
                    "required": ["id", "url"],
                },
            ]
        },
        {
            "type": "object",
            "properties": {
                "id": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                "n": {"type": "integer"},
                "url": {"type": "string"},
            },
            "required": ["id"],
        },
        ["anyOf"],
    ),
    "all of": (
        {
            "allOf": [{"type": "object", "properties": {"a": {}}, "required": ["a"]}],
            "required": ["b"],
            "properties": {"b": {}},
        },
        {"type": "object", "properties": {"b": {}, "a": {}}, "required": ["b", "a"]},
        ["allOf"],
    ),
    "no object at all": ({"type": "array", "items": {}}, {"type": "object"}, ["type"]),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_anthropic_wants_a_plain_object_at_the_root(name: str) -> None:
    schema, expected, lost = OBJECTS[name]
    assert object_schema(schema) == (expected, lost)


def test_references_that_double_do_not_explode() -> None:
    defs = {
        f"D{n}": {"type": "object", "properties": {k: {"$ref": f"#/$defs/D{n + 1}"} for k in "ab"}}
        for n in range(40)
    }
    proto, lost = gemini_schema({"$ref": "#/$defs/D0", "$defs": defs})
    assert proto["type"] == "OBJECT"
    assert "depth" in lost


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(
    "type anyOf oneOf allOf $ref $defs enum const items prefixItems properties required nullable "
    "format minimum exclusiveMinimum description additionalProperties title default".split()
)
TYPES = st.sampled_from(["string", "object", "array", "null", "integer", "weird"])
SCHEMAS = st.recursive(
    st.dictionaries(KEYS, JSON | TYPES | st.lists(TYPES, max_size=3), max_size=4),
    lambda inner: st.dictionaries(
        KEYS,
        inner
        | st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
        | st.sampled_from(["#", "#/properties/a", "#/$defs/a", "elsewhere"]),
        max_size=4,
    ),
    max_leaves=8,
)


@given(SCHEMAS)
def test_any_schema_can_be_read(schema: dict[str, object]) -> None:
    proto, _ = gemini_schema(schema)
    unknown = [p for p in schema_problems(proto, "") if "no such field" in p.message]
    assert unknown == []
    plain, _ = object_schema(schema)
    assert plain["type"] == "object"
    assert not {"anyOf", "oneOf", "allOf"} & plain.keys()
    json_schema(schema)


@given(SCHEMAS)
def test_a_gemini_schema_survives_the_way_there_and_back(schema: dict[str, object]) -> None:
    proto, _ = gemini_schema(schema)
    again, lost = gemini_schema(json_schema(proto))
    if not any(schema_problems(proto, "")):
        assert again == proto or lost


def test_depth_is_no_danger() -> None:
    deep: dict[str, object] = {}
    for _ in range(5_000):
        deep = {"type": "array", "items": deep}
    json_schema(deep)
    assert "depth" in gemini_schema(deep)[1]
    assert object_schema(deep)[0] == {"type": "object"}
