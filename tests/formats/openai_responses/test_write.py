"""OpenAI Responses: other formats' histories, written."""

from typing import Any

import pytest

import contextwright as cw
from contextwright import Change, Media, Opaque, Text, Thinking, Tool, ToolCall, ToolResult
from samples.responses import (
    CALL,
    MODEL,
    NAME,
    OUTPUT,
    PNG,
    REASONING,
    SAID,
    USER,
    body,
    errors,
)

# --- other histories ----------------------------------------------------------------------------


def ask(*ids: str) -> cw.Message:
    return cw.assistant([ToolCall("f", {}, id) for id in ids])


def calls(*ids: str) -> list[dict[str, Any]]:
    return [{"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"} for id in ids]


def outputs(**said: str) -> list[dict[str, Any]]:
    return [
        {"type": "function_call_output", "call_id": id, "output": text} for id, text in said.items()
    ]


WRITTEN: dict[str, tuple[list[cw.Message], dict[str, Any], list[str]]] = {
    "TC-1 a word between results": (
        [
            cw.user("q"), ask("a", "b"), cw.tool_result("a", "1"), cw.user("hurry"),
            cw.tool_result("b", "2"), cw.user("so?"),
        ],
        body(
            {"role": "user", "content": "q"}, *calls("a", "b"), *outputs(a="1", b="2"),
            {"role": "user", "content": "hurry"}, {"role": "user", "content": "so?"},
        ),
        ["repair.order"],
    ),
    "TC-3 a missing result": (
        [cw.user("q"), ask("a", "b"), cw.tool_result("a", "1")],
        body(
            {"role": "user", "content": "q"}, *calls("a", "b"),
            *outputs(a="1", b="Error: [no result recorded]"),
        ),
        ["invent.result", "repair.error_flag"],
    ),
    "TC-5 an orphan": (
        [cw.tool_result("a", "1"), cw.assistant("done"), cw.user("q")],
        body({"role": "assistant", "content": "done"}, {"role": "user", "content": "q"}),
        ["loss.orphan"],
    ),
    "TC-13 system in the middle": (
        [cw.system("S"), cw.user("q"), cw.assistant("a"), cw.system("be brief"), cw.user("x")],
        body(
            {"role": "user", "content": "q"}, {"role": "assistant", "content": "a"},
            {"role": "system", "content": "be brief"}, {"role": "user", "content": "x"},
            instructions="S",
        ),
        [],
    ),
    "TC-15 system alone": (
        [cw.system("A"), cw.system("B")],
        body({"role": "user", "content": "[start of conversation]"}, instructions="A\n\nB"),
        ["invent.user_turn", "repair.merged"],
    ),
    "TC-19 runs of one role": (
        [cw.user("a"), cw.user("b"), cw.assistant(["1", "2"]), cw.assistant("3"), cw.user("c")],
        body(
            {"role": "user", "content": "a"}, {"role": "user", "content": "b"},
            {"role": "assistant", "content": "1"}, {"role": "assistant", "content": "2"},
            {"role": "assistant", "content": "3"}, {"role": "user", "content": "c"},
        ),
        [],
    ),
    "TC-23 a picture in a result": (
        [
            cw.user("q"), ask("a"),
            cw.tool_result("a", [Text("see"), Media("image", "image/png", PNG)]),
        ],
        body(
            {"role": "user", "content": "q"}, *calls("a"),
            {
                "type": "function_call_output",
                "call_id": "a",
                "output": [
                    {"type": "input_text", "text": "see"},
                    {
                        "type": "input_image",
                        "image_url": f"data:image/png;base64,{PNG}",
                        "detail": "auto",
                    },
                ],
            },
        ),
        [],
    ),
    "a mislabelled picture, a nameless file, a sound": (
        [
            cw.user(
                [
                    Media("image", "image/jpeg", PNG),
                    Media("document", "application/pdf", "JVBERi0="),
                    Media("audio", "audio/wav", "UklG"),
                ]
            )
        ],
        body(
            {
                "role": "user",
                "content": [
                    {
                        "type": "input_image",
                        "image_url": f"data:image/png;base64,{PNG}",
                        "detail": "auto",
                    },
                    {
                        "type": "input_file",
                        "file_data": "data:application/pdf;base64,JVBERi0=",
                        "filename": "file.pdf",
                    },
                    {"type": "input_text", "text": "[audio: audio/wav]"},
                ],
            }
        ),
        ["repair.mime", "loss.media"],
    ),
    "an answer of no pieces": (
        [cw.user("q"), ask("a"), cw.Message("tool", (ToolResult("a", ()),))],
        body({"role": "user", "content": "q"}, *calls("a"), *outputs(a="")),
        [],
    ),
    "reasoning by hand": (
        [
            cw.user("q"),
            cw.assistant(
                [
                    Thinking("Hm.", "gAAA", NAME, extra={NAME: {"id": "rs_1"}}),
                    ToolCall("f", {"a": 1}, "c1", '{"a": 1}', {NAME: {"id": "fc_1"}}),
                ]
            ),
            cw.tool_result("c1", "ok"),
        ],
        body({"role": "user", "content": "q"}, REASONING, {**CALL, "id": "fc_1"}, OUTPUT),
        [],
    ),
    "TC-27 speakers": (
        [cw.user("hi", author="Alice"), cw.user("ho", author="Bob")],
        body({"role": "user", "content": "Alice: hi"}, {"role": "user", "content": "Bob: ho"}),
        ["repair.author", "repair.author"],
    ),
    "TC-37 another's thinking": (
        [cw.user("q"), cw.assistant([Thinking("hm", "sig", "anthropic"), "a"]), cw.user("x")],
        body(
            {"role": "user", "content": "q"}, {"role": "assistant", "content": "a"},
            {"role": "user", "content": "x"},
        ),
        ["loss.thinking"],
    ),
    "TC-39 ids of other providers": (
        [
            cw.user("q"), cw.assistant(ToolCall("f", {}, "toolu_1", extra={"anthropic": {"x": 1}})),
            cw.tool_result("toolu_1", "1"),
        ],
        body({"role": "user", "content": "q"}, *calls("toolu_1"), *outputs(toolu_1="1")),
        ["loss.extra"],
    ),
    "reasoning whose answer was edited": (
        [
            cw.user("q"),
            cw.assistant([Thinking("", "x", NAME, extra={NAME: {"id": "rs_1"}}), "a"]),
            cw.user("x"),
        ],
        body(
            {"role": "user", "content": "q"}, {"role": "assistant", "content": "a"},
            {"role": "user", "content": "x"},
        ),
        ["loss.thinking"],
    ),
    "the same message twice": (
        [
            cw.user("q"), cw.assistant(Text("a", {NAME: {"type": "message", "id": "msg_1"}})),
            cw.user("q"), cw.assistant(Text("a", {NAME: {"type": "message", "id": "msg_1"}})),
            cw.user("q"),
        ],
        body(
            {"role": "user", "content": "q"},
            {
                "type": "message", "id": "msg_1", "role": "assistant",
                "content": [{"type": "output_text", "text": "a"}],
            },
            {"role": "user", "content": "q"},
            {"type": "message", "role": "assistant", "content": "a"},
            {"role": "user", "content": "q"},
        ),
        ["repair.item_id"],
    ),
    "hosted items that lost their partners": (
        [
            cw.user("q"),
            cw.assistant(
                [
                    Opaque(NAME, {"type": "shell_call", "call_id": "c1", "action": {}}),
                    "a",
                ]
            ),
            cw.user(Opaque(NAME, {"type": "shell_call_output", "call_id": "c2", "output": []})),
            cw.user(Opaque(NAME, {"type": "compaction_trigger"})),
            cw.user("x"),
        ],
        body(
            {"role": "user", "content": "q"}, {"role": "assistant", "content": "a"},
            {"role": "user", "content": "x"},
        ),
        ["loss.opaque", "loss.opaque", "loss.opaque"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("messages", "payload", "codes"), WRITTEN.values(), ids=WRITTEN.keys())
def test_written(messages: list[cw.Message], payload: dict[str, Any], codes: list[str]) -> None:
    rendered = cw.render(messages, NAME, model=MODEL)
    assert rendered.payload == payload
    assert [change.code for change in rendered.changes] == codes
    assert errors(payload) == []


@pytest.mark.parametrize("mime", ["audio/mpeg", "video/mp4"])
def test_a_sound_or_film_is_no_document(mime: str) -> None:
    message = cw.user(["hear", cw.Media("document", mime, "aGk=", name="a.bin")])
    rendered = cw.render([message], NAME, model=MODEL)
    assert "input_file" not in str(rendered.payload)
    assert [(one.code, one.path) for one in rendered.changes] == [
        ("loss.media", "messages[0].parts[1]")
    ]
    assert errors(rendered.payload) == []


def test_a_lost_reasoning_is_said_with_its_place() -> None:
    sealed = {**REASONING, "content": None}
    rendered = cw.convert(body(USER, sealed, {"role": "assistant", "content": "No"}), NAME, NAME)
    assert rendered.payload["input"] == [USER, {"role": "assistant", "content": "No"}]
    assert rendered.changes == (
        Change("loss.thinking", "messages[1].parts[0]", "the item it led to has lost its id"),
    )


def test_other_hosts_keep_their_reasoning_and_their_ids() -> None:
    payload = body(USER, {"type": "reasoning", "id": "0815", "summary": []}, CALL, OUTPUT)
    rendered = cw.convert(payload, NAME, NAME, model="deepseek-chat")
    assert rendered.payload == {**payload, "model": "deepseek-chat"}
    rendered = cw.convert(payload, NAME, NAME, model=MODEL)
    assert rendered.payload["input"] == [USER, CALL, OUTPUT]


def test_models_that_do_not_reason_get_no_reasoning() -> None:
    rendered = cw.convert(body(USER, REASONING, SAID, USER), NAME, NAME, model="gpt-4o")
    assert rendered.payload["input"] == [USER, SAID, USER]
    assert [change.code for change in rendered.changes] == ["loss.thinking"]


def test_fields_of_other_hosts_are_left_out_for_openai() -> None:
    payload = body({**USER, "mood": "good"}, plugins=[1])
    assert cw.convert(payload, NAME, NAME, model="deepseek-chat").changes == ()
    rendered = cw.convert(payload, NAME, NAME, model=MODEL)
    assert rendered.payload == body(USER)
    assert [change.code for change in rendered.changes] == ["loss.extra", "loss.setting"]


def test_without_repair_it_is_written_as_it_stands() -> None:
    rendered = cw.render([cw.tool_result("a", "1"), ask("b")], NAME, model=MODEL, repair=False)
    assert rendered.payload == body(*outputs(a="1"), *calls("b"))
    image = {"type": "input_image", "image_url": "https://example.com/a.png", "detail": "auto"}
    odd = cw.assistant(["x", ToolResult("c", (Opaque(NAME, image),))])
    assert cw.render(odd, NAME, model=MODEL, repair=False).payload == body(
        {"role": "assistant", "content": "x"},
        {"type": "function_call_output", "call_id": "c", "output": [image]},
    )


def test_tools_and_settings_of_others() -> None:
    closed = {"type": "object", "properties": {}, "additionalProperties": False}
    conversation = cw.Conversation(
        (cw.user("Hi"),),
        (
            Tool("my tool", "Does it"),
            Tool("f", parameters=closed, strict=True),
            Tool("g", parameters={"type": "object"}, strict=True, extra={"anthropic": {"x": 1}}),
            Opaque("anthropic", {"type": "bash_20250124", "name": "bash"}),
        ),
        settings=cw.Settings(5, 0.5, 0.9, ("END",), cw.ToolChoice("required", "my tool")),
        extra={"anthropic": {"max_tokens": 5, "metadata": {"user_id": "u"}}},
    )
    rendered = cw.render(conversation, NAME, model=MODEL)
    empty = {"type": "object", "properties": {}}
    assert rendered.payload == body(
        {"role": "user", "content": "Hi"},
        max_output_tokens=16,
        tool_choice={"type": "function", "name": "my_tool"},
        tools=[
            {
                "type": "function",
                "name": "my_tool",
                "description": "Does it",
                "parameters": empty,
                "strict": False,
            },
            {"type": "function", "name": "f", "parameters": closed, "strict": True},
            {"type": "function", "name": "g", "parameters": {"type": "object"}, "strict": False},
        ],
    )
    assert sorted(change.code for change in rendered.changes) == [
        "loss.extra",
        "loss.setting",
        "loss.setting",
        "loss.setting",
        "loss.setting",
        "loss.strict",
        "loss.tool",
        "repair.setting",
        "repair.tool_name",
    ]


def test_models_that_sample() -> None:
    conversation = cw.Conversation((cw.user("Hi"),), (Tool("f"),), settings=cw.Settings(None, 0.5))
    chat = cw.parse(cw.render(conversation, "openai-chat", model="gpt-4o").payload, "openai-chat")
    for same_history in (conversation, chat):
        payload = cw.render(same_history, NAME, model="gpt-4o").payload
        assert payload["temperature"] == 0.5
        assert payload["tools"][0]["name"] == "f"
