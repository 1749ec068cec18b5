"""What the Responses API refuses: one row per rule."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwright import models
from contextwright.wire.openai_responses.rules import check
from golden_files import compare_problems

USER = {"role": "user", "content": "Hi"}
CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}
SEALED = {**REASONING, "encrypted_content": "gAAA"}
SAID = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Yes", "annotations": []}],
}
FUNCTION = {"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": False}
SCREEN = {"type": "computer_screenshot", "image_url": "https://example.com/a.png"}


def body(*items: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "gpt-5.6-sol", "input": list(items), **fields}


def found(payload: Any, model: str = "gpt-5.6-sol") -> list[tuple[str, str, str]]:
    return [
        (problem.code, problem.path, problem.level)
        for problem in check(payload, models.find(model))
    ]


ACCEPTED = {
    "string": {"model": "gpt-5.6-sol", "input": "Hi"},
    "nothing but a stored turn": {"model": "gpt-5.6-sol", "previous_response_id": "resp_1"},
    "nothing but a prompt": {"prompt": {"id": "pmpt_1", "variables": {"who": "Alice"}}},
    "parts": body(
        {
            "role": "user",
            "content": [
                {
                    "type": "input_text",
                    "text": "See",
                    "prompt_cache_breakpoint": {"mode": "explicit"},
                },
                {"type": "input_image", "image_url": "https://example.com/a.png"},
                {"type": "input_image", "file_id": "file-1", "detail": "original"},
                {"type": "input_file", "file_url": "https://example.com/a.pdf"},
                {
                    "type": "input_file",
                    "file_data": "data:application/pdf;base64,JVBERi0=",
                    "filename": "a.pdf",
                },
            ],
        }
    ),
    "call, word, output": body(USER, CALL, {"role": "assistant", "content": "Wait"}, OUTPUT),
    "word between call and output": body(CALL, USER, OUTPUT),
    "output of a stored call": body(OUTPUT, previous_response_id="resp_1"),
    "output of a referenced call": body({"id": "fc_1"}, OUTPUT),
    "output behind a compaction": body({"type": "compaction", "encrypted_content": "x"}, OUTPUT),
    "reasoning and message": body(USER, REASONING, SAID, USER),
    "two reasonings": body(USER, REASONING, {**REASONING, "id": "rs_2"}, SAID, USER),
    "reasoning without ids, nothing stored": body(
        USER,
        {"type": "reasoning", "summary": [], "encrypted_content": "x"},
        CALL,
        OUTPUT,
        store=False,
    ),
    "reference to reasoning": body(
        USER, {"id": "rs_1"}, {"type": "item_reference", "id": "msg_1"}, USER
    ),
    "hosted search": body(
        {"type": "tool_search_call", "arguments": {}, "execution": "server", "call_id": None}, USER
    ),
    "hosted shell": body(
        {
            "type": "shell_call",
            "call_id": "c1",
            "action": {"commands": ["ls"]},
            "environment": {"type": "container_reference", "container_id": "cntr_1"},
        }
    ),
    "screenshot": body(
        {"type": "computer_call", "id": "cu_1", "call_id": "c1", "pending_safety_checks": []}
        | {"status": "completed", "action": {"type": "screenshot"}},
        {"type": "computer_call_output", "call_id": "c1", "output": SCREEN},
    ),
    "custom tool": body(
        {"type": "custom_tool_call", "call_id": "c1", "name": "sql", "input": "SELECT 1"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "1"},
        tools=[{"type": "custom", "name": "sql", "format": {"type": "text"}}],
    ),
    "tools later": body(
        USER, {"type": "additional_tools", "role": "developer", "tools": [FUNCTION]}
    ),
    "refusal": body({"role": "assistant", "content": [{"type": "refusal", "refusal": "No"}]}, USER),
    "system anywhere": body(
        {"role": "developer", "content": "A"}, USER, {"role": "system", "content": "B"}
    ),
    "settings": body(
        USER,
        instructions="Be brief.",
        tools=[FUNCTION, {"type": "web_search"}, {"type": "tool_search", "execution": "client"}],
        tool_choice={"type": "function", "name": "f"},
        reasoning={"effort": "xhigh", "summary": None},
        text={"format": {"type": "json_schema", "name": "x", "schema": {}}, "verbosity": "low"},
        include=["reasoning.encrypted_content"],
        metadata={"a": "b"},
        stream=None,
        truncation="auto",
    ),
}


EMPTY_SCHEMA = {"type": "object", "additionalProperties": False}
ACCEPTED["a strict tool without arguments"] = body(
    USER, tools=[{**FUNCTION, "strict": True, "parameters": EMPTY_SCHEMA}]
)


@pytest.mark.parametrize("payload", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_accepted(payload: Any) -> None:
    assert found(payload) == []


OPEN_SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "additionalProperties": False,
}
NESTED_SCHEMA = {
    "type": "object",
    "properties": {"a": {"anyOf": [{"type": "null"}, {"type": "array", "items": OPEN_SCHEMA}]}},
    "required": ["a"],
    "additionalProperties": False,
}
REFUSED: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "OR-max-output": (
        body(USER, max_output_tokens=5),
        [("OR-max-output", "max_output_tokens")],
    ),
    "OR-unanswered": (body(USER, CALL, USER), [("OR-unanswered", "input[1]")]),
    "OR-unanswered shell": (
        body({"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls"]}}),
        [("OR-unanswered", "input[0]")],
    ),
    "OR-unanswered beside stored reasoning": (
        body(USER, {"type": "item_reference", "id": "rs_1"}, {**CALL, "id": "fc_1"}, USER),
        [("OR-unanswered", "input[2]")],
    ),
    "OR-orphan": (body(OUTPUT, USER), [("OR-orphan", "input[0]")]),
    "OR-orphan too early": (body(OUTPUT, CALL), [("OR-orphan", "input[0]")]),
    "OR-orphan of another kind": (
        body(CALL, OUTPUT, {"type": "custom_tool_call_output", "call_id": "c1", "output": "x"}),
        [("OR-orphan", "input[2]"), ("OR-dup-id", "input[2].call_id")],
    ),
    "OR-dup-id call": (body(USER, CALL, CALL, OUTPUT), [("OR-dup-id", "input[2].call_id")]),
    "OR-reasoning": (body(USER, REASONING, USER), [("OR-reasoning", "input[1]")]),
    "OR-reasoning last": (body(USER, REASONING), [("OR-reasoning", "input[1]")]),
    "OR-reasoning-id": (
        body(USER, SEALED, {"role": "assistant", "content": "Hm"}, USER),
        [("OR-reasoning-id", "input[2].id")],
    ),
    "OR-reasoning-enc": (
        body(USER, REASONING, SAID, USER, store=False),
        [("OR-reasoning-enc", "input[1].encrypted_content")],
    ),
    "reasoning without summary": (
        body(USER, {"type": "reasoning", "id": "rs_1"}, SAID, USER),
        [("T-required", "input[1].summary")],
    ),
    "reasoning without id": (
        body(USER, {"type": "reasoning", "summary": []}, SAID, USER),
        [("T-required", "input[1].id")],
    ),
    "OR-id": (body({**SAID, "id": "msg 1"}, USER), [("OR-id", "input[0].id")]),
    "OR-id long": (
        body({**CALL, "call_id": "c" * 65}, {**OUTPUT, "call_id": "c" * 65}),
        [("OR-id", "input[0].call_id"), ("OR-id", "input[1].call_id")],
    ),
    "OR-id-prefix": (
        body({**SAID, "id": "chatcmpl-1"}, {**CALL, "id": "toolu_1"}, OUTPUT),
        [("OR-id-prefix", "input[0].id"), ("OR-id-prefix", "input[1].id")],
    ),
    "OR-dup-id": (body(SAID, USER, SAID), [("OR-dup-id", "input[2].id")]),
    "OR-assistant-part": (
        body({"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}),
        [("OR-assistant-part", "input[0].content[0].type")],
    ),
    "OR-part": (
        body({"role": "user", "content": [{"type": "output_text", "text": "x"}]}),
        [("OR-part", "input[0].content[0].type")],
    ),
    "OR-part in an output": (
        body(CALL, {**OUTPUT, "output": [{"type": "text", "text": "x"}]}),
        [("OR-part", "input[1].output[0].type")],
    ),
    "OR-null": (body({"role": "user", "content": None}), [("OR-null", "input[0].content")]),
    "OR-null output": (body(CALL, {**OUTPUT, "output": None}), [("OR-null", "input[1].output")]),
    "OR-toolshape": (
        body(USER, tools=[{"type": "function", "function": {"name": "f"}}]),
        [("OR-toolshape", "tools[0].function")],
    ),
    "OR-toolname": (
        body(USER, tools=[{**FUNCTION, "name": "a b"}]),
        [("OR-toolname", "tools[0].name")],
    ),
    "OR-tools-missing": (
        body(USER, tool_choice={"type": "function", "name": "f"}),
        [("OR-tools-missing", "tool_choice")],
    ),
    "OR-choice": (
        body(
            USER,
            tools=[
                FUNCTION,
                {"type": "namespace", "name": "n", "description": "d", "tools": [FUNCTION]},
            ],
            tool_choice={"type": "function", "name": "g"},
        ),
        [("OR-choice", "tool_choice.name")],
    ),
    "OR-callname": (body({**CALL, "name": "a.b"}, OUTPUT), [("OR-callname", "input[0].name")]),
    "OR-file bare": (
        body({"role": "user", "content": [{"type": "input_file", "file_data": "JVBERi0="}]}),
        [("OR-file", "input[0].content[0].file_data")],
    ),
    "OR-file sound": (
        body(
            {
                "role": "user",
                "content": [{"type": "input_file", "file_data": "data:audio/wav;base64,UklG"}],
            }
        ),
        [("OR-file", "input[0].content[0].file_data")],
    ),
    "OR-file film": (
        body(
            CALL,
            {**OUTPUT, "output": [{"type": "input_file", "file_url": "https://x.com/a.MP4?b=c"}]},
        ),
        [("OR-file", "input[1].output[0].file_url")],
    ),
    "image without source": (
        body({"role": "user", "content": [{"type": "input_image"}]}),
        [("T-required", "input[0].content[0].image_url")],
    ),
    "file without source": (
        body({"role": "user", "content": [{"type": "input_file", "filename": "a"}]}),
        [("T-required", "input[0].content[0].file_data")],
    ),
    "a part's field": (
        body({"role": "user", "content": [{"type": "input_text", "text": "x", "y": 1}]}),
        [("T-extra", "input[0].content[0].y")],
    ),
    "OR-empty": (body(), [("OR-empty", "input")]),
    "OR-trigger": (
        body({"type": "compaction_trigger"}, USER, {"type": "compaction_trigger"}),
        [("OR-trigger", "input[0]")],
    ),
    "OR-state": (
        body(USER, previous_response_id="resp_1", conversation="conv_1"),
        [("OR-state", "conversation")],
    ),
    "model": ({"input": "Hi"}, [("T-required", "model")]),
    "T-extra name": (body({**USER, "name": "Alice"}), [("T-extra", "input[0].name")]),
    "T-extra body": (body(USER, max_tokens=5), [("T-extra", "max_tokens")]),
    "T-literal role": (body({"role": "tool", "content": "x"}), [("T-literal", "input[0].role")]),
    "T-literal item": (body({"type": "thought"}), [("T-literal", "input[0].type")]),
    "T-type item": (body("Hi"), [("T-type", "input[0]")]),
    "T-type arguments": (
        body({**CALL, "arguments": {}}, OUTPUT),
        [("T-type", "input[0].arguments")],
    ),
    "choice without name": (
        body(USER, tool_choice={"type": "function"}),
        [("T-required", "tool_choice.name")],
    ),
    "X-surrogate": (
        body({"role": "user", "content": "half \ud83d"}),
        [("X-surrogate", "input[0].content")],
    ),
    "no object": ([], [("T-type", "")]),
    "OR-strict": (
        body(USER, tools=[{**FUNCTION, "strict": True, "parameters": OPEN_SCHEMA}]),
        [("OR-strict", "tools[0].parameters")],
    ),
    "OR-strict below": (
        body(USER, tools=[{**FUNCTION, "strict": True, "parameters": NESTED_SCHEMA}]),
        [("OR-strict", "tools[0].parameters")],
    ),
    "OR-strict without properties": (
        body(USER, tools=[{**FUNCTION, "strict": True, "parameters": {"type": "object"}}]),
        [("OR-strict", "tools[0].parameters")],
    ),
}


@pytest.mark.parametrize(("payload", "expected"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(payload: Any, expected: list[tuple[str, str]]) -> None:
    assert found(payload) == [(code, path, "error") for code, path in expected]


DOUBTFUL = {
    "OR-args": (body({**CALL, "arguments": '{"a": 1'}, OUTPUT), "OR-args", "input[0].arguments"),
    "OR-id at some hosts": (
        body({**CALL, "call_id": "a:1"}, {**OUTPUT, "call_id": "a:1"}),
        "OR-id",
        "input[0].call_id",
    ),
    "OR-sampling": (body(USER, temperature=0.5), "OR-sampling", "temperature"),
    "OR-unanswered, perhaps stored": (
        body(CALL, previous_response_id="resp_1"),
        "OR-unanswered",
        "input[0]",
    ),
    "OR-toolname long": (
        body(USER, tools=[{**FUNCTION, "name": "f" * 65}]),
        "OR-toolname",
        "tools[0].name",
    ),
}


@pytest.mark.parametrize(("payload", "code", "path"), DOUBTFUL.values(), ids=DOUBTFUL.keys())
def test_doubtful(payload: Any, code: str, path: str) -> None:
    problems = found(payload)
    assert (code, path, "warning") in problems
    assert {level for _, _, level in problems} == {"warning"}


def test_models_that_do_not_reason() -> None:
    assert found(body(USER, REASONING, SAID, USER), "gpt-4o") == [
        ("OR-reasoning-model", "input[1]", "warning")
    ]


def test_other_hosts_are_less_sure() -> None:
    foreign = body(USER, {**REASONING, "id": "0815"}, {"role": "assistant", "content": "Hm"}, USER)
    assert found(foreign, "deepseek-chat") == [
        ("OR-reasoning-id", "input[2].id", "warning"),
        ("OR-id-prefix", "input[1].id", "warning"),
    ]


KEYS = ("type", "role", "content", "input", "id", "call_id", "output", "tools", "name", "summary")
WORDS = ("message", "function_call", "function_call_output", "reasoning", "user", "input_file")
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=2), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(anything)
def test_any_json_is_judged(payload: Any) -> None:
    assert all(problem.code for problem in check(payload, models.find("gpt-5")))


def test_deep_nesting_is_a_problem_and_no_crash() -> None:
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    assert {code for code, _, _ in found(body(deep))} >= {"T-depth"}


def test_codex_marks_items_of_every_kind() -> None:
    mark = {"internal_chat_message_metadata_passthrough": {"turn_id": "1"}}
    custom = {"type": "custom_tool_call", "call_id": "c2", "name": "exec", "input": "x"}
    answered = {"type": "custom_tool_call_output", "call_id": "c2", "output": "y"}
    items = (USER, SEALED, SAID, CALL, OUTPUT, custom, answered)
    assert found(body(*({**item, **mark} for item in items), store=False)) == []


def test_stored_reasoning_may_lead_to_a_call_without_its_id() -> None:
    """As the AI SDK sends it by default; older reports say that it was refused."""
    stored = {"type": "item_reference", "id": "rs_1"}
    problems = [("OR-reasoning-id", "input[2].id", "warning")]
    assert found(body(USER, stored, CALL, OUTPUT)) == problems


def test_the_words_of_every_problem() -> None:
    bodies = ((payload, "gpt-5.6-sol") for payload, _ in REFUSED.values())
    compare_problems("openai-responses", bodies)
