"""Session logs of Claude Code: whole outputs."""

import json
from pathlib import Path
from typing import Any

import pytest

from contextwright import importers
from contextwright.errors import ParseError
from contextwright.messages.message import Message
from contextwright.messages.parts import Text, Thinking, ToolCall, ToolResult
from samples.exports import (
    CLAUDE_CODE,
    read,
    reports,
    write_lines,
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
    skipped = {"file-history-snapshot": 1, "progress": 1, "empty message": 1}
    copies = {"structured copy of a result": 1}
    assert reports(path) == [{"skipped": {**skipped, **copies}, "changes": []}]


def test_a_folder_may_hold_logs_without_messages(tmp_path: Path) -> None:
    """As of a session that was opened and closed again, or that has only a title."""
    write_lines(tmp_path / "a.jsonl")
    write_lines(tmp_path / "b.jsonl", {"type": "summary", "summary": "Lunch", "leafUuid": "x"})
    write_lines(tmp_path / "c.jsonl", entry("1", None, "user", "Hi"))
    found = {id: len(messages) for id, _, messages in read(tmp_path)}
    assert found == {"a": 0, "b": 0, "s": 1}


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


def test_entries_that_claude_code_wrote_again_count_once(tmp_path: Path) -> None:
    """Some versions write the whole history again for each question of a stream."""
    history = [
        entry("1", None, "user", "Begin"),
        entry("2", "1", "assistant", "Ready."),
        entry("3", "2", "user", "Do A"),
        entry("4", "3", "assistant", "A.", reply="msg_2"),
        entry("5", "4", "user", "Do B"),
    ]
    path = write_lines(tmp_path / "log.jsonl", *history[:1], *history[:3], *history)
    messages = read(path)[0][2]
    assert [(message.text, message.visibility) for message in messages] == [
        (text, "public") for text in ("Begin", "Ready.", "Do A", "A.", "Do B")
    ]
    assert [report["skipped"] for report in reports(path)] == [{"repeated entry": 4}]


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
        ([{"type": "summary", "leafUuid": "x"}, {"type": "summary"}], "it contains no message"),
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
