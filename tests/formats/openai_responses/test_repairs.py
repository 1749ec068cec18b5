"""Responses requests that are repaired or refused, and any value at all."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from samples.responses import (
    CALL,
    MODEL,
    NAME,
    OUTPUT,
    SAID,
    SEARCH,
    USER,
    body,
    errors,
)

SOUND = {"data": "aGk=", "format": "wav"}

MENDED = {
    "null content": (body({"role": "user", "content": None}, USER), "repair.null"),
    "chat's text part": (
        body({"role": "user", "content": [{"type": "text", "text": "Hi"}]}),
        "repair.part",
    ),
    "chat's picture": (
        body(
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "https://x.com/a"}}],
            }
        ),
        "repair.part",
    ),
    "assistant's input_text": (
        body({"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}, USER),
        "repair.part",
    ),
    "unknown part": (body({"role": "user", "content": [{"type": "smell"}]}, USER), "loss.part"),
    "half an object": (body({**CALL, "arguments": '{"a":'}, OUTPUT), "repair.arguments"),
    "arguments as object": (body({**CALL, "arguments": {"a": 1}}, OUTPUT), "repair.arguments"),
    "bare base64": (
        body({"role": "user", "content": [{"type": "input_file", "file_data": "JVBERi0="}]}),
        "repair.file",
    ),
    "chat's tool": (
        body(USER, tools=[{"type": "function", "function": {"name": "f", "parameters": {}}}]),
        "repair.tool",
    ),
}


@pytest.mark.parametrize(("payload", "code"), MENDED.values(), ids=MENDED.keys())
def test_lenient_mends_and_says_so_strict_raises(payload: dict[str, Any], code: str) -> None:
    conversation = cw.parse(payload, NAME)
    assert [change.code for change in conversation.changes] == [code]
    assert errors(cw.render(conversation, NAME, model=MODEL).payload) == []
    with pytest.raises(cw.ParseError) as raised:
        cw.parse(payload, NAME, strict=True)
    assert raised.value.path == conversation.changes[0].path


LEFT_OUT = {
    "sound": (
        body({"role": "user", "content": [{"type": "input_audio", "input_audio": SOUND}]}),
        body({"role": "user", "content": "[audio: audio/wav]"}),
        "loss.media",
    ),
    "half a hosted tool": (
        body(USER, tools=[{"type": "file_search"}]),
        body(USER),
        "loss.tool",
    ),
    "half a hosted item": (
        body(USER, {"type": "program", "id": "p_1"}, SAID),
        body(USER, SAID),
        "loss.opaque",
    ),
    "the same hosted item twice": (
        body(USER, SEARCH, SEARCH, SAID),
        body(USER, SEARCH, SAID),
        "loss.opaque",
    ),
    "a reference to reasoning that led nowhere": (
        body(USER, {"id": "rs_1"}, USER),
        body(USER, USER),
        "loss.opaque",
    ),
    "tools of other names": (
        body(
            USER,
            tools=[{"type": "function", "name": "a b"}],
            tool_choice={"type": "allowed_tools", "mode": "auto", "tools": [{"name": "a b"}]},
        ),
        body(
            USER,
            tools=[{"type": "function", "name": "a_b"}],
            tool_choice={"type": "allowed_tools", "mode": "auto", "tools": [{"name": "a_b"}]},
        ),
        "repair.tool_name",
    ),
}


@pytest.mark.parametrize(("payload", "expected", "code"), LEFT_OUT.values(), ids=LEFT_OUT.keys())
def test_what_openai_refuses_is_mended(
    payload: dict[str, Any], expected: dict[str, Any], code: str
) -> None:
    rendered = cw.convert(payload, NAME, NAME, model=MODEL)
    assert rendered.payload == expected
    assert rendered.changes[0].code == code
    assert errors(payload) != []
    assert errors(expected) == []


UNREADABLE = {
    "parameters": (
        body(USER, tools=[{"type": "function", "name": "f", "parameters": 5}]),
        "tools[0].parameters",
    ),
    "no object": ("Hi", ""),
    "role": (body({"role": "tool", "content": "x"}), "input[0].role"),
    "item": (body("Hi"), "input[0]"),
    "input": ({"input": 5}, "input"),
    "a chat body": ({"messages": [USER]}, "input"),
    "instructions": (body(USER, instructions=["x"]), "instructions"),
    "name": (body({**CALL, "name": None}, OUTPUT), "input[0].name"),
    "text": (
        body({"role": "user", "content": [{"type": "input_text"}]}),
        "input[0].content[0].text",
    ),
    "content": (body({"role": "user", "content": 5}), "input[0].content"),
}


@pytest.mark.parametrize(("payload", "path"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_unreadable(payload: Any, path: str) -> None:
    with pytest.raises(cw.ParseError) as raised:
        cw.parse(payload, NAME)
    assert raised.value.path == path


# --- laws ------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    ("a", "msg_1", "rs_1", "fc_1", "c1", "c2", "{}", '{"a":1}', "[1]", "x" * 70, "")
)

ODD = (
    st.none()
    | st.integers()
    | st.lists(WORDS, max_size=2)
    | st.dictionaries(WORDS, WORDS, max_size=2)
)

PART_KINDS = ("input_text", "output_text", "refusal", "input_image", "input_file", "text")

ITEM_KINDS = (
    "message", "function_call", "function_call_output", "custom_tool_call",
    "custom_tool_call_output", "reasoning", "item_reference", "web_search_call", "shell_call",
    "shell_call_output", "compaction", "compaction_trigger", "additional_tools",
)  # fmt: skip

some_parts = st.fixed_dictionaries(
    {"type": st.sampled_from(PART_KINDS), "text": WORDS, "refusal": WORDS},
    optional={"image_url": WORDS, "file_data": WORDS, "file_id": WORDS, "annotations": ODD},
)

some_items = st.fixed_dictionaries(
    {
        "type": st.sampled_from(ITEM_KINDS),
        "role": st.sampled_from(("user", "assistant", "system", "developer")),
        "call_id": WORDS,
        "name": WORDS,
        "arguments": WORDS,
        "input": WORDS,
    },
    optional={
        "content": WORDS | st.lists(some_parts, max_size=3) | ODD,
        "output": WORDS | st.lists(some_parts, max_size=2),
        "id": WORDS | ODD,
        "summary": ODD,
        "encrypted_content": WORDS,
        "environment": ODD,
        "status": WORDS,
    },
)

some_bodies = st.fixed_dictionaries(
    {"input": st.lists(some_items, max_size=6) | WORDS},
    optional={"instructions": WORDS, "store": st.booleans() | ODD, "tool_choice": ODD | WORDS},
)


@given(some_bodies)
def test_whatever_can_be_read_is_mended(payload: dict[str, Any]) -> None:
    before = json.dumps(payload)
    try:
        conversation = cw.parse(payload, NAME)
    except cw.ParseError:
        return
    assert errors(cw.render(conversation, NAME, model=MODEL).payload) == []
    assert json.dumps(payload) == before


@pytest.mark.parametrize("named", [{"namespace": "files"}, {}])
def test_calls_follow_a_tool_out_of_a_namespace_that_is_refused(named: dict[str, str]) -> None:
    tool = {"type": "function", "name": "read it", "parameters": {"type": "object"}}
    space = {"type": "namespace", "name": "files", "description": None, "tools": [tool]}
    call = {"type": "function_call", "call_id": "c", "name": "read it", "arguments": "{}"}
    done = {"type": "function_call_output", "call_id": "c", "output": "1"}
    asked = {"role": "user", "content": "hi"}
    request = {
        "model": "gpt-5.6-sol",
        "input": [asked, {**call, **named}, done],
        "tools": [space],
    }
    mended = cw.convert(request, "openai-responses", "openai-responses")
    assert mended.payload == {
        **request,
        "input": [asked, {**call, "name": "files__read_it"}, done],
        "tools": [{**tool, "name": "files__read_it"}],
    }
    assert [str(change) for change in mended.changes] == [
        "repair.tool_name tools: 'files__read it' is sent as 'files__read_it'",
        "loss.extra tools[0]: OpenAI's own models refuse namespace",
    ]


@pytest.mark.parametrize("model", ["gpt-5.6-sol", "deepseek-v4-flash"])
def test_without_repair_wrong_values_stay(model: str) -> None:
    tool = {"type": "function", "name": "f", "parameters": {}, "defer_loading": "no"}
    request = {
        "model": model,
        "input": [
            {"role": "user", "content": "hi", "status": 5},
            {"type": "reasoning", "id": 7, "summary": []},
            {"role": "assistant", "content": [{"type": "output_text", "text": "x", "logprobs": 3}]},
            {"role": "user", "content": "hi"},
        ],
        "tools": [tool, {"type": "namespace", "name": "n", "description": None, "tools": [tool]}],
        "tool_choice": {"type": "function"},
    }
    written = cw.convert(request, NAME, NAME, repair=False)
    assert (written.payload, written.changes) == (request, ())


JSON_MODE = {"format": {"type": "json_object"}}
ASK = {"role": "user", "content": "List them."}


@pytest.mark.parametrize(
    ("instructions", "asked", "expected", "codes"),
    [
        ("Be brief.", "Write JSON.", "Write JSON.", []),
        (
            "Write JSON.",
            "List them.",
            [{"role": "system", "content": "Write JSON."}, ASK],
            ["repair.system"],
        ),
        (
            "Write JSON.",
            [ASK],
            [{"role": "system", "content": "Write JSON."}, ASK],
            ["repair.system"],
        ),
        ("Be brief.", [ASK], [ASK], ["loss.setting"]),
    ],
)
def test_json_mode_has_its_word_in_the_input(
    instructions: str, asked: Any, expected: Any, codes: list[str]
) -> None:
    """OpenAI does not look for it in the instructions."""
    body = {"model": "gpt-4o", "instructions": instructions, "input": asked, "text": JSON_MODE}
    assert [one.code for one in cw.check(body, NAME)] == ["OR-json-word"] * len(codes)
    mended = cw.convert(body, NAME, NAME)
    assert mended.payload["input"] == expected
    assert ("text" in mended.payload) is (codes != ["loss.setting"])
    assert [change.code for change in mended.changes] == codes
    assert cw.check(mended.payload, NAME) == []


def test_a_system_prompt_that_speaks_of_json_is_an_item_in_json_mode() -> None:
    system = {"role": "system", "content": "Write JSON."}
    form = {"response_format": {"type": "json_object"}}
    body = {"model": "gpt-4o", "messages": [system, ASK], **form}
    rendered = cw.convert(body, "openai-chat", NAME, model="gpt-4o")
    assert rendered.payload == {"model": "gpt-4o", "input": [system, ASK], "text": JSON_MODE}
    assert rendered.origins == (0, 1)
