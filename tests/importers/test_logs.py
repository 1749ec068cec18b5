"""Logs of agents, data for training, and sessions of Port 42: whole outputs."""

import json
from pathlib import Path
from typing import Any

import pytest

from contextwright import importers
from contextwright.errors import ParseError
from contextwright.messages.make import assistant, user
from contextwright.messages.message import Message
from contextwright.messages.parts import Media, Text, Thinking, ToolCall, ToolResult
from samples.exports import (
    CLAUDE_CODE,
    CODEX,
    FINETUNING,
    PORT42,
    read,
    reports,
    write_json,
    write_lines,
    write_zip,
)


def entry(uuid: str, parent: str | None, role: str, content: Any, **fields: Any) -> dict[str, Any]:
    message = {"role": role, "content": content}
    if role == "assistant":
        message |= {"id": fields.pop("reply", "msg_1"), "type": "message", "model": "opus"}
    about = {"sessionId": "s", "isSidechain": False, "timestamp": f"t-{uuid}"}
    return {"type": role, "uuid": uuid, "parentUuid": parent, **about, "message": message, **fields}


def said(uuid: str, role: Any, *parts: Any, **fields: Any) -> Message:
    rest = fields.pop("rest", {})
    if role == "assistant":
        rest = {**rest, "id": "msg_1", "model": "opus", **fields.pop("reply", {})}
    meta: dict[str, Any] = {"source": f"claude-code/{fields.pop('id', 's')}/{uuid}"}
    if rest:
        meta["claude-code"] = rest
    return Message(role, parts, sent_at=f"t-{uuid}", meta=meta, **fields)


def test_claude_code(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "log.jsonl", *CLAUDE_CODE)
    ((id, title, messages),) = read(path)
    assert (id, title) == ("session-1", "Fix the test")
    assert [(message.role, message.text) for message in messages] == [
        ("user", "Fix the test."),
        ("assistant", "Done."),
    ]


def test_claude_code_puts_replies_together(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}
    path = write_lines(
        tmp_path / "log.jsonl",
        {"type": "file-history-snapshot", "snapshot": {}},
        entry("1", None, "user", "List files", permissionMode="plan"),
        entry("2", "1", "assistant", [{"type": "text", "text": "\n\n"}]),
        entry("3", "2", "assistant", [{"type": "thinking", "thinking": "ls", "signature": "S"}]),
        {"type": "progress", "sessionId": "s"},
        entry("4", "3", "assistant", [call]),
        entry("5", "4", "user", [result], toolUseResult={"stdout": "a.py"}),
        entry("6", "5", "assistant", [{"type": "text", "text": "One file."}], reply="msg_2"),
    )
    assert read(path) == [
        (
            "s",
            None,
            (
                said("1", "user", Text("List files"), rest={"permissionMode": "plan"}),
                said(
                    "3",
                    "assistant",
                    Thinking("ls", "S", "anthropic", "opus"),
                    ToolCall("Bash", {"command": "ls"}, "t1"),
                ),
                said("5", "tool", ToolResult("t1", "a.py")),
                said("6", "assistant", Text("One file."), reply={"id": "msg_2"}),
            ),
        )
    ]
    reason = "data of tool results besides their text is left out"
    assert reports(path) == [
        {
            "skipped": {"file-history-snapshot": 1, "progress": 1, "empty message": 1},
            "changes": [f"loss.details toolUseResult: {reason}"],
        }
    ]


def test_claude_code_compaction_notes_and_errors(tmp_path: Path) -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "content": "Conversation compacted",
        "uuid": "2",
        "timestamp": "t-2",
        "sessionId": "s",
        "compactMetadata": {"trigger": "auto"},
    }
    path = write_lines(
        tmp_path / "log.jsonl",
        entry("1", None, "user", "Begin"),
        boundary,
        entry("3", "2", "user", "What happened so far", isCompactSummary=True),
        entry("4", "3", "user", "A reminder", isMeta=True),
        entry("5", "4", "assistant", [{"type": "text", "text": "529"}], isApiErrorMessage=True),
        {"type": "system", "subtype": "turn_duration", "durationMs": 1, "sessionId": "s"},
    )
    detail = {"subtype": "compact_boundary", "content": "Conversation compacted"}
    rest = {**detail, "compactMetadata": {"trigger": "auto"}}
    assert read(path)[0][2] == (
        said("1", "user", Text("Begin")),
        said(
            "2",
            "system",
            Text("Conversation compacted"),
            kind="event",
            visibility="internal",
            rest=rest,
        ),
        said(
            "3",
            "user",
            Text("What happened so far"),
            kind="summary",
            rest={"isCompactSummary": True},
        ),
        said("4", "user", Text("A reminder"), kind="note", rest={"isMeta": True}),
        said(
            "5", "assistant", Text("529"), visibility="internal", rest={"isApiErrorMessage": True}
        ),
    )


def test_claude_code_subagents_are_conversations(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "log.jsonl",
        entry("1", None, "user", "Begin"),
        entry("2", None, "user", "Explore", isSidechain=True, agentId="a1"),
        entry("3", "2", "assistant", "Found.", isSidechain=True, agentId="a1"),
        entry("4", "1", "assistant", "Done."),
    )
    found = [(one.id, one.agent, [m.text for m in one.messages]) for one in importers.read(path)]
    assert found == [("s", None, ["Begin", "Done."]), ("s-a1", "a1", ["Explore", "Found."])]


def test_claude_code_counts_replacements_of_all_agents_once(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "log.jsonl",
        {"type": "summary", "summary": "\0"},
        entry("1", None, "user", "Begin\ud800"),
        entry("2", None, "user", "Explore\ud800", isSidechain=True, agentId="a1"),
    )
    with importers.open_files(path) as files:
        found = [
            (one.id, one.title, [message.text for message in one.messages])
            for one in importers.read(files, "claude-code", replace=True)
        ]
        assert found == [("s", "\ufffd", ["Begin\ufffd"]), ("s-a1", None, ["Explore\ufffd"])]
        assert files.replaced == 3


def test_a_claude_code_log_that_grows_meanwhile_is_read_as_it_was(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "log.jsonl", entry("1", None, "user", "Begin"))
    conversations = importers.read(path, "claude-code")
    first = next(conversations)
    with path.open("a", encoding="utf-8") as log:
        log.write(json.dumps(entry("2", None, "user", "More", isSidechain=True)) + "\n")
        log.write('{"type": "assis')
    assert [message.text for message in first.messages] == ["Begin"]
    assert list(conversations) == []


def test_claude_code_prompts_taken_back_are_hidden(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "log.jsonl",
        entry("1", None, "user", "Begin"),
        entry("2", "1", "assistant", "Ready."),
        entry("3", "2", "user", "Do A"),
        entry("4", "3", "assistant", "A.", reply="msg_2"),
        entry("5", "2", "user", "Do B"),
        entry("6", "5", "assistant", "B.", reply="msg_3"),
    )
    messages = read(path)[0][2]
    assert [(message.text, message.visibility) for message in messages] == [
        ("Begin", "public"),
        ("Ready.", "public"),
        ("Do A", "hidden"),
        ("A.", "hidden"),
        ("Do B", "public"),
        ("B.", "public"),
    ]
    assert [change["changes"] for change in reports(path)] == [
        [f"repair.branch line {line}: retracted; kept hidden" for line in (3, 4)]
    ]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([entry("1", None, "user", 5)], "line 1: message.content: must be a list, not 5"),
        ([entry("1", None, "user", [7])], "line 1: message.content[0]: must be an object, not 7"),
        ([CLAUDE_CODE[1], 5], "line 2: must be an object, not 5"),
        (
            [entry("1", None, "user", [{"type": "text"}])],
            "line 1: message.content[0].text: must be a string, not None",
        ),
        ([{"type": "summary", "leafUuid": "x"}, {"type": "summary"}], "no message is in it"),
    ],
)
def test_claude_code_of_a_wrong_shape(tmp_path: Path, lines: list[Any], message: str) -> None:
    path = write_lines(tmp_path / "log.jsonl", *lines)
    with pytest.raises(ParseError) as caught:
        read(path, "claude-code")
    assert str(caught.value).startswith(f"{path}: {message}")


def test_recorded_claude_code_logs(data_folder: Path) -> None:
    found = {id: messages for id, _, messages in read(data_folder / "agent_logs")}
    longest = found["258c7280-ae70-4798-800f-63464d01a85d"]
    calls = [call.id for message in longest for call in message.calls]
    results = [result.call_id for message in longest for result in message.results]
    assert len(calls) == 186
    assert sorted(calls) == sorted(results)  # type: ignore[type-var]
    assert [message.kind for message in longest].count("summary") == 1
    sources = [message.meta["source"] for messages in found.values() for message in messages]
    assert len(sources) == len(set(sources)) == 631


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


def test_codex_of_before_the_wrapper(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "rollout.jsonl",
        {"id": "s", "timestamp": "t", "instructions": None, "git": {}},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        {"record_type": "state"},
    )
    assert [message.text for message in read(path)[0][2]] == ["Hi"]


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


def test_port42_folder_with_hostile_names(tmp_path: Path) -> None:
    write_json(tmp_path / "2025-08-01" / "session-1-\x1b[2J..json", session(1, id="x"))
    write_json(tmp_path / "2025-08-02" / "session-1-$(rm -rf).json", session(2, id="y"))
    found = read(tmp_path, "port42")
    assert [(id, len(messages)) for id, _, messages in found] == [("x", 1), ("y", 2)]


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
