"""Gemini's requests are read and written back unchanged."""

from typing import Any

import pytest
from hypothesis import given
from msgspec.structs import replace

import contextwright as cw
from contextwright.errors import ParseError
from contextwright.wire.gemini.types import Request
from contextwright.wire.spelling import as_spelled, snake_case
from profiles import FAULT, examples
from samples.formats.gemini import NEW, OLD, answer, call, model, user, validate
from strategies.messages import PNG
from strategies.traffic import traffic

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


LISTS = ("contents", "parts", "tools", "functionDeclarations")


def with_lone_objects(value: Any) -> Any:
    """A body in which an object stands for each list of one, as in Google's own examples."""
    if isinstance(value, list):
        return [with_lone_objects(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {key: with_lone_objects(item) for key, item in value.items()}
    return {
        key: item[0] if key in LISTS and isinstance(item, list) and len(item) == 1 else item
        for key, item in found.items()
    }


@examples(FAULT)
@given(traffic("gemini"))
def test_an_object_stands_for_a_list_of_one(conversation: cw.Conversation) -> None:
    tool = cw.Tool("look_up", "Looks a word up.", {"type": "object"})
    conversation = replace(conversation, tools=(tool,))
    body = cw.render(conversation, "gemini", model=NEW).payload
    alone = with_lone_objects(body)
    assert isinstance(alone["tools"], dict)
    assert cw.parse(alone, "gemini", strict=True) == cw.parse(body, "gemini", strict=True)
    assert cw.check(alone, "gemini", model=NEW) == cw.check(body, "gemini", model=NEW)
    assert cw.count(alone, model=NEW) == cw.count(body, model=NEW)
    assert cw.convert(alone, "gemini", "gemini", model=NEW).payload == alone


def test_paths_name_objects_as_they_stand() -> None:
    body = {"contents": {"parts": {"text": 3}}, "tools": {"function_declarations": {"name": "a b"}}}
    problems = [f"{one.code} {one.path}" for one in cw.check(body, "gemini", model=NEW)]
    assert problems == [
        "T-type contents.parts.text",
        "G-toolname tools.function_declarations.name",
    ]
    assert as_spelled("contents[0].r[ole..x", body) == "contents.r[ole..x"


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


def test_code_and_its_output_are_words_for_other_models() -> None:
    payload = SAME["blocks that only Gemini knows"]
    parts = cw.parse(payload, "gemini").messages[1].parts
    assert [part.text for part in parts if isinstance(part, cw.Opaque)][:2] == ["1+1", "2"]


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


@pytest.mark.parametrize(
    ("calls", "responses", "found", "said"),
    [
        (["a f"], ["a f"], [], []),
        (["a f"], ["a g"], ["G-orphan"], ["repair.tool_name messages[2].parts[0]"]),
        (["a f", "b g"], ["b g", "a f"], [], []),
        (
            ["a f", "b g"],
            ["a g", "b f"],
            ["G-orphan"] * 2,
            ["repair.tool_name messages[2].parts[0]", "repair.tool_name messages[2].parts[1]"],
        ),
        ([" f"], [" f"], [], []),
        ([" f"], [" g"], ["G-orphan"], ["repair.tool_name messages[2].parts[0]"]),
        (["a f"], [" f"], ["G-orphan"], ["repair.id messages[2].parts[0]"]),
    ],
)
def test_a_response_under_another_name_than_its_call(
    calls: list[str], responses: list[str], found: list[str], said: list[str]
) -> None:
    """Gemini 3 refuses it; the id, or else the order, tells whose it is."""

    def parts(kind: str, field: str, functions: list[str]) -> list[dict[str, Any]]:
        split = [one.split(" ") for one in functions]
        return [
            {kind: {"name": name, field: {}, **({"id": id} if id else {})}} for id, name in split
        ]

    body = {
        "contents": [
            {"role": "user", "parts": [{"text": "Hi"}]},
            {"role": "model", "parts": parts("functionCall", "args", calls)},
            {"role": "user", "parts": parts("functionResponse", "response", responses)},
        ],
        "tools": [{"functionDeclarations": [{"name": "f"}, {"name": "g"}]}],
    }
    model = "gemini-2.5-flash"
    assert [one.code for one in cw.check(body, "gemini", model=model)] == found
    made = cw.convert(body, "gemini", "gemini", model=model)
    changes = [f"{one.code} {one.path}" for one in made.changes]
    assert changes == said
    if said:
        assert cw.check(made.payload, "gemini", model=model) == []
