"""How models read tools, calls and results: whole expected texts."""

from __future__ import annotations

from typing import Any

import pytest

from contextwright.tokens.count import Count, count_pieces, counter
from contextwright.tokens.pieces import Piece, pieces
from contextwright.tokens.spelling import gemma, python, typescript, words

ADDRESS = {
    "type": "object",
    "properties": {"street": {"type": "string"}, "unit": {"type": "integer"}},
    "required": ["street"],
}
ORDER = {
    "name": "order_pizza",
    "description": "Order a pizza.",
    "parameters": {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "size": {"type": "string", "enum": ["small", "large"], "description": "How big."},
            "toppings": {"type": "array", "items": {"type": "string"}},
            "to": {"$ref": "#/$defs/Address", "description": "Where to."},
        },
        "required": ["size", "to"],
        "$defs": {"Address": ADDRESS},
    },
}


def test_python_declares_objects_as_dataclasses() -> None:
    assert python.tools([ORDER]) == [
        "@dataclasses.dataclass(kw_only=True)\n"
        "class OrderPizzaTo:\n"
        '  """Where to.\n\n  Attributes:\n    street: \n    unit: \n  """\n'
        "  street: str\n"
        "  unit: int | None = None\n\n"
        "def order_pizza(\n"
        "    size: Literal['small', 'large'],\n"
        "    toppings: list[str] | None = None,\n"
        "    to: OrderPizzaTo,\n"
        ") -> dict:\n"
        '  """Order a pizza.\n\n  Args:\n'
        "    size: How big.\n    toppings: \n    to: Where to.\n"
        '  """\n'
    ]
    assert python.call("f") + python.arguments({"a": 1, "b": "x"}) == [
        "print(default_api.f",
        "(a = 1, b = 'x'))",
    ]
    assert python.result("f") + python.response({"ok": [1, 2]}) == [
        '{"f_response":',
        ' {"ok": [1, 2]}}',
    ]


def test_gemma_has_special_tokens_for_tags_and_quotation_marks() -> None:
    assert "<q>".join(gemma.tools([ORDER])) == (
        "<q>declaration:order_pizza{description:<q>Order a pizza.<q>,parameters:{properties:{"
        "size:{description:<q>How big.<q>,enum:[<q>small<q>,<q>large<q>],type:<q>STRING<q>},"
        "toppings:{items:{type:<q>STRING<q>},type:<q>ARRAY<q>},"
        "to:{description:<q>Where to.<q>,properties:{street:{type:<q>STRING<q>},"
        "unit:{type:<q>INTEGER<q>}},required:[<q>street<q>],type:<q>OBJECT<q>}},"
        "required:[<q>size<q>,<q>to<q>],type:<q>OBJECT<q>}}<q>"
    )
    assert gemma.call("f") == ["", "call:f", ""]
    assert gemma.arguments({"a": 1, "b": "x"}) == ["{a:1,b:", "x", "}"]
    assert gemma.result("f") == ["", "response:f", ""]
    assert gemma.response({"ok": [True, None]}) == ["{ok:[true,null]}"]


def test_words_leave_the_braces_out() -> None:
    assert words.tools([ORDER]) == (
        "order_pizza|Order a pizza.|type|size|to|size|type|How big.|small|large|toppings|type|type|"
        "to|type|Where to.|street|street|type|unit|type"
    ).split("|")
    assert words.call("f") == ["f"]
    assert words.response({"ok": ["yes", 1]}) == ["ok", "yes"]


@pytest.mark.parametrize("spelling", [python, gemma, words])
def test_a_schema_that_contains_itself_ends(spelling: Any) -> None:
    node = {"type": "object", "properties": {n: {"$ref": "#/$defs/Node"} for n in "abcdefgh"}}
    schema = {**node, "$defs": {"Node": node}}
    assert sum(map(len, spelling.tools([{"name": "f", "parameters": schema}]))) < 1_000_000


def test_what_is_too_deep_or_too_much_is_any() -> None:
    lists = {"type": "array", "items": {"$ref": "#/$defs/Lists"}}
    schema = {"properties": {"all": lists}, "$defs": {"Lists": lists}}
    deep = typescript.declaration({"name": "f", "parameters": schema})
    assert deep == "type f = (_: {\nall?: any" + "[]" * 12 + "}) => any;"
    many = {f"p{number}": {"type": "string"} for number in range(5_002)}
    wide = typescript.declaration({"name": "f", "parameters": {"properties": many}})
    assert (wide.count("?: string"), wide.count("?: any")) == (5_000, 2)


def counted(body: Any, model: str) -> Count:
    return count_pieces(pieces(body, "gemini"), model, format="gemini")


WEATHER = {"name": "get_weather", "description": "Get the weather.", "parameters": ADDRESS}
EXCHANGE = [
    {"role": "user", "parts": [{"text": "Is it warm?"}]},
    {"role": "model", "parts": [{"functionCall": {"name": "get_weather", "args": {"a": "b"}}}]},
    {
        "role": "user",
        "parts": [{"functionResponse": {"name": "get_weather", "response": {"ok": "yes"}}}],
    },
]


def test_each_gemini_reads_tools_in_its_own_spelling() -> None:
    body = {"contents": EXCHANGE, "tools": [{"functionDeclarations": [WEATHER]}]}

    def tokens(*parts: str) -> int:
        return sum(map(counter("gemma3"), parts))

    places = counted(body, "gemini-2.0-flash").places
    assert places["tools"] == tokens(*words.tools([WEATHER]))
    assert places["contents[1]"] == tokens("get_weather", "a", "b")
    assert places["contents[2]"] == tokens("get_weather", "ok", "yes")
    places = counted(body, "gemini-2.5-flash").places
    assert places["tools"] == tokens(*python.tools([WEATHER]))
    assert places["contents[1]"] == 1 + tokens("print(default_api.get_weather", "(a = 'b'))")
    assert places["contents[2]"] == 1 + tokens('{"get_weather_response":', ' {"ok": "yes"}}')
    places = counted(body, "gemini-3-flash-preview").places
    declared = gemma.tools([WEATHER])
    assert places["tools"] == tokens(*declared) + len(declared) - 1
    # One token for the content, two tags, two quotation marks.
    assert places["contents[1]"] == 1 + 2 + 2 + tokens("call:get_weather", "{a:", "b", "}")
    assert places["contents[2]"] == 1 + 2 + 2 + tokens("response:get_weather", "{ok:", "yes", "}")


def test_gemini_s_lower_bound_reaches_what_vertex_charges() -> None:
    body = {"contents": EXCHANGE, "tools": [{"functionDeclarations": [WEATHER]}]}
    for model in ("gemini-2.5-flash", "gemini-3-flash-preview"):
        found = counted(body, model)
        cheap = count_pieces(pieces(body, "gemini"), "gemini-2.0-flash", format="gemini").tokens
        assert found.least <= cheap < found.tokens <= found.most < found.tokens * 1.2


def test_signatures_before_the_newest_question_are_free() -> None:
    signed = [EXCHANGE[0], {**EXCHANGE[1], "parts": [{**EXCHANGE[1]["parts"][0]}]}, EXCHANGE[2]]
    signed[1]["parts"][0]["thoughtSignature"] = "A" * 1_000
    model = "gemini-3-flash-preview"
    plain = counted({"contents": EXCHANGE}, model).tokens
    assert counted({"contents": signed}, model).tokens == plain + 180
    asked = [*signed, {"role": "user", "parts": [{"text": "And now?"}]}]
    bare = [*EXCHANGE, {"role": "user", "parts": [{"text": "And now?"}]}]
    assert counted({"contents": asked}, model) == counted({"contents": bare}, model)


def test_a_response_schema_costs_its_words() -> None:
    settings = {"generationConfig": {"responseSchema": ADDRESS}}
    expected = sum(map(counter("gemma3"), words.schema(ADDRESS)))
    for model in ("gemini-2.0-flash", "gemini-2.5-flash", "gemini-3-flash-preview"):
        assert counted(settings, model).tokens == expected
    free = {"generationConfig": {"responseJsonSchema": ADDRESS}}
    assert counted(free, "gemini-2.5-flash").tokens == 0


def test_a_group_of_tools_may_stand_alone() -> None:
    group = {"functionDeclarations": [WEATHER]}
    assert counted({"tools": group}, "gemini-2.5-flash") == counted(
        {"tools": [group]}, "gemini-2.5-flash"
    )


LOOP: list[Any] = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    "schema",
    [
        None,
        "text",
        {"properties": {1: {"type": 2}}, "required": 3, "type": ["string", "null"]},
        {"properties": {"a": {"enum": [object(), float("nan")], "items": []}}, "$defs": []},
        {"properties": {"a": {"$ref": "#/$defs/none"}}, "anyOf": [None], "type": b"x"},
        {"prefixItems": LOOP, "properties": {"a": {"anyOf": LOOP}}},
    ],
)
def test_no_schema_makes_counting_fail(schema: Any) -> None:
    tools = [{"functionDeclarations": [{"name": "f", "parameters": schema}, {"name": None}, 7]}]
    for model in ("gemini-2.0-flash", "gemini-2.5-flash", "gemini-3-flash-preview", "gpt-4o"):
        assert counted({"tools": tools}, model).tokens >= 0


@pytest.mark.parametrize("value", ["no json", "[]", "[" * 900 + "]" * 900, "7", '{"a":null}'])
def test_no_value_makes_counting_fail(value: str) -> None:
    for model in ("gemini-2.0-flash", "gemini-2.5-flash", "gemini-3-flash-preview"):
        for piece in (Piece("arguments", "x", value), Piece("response", "x", value)):
            assert count_pieces([piece], model, format="gemini").tokens >= 0
