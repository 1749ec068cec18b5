"""Other formats' histories, written for Gemini."""

import base64
from typing import Any

import pytest

import contextwright as cw
from samples.formats.gemini import NEW, OLD, answer, call, model, rendered, user
from strategies.messages import PNG

STAND_IN = base64.b64encode(b"skip_thought_signature_validator").decode()

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


def test_only_the_first_call_after_a_users_turn_is_signed() -> None:
    steps = [
        user("q"),
        model(call("f", "a", None)),
        model(call("f", "b", None)),
        user(answer("f", {}, "a"), answer("f", {}, "b")),
    ]
    payload, changes = rendered(cw.parse(steps, "gemini"), NEW)
    assert payload["contents"] == [steps[0], model(call("f", "a", STAND_IN)), *steps[2:]]
    assert changes == ["invent.signature"]


def test_calls_without_ids_stay_without() -> None:
    """Results are matched by their order then; an id would be invented for nobody."""
    calls = [cw.ToolCall("f", {}), cw.ToolCall("g", {})]
    results = (cw.ToolResult(None, "1", "f"), cw.ToolResult(None, "2", "g"))
    messages = (cw.user("q"), cw.assistant(calls), cw.Message("tool", results))
    payload, _ = rendered(cw.Conversation(messages), OLD)
    assert payload["contents"][1:] == [
        model(*({"functionCall": {"name": name, "args": {}}} for name in "fg")),
        user(
            *(
                {"functionResponse": {"name": name, "response": {"output": said}}}
                for name, said in (("f", "1"), ("g", "2"))
            )
        ),
    ]


def test_blocks_keep_all_but_the_signature_of_another_model() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "1"}}
    ran = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}
    for signature, codes in (({"thoughtSignature": "c2ln"}, ["loss.signature"]), ({}, [])):
        body = {
            "model": "gemini-3-flash-preview",
            "contents": [user("q"), model({**code, **signature}, ran)],
        }
        payload, changes = rendered(cw.parse(body, "gemini"), NEW)
        assert payload["contents"][1] == model(code, ran)
        assert [one for one in changes if one == "loss.signature"] == codes


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


@pytest.mark.parametrize(("effort", "lost"), [(None, []), ("none", []), ("high", ["loss.setting"])])
def test_a_model_that_does_not_think_loses_only_what_was_asked(
    effort: str | None, lost: list[str]
) -> None:
    asked = {} if effort is None else {"reasoning_effort": effort}
    body = {"model": "gpt-5", "messages": [{"role": "user", "content": "q"}], **asked}
    written = cw.convert(body, "openai-chat", "gemini", model="gemini-2.0-flash")
    assert [change.code for change in written.changes] == lost


def test_results_of_parallel_calls_with_empty_ids_keep_their_names() -> None:
    calls = [{"functionCall": {"name": name, "args": {}, "id": ""}} for name in "ab"]
    results = [
        {"functionResponse": {"name": name, "response": {"output": name}, "id": ""}}
        for name in "ab"
    ]
    body = {
        "contents": [
            {"role": "user", "parts": [{"text": "Hi"}]},
            {"role": "model", "parts": calls},
            {"role": "user", "parts": results},
        ]
    }
    rendered = cw.convert(body, "gemini", "gemini", model="gemini-2.5-flash")
    assert (rendered.payload, rendered.changes) == (body, ())
