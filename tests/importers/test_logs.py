"""Logs of Codex, data for training, sessions of Port 42, and formats: whole outputs."""

from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright import importers
from contextwright.errors import ParseError
from contextwright.importers.intake import Intake
from contextwright.importers.updates import BETWEEN
from contextwright.messages.make import assistant, user
from contextwright.messages.message import Message
from contextwright.messages.parts import Media, Opaque, Text, Thinking, ToolCall, ToolResult
from samples.exports import (
    CODEX,
    FINETUNING,
    PORT42,
    read,
    reports,
    write_json,
    write_lines,
    write_zip,
)

# --- Codex -------------------------------------------------------------------------------------


def line(kind: str, number: int, **payload: Any) -> dict[str, Any]:
    return {"timestamp": f"t{number}", "type": kind, "payload": payload}


def test_codex(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "rollout.jsonl", *CODEX)
    assert read(path) == [
        (
            "019a",
            None,
            (
                Message(
                    "user",
                    (Text("What is 2+2?"),),
                    sent_at="2025-10-29T00:59:38.400Z",
                    meta={"source": "codex/019a/2"},
                    extra={"openai-responses": {"type": "message"}},
                ),
                Message(
                    "assistant",
                    (Text("4", {"openai-responses": {"type": "message"}}),),
                    sent_at="2025-10-29T00:59:39.500Z",
                    meta={"source": "codex/019a/3"},
                ),
            ),
        )
    ]


def test_codex_turns_calls_events_and_compaction(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "rollout.jsonl",
        line("session_meta", 1, id="s", instructions="Be brief."),
        line("turn_context", 2, model="gpt-5-codex"),
        line("event_msg", 3, type="user_message", message="List"),
        line("response_item", 4, type="message", role="user", content="List"),
        line("response_item", 5, type="reasoning", summary=[], encrypted_content="E"),
        line(
            "response_item",
            6,
            type="function_call",
            name="shell",
            arguments='{"command":["ls"]}',
            call_id="c1",
        ),
        line("event_msg", 7, type="token_count"),
        line("response_item", 8, type="function_call_output", call_id="c1", output="a.py"),
        line("response_item", 9, type="ghost_snapshot"),
        line("compacted", 10, message="We listed files.", replacement_history=[{"role": "user"}]),
        line("response_item", 11, type="message", role="assistant", content="Done."),
    )
    messages = read(path)[0][2]
    assert [(m.role, m.kind, m.sent_at, m.meta["source"]) for m in messages] == [
        ("system", "message", None, "codex/s/1"),
        ("user", "message", "t4", "codex/s/4"),
        ("assistant", "message", "t5", "codex/s/5"),
        ("tool", "message", "t8", "codex/s/8"),
        ("user", "summary", "t10", "codex/s/10"),
        ("assistant", "message", "t11", "codex/s/11"),
    ]
    assert messages[2].parts == (
        Thinking(
            "",
            "E",
            "openai-responses",
            "gpt-5-codex",
            redacted=True,
            extra={"openai-responses": {"summary": []}},
        ),
        ToolCall("shell", {"command": ["ls"]}, "c1"),
    )
    assert messages[3].parts == (ToolResult("c1", "a.py"),)
    reason = "the messages it keeps are already before it"
    assert reports(path) == [
        {
            "skipped": {
                "turn context": 1,
                "event user_message": 1,
                "event token_count": 1,
                "ghost_snapshot": 1,
            },
            "changes": [f"loss.replacement line 10: {reason}"],
        }
    ]


def test_codex_keeps_the_base_instructions_and_hosted_items(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "rollout.jsonl",
        line("session_meta", 1, id="s", base_instructions={"text": "Be brief."}),
        line("response_item", 2, type="message", role="user", content="Draw"),
        line("response_item", 3, type="tool_search_call", call_id="c", arguments={"query": "x"}),
        line("response_item", 4, type="tool_search_output", call_id="c", tools=[]),
        line("response_item", 5, type="image_generation_call", id="i", result="iVBORw0KGgo="),
    )
    messages = read(path)[0][2]
    kinds = [part.data["type"] for part in messages[2].parts if isinstance(part, Opaque)]
    assert [message.text for message in messages[:2]] == ["Be brief.", "Draw"]
    assert kinds == ["tool_search_call", "tool_search_output", "image_generation_call"]
    assert reports(path) == [{"skipped": {}, "changes": []}]


def test_a_folder_of_codex_logs_may_hold_empty_ones_and_other_lists(tmp_path: Path) -> None:
    write_lines(tmp_path / "rollout-a.jsonl")
    write_lines(tmp_path / "rollout-b.jsonl", *CODEX)
    write_lines(tmp_path / "history.jsonl", {"session_id": "019a", "ts": 1, "text": "Hi"})
    found = {id: len(messages) for id, _, messages in read(tmp_path, "codex")}
    assert found == {"rollout-a": 0, "019a": 2}


def test_a_session_stored_without_its_system_text_goes_on(tmp_path: Path) -> None:
    """As earlier versions did: nothing can be put before what is stored."""
    log = [
        line("session_meta", 1, id="s", base_instructions={"text": "Be brief."}),
        line("response_item", 2, type="message", role="user", content="Draw"),
    ]
    more = line("response_item", 3, type="message", role="user", content="a cat")
    bare = write_lines(tmp_path / "old.jsonl", line("session_meta", 1, id="s"), log[1])
    grown = write_lines(tmp_path / "new.jsonl", *log, more)
    with cw.Store(tmp_path / "chat.db", embedder=None) as store:
        for path in (bare, grown, grown):
            with importers.open_files(path) as files:
                outcome = Intake(format="codex").into(store, files)
        assert [one.message.text for one in store.conversation("s").read()] == ["Draw", "a cat"]
    assert list(outcome.report.skipped) == [BETWEEN]


def test_codex_of_before_the_wrapper(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "rollout.jsonl",
        {"id": "s", "timestamp": "t", "instructions": None, "git": {}},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        {"record_type": "state"},
        {"payload": {"instructions": "x"}},
    )
    assert [message.text for message in read(path)[0][2]] == ["Hi"]
    assert reports(path) == [{"skipped": {"state": 1, "line without a type": 1}, "changes": []}]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([{"type": "session_meta", "payload": {}}, {}], "line 1: payload.id: is missing"),
        ([CODEX[0], line("response_item", 2, type="message", role="king")], "line 2: payload.role"),
        ([CODEX[0], {"type": "response_item", "payload": 5}], "line 2: payload: must be an object"),
    ],
)
def test_codex_of_a_wrong_shape(tmp_path: Path, lines: list[Any], message: str) -> None:
    path = write_lines(tmp_path / "rollout.jsonl", *lines)
    with pytest.raises(ParseError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: {message}")


# --- training data -----------------------------------------------------------------------------


def marked(message: Message, id: str, place: int, format: str = "openai-chat") -> Message:
    return Message(message.role, message.parts, meta={"source": f"{format}/{id}/{place}"})


def test_finetuning(tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "clock", "parameters": {"type": "object"}}}
    path = write_lines(tmp_path / "train.jsonl", *FINETUNING, {**FINETUNING[0], "tools": [tool]})
    first, second, third = importers.read(path)
    assert [one.id for one in (first, second, third)] == ["train-1", "train-2", "train-3"]
    assert first.messages == (
        marked(user("Hi"), "train-1", 0),
        marked(assistant("Hello"), "train-1", 1),
    )
    assert [tool["name"] for tool in third.settings["tools"]] == ["clock"]


def test_preferences_keep_the_answer_that_was_preferred(tmp_path: Path) -> None:
    data = {
        "input": {"messages": [{"role": "user", "content": "Tea?"}]},
        "preferred_output": [{"role": "assistant", "content": "Yes"}],
        "non_preferred_output": [{"role": "assistant", "content": "No"}],
    }
    path = write_lines(tmp_path / "train.jsonl", data, data)
    assert [m.text for m in read(path)[0][2]] == ["Tea?", "Yes"]
    assert reports(path)[0]["skipped"] == {"answer that was not preferred": 1}
    fork = list(importers.read(path, branches=True))[1]
    assert (fork.id, fork.parent, fork.at) == ("train-1-rejected", "train-1", 1)
    assert [message.text for message in fork.messages] == ["No"]


# --- Port 42 -----------------------------------------------------------------------------------


def session(number: int, **fields: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": str(n), "timestamp": "t"} for n in range(number)]
    return {**PORT42, **fields, "messages": messages}


@pytest.mark.parametrize(
    ("twins", "kept"),
    [
        ({"b/session-2-new.json": session(3), "a/session-1-old.json": session(2)}, 3),
        ({"a/session-9-new.json": session(1), "b/session-1-old.json": session(4)}, 4),
        (
            {
                "a.json": session(2, updated_at="2025-08-01T12:00:00+02:00"),
                "b.json": session(2, updated_at="2025-08-01T10:30:00Z", agent="@newest"),
                "c.json": session(2, updated_at="no time"),
            },
            2,
        ),
    ],
)
def test_port42_twins(tmp_path: Path, twins: dict[str, Any], kept: int) -> None:
    path = write_zip(tmp_path / "p.zip", {**twins, "index.json": {"sessions": []}})
    (one,) = importers.read(path, "port42")
    assert (one.id, len(list(one.messages))) == ("cli-1", kept)
    assert one.report.skipped == {"stale copy of the same session": len(twins) - 1}
    newest = any(twin["agent"] == "@newest" for twin in twins.values())
    assert one.agent == ("@newest" if newest else "@ai-engineer")


def test_port42_lines_are_sessions_with_their_lines(tmp_path: Path) -> None:
    stale = [session(2, id="x"), session(1, id="y"), session(3, id="x")]
    path = write_lines(tmp_path / "all.jsonl", *stale)
    assert [(id, len(messages)) for id, _, messages in read(path)] == [("y", 1), ("x", 3)]
    broken = write_lines(tmp_path / "broken.jsonl", *stale, {"id": "z", "messages": 5})
    with pytest.raises(ParseError, match="broken.jsonl: line 4: messages: must be a list"):
        read(broken, "port42")


def test_port42_folder_with_hostile_names(tmp_path: Path) -> None:
    write_json(tmp_path / "2025-08-01" / "session-1-\x1b[2J..json", session(1, id="x"))
    write_json(tmp_path / "2025-08-02" / "session-1-$(rm -rf).json", session(2, id="y"))
    found = read(tmp_path, "port42")
    assert [(id, len(messages)) for id, _, messages in found] == [("x", 1), ("y", 2)]


def test_port42_folder_is_detected_behind_its_index(tmp_path: Path) -> None:
    write_json(tmp_path / "index.json", {"sessions": []})
    write_json(tmp_path / "sessions" / "2025-08-01" / "session-1-x.json", session(1, id="x"))
    assert [id for id, _, _ in read(tmp_path)] == ["x"]


# --- formats of the core -----------------------------------------------------------------------


@pytest.mark.parametrize("indent", [None, 1])
def test_a_document_is_one_conversation(tmp_path: Path, indent: int | None) -> None:
    import json

    path = tmp_path / "chat.json"
    path.write_text(json.dumps(FINETUNING[0], indent=indent))
    assert read(path) == [
        (
            "chat",
            None,
            (marked(user("Hi"), "chat", 0), marked(assistant("Hello"), "chat", 1)),
        )
    ]


def test_media_is_never_fetched_or_opened(tmp_path: Path) -> None:
    url = {"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}
    path = write_json(tmp_path / "x.json", {"messages": [{"role": "user", "content": [url]}]})
    media = read(path)[0][2][0].parts[0]
    assert isinstance(media, Media)
    assert (media.url, media.data) == ("file:///etc/passwd", None)
