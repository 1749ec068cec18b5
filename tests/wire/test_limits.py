"""The last value that a provider accepts, and the first that it refuses."""

import base64
from typing import Any

import pytest

import contextwright as cw

MEGABYTE = 1024 * 1024
PNG = b"\x89PNG\r\n\x1a\n"
SIGNATURE = "c2lnbmVk"


def picture(size: int) -> dict[str, Any]:
    """An image of so many bytes, for Anthropic."""
    data = base64.b64encode(PNG + bytes(size - len(PNG))).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def document(*content: dict[str, Any]) -> dict[str, Any]:
    return {"type": "document", "source": {"type": "content", "content": [*content]}}


def said(*blocks: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A request to Anthropic with one question."""
    return talk([*blocks, {"type": "text", "text": "?"}], **fields)


def talk(*contents: Any, **fields: Any) -> dict[str, Any]:
    """A request to Anthropic; the user and the assistant take turns."""
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": one} for n, one in enumerate(contents)]
    return {"max_tokens": 9, "messages": messages, **fields}


def strict(*schemas: dict[str, Any]) -> dict[str, Any]:
    tools = [
        {"name": f"t{number}", "strict": True, "input_schema": {"type": "object", **schema}}
        for number, schema in enumerate(schemas)
    ]
    return said(tools=tools)


def calling(name: str, result: str) -> dict[str, Any]:
    """A request to Anthropic in which a call is answered."""
    call = {"type": "tool_use", "id": "t", "name": name, "input": {}}
    answer = {"type": "tool_result", "tool_use_id": "t", "content": result}
    return talk("?", [call], [answer], tools=[{"name": "g", "input_schema": {"type": "object"}}])


def optional(number: int) -> dict[str, Any]:
    """A schema of so many parameters that may be left out."""
    return {"properties": {f"p{n}": {"type": "string"} for n in range(number)}}


def unions(number: int) -> dict[str, Any]:
    """A schema of so many parameters of two types each."""
    either = [{"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": ["string", "null"]}]
    properties = {f"p{n}": either[n % 2] for n in range(number)}
    return {"properties": properties, "required": [*properties]}


def limited(**config: Any) -> dict[str, Any]:
    """A request to Gemini with one question."""
    return {
        "contents": [{"role": "user", "parts": [{"text": "?"}]}],
        "generationConfig": config,
    }


def called(*answers: dict[str, Any], ids: tuple[str, ...] = ("a", "b")) -> dict[str, Any]:
    """A request to Gemini in which two calls are answered."""
    calls = [{"functionCall": {"name": "f", "args": {}, "id": id}} for id in ids]
    calls[0]["thoughtSignature"] = SIGNATURE  # pyright: ignore[reportArgumentType]
    responses = [
        {"functionResponse": {"name": "f", "response": {}, **answer}} for answer in answers
    ]
    question = {"role": "user", "parts": [{"text": "?"}]}
    return {
        "contents": [
            question,
            {"role": "model", "parts": calls},
            {"role": "user", "parts": responses},
        ]
    }


def inline(data: str, mime: str = "image/png") -> list[dict[str, Any]]:
    return [{"inlineData": {"mimeType": mime, "data": data}}]


def file(label: str) -> dict[str, Any]:
    """A request to the Responses API with a file of that type."""
    part = {"type": "input_file", "filename": "x", "file_data": f"data:{label};base64,AAAA"}
    return {"model": "gpt-5.6-sol", "input": [{"role": "user", "content": [part]}]}


MARK, LONG = ({"cache_control": {"type": "ephemeral", "ttl": ttl}} for ttl in ("5m", "1h"))
BUDGET = {"type": "enabled", "budget_tokens": 1_024}
THOUGHT = [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "a"}]
NONE: list[Any] = []
OLD, NEW = "claude-sonnet-4-5", "claude-opus-5"
FLASH, LATER = "gemini-2.5-flash", "gemini-3.8-flash"

LIMITS: dict[str, tuple[str, dict[str, Any], dict[str, Any], list[str]]] = {
    "bytes of an image": (
        NEW,
        said(picture(5 * MEGABYTE)),
        said(picture(5 * MEGABYTE + 1)),
        ["X-size messages[0].content[0].source.data"],
    ),
    "bytes of all images": (
        NEW,
        said(*[picture(4 * MEGABYTE)] * 5),
        said(*[picture(4 * MEGABYTE)] * 6),
        ["X-size messages"],
    ),
    "images": (OLD, said(*[picture(99)] * 100), said(*[picture(99)] * 101), ["X-media messages"]),
    "images in a document": (
        OLD,
        said(document(*[picture(99)] * 100)),
        said(document(*[picture(99)] * 101)),
        ["X-media messages"],
    ),
    "documents of text are not images": (
        OLD,
        said(*[document({"type": "text", "text": "x"})] * 101),
        said(*[{"type": "document", "source": {"type": "url", "url": "https://a.b/c"}}] * 101),
        ["X-media messages"],
    ),
    "messages": (
        NEW,
        talk(*["x"] * 99_999),
        talk(*["x"] * 100_001),
        ["A-messages-max messages"],
    ),
    "strict tools": (NEW, strict(*[{}] * 20), strict(*[{}] * 21), ["A-schema tools[20].strict"]),
    "optional parameters": (
        NEW,
        strict(optional(24), unions(16)),
        strict(optional(12), optional(13), optional(12)),
        ["A-schema tools[1].strict"],
    ),
    "optional parameters inside": (
        NEW,
        strict({"properties": {"a": {"items": optional(24)}}, "required": ["a"]}),
        strict({"properties": {"a": {"items": optional(24)}}}),
        ["A-schema tools[0].strict"],
    ),
    "parameters of several types": (
        NEW,
        strict(unions(8), unions(8)),
        strict(unions(8), unions(9)),
        ["A-schema tools[1].strict"],
    ),
    "content of a joined message": (
        NEW,
        {"max_tokens": 9, "messages": [{"role": "user", "content": "x"}] * 2},
        {
            "max_tokens": 9,
            "messages": [{"role": "user", "content": one} for one in ("x", NONE, "y", NONE)],
        },
        ["A-empty-content messages[1].content", "A-empty-content messages[3].content"],
    ),
    "an automatic breakpoint after another": (
        NEW,
        said(system=[{"type": "text", "text": "s", **LONG}], **LONG),
        said(system=[{"type": "text", "text": "s", **MARK}], **LONG),
        ["A-cache-ttl cache_control"],
    ),
    "an automatic breakpoint beside others": (
        NEW,
        said(*[{"type": "text", "text": "s", **MARK}] * 3, **MARK),
        said(*[{"type": "text", "text": "s", **MARK}] * 4, **MARK),
        ["A-cache-max cache_control"],
    ),
    "the name of a call": (
        NEW,
        calling("f" * 128, "1"),
        calling("f" * 201, "1"),
        ["A-callname messages[1].content[0].name"],
    ),
    "a name that no tool has": (
        NEW,
        calling("f-1", "1"),
        calling("f.1", "1"),
        ["warning A-callname messages[1].content[0].name"],
    ),
    "a call without a name": (
        NEW,
        calling("f", "1"),
        calling("", "1"),
        ["A-callname messages[1].content[0].name"],
    ),
    "a system prompt of white space": (
        NEW,
        talk("?", system=""),
        talk("?", system="\n"),
        ["A-empty-text system"],
    ),
    "a result of white space": (
        NEW,
        calling("f", ""),
        calling("f", " "),
        ["A-empty-text messages[2].content[0].content"],
    ),
    "thinking that a model without thinking continues": (
        OLD,
        talk("?", THOUGHT, max_tokens=2_000, thinking={"type": "enabled", "budget_tokens": 1_024}),
        talk("?", THOUGHT),
        ["A-thinking-off messages[1].content[0]"],
    ),
    "sampling": (
        NEW,
        said(temperature=1, top_p=1.0),
        said(temperature=0.9, top_p=0.9, top_k=5),
        ["A-sampling temperature", "A-sampling top_p", "A-sampling top_k"],
    ),
    "sampling to think to a budget": (
        "claude-opus-4-0",
        said(max_tokens=2_000, thinking=BUDGET, temperature=1, top_p=0.95),
        said(max_tokens=2_000, thinking=BUDGET, temperature=0.9, top_p=0.94, top_k=5),
        ["A-sampling temperature", "A-sampling top_p", "A-sampling top_k"],
    ),
    "sampling to think adaptively": (
        "claude-opus-4-6",
        said(thinking={"type": "disabled"}, temperature=0.9, top_k=5),
        said(thinking={"type": "adaptive"}, temperature=0.9, top_k=5),
        ["A-sampling temperature", "A-sampling top_k"],
    ),
    "temperature beside top_p": (
        "claude-opus-4-6",
        said(top_p=0.9),
        said(top_p=0.9, temperature=0.9),
        ["A-sampling top_p"],
    ),
    "the usual temperature beside top_p": (
        "claude-opus-4-6",
        said(temperature=1),
        said(top_p=0.9, temperature=1),
        ["A-sampling temperature"],
    ),
    "sampling of an unknown model": (
        "claude-saga-7",
        said(temperature=1),
        said(temperature=0.9),
        ["warning A-sampling temperature"],
    ),
    "a call of Gemini's that is answered twice": (
        LATER,
        called({"id": "b"}, {"id": "a"}),
        called({"id": "a"}, {"id": "a"}),
        ["G-orphan contents[2].parts[1].functionResponse.id"],
    ),
    "an answer that goes on": (
        LATER,
        called({"id": "a", "willContinue": True}, {"id": "a"}, {"id": "b"}),
        called({"id": "a"}, {"id": "a", "willContinue": True}, {"id": "a"}),
        ["G-orphan contents[2].parts[2].functionResponse.id"],
    ),
    "an answer without the id of its call": (
        LATER,
        called({"id": "a"}, ids=("a",)),
        called({}, ids=("a",)),
        ["warning G-orphan contents[2].parts[0].functionResponse.id"],
    ),
    "bytes in a function response": (
        LATER,
        called({"id": "a", "parts": inline("AAAA")}, ids=("a",)),
        called({"id": "a", "parts": inline("AAAA\n")}, ids=("a",)),
        ["X-base64 contents[2].parts[0].functionResponse.parts[0].inlineData.data"],
    ),
    "media in a function response of an older model": (
        FLASH,
        called({"id": "a", "parts": []}, ids=("a",)),
        called({"id": "a", "parts": inline("AAAA")}, ids=("a",)),
        ["warning G-response contents[2].parts[0].functionResponse.parts"],
    ),
    "bytes of another type": (
        FLASH,
        {"contents": [{"role": "user", "parts": inline(base64.b64encode(PNG).decode())}]},
        {"contents": [{"role": "user", "parts": inline("/9j/4AAQ")}]},
        ["warning X-mime contents[0].parts[0].inlineData.data"],
    ),
    "a label that is not a registered type": (
        FLASH,
        {"contents": [{"role": "user", "parts": inline("/9j/4AAQ", "image/jpeg")}]},
        {"contents": [{"role": "user", "parts": inline("/9j/4AAQ", "image/jpg")}]},
        ["warning X-mime contents[0].parts[0].inlineData.data"],
    ),
    "an output limit of Anthropic's": (
        OLD,
        said(max_tokens=64_000),
        said(max_tokens=64_001),
        ["A-max-output max_tokens"],
    ),
    "one below nothing": (
        OLD,
        said(max_tokens=0),
        said(max_tokens=-1),
        ["A-max-output max_tokens"],
    ),
    "one of Gemini's": (
        FLASH,
        limited(maxOutputTokens=65_536),
        limited(maxOutputTokens=65_537),
        ["G-max-output generationConfig.maxOutputTokens"],
    ),
    "one of Responses": (
        "gpt-5.6-sol",
        {"input": "?", "max_output_tokens": 128_000},
        {"input": "?", "max_output_tokens": 128_001},
        ["OR-max-output max_output_tokens"],
    ),
    "a sound, however its type is spelled": (
        "gpt-5.6-sol",
        file("application/pdf"),
        file("Audio/WAV"),
        ["OR-file input[0].content[0].file_data"],
    ),
}


def problems(payload: dict[str, Any], model: str) -> list[str]:
    """The problems of a request, as lines."""
    api = {"g": "gemini", "c": "anthropic"}[model[0]]
    api = "openai-responses" if model.startswith("gpt") else api
    body = payload if api == "gemini" else {"model": model, **payload}
    return [
        f"{'warning ' * (one.level == 'warning')}{one.code} {one.path}"
        for one in cw.check(body, api, model=model)
    ]


@pytest.mark.parametrize("name", LIMITS)
def test_limits(name: str) -> None:
    model, accepted, refused, expected = LIMITS[name]
    assert problems(accepted, model) == []
    assert problems(refused, model) == expected
