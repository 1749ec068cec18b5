"""Gemini: what the API refuses, round trips, and other formats' histories."""

from typing import Any

import pytest

import contextwright as cw
from contextwright.wire.gemini.types import Request
from contextwright.wire.spelling import as_spelled, camel_case, snake_case
from golden_files import compare_problems
from samples.formats.gemini import NEW, OLD, answer, call, model, user
from strategies.messages import PNG

# --- what the API refuses --------------------------------------------------------------------

ANSWERED = [user("q"), model(call("f", "a")), user(answer("f", {"output": "1"}, "a"))]
ROOT = {"$ref": "#", "additionalProperties": False}
FUNCTION = {"name": "f", "parameters": {"type": "OBJECT", "properties": {}}}

AT = "tools[0].functionDeclarations[0].parameters"


def declaring(schema: Any) -> dict[str, Any]:
    tools = [{"functionDeclarations": [{"name": "f", "parameters": schema}]}]
    return {"contents": [user("q")], "tools": tools}


REFUSED: dict[str, tuple[Any, str, list[str]]] = {
    "a clean request": ({"contents": ANSWERED}, NEW, []),
    "T-type": ({"contents": "hi"}, NEW, ["T-type contents"]),
    "T-extra": ({"contents": [user("q")], "messages": []}, NEW, ["T-extra messages"]),
    "T-extra in a part": (
        {"contents": [user({"text": "q", "type": "text"})]},
        NEW,
        ["T-extra contents[0].parts[0].type"],
    ),
    "T-literal role": (
        {"contents": [{"role": "tool", "parts": [{"text": "q"}]}]},
        NEW,
        ["T-literal contents[0].role"],
    ),
    "T-required name": (
        {"contents": [user("q"), model({"functionCall": {}}), user(answer("f", {}))]},
        OLD,
        [
            "T-required contents[1].parts[0].functionCall.name",
            "warning G-orphan contents[2].parts[0].functionResponse.name",
        ],
    ),
    "G-empty": ({"contents": []}, NEW, ["G-empty contents"]),
    "G-empty without contents": ({}, NEW, ["G-empty contents"]),
    "G-parts": (
        {"contents": [{"role": "user", "parts": []}, model("a"), {"role": "user"}]},
        NEW,
        ["G-parts contents[0].parts", "G-parts contents[2].parts"],
    ),
    "G-parts empty part": ({"contents": [user({})]}, NEW, ["G-parts contents[0].parts[0]"]),
    "G-parts two in one": (
        {"contents": [user({"text": "a", "inlineData": {"mimeType": "image/png", "data": PNG}})]},
        NEW,
        ["G-parts contents[0].parts[0]"],
    ),
    "G-parts a signed call with words": (
        {
            "contents": [
                user("q"),
                model({**call("f", "a"), "text": "so"}),
                user(answer("f", {}, "a")),
            ]
        },
        NEW,
        ["G-parts contents[1].parts[0]"],
    ),
    "G-count": (
        {
            "contents": [
                user("q"),
                model(call("f", "a"), call("f", "b")),
                user(answer("f", {}, "a")),
            ]
        },
        OLD,
        ["G-count contents[2].parts[0]"],
    ),
    "G-unanswered": (
        {"contents": [user("q"), model(call("f")), user("so?")]},
        OLD,
        ["G-unanswered contents[1].parts[0]"],
    ),
    "G-unanswered at the end": (
        {"contents": [user("q"), model(call("f"))]},
        OLD,
        ["G-unanswered contents[1].parts[0]"],
    ),
    "G-orphan": ({"contents": [user(answer("f", {}))]}, OLD, ["G-orphan contents[0].parts[0]"]),
    "G-orphan by id": (
        {"contents": [user("q"), model(call("f", "a")), user(answer("f", {}, "b"))]},
        OLD,
        ["G-orphan contents[2].parts[0].functionResponse.id"],
    ),
    "G-orphan behind words": (
        {"contents": [user("q"), model(call("f")), user("wait"), user(answer("f", {}))]},
        OLD,
        ["warning G-consecutive contents[3]", "G-orphan contents[3].parts[0]"],
    ),
    "G-orphan of a model": (
        {"contents": [user("q"), model(answer("f", {}, "a")), user("r")]},
        NEW,
        ["G-orphan contents[1].parts[0]"],
    ),
    "G-call-place": (
        {"contents": [model(call("f")), user(answer("f", {}))]},
        OLD,
        ["G-call-place contents[0].parts[0]"],
    ),
    "G-call-place by the user": (
        {"contents": [user(call("f"), "x"), model("a"), user("b")]},
        OLD,
        ["G-call-place contents[0].parts[0]"],
    ),
    "G-mixed": (
        {"contents": [user("q"), model(call("f")), user(answer("f", {}), "and?")]},
        OLD,
        ["G-mixed contents[2]"],
    ),
    "calls in two contents are parallel": (
        {
            "contents": [
                user("q"),
                model(call("f", "a")),
                model(call("f", "b")),
                user(answer("f", {}, "a"), answer("f", {}, "b")),
            ]
        },
        NEW,
        ["warning G-consecutive contents[2]"],
    ),
    "words in a content behind the responses": ({"contents": [*ANSWERED, user("and?")]}, NEW, []),
    "G-signature": (
        {
            "contents": [
                user("q"),
                model(call("f", "a", None), call("f", "b")),
                user(answer("f", {}, "a"), answer("f", {}, "b")),
            ]
        },
        NEW,
        ["G-signature contents[1].parts[0]"],
    ),
    "G-signature of every step since the question": (
        {
            "contents": [
                user("q"),
                model(call("f", "a", None)),
                user(answer("f", {}, "a")),
                model(call("f", "b")),
                user(answer("f", {}, "b")),
            ]
        },
        NEW,
        ["G-signature contents[1].parts[0]"],
    ),
    "G-signature of the first parallel call is enough": (
        {
            "contents": [
                user("q"),
                model(call("f", "a"), call("f", "b", None)),
                user(answer("f", {}, "a"), answer("f", {}, "b")),
            ]
        },
        NEW,
        [],
    ),
    "G-signature is not asked of old turns": (
        {
            "contents": [
                user("q"),
                model(call("f", "a", None)),
                user(answer("f", {}, "a")),
                model("1"),
                user("and?"),
            ]
        },
        NEW,
        [],
    ),
    "G-signature is not asked by old models": (
        {"contents": [user("q"), model(call("f", "a", None)), user(answer("f", {}, "a"))]},
        OLD,
        [],
    ),
    "G-signature inside": (
        {
            "contents": [
                user("q"),
                model({"functionCall": {"name": "f", "thoughtSignature": "c2ln"}}),
                user(answer("f", {})),
            ]
        },
        OLD,
        [
            "T-extra contents[1].parts[0].functionCall.thoughtSignature",
            "G-signature contents[1].parts[0].functionCall",
        ],
    ),
    "G-prefill": ({"contents": [user("q"), model("It is")]}, NEW, ["G-prefill contents[1]"]),
    "prefill on older models": ({"contents": [user("q"), model("It is")]}, OLD, []),
    "G-response": (
        {"contents": [user("q"), model(call("f")), user(answer("f", ["1"]))]},
        OLD,
        ["G-response contents[2].parts[0].functionResponse.response"],
    ),
    "G-response args": (
        {
            "contents": [
                user("q"),
                model({"functionCall": {"name": "f", "args": "{}"}}),
                user(answer("f", {})),
            ]
        },
        OLD,
        ["G-response contents[1].parts[0].functionCall.args"],
    ),
    "G-toolname": (
        {
            "contents": [user("q")],
            "tools": [
                {"functionDeclarations": [{"name": "my tool"}, {"name": "f"}, {"name": "f"}]}
            ],
        },
        NEW,
        [
            "G-toolname tools[0].functionDeclarations[0].name",
            "G-toolname tools[0].functionDeclarations[2].name",
        ],
    ),
    "G-schema": (
        declaring(
            {
                "$schema": "x",
                "type": ["object", "null"],
                "additionalProperties": False,
                "properties": {"$ref": {"type": "string", "const": 1}, "n": {"enum": [1]}},
            }
        ),
        NEW,
        [
            f"G-schema {AT}.$schema",
            f"G-schema {AT}.additionalProperties",
            f"G-schema {AT}.type",
            f"warning G-schema {AT}.properties.$ref",
            f"G-schema {AT}.properties.n.enum",
            f"G-schema {AT}.properties.$ref.const",
        ],
    ),
    "G-schema of wrong types": (
        declaring({"type": "OBJECT", "properties": [], "anyOf": {}, "any_of": []}),
        NEW,
        [f"G-spelling {AT}.any_of", f"G-schema {AT}.properties", f"G-schema {AT}.anyOf"],
    ),
    "G-schema at any depth": (
        declaring({"properties": {"a": {"items": 3}, "b": {"any_of": [{"type": "any"}, 4, None]}}}),
        NEW,
        [
            f"G-schema {AT}.properties.b.anyOf[1]",
            f"G-schema {AT}.properties.b.anyOf[0].type",
            f"G-schema {AT}.properties.a.items",
            f"warning G-schema {AT}.type",
        ],
    ),
    "plain JSON Schema has its own field": (
        {
            "contents": [user("q")],
            "tools": [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": ROOT}]}],
        },
        NEW,
        [],
    ),
    "G-schema twice": (
        {
            "contents": [user("q")],
            "tools": [{"functionDeclarations": [{**FUNCTION, "parametersJsonSchema": ROOT}]}],
        },
        NEW,
        [f"G-schema {AT}"],
    ),
    "G-cached": (
        {
            "contents": [user("q")],
            "cachedContent": "cachedContents/1",
            "tools": [{"functionDeclarations": [FUNCTION]}],
            "systemInstruction": {"parts": [{"text": "x"}]},
        },
        OLD,
        ["G-cached systemInstruction", "G-cached tools"],
    ),
    "G-orphan behind a turn that is not cached": (
        {
            "contents": [user("q"), model("a"), ANSWERED[-1]],
            "cachedContent": "cachedContents/1",
        },
        OLD,
        ["G-orphan contents[2].parts[0]"],
    ),
    "G-system": (
        {"contents": [user("q")], "systemInstruction": "Be kind."},
        NEW,
        ["G-system systemInstruction"],
    ),
    "G-system parts": (
        {
            "contents": [user("q")],
            "systemInstruction": {
                "parts": [{"text": "x"}, {"inlineData": {"mimeType": "image/png", "data": PNG}}]
            },
        },
        NEW,
        ["G-system systemInstruction.parts[1]"],
    ),
    "G-sampling": (
        {"contents": [user("q")], "generationConfig": {"temperature": 0}},
        NEW,
        ["warning G-sampling generationConfig.temperature"],
    ),
    "G-choice": (
        {
            "contents": [user("q")],
            "tools": [{"functionDeclarations": [FUNCTION]}],
            "toolConfig": {"functionCallingConfig": {"mode": "any", "allowedFunctionNames": ["g"]}},
        },
        NEW,
        ["warning G-choice toolConfig.functionCallingConfig.allowedFunctionNames[0]"],
    ),
    "G-choice of some where all may be called": (
        {
            "contents": [user("q")],
            "tools": [{"functionDeclarations": [FUNCTION]}],
            "toolConfig": {
                "functionCallingConfig": {"mode": "auto", "allowedFunctionNames": ["f"]}
            },
        },
        NEW,
        ["warning G-choice toolConfig.functionCallingConfig.allowedFunctionNames"],
    ),
    "a mode that is none": (
        {"contents": [user("q")], "toolConfig": {"functionCallingConfig": {"mode": "SOMETIMES"}}},
        NEW,
        [
            "T-literal toolConfig.functionCallingConfig.mode",
            "warning G-tools-missing toolConfig.functionCallingConfig",
        ],
    ),
    "X-surrogate": ({"contents": [user("\ud83d")]}, NEW, ["X-surrogate contents[0].parts[0].text"]),
    "G-spelling": (
        {
            "contents": [
                user(
                    {
                        "inline_data": {"mime_type": "image/png", "data": PNG},
                        "inlineData": {"data": PNG},
                    }
                )
            ]
        },
        NEW,
        ["G-spelling contents[0].parts[0].inline_data"],
    ),
    "snake_case is fine, and so is a mixture": (
        {
            "contents": [user("q", {"fileData": {"file_uri": "gs://a", "mime_type": "image/png"}})],
            "generation_config": {"max_output_tokens": 5},
        },
        NEW,
        [],
    ),
    "paths are in the spelling of the payload": (
        {
            "contents": [user({"inline_data": {"mime_type": 5, "data": PNG}})],
            "system_instruction": {"parts": []},
        },
        NEW,
        ["T-type contents[0].parts[0].inline_data.mime_type", "G-system system_instruction.parts"],
    ),
    "a number": (5, NEW, ["T-type "]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_check(name: str) -> None:
    payload, asked, expected = REFUSED[name]
    problems = cw.check(payload, "gemini", model=asked)
    found = [
        f"{'warning ' if problem.level == 'warning' else ''}{problem.code} {problem.path}"
        for problem in problems
    ]
    assert found == expected


def test_only_known_fields_are_respelled() -> None:
    body = {"contents": [user({"function_call": {"name": "f", "args": {"inline_data": 1}}})]}
    camel, problems = camel_case(body, Request)
    assert camel["contents"][0]["parts"][0] == {
        "functionCall": {"name": "f", "args": {"inline_data": 1}}
    }
    assert problems == []
    assert snake_case(camel, Request) == body
    assert camel_case(camel, Request)[0] is camel
    path = "contents[0].parts[0].functionCall.args"
    assert as_spelled(path, body) == "contents[0].parts[0].function_call.args"


def test_the_words_of_every_problem() -> None:
    compare_problems("gemini", ((payload, asked) for payload, asked, _ in REFUSED.values()))
