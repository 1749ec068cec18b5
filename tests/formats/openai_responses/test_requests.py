"""OpenAI Responses: round trips, and the parsed values."""

import json
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright import Opaque, Text, Thinking, ToolCall
from contextwright.formats.openai_responses.read import words_in
from samples.responses import (
    CALL,
    MODEL,
    NAME,
    OUTPUT,
    PNG,
    REASONING,
    SAID,
    SEARCH,
    USER,
    body,
    canonical,
    errors,
    same,
)

# --- what came from here goes back as it came --------------------------------------------------

ROUND_TRIPS = {
    "string": {"model": MODEL, "input": "Hi"},
    "instructions": body(USER, instructions="Be brief."),
    "empty instructions": body(USER, instructions=""),
    "leading items": body(
        {"role": "system", "content": "A"}, {"role": "developer", "content": "B"}, USER
    ),
    "instructions and items": body({"role": "system", "content": "A"}, USER, instructions="B"),
    "system in the middle": body(USER, {"role": "system", "content": "A"}, USER),
    "system alone": body({"role": "system", "content": "A"}),
    "typed messages": body({"type": "message", **USER}, {"role": "assistant", "content": "Yes"}),
    "neighbours": body(USER, USER, {"role": "assistant", "content": "1"}, SAID, USER),
    "several parts": body(
        {
            "role": "assistant",
            "content": [
                {"type": "output_text", "text": "a", "annotations": []},
                {"type": "output_text", "text": "b"},
                {"type": "refusal", "refusal": "no"},
            ],
        },
        USER,
    ),
    "half an address": body(
        {"role": "user", "content": [{"type": "input_file", "file_url": "http://["}]}
    ),
    "several plain parts": body(
        {
            "role": "assistant",
            "content": [{"type": "output_text", "text": "a"}, {"type": "output_text", "text": "b"}],
        },
        USER,
    ),
    "TC-11 call, word, output": body(USER, CALL, {"role": "assistant", "content": "Wait"}, OUTPUT),
    "word between call and output": body(USER, CALL, USER, OUTPUT, USER),
    "outputs in another order": body(
        USER, CALL, {**CALL, "call_id": "c2"}, {**OUTPUT, "call_id": "c2"}, OUTPUT
    ),
    "outputs far behind": body(
        CALL, USER, {**CALL, "call_id": "c2"}, OUTPUT, USER, {**OUTPUT, "call_id": "c2"}
    ),
    "call ids of other hosts": body(
        {**CALL, "call_id": "resp:1"}, {**OUTPUT, "call_id": "resp:1"}, USER
    ),
    "fields of calls": body(
        {
            **CALL,
            "id": "fc_1",
            "status": "completed",
            "namespace": "n",
            "caller": {"type": "direct"},
        },
        {**OUTPUT, "id": "fco_1", "status": "completed", "name": "f"},
    ),
    "arguments as spelled": body({**CALL, "arguments": '{"a" :1.50,\n"b":"\\u0438"}'}, OUTPUT),
    "media": body(
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "See"},
                {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
                {"type": "input_image", "image_url": "https://example.com/a", "detail": "low"},
                {"type": "input_image", "file_id": "file-1", "detail": "auto"},
                {"type": "input_file", "file_data": "data:text/plain;base64,aGk="},
                {"type": "input_file", "file_id": "file-2"},
                {"type": "input_file", "file_url": "https://example.com/a.pdf", "filename": "a"},
            ],
        },
        CALL,
        {**OUTPUT, "output": [{"type": "input_image", "file_id": "file-1"}]},
    ),
    "cache mark": body(
        {
            "role": "user",
            "content": [
                {
                    "type": "input_text",
                    "text": "See",
                    "prompt_cache_breakpoint": {"mode": "explicit"},
                }
            ],
        }
    ),
    "reasoning": body(USER, REASONING, {**CALL, "id": "fc_1"}, OUTPUT, USER),
    "reasoning, search, reasoning, words": body(
        USER, REASONING, SEARCH, {**REASONING, "id": "rs_2", "content": None}, SAID, USER
    ),
    "reasoning, nothing stored": body(
        USER,
        {"type": "reasoning", "summary": [], "encrypted_content": "x"},
        CALL,
        OUTPUT,
        store=False,
    ),
    "custom tool": body(
        USER,
        {
            "type": "custom_tool_call",
            "call_id": "c1",
            "name": "sql",
            "input": "SELECT 1",
            "id": "ctc_1",
        },
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "1"},
        tools=[{"type": "custom", "name": "sql", "description": "Ask", "format": {"type": "text"}}],
    ),
    "stored": body(OUTPUT, previous_response_id="resp_1"),
    "stored custom": body(
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "1"}, conversation="conv_1"
    ),
    "stored, an output without its id": body(
        {"type": "function_call_output", "output": "1", "name": "f"}, conversation="conv_1"
    ),
    "stored, two outputs without their ids": body(
        {"type": "function_call_output", "output": "1", "id": "fc_1"},
        {"type": "function_call_output", "output": "2", "id": "fc_2"},
        previous_response_id="resp_1",
    ),
    "stored, nothing new": {"model": MODEL, "previous_response_id": "resp_1"},
    "stored, empty": body(previous_response_id="resp_1"),
    "prompt": {"model": MODEL, "prompt": {"id": "pmpt_1"}},
    "compaction": body({"type": "compaction", "id": "cmp_1", "encrypted_content": "x"}, USER),
    "trigger": body(USER, {"type": "compaction_trigger"}),
    "references": body(USER, {"id": "rs_1"}, {"type": "item_reference", "id": "msg_1"}, USER),
    "tools later": body(
        USER,
        {
            "type": "additional_tools",
            "role": "developer",
            "tools": [{"type": "function", "name": "f"}],
        },
        USER,
    ),
    "client search": body(
        USER,
        {"type": "tool_search_call", "call_id": "c1", "arguments": {"q": 1}, "execution": "client"},
        {"type": "tool_search_output", "call_id": "c1", "execution": "client", "tools": []},
    ),
    "shell": body(
        USER,
        {"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls"]}, "id": "sh_1"},
        {"type": "shell_call_output", "call_id": "c1", "output": []},
    ),
    "a kind yet to come": body(USER, {"type": "telepathy_call", "id": "tp_1", "x": [1]}, USER),
    "tools": body(
        USER,
        tools=[
            {"type": "function", "name": "f", "parameters": {"type": "object"}},
            {
                "type": "function",
                "name": "g",
                "parameters": None,
                "strict": True,
                "description": "G",
            },
            {
                "type": "function",
                "name": "h",
                "strict": False,
                "defer_loading": True,
                "async": True,
            },
            {"type": "web_search", "search_context_size": "low"},
            {"type": "mcp", "server_label": "m", "server_url": "https://example.com/mcp"},
        ],
        tool_choice={
            "type": "allowed_tools",
            "mode": "auto",
            "tools": [{"type": "function", "name": "f"}],
        },
    ),
    "no tools": body(USER, tools=[]),
    "settings": body(
        USER,
        max_output_tokens=100,
        reasoning={"effort": "low"},
        text={"verbosity": "low"},
        include=["reasoning.encrypted_content"],
        metadata={"a": "b"},
        truncation="auto",
        store=True,
    ),
}


@pytest.mark.parametrize("payload", ROUND_TRIPS.values(), ids=ROUND_TRIPS.keys())
def test_comes_back_as_it_came(payload: dict[str, Any]) -> None:
    before = json.dumps(payload)
    conversation = cw.parse(payload, NAME, strict=True)
    rendered = cw.render(conversation, NAME, model=MODEL)
    assert canonical(rendered.payload) == canonical(payload)
    assert (conversation.changes, rendered.changes) == ((), ())
    assert json.dumps(payload) == before


def test_bare_list_of_items() -> None:
    assert cw.parse([USER, SAID], NAME).messages == cw.parse(body(USER, SAID), NAME).messages


@pytest.fixture(scope="module")
def recorded(data_folder: Path) -> list[dict[str, Any]]:
    lines = (data_folder / "wire" / "requests.jsonl").read_text("utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["api"] == "openai.responses"]


def test_recorded_requests_come_back(recorded: list[dict[str, Any]]) -> None:
    for row in recorded:
        conversation = cw.parse(row["request"], NAME)
        rendered = cw.render(conversation, NAME, model=row["model"])
        assert errors(rendered.payload, row["model"]) == []
        if row["status"] == 200:
            assert same(rendered.payload, row["request"]), row["source"]
            assert (conversation.changes, rendered.changes) == ((), ())
        else:  # refused as it stood: mended, and said
            assert rendered.changes


# --- what the values are ----------------------------------------------------------------------


def test_one_turn_is_one_message() -> None:
    conversation = cw.parse(
        body(USER, REASONING, CALL, SEARCH, SAID, OUTPUT, instructions="S"), NAME
    )
    reasoning = {"id": "rs_1", "summary": REASONING["summary"]}
    said = {key: SAID[key] for key in ("type", "id", "status", "phase")}
    said |= {"annotations": [], "logprobs": []}
    assert conversation.messages == (
        cw.system("S"),
        cw.user("Hi"),
        cw.assistant(
            [
                Thinking("Hm.", "gAAA", NAME, extra={NAME: reasoning}),
                ToolCall("f", {"a": 1}, "c1", '{"a": 1}'),
                Opaque(NAME, SEARCH, "[web_search_call] risotto"),
                Text("Yes", {NAME: said}),
            ]
        ),
        cw.tool_result("c1", "ok"),
    )


def test_settings() -> None:
    choices = {
        "auto": cw.ToolChoice("auto"),
        "required": cw.ToolChoice("required"),
        "none": cw.ToolChoice("none"),
    }
    for spelled, choice in choices.items():
        assert cw.parse(body(USER, tool_choice=spelled), NAME).settings.tool_choice == choice
    fields = {"max_output_tokens": 100, "temperature": 1, "top_p": 0.5}
    named = {"type": "function", "name": "f"}
    assert cw.parse(body(USER, tool_choice=named, **fields), NAME).settings == cw.Settings(
        100, 1.0, 0.5, tool_choice=cw.ToolChoice("required", "f")
    )


def test_words_are_read_to_a_depth_of_four() -> None:
    assert words_in([[[["so"]]]]) == ["so"]
    assert words_in([[[[["too deep"]]]]]) == []
