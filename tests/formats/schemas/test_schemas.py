"""Schemas as each API accepts them, and what each loses."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contextwright.formats.schemas import (
    gemini_schema,
    json_schema,
    object_schema,
    output_schema,
)
from contextwright.formats.schemas.nodes import nodes_of
from contextwright.formats.schemas.objects import UNHELD

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


NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
PLACE = {"type": "object", "properties": {"city": {"type": "string"}}}
JSON_TO_GEMINI = {
    "plain": (
        {"type": "object", "properties": {"n": {"type": ["integer", "null"], "pattern": "x"}}},
        {"type": "object", "properties": {"n": {"type": ["integer", "null"], "pattern": "x"}}},
        [],
    ),
    "the draft": (
        {"$schema": "https://x.org", "type": "object"},
        {"type": "object"},
        [],
    ),
    "a constant": ({"const": "on"}, {"enum": ["on"]}, []),
    "a constant that cannot be listed": ({"const": True}, {}, ["const"]),
    "a reference with a description": (
        {"properties": {"a": {"$ref": "#/$defs/P", "description": "d"}}, "$defs": {"P": PLACE}},
        {"properties": {"a": {"$ref": "#/$defs/P", "description": "d"}}, "$defs": {"P": PLACE}},
        [],
    ),
    "a reference beside other words": (
        {"properties": {"a": {"$ref": "#/$defs/P", "title": "t"}}, "$defs": {"P": PLACE}},
        {"properties": {"a": {**PLACE, "title": "t"}}, "$defs": {"P": PLACE}},
        [],
    ),
    "a reference to nothing": ({"items": {"$ref": "#/$defs/P"}}, {"items": {}}, ["$ref #/$defs/P"]),
    "a reference into itself": (
        {"$ref": "#/$defs/Node", "$defs": {"Node": NODE}},
        {"$ref": "#/$defs/Node", "$defs": {"Node": NODE}},
        [],
    ),
    "a reference into itself beside other words": (
        {"$ref": "#/$defs/Node", "title": "t", "$defs": {"Node": NODE}},
        {"$ref": "#/$defs/Node", "$defs": {"Node": NODE}},
        ["recursion"],
    ),
    "a reference to a path": (
        {"anyOf": [PLACE, {"type": "null"}], "items": {"$ref": "#/anyOf/0"}},
        {"anyOf": [PLACE, {"type": "null"}], "items": PLACE},
        [],
    ),
    "references by other names": (
        {
            "anyOf": [{"$ref": "#/$defs/a%20b"}, {"$ref": "#place"}],
            "$defs": {"a b": PLACE, "c": {"$anchor": "place", **PLACE}},
        },
        {
            "anyOf": [{"$ref": "#/$defs/a%20b"}, {"$ref": "#place"}],
            "$defs": {"a b": PLACE, "c": {"$anchor": "place", **PLACE}},
        },
        [],
    ),
    "nothing but null": ({"const": None}, {"type": "null"}, []),
    "all of a reference beside other words": (
        {
            "properties": {
                "a": {
                    "allOf": [
                        {
                            "$ref": "#/$defs/P",
                            "properties": {"zip": {"type": "string"}},
                            "required": ["city"],
                        }
                    ]
                }
            },
            "$defs": {"P": PLACE},
        },
        {
            "properties": {
                "a": {
                    "type": "object",
                    "properties": {"zip": {"type": "string"}, "city": {"type": "string"}},
                    "required": ["city"],
                }
            },
            "$defs": {"P": PLACE},
        },
        ["allOf"],
    ),
    "all of one": (
        {
            "properties": {"a": {"allOf": [{"$ref": "#/$defs/P"}], "default": 1}},
            "$defs": {"P": PLACE},
        },
        {"properties": {"a": {"default": 1, "$ref": "#/$defs/P"}}, "$defs": {"P": PLACE}},
        [],
    ),
    "all of several": (
        {
            "allOf": [
                {"type": "object", "properties": {"a": {"const": "x"}}, "required": ["a"]},
                {"properties": {"b": {"type": "string"}}, "required": ["b"]},
            ]
        },
        {
            "type": "object",
            "properties": {"a": {"enum": ["x"]}, "b": {"type": "string"}},
            "required": ["a", "b"],
        },
        ["allOf"],
    ),
}


@pytest.mark.parametrize("name", JSON_TO_GEMINI)
def test_json_schema_becomes_what_gemini_takes(name: str) -> None:
    plain, expected, lost = JSON_TO_GEMINI[name]
    assert gemini_schema(plain) == (expected, lost)


def test_an_answer_of_gemini_demands_nothing_without_end() -> None:
    node = {**NODE, "required": ["next"], "minLength": 1}
    schema = {"$ref": "#/$defs/Node", "$defs": {"Node": node}}
    expected = {"$ref": "#/$defs/Node", "$defs": {"Node": {**node, "required": []}}}
    lost = ["minLength", "required (of recursive properties)"]
    assert gemini_schema(schema, enforced=True) == (expected, lost)


ANSWERS = {
    "bounds": (
        {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 2},
        {"type": "array", "items": {"type": "integer"}},
        ["minimum", "minItems"],
    ),
    "open objects": (
        {"type": "object", "properties": {"a": {"type": "object"}}},
        {
            "type": "object",
            "properties": {"a": {"type": "object", "additionalProperties": False}},
            "additionalProperties": False,
        },
        ["additionalProperties"],
    ),
    "alternatives and formats": (
        {"oneOf": [{"type": "string", "format": "uuid"}, {"type": "string", "format": "x"}]},
        {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "string"}]},
        ["format", "oneOf"],
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_anthropic_holds_an_answer_to_less(name: str) -> None:
    schema, expected, lost = ANSWERS[name]
    assert output_schema(schema) == (expected, lost)


def test_anthropic_takes_no_answer_that_leads_into_itself() -> None:
    assert output_schema({"$ref": "#/$defs/Node", "$defs": {"Node": NODE}}) is None


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
    "alternatives by other names, and of several parts": (
        {
            "anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}],
            "$defs": {
                "A": {"$ref": "#/$defs/P"},
                "B": {"allOf": [{"$ref": "#/$defs/A"}, {"properties": {"n": {}}}]},
                "P": {**PLACE, "required": ["city"]},
            },
        },
        {
            "type": "object",
            "properties": {"city": {"type": "string"}, "n": {}},
            "required": ["city"],
            "$defs": {
                "A": {"$ref": "#/$defs/P"},
                "B": {"allOf": [{"$ref": "#/$defs/A"}, {"properties": {"n": {}}}]},
                "P": {**PLACE, "required": ["city"]},
            },
        },
        ["anyOf"],
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
    "values, or none of some": (
        {"type": "object", "enum": [{}], "not": {"required": ["a"]}, "title": "T"},
        {"type": "object", "title": "T"},
        ["enum", "not"],
    ),
    "one of several types": (
        {"type": ["null", "object"], "properties": {}},
        {"type": "object", "properties": {}},
        [],
    ),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_a_tool_wants_a_plain_object_at_the_root(name: str) -> None:
    schema, expected, lost = OBJECTS[name]
    assert object_schema(schema) == (expected, lost)


def test_references_that_double_do_not_explode() -> None:
    defs = {
        f"D{n}": {
            "type": "object",
            "properties": {k: {"$ref": f"#/$defs/D{n + 1}", "title": k} for k in "ab"},
        }
        for n in range(40)
    }
    _, lost = gemini_schema({"$ref": "#/$defs/D0", "$defs": defs})
    assert "depth" in lost or "recursion" in lost


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


@example({"allOf": [], "type": "object", "$ref": "#"})
@given(SCHEMAS)
def test_any_schema_can_be_read(schema: dict[str, object]) -> None:
    written, _ = gemini_schema(schema, enforced=True)
    for node in nodes_of(written):
        assert not {"allOf", "const", "$schema"} & node.keys()
        beside = {key for key in node if not key.startswith("$")} - {"description", "default"}
        assert "$ref" not in node or not beside
    plain, _ = object_schema(schema)
    assert plain["type"] == "object"
    assert not {"anyOf", "oneOf", "allOf"} & plain.keys()
    answer = output_schema(schema)
    assert answer is None or all(UNHELD.isdisjoint(node) for node in nodes_of(answer[0]))
    json_schema(schema)


@given(SCHEMAS)
def test_a_schema_that_gemini_takes_stays_as_it_is(schema: dict[str, object]) -> None:
    once, _ = gemini_schema(schema)
    assert gemini_schema(once) == (once, [])


def test_depth_is_no_danger() -> None:
    deep: dict[str, object] = {}
    for _ in range(5_000):
        deep = {"type": "array", "items": deep}
    json_schema(deep)
    gemini_schema(deep, enforced=True)
    output_schema(deep)
    assert object_schema(deep)[0] == {"type": "object"}
