"""Gemini: what the API refuses, what comes back as it came, and what becomes of other histories."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright import models
from contextwright.errors import ParseError
from contextwright.wire.gemini.types import Request
from contextwright.wire.spelling import as_spelled, camel_case, snake_case
from gemini_sdk import types
from strategies.messages import PNG, conversations, json_values

STAND_IN = base64.b64encode(b"skip_thought_signature_validator").decode()
OLD, NEW = "gemini-2.5-flash", "gemini-3.8-flash"


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": p} if isinstance(p, str) else p for p in parts]}


def model(*parts: Any) -> dict[str, Any]:
    return {**user(*parts), "role": "model"}


def call(
    name: str, id: str | None = None, signature: str | None = "c2ln", **args: Any
) -> dict[str, Any]:
    function = {"name": name, "args": args, **({"id": id} if id else {})}
    return {"functionCall": function, **({"thoughtSignature": signature} if signature else {})}


def answer(name: str, response: Any, id: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "functionResponse": {
            "name": name,
            "response": response,
            **({"id": id} if id else {}),
            **more,
        }
    }


# --- what the API refuses --------------------------------------------------------------------

ANSWERED = [user("q"), model(call("f", "a")), user(answer("f", {"output": "1"}, "a"))]
FUNCTION = {"name": "f", "parameters": {"type": "OBJECT", "properties": {}}}

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
        {
            "contents": [user("q")],
            "tools": [
                {
                    "functionDeclarations": [
                        {
                            "name": "f",
                            "parameters": {
                                "$schema": "x",
                                "type": ["object", "null"],
                                "additionalProperties": False,
                                "properties": {
                                    "$ref": {"type": "string", "const": 1},
                                    "n": {"enum": [1]},
                                },
                            },
                        }
                    ]
                }
            ],
        },
        NEW,
        [
            "G-schema tools[0].functionDeclarations[0].parameters.$schema",
            "G-schema tools[0].functionDeclarations[0].parameters.additionalProperties",
            "G-schema tools[0].functionDeclarations[0].parameters.type",
            "warning G-schema tools[0].functionDeclarations[0].parameters.properties.$ref",
            "G-schema tools[0].functionDeclarations[0].parameters.properties.n.enum",
            "G-schema tools[0].functionDeclarations[0].parameters.properties.$ref.const",
        ],
    ),
    "plain JSON Schema has its own field": (
        {
            "contents": [user("q")],
            "tools": [
                {
                    "functionDeclarations": [
                        {
                            "name": "f",
                            "parametersJsonSchema": {"$ref": "#", "additionalProperties": False},
                        }
                    ]
                }
            ],
        },
        NEW,
        [],
    ),
    "G-schema twice": (
        {
            "contents": [user("q")],
            "tools": [{"functionDeclarations": [{**FUNCTION, "parametersJsonSchema": {}}]}],
        },
        NEW,
        ["G-schema tools[0].functionDeclarations[0].parameters"],
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
    "a mode that is none": (
        {"contents": [user("q")], "toolConfig": {"functionCallingConfig": {"mode": "SOMETIMES"}}},
        NEW,
        ["T-literal toolConfig.functionCallingConfig.mode"],
    ),
    "X-surrogate": ({"contents": [user("\ud83d")]}, NEW, ["X-surrogate contents[0].parts[0].text"]),
    "G-spelling": (
        {
            "contents": [
                user({"inline_data": {"mime_type": "image/png", "data": PNG}, "inlineData": {}})
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


# --- there and back --------------------------------------------------------------------------

SAME: dict[str, dict[str, Any]] = {
    "a question": {"contents": [user("hi")]},
    "no role": {"contents": [{"parts": [{"text": "hi"}]}]},
    "system, with and without a role": {
        "systemInstruction": {"role": "user", "parts": [{"text": "a"}, {"text": "b"}]},
        "contents": [user("hi")],
    },
    "neighbours of one role": {
        "contents": [user("a"), user("b"), model("1"), model("2"), user("c")]
    },
    "empty text": {"contents": [user("")]},
    "media": {
        "contents": [
            user(
                "see",
                {"inlineData": {"mimeType": "image/png", "data": PNG}},
                {
                    "inlineData": {"mimeType": "audio/ogg", "displayName": "a.ogg", "data": "aGk="},
                    "mediaResolution": {"level": "MEDIA_RESOLUTION_LOW"},
                },
                {"fileData": {"fileUri": "https://youtu.be/x"}, "videoMetadata": {"fps": 1}},
                {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://bucket/a.pdf"}},
            ),
            model({"inlineData": {"mimeType": "image/png", "data": PNG}}),
            user("thanks"),
        ]
    },
    "calls without ids, and one without arguments": {
        "contents": [
            user("q"),
            model(
                {"functionCall": {"name": "f"}, "thoughtSignature": "c2ln"},
                call("g", None, None, a=1),
            ),
            user(answer("f", {"result": 1}), answer("g", {"error": "no"})),
        ]
    },
    "all kinds of answers": {
        "contents": [
            user("q"),
            model(*(call("f", id) for id in "abcde")),
            user(
                answer("f", {"output": "words"}, "a"),
                answer("f", {"error": "wrong"}, "b"),
                answer("f", {"output": [1], "error": None}, "c"),
                answer("f", {}, "d"),
                answer("f", {"output": "late"}, "e", scheduling="SILENT", willContinue=False),
            ),
        ]
    },
    "calls in two contents, answered in one": {
        "contents": [
            user("q"),
            model(call("f", "a")),
            model(call("f", "b")),
            user(answer("f", {}, "a"), answer("f", {}, "b")),
        ]
    },
    "answers in two contents": {
        "contents": [
            user("q"),
            model(call("f", "a"), call("f", "b", None)),
            user(answer("f", {}, "a")),
            user(answer("f", {}, "b")),
        ]
    },
    "media in an answer": {
        "contents": [
            user("q"),
            model(call("f", "a"), call("f", "b")),
            user(
                answer(
                    "f",
                    {"output": "see"},
                    "a",
                    parts=[{"inlineData": {"mimeType": "image/png", "data": PNG}}],
                ),
                answer(
                    "f",
                    {"seen": [1]},
                    "b",
                    parts=[{"fileData": {"mimeType": "image/png", "fileUri": "gs://a"}}],
                ),
            ),
        ]
    },
    "thoughts and signatures": {
        "contents": [
            user("q"),
            model(
                {"text": "hm", "thought": True},
                {"text": "so", "thought": True, "thoughtSignature": "c2ln"},
                {"text": "", "thoughtSignature": "c2ln"},
                "yes",
            ),
            user("why?"),
        ]
    },
    "blocks that only Gemini knows": {
        "contents": [
            user("q"),
            model(
                {"executableCode": {"language": "PYTHON", "code": "1+1"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
                {
                    "toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "id": "x", "args": {}},
                    "thoughtSignature": "c2ln",
                },
                {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "id": "x", "response": {}}},
                {"inlineData": {"mimeType": "image/png", "data": PNG}, "thought": True},
                "2",
            ),
            user("and?"),
        ]
    },
    "tools in groups": {
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "a"},
                    {
                        "name": "b",
                        "description": "B",
                        "parametersJsonSchema": {"type": "object", "$defs": {}},
                    },
                ]
            },
            {
                "functionDeclarations": [
                    {
                        "name": "c",
                        "parameters": {
                            "type": "OBJECT",
                            "properties": {"x": {"type": "STRING", "nullable": True}},
                        },
                        "behavior": "BLOCKING",
                    }
                ]
            },
            {"googleSearch": {}},
            {"functionDeclarations": [{"name": "d"}], "codeExecution": {}, "urlContext": {}},
            {
                "functionDeclarations": [
                    {"name": "e", "parameters": {"type": "OBJECT"}, "response": {"type": "STRING"}}
                ]
            },
        ],
        "contents": [user("hi")],
    },
    "settings": {
        "contents": [user("hi")],
        "tools": [{"functionDeclarations": [{"name": "f"}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
        "generationConfig": {
            "maxOutputTokens": 5,
            "thinkingConfig": {"includeThoughts": True},
            "responseModalities": ["TEXT"],
        },
        "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}],
        "labels": {"team": "a"},
    },
    "cached content": {"contents": [user("hi")], "cachedContent": "cachedContents/1"},
}


@pytest.mark.parametrize("name", SAME)
def test_what_came_from_gemini_goes_back_as_it_came(name: str) -> None:
    body = SAME[name]
    conversation = cw.parse(body, "gemini", strict=True)
    rendered = cw.render(conversation, "gemini", model=NEW)
    assert rendered.payload == body
    assert rendered.changes == conversation.changes == ()
    assert [p for p in cw.check(body, "gemini", model=NEW) if p.level == "error"] == []
    again = cw.parse(snake_case(body, Request), "gemini", strict=True)
    assert again == conversation
    validate(body)


def validate(body: dict[str, Any]) -> None:
    """Google's own types take it: unknown keys are refused, base64 is decoded."""
    for content in body["contents"]:
        types.Content.model_validate_json(json.dumps(content))
    for tool in body.get("tools", ()):
        types.Tool.model_validate_json(json.dumps(tool))
    if "systemInstruction" in body:
        types.Content.model_validate_json(json.dumps(body["systemInstruction"]))
    types.GenerationConfig.model_validate_json(json.dumps(body.get("generationConfig", {})))
    types.ToolConfig.model_validate_json(json.dumps(body.get("toolConfig", {})))


def test_what_is_read() -> None:
    body = SAME["all kinds of answers"]
    results = cw.parse(body, "gemini").messages[2].results
    assert [(result.content, result.is_error, result.name) for result in results] == [
        ("words", False, "f"),
        ("wrong", True, "f"),
        ({"output": [1], "error": None}, False, "f"),
        ({}, False, "f"),
        ("late", False, "f"),
    ]
    media = cw.parse(SAME["media"], "gemini").messages[0].parts
    assert [
        (part.kind, part.url, part.file_id, part.origin)
        for part in media
        if isinstance(part, cw.Media)
    ] == [
        ("image", None, None, None),
        ("audio", None, None, None),
        ("video", "https://youtu.be/x", None, None),
        ("document", None, "gs://bucket/a.pdf", "gemini"),
    ]
    thoughts = cw.parse(SAME["thoughts and signatures"], "gemini").messages[1].parts
    assert thoughts[:2] == (
        cw.Thinking("hm", origin="gemini"),
        cw.Thinking("so", "c2ln", "gemini"),
    )
    tool = cw.parse(SAME["tools in groups"], "gemini").tools[2]
    assert isinstance(tool, cw.Tool)
    assert tool.parameters == {"type": "object", "properties": {"x": {"type": ["string", "null"]}}}
    settings = cw.parse(SAME["settings"], "gemini").settings
    assert (settings.max_tokens, settings.tool_choice) == (5, cw.ToolChoice("required", "f"))


def test_url_safe_base64_is_read_and_the_standard_one_written() -> None:
    part = {"inline_data": {"mime_type": "image/webp", "data": "-_-_"}}
    conversation = cw.parse({"contents": [user(part)]}, "gemini")
    assert conversation.messages[0].parts == (cw.Media("image", "image/webp", "+/+/"),)


SDK_STYLE = {
    "model": "gemini-2.5-flash",
    "contents": "Hello",
    "config": {
        "system_instruction": "Be kind.",
        "tools": [{"function_declarations": [{"name": "f"}]}],
        "max_output_tokens": 5,
        "thinking_config": {"thinking_budget": 0},
        "automatic_function_calling": {"disable": True},
    },
}


def test_the_arguments_of_the_sdk_are_read_as_the_body_it_makes() -> None:
    conversation = cw.parse(SDK_STYLE, "gemini")
    assert [change.code for change in conversation.changes] == [
        "loss.setting",
        "repair.contents",
        "repair.contents",
        "repair.system",
    ]
    assert conversation.model == OLD
    assert cw.render(conversation, "gemini", model=OLD).payload == {
        "systemInstruction": {"parts": [{"text": "Be kind."}]},
        "tools": [{"functionDeclarations": [{"name": "f"}]}],
        "contents": [user("Hello")],
        "model": OLD,
        "generationConfig": {"maxOutputTokens": 5, "thinkingConfig": {"thinkingBudget": 0}},
    }


READ_OTHERWISE: dict[str, tuple[Any, list[str]]] = {
    "roles of other SDKs": (
        [user("q"), model(call("f")), {"role": "function", "parts": [answer("f", {})]}],
        ["repair.role [2].role"],
    ),
    "arguments as text": (
        [user("q"), model({"functionCall": {"name": "f", "args": '{"a": 1}'}})],
        ["repair.arguments [1].parts[0].functionCall.args"],
    ),
    "a list as the answer": (
        [user("q"), model(call("f")), user({"function_response": {"name": "f", "response": [1]}})],
        ["repair.response [2].parts[0].function_response.response"],
    ),
    "two things in one part": (
        [user({"text": "a", "fileData": {"fileUri": "gs://a"}})],
        ["repair.part [0].parts[0]"],
    ),
    "an empty part": ([user({}, "a")], ["loss.blank [0].parts[0]"]),
}


@pytest.mark.parametrize("name", READ_OTHERWISE)
def test_lenient_reading_says_what_it_did_and_strict_reading_raises(name: str) -> None:
    contents, expected = READ_OTHERWISE[name]
    for data, prefix in (({"contents": contents}, "contents"), (contents, "contents")):
        changes = [f"{change.code} {change.path}" for change in cw.parse(data, "gemini").changes]
        assert changes == [change.replace(" [", f" {prefix}[") for change in expected]
        with pytest.raises(ParseError):
            cw.parse(data, "gemini", strict=True)


UNREADABLE = {
    "nothing": None,
    "words": "hello",
    "no contents": {"systemInstruction": {"parts": []}},
    "both spellings": {"contents": [user({"inlineData": {}, "inline_data": {}})]},
    "a text that is none": [user({"text": 5})],
    "a role that is none": [{"role": 5, "parts": []}],
    "parts that are none": [{"role": "user", "parts": "hi"}],
    "a tool that is none": {"contents": [], "tools": [5]},
    "a schema that is none": {
        "contents": [],
        "tools": [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": 5}]}],
    },
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_refused(name: str) -> None:
    with pytest.raises(ParseError):
        cw.parse(UNREADABLE[name], "gemini")


# --- from elsewhere --------------------------------------------------------------------------


def rendered(conversation: cw.Conversation, asked: str) -> tuple[Any, list[str]]:
    made = cw.render(conversation, "gemini", model=asked)
    return made.payload, [str(change.code) for change in made.changes]


EXCHANGE = (
    cw.user("Both?"),
    cw.assistant(["Looking.", cw.ToolCall("look", {"n": 1}, "a"), cw.ToolCall("see", {}, "b")]),
    cw.tool_result("b", ["not", "an", "object"]),
    cw.tool_result("a", "one", is_error=True),
    cw.user("So?"),
)


def test_results_stand_together_in_call_order_with_their_functions_names() -> None:
    payload, changes = rendered(cw.Conversation(EXCHANGE), NEW)
    assert payload == {
        "contents": [
            user("Both?"),
            model("Looking.", call("look", "a", STAND_IN, n=1), call("see", "b", None)),
            user(
                answer("look", {"error": "one"}, "a"),
                answer("see", {"output": '["not","an","object"]'}, "b"),
            ),
            user("So?"),
        ]
    }
    assert changes == ["invent.signature"]
    assert rendered(cw.Conversation(EXCHANGE), OLD)[1] == []


def test_any_number_of_parallel_results_is_put_in_order_at_once() -> None:
    ids = [f"c{number}" for number in range(20_000)]
    calls = [cw.ToolCall("f", {}, id) for id in ids]
    results = [cw.tool_result(id, name="f") for id in reversed(ids)]
    payload, _ = rendered(cw.Conversation((cw.user("All?"), cw.assistant(calls), *results)), OLD)
    answers = payload["contents"][2]["parts"]
    assert [part["functionResponse"]["id"] for part in answers] == ids


def test_an_id_used_again_does_not_change_the_order_of_earlier_results() -> None:
    def step(*ids: str) -> list[cw.Message]:
        calls = cw.assistant([cw.ToolCall("f", {}, id) for id in ids])
        return [calls, *(cw.tool_result(id, name="f") for id in ids)]

    messages = (cw.user("Both?"), *step("a", "b"), *step("b", "a"))
    payload, _ = rendered(cw.Conversation(messages), OLD)
    answers = [payload["contents"][place]["parts"] for place in (2, 4)]
    assert [[part["functionResponse"]["id"] for part in one] for one in answers] == [
        ["a", "b"],
        ["b", "a"],
    ]


def test_words_beside_results_follow_them_in_a_content_of_their_own() -> None:
    mixed = cw.Message("user", (cw.ToolResult("a", {"n": 1}), cw.Text("So?")))
    conversation = cw.Conversation((cw.user("q"), cw.assistant(cw.ToolCall("f", {}, "a")), mixed))
    payload, _ = rendered(conversation, OLD)
    assert payload["contents"][2:] == [user(answer("f", {"n": 1}, "a")), user("So?")]


PICTURE = cw.Media("image", "image/png", PNG)
PICTURED = cw.Conversation(
    (
        cw.user("q"),
        cw.assistant(cw.ToolCall("f", {}, "a")),
        cw.tool_result("a", [cw.Text("see"), PICTURE]),
    )
)


def test_media_in_results_stay_there_or_follow() -> None:
    inside, _ = rendered(PICTURED, NEW)
    held = {"inlineData": {"mimeType": "image/png", "data": PNG}}
    assert inside["contents"][2] == user(answer("f", {"output": "see"}, "a", parts=[held]))
    behind, changes = rendered(PICTURED, OLD)
    assert behind["contents"][2:] == [
        user(answer("f", {"output": "see\n[image: image/png]"}, "a")),
        user("[media of the tool message above]", held),
    ]
    assert changes == ["repair.media"]


def test_signatures_stay_where_they_are_and_missing_ones_are_stood_in_for() -> None:
    steps = [
        user("q"),
        model(call("f", "a", None)),
        user(answer("f", {}, "a")),
        model("1"),
        user("again"),
        model(call("f", "b", "c2ln"), call("f", "c", None)),
        user(answer("f", {}, "b"), answer("f", {}, "c")),
        model("hm", call("f", "d", None)),
        user(answer("f", {}, "d")),
    ]
    conversation = cw.parse(steps, "gemini")
    payload, changes = rendered(conversation, NEW)
    expected = [*steps[:7], model("hm", call("f", "d", STAND_IN)), steps[8]]
    assert payload["contents"] == expected
    assert changes == ["invent.signature"]
    assert rendered(conversation, OLD)[0]["contents"] == steps


def test_signatures_do_not_go_to_another_model() -> None:
    steps = [
        user("q"),
        model({"text": "hm", "thought": True, "thoughtSignature": "c2ln"}, call("f", "a")),
        user(answer("f", {}, "a")),
    ]
    conversation = cw.parse({"model": "models/gemini-3-flash-preview", "contents": steps}, "gemini")
    payload, changes = rendered(conversation, NEW)
    assert payload["model"] == "models/gemini-3.8-flash"
    assert payload["contents"][1] == model(
        {"text": "hm", "thought": True}, call("f", "a", STAND_IN)
    )
    assert changes == ["loss.signature", "invent.signature"]
    same, changes = rendered(conversation, "gemini-3-flash-preview")
    assert same == {"contents": steps, "model": "models/gemini-3-flash-preview"}
    assert changes == []


def test_a_growing_history_keeps_its_prefix() -> None:
    history = [*EXCHANGE, cw.assistant("Done."), cw.user("Thanks.")]
    before: list[Any] = []
    for length in (1, 4, 5, 7):
        payload, _ = rendered(cw.Conversation(tuple(history[:length])), NEW)
        assert payload["contents"][: len(before)] == before
        before = payload["contents"]


def test_nothing_foreign_travels() -> None:
    conversation = cw.Conversation(
        (
            cw.user("q"),
            cw.assistant(
                [
                    cw.Thinking("deep", "sig", "anthropic"),
                    cw.ToolCall("f", {}, "a", extra={"openai-chat": {"thoughtSignature": "x"}}),
                    cw.Opaque("anthropic", {"type": "server_tool_use"}, "searched"),
                ]
            ),
            cw.tool_result("a", "1"),
        ),
        (cw.Opaque("anthropic", {"type": "bash_20250124"}), cw.Tool("f", strict=True)),
    )
    payload, changes = rendered(conversation, NEW)
    assert payload["contents"][1] == model(call("f", "a", STAND_IN), "searched")
    assert payload["tools"] == [{"functionDeclarations": [{"name": "f"}]}]
    assert sorted(changes) == [
        "invent.signature",
        "loss.extra",
        "loss.opaque",
        "loss.strict",
        "loss.thinking",
        "loss.tool",
    ]


def test_settings_are_translated() -> None:
    settings = cw.Settings(
        100, 0.5, 0.9, ("a", "b", "c", "d", "e", "f"), cw.ToolChoice("required", "f")
    )
    conversation = cw.Conversation((cw.user("q"),), (cw.Tool("f"),), settings=settings)
    payload, changes = rendered(conversation, OLD)
    assert payload["generationConfig"] == {
        "maxOutputTokens": 100,
        "temperature": 0.5,
        "topP": 0.9,
        "stopSequences": ["a", "b", "c", "d", "e"],
    }
    assert payload["toolConfig"] == {
        "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}
    }
    assert changes == ["loss.setting"]
    newer, changes = rendered(conversation, NEW)
    assert "temperature" not in newer["generationConfig"]
    assert changes == ["loss.setting"] * 3


def test_settings_the_api_does_not_know_are_left_out() -> None:
    body = {
        "contents": [user("q")],
        "generationConfig": {"maxOutputTokens": 5, "best_of": 2},
        "stream": True,
    }
    payload, changes = rendered(cw.parse(body, "gemini"), OLD)
    assert payload == {"contents": [user("q")], "generationConfig": {"maxOutputTokens": 5}}
    assert changes == ["loss.setting", "loss.setting"]


def test_a_cached_content_stands_alone() -> None:
    body = {
        "contents": [user("q")],
        "cachedContent": "cachedContents/1",
        "systemInstruction": {"parts": [{"text": "x"}]},
    }
    payload, changes = rendered(cw.parse(body, "gemini"), OLD)
    assert "cachedContent" not in payload
    assert changes == ["loss.setting"]


def test_a_schema_changed_since_is_written_anew() -> None:
    body = {
        "contents": [user("q")],
        "tools": [{"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT"}}]}],
    }
    parsed = cw.parse(body, "gemini")
    tool = parsed.tools[0]
    assert isinstance(tool, cw.Tool)
    schema = {"type": "object", "properties": {"a": {"const": 1}}}
    changed = cw.Tool(tool.name, parameters=schema, extra=tool.extra)
    payload, _ = rendered(cw.Conversation(parsed.messages, (changed,), source="gemini"), OLD)
    assert payload["tools"] == [
        {"functionDeclarations": [{"name": "f", "parametersJsonSchema": schema}]}
    ]


# --- replies ---------------------------------------------------------------------------------

REPLY = {
    "candidates": [
        {
            "content": model({"text": "hm", "thought": True}, "Hello", call("f", "a", "c2ln", x=1)),
            "finishReason": "STOP",
            "index": 0,
        },
        {"content": model("other")},
    ],
    "modelVersion": "gemini-3-flash-preview",
    "responseId": "r1",
    "usageMetadata": {"promptTokenCount": 3},
}


def test_a_reply() -> None:
    reply = cw.parse_reply(REPLY, "gemini")
    assert reply.messages == (
        cw.assistant(
            [
                cw.Thinking("hm", origin="gemini"),
                "Hello",
                cw.ToolCall("f", {"x": 1}, "a", extra={"gemini": {"thoughtSignature": "c2ln"}}),
            ]
        ),
    )
    assert reply.model == "gemini-3-flash-preview"
    assert reply.extra["gemini"]["finishReason"] == "STOP"
    assert [change.code for change in reply.changes] == ["loss.candidate"]


def test_a_reply_of_the_sdk() -> None:
    reply = types.GenerateContentResponse.model_validate_json(json.dumps(REPLY))
    assert cw.parse_reply(reply, "gemini").messages == cw.parse_reply(REPLY, "gemini").messages


def test_replies_without_words() -> None:
    blocked = cw.parse_reply({"promptFeedback": {"blockReason": "SAFETY"}}, "gemini")
    assert blocked.finish == "filter"
    assert blocked.refusal == ""
    (said,) = blocked.messages
    assert said.text == "[no answer: the provider's filter withheld the answer: SAFETY]"
    assert said.meta == {"finish": "filter"}
    assert blocked.extra["gemini"]["promptFeedback"] == {"blockReason": "SAFETY"}
    cut = cw.parse_reply({"candidates": [{"content": {}, "finishReason": "MAX_TOKENS"}]}, "gemini")
    assert cut.finish == "length"
    assert cut.messages[0].text == "[no answer: the output limit was reached: MAX_TOKENS]"


def chunk(*parts: Any, **more: Any) -> dict[str, Any]:
    return {
        "candidates": [{"content": model(*parts), **more}],
        "modelVersion": "gemini-3-flash-preview",
    }


CHUNKS = [
    chunk({"text": "h", "thought": True}),
    chunk({"text": "m", "thought": True}, {"text": "Hel"}),
    chunk("lo"),
    chunk(" you"),
    chunk(call("f", "a", "c2ln", x=1), call("f", "b", None)),
    chunk({"text": "", "thoughtSignature": "ZW5k"}, finishReason="STOP"),
    {"usageMetadata": {"promptTokenCount": 3}},
]
STREAMED = cw.assistant(
    [
        cw.Thinking("hm", origin="gemini"),
        "Hello you",
        cw.ToolCall("f", {"x": 1}, "a", extra={"gemini": {"thoughtSignature": "c2ln"}}),
        cw.ToolCall("f", {}, "b"),
        cw.Text("", extra={"gemini": {"thoughtSignature": "ZW5k"}}),
    ]
)


@pytest.mark.parametrize("sdk", [False, True])
def test_a_stream(sdk: bool) -> None:
    chunks: list[Any] = CHUNKS
    if sdk:
        chunks = [types.GenerateContentResponse.model_validate_json(json.dumps(c)) for c in CHUNKS]
    reply = cw.parse_stream(chunks, "gemini")
    assert reply.messages == (STREAMED,)
    assert reply.changes == ()
    assert reply.extra["gemini"]["finishReason"] == "STOP"
    assert reply.model == "gemini-3-flash-preview"


def test_a_stream_that_breaks_off() -> None:
    reply = cw.parse_stream(CHUNKS[:3], "gemini")
    assert reply.messages[0].text == "Hello"
    assert [change.code for change in reply.changes] == ["repair.interrupted"]


def test_streamed_arguments() -> None:
    def piece(path: str, more: bool = True, **value: Any) -> dict[str, Any]:
        return {
            "functionCall": {"partialArgs": [{"jsonPath": path, **value}], "willContinue": more}
        }

    chunks = [
        chunk(
            {
                "functionCall": {"name": "f", "id": "a", "willContinue": True},
                "thoughtSignature": "c2ln",
            }
        ),
        chunk(piece("$.city", stringValue="New ")),
        chunk(piece("$.city", stringValue="York"), piece("$.days[1].n", numberValue=2)),
        chunk(piece("$.dry", False, boolValue=True)),
        chunk(call("g", "b", None), finishReason="STOP"),
    ]
    calls = cw.parse_stream(chunks, "gemini").messages[0].calls
    assert [(call.name, call.arguments) for call in calls] == [
        ("f", {"city": "New York", "days": [None, {"n": 2}], "dry": True}),
        ("g", {}),
    ]


# --- laws ------------------------------------------------------------------------------------


@given(conversations, st.sampled_from((OLD, NEW)))
def test_google_s_own_types_take_every_payload(conversation: cw.Conversation, asked: str) -> None:
    payload = cw.render(conversation, "gemini", model=asked).payload
    if "not base64" not in json.dumps(payload):
        validate(payload)


KEYS = st.sampled_from(
    "contents parts role text functionCall function_call functionResponse inlineData inline_data "
    "fileData name args response id tools functionDeclarations parameters systemInstruction "
    "thought generationConfig toolConfig candidates content config history user_parts".split()
)
BODIES = st.recursive(
    json_values | st.sampled_from(("user", "model", "tool", "[meta] a=1")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("format", ["gemini", "gryag"])
def test_any_json_value_is_read_or_refused(format: str) -> None:
    @given(BODIES, st.booleans())
    def law(data: Any, strict: bool) -> None:
        before = json.dumps(data)
        cw.check(data, format, model=NEW)
        for shape in (
            data,
            {"contents": [data]},
            {"history": [data]},
            [{"role": "user", "parts": [data]}],
        ):
            try:
                conversation = cw.parse(shape, format, strict=strict)
            except ParseError:
                continue
            payload = cw.render(conversation, format, model=NEW).payload
            assert [p for p in cw.check(payload, format, model=NEW) if p.level == "error"] == []
        assert json.dumps(data) == before

    law()


@given(st.lists(BODIES, max_size=4))
def test_any_stream_is_read_or_refused(chunks: list[Any]) -> None:
    try:
        cw.parse_stream(chunks, "gemini")
    except ParseError:
        pass


# --- recorded requests -----------------------------------------------------------------------


def recorded(folder: Path) -> list[dict[str, Any]]:
    with (folder / "wire" / "requests.jsonl").open(encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        return [row for row in rows if row["api"] == "gemini.generateContent"]


def meaning(value: Any, key: str = "") -> Any:
    """A body in one spelling and one base64 alphabet."""
    if isinstance(value, dict):
        return {name: meaning(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [meaning(item) for item in value]
    if isinstance(value, str) and key in ("data", "thoughtSignature"):
        return value.replace("-", "+").replace("_", "/").rstrip("=")
    return value


def test_recorded_requests(data_folder: Path) -> None:
    """What the real API took is checked without errors and comes back equal in meaning."""
    rows = recorded(data_folder)
    assert rows
    for row in rows:
        body, facts = row["request"], models.find(row["model"])
        errors = [p for p in cw.check(body, "gemini", model=row["model"]) if p.level == "error"]
        assert errors == [], row["source"]
        conversation = cw.parse(body, "gemini", strict=True)
        made = cw.render(conversation, "gemini", model=facts.id)
        assert meaning(made.payload) == meaning(camel_case(body, Request)[0]), row["source"]
        assert made.changes == ()
