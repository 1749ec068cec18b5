"""What the tests of importers share: files in the shapes tools really write, and reading them."""

import json
import zipfile
from pathlib import Path
from typing import Any

from contextwright import importers
from contextwright.messages.message import Message

Read = list[tuple[str, str | None, tuple[Message, ...]]]


def read(source: Path, format: str | None = None, **options: Any) -> Read:
    """Id, title and messages of each conversation."""
    return [
        (one.id, one.title, tuple(one.messages))
        for one in importers.read(source, format, **options)
    ]


def reports(source: Path, format: str | None = None, **options: Any) -> list[dict[str, Any]]:
    """What each conversation says it left out and changed."""
    found: list[dict[str, Any]] = []
    for one in importers.read(source, format, **options):
        for _ in one.messages:
            pass
        changes = [str(change) for change in one.report.changes]
        found.append({"skipped": dict(one.report.skipped), "changes": changes})
    return found


def write_json(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def write_lines(path: Path, *values: Any) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def write_zip(path: Path, members: dict[str, Any]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in members.items():
            archive.writestr(name, value if isinstance(value, bytes | str) else json.dumps(value))
    return path


# --- one export of each kind -------------------------------------------------------------------


def node(id: str, parent: str | None, role: Any = None, *parts: Any, **fields: Any) -> Any:
    """A node of a ChatGPT mapping."""
    content = fields.pop("content", {"content_type": "text", "parts": list(parts)})
    author = {"role": role, "name": fields.pop("name", None), "metadata": {}}
    message = {"id": id, "author": author, "content": content, "recipient": "all", **fields}
    return {"id": id, "message": message if role else None, "parent": parent, "children": []}


def chatgpt(*nodes: Any, **fields: Any) -> list[Any]:
    """A ChatGPT export of one conversation, which ends at the last of these nodes."""
    mapping = {one["id"]: one for one in nodes}
    whole = {"title": "T", "conversation_id": "c", "current_node": nodes[-1]["id"]}
    return [{**whole, "mapping": mapping, **fields}]


CHATGPT = [
    {
        "title": "Lunch",
        "create_time": 1700000000.0,
        "conversation_id": "conv-1",
        "current_node": "a2",
        "mapping": {
            "root": node("root", None),
            "s": node("s", "root", "system", ""),
            "u": node("u", "s", "user", "What's for lunch?", create_time=1700000001.25),
            "a1": node("a1", "u", "assistant", "Soup.", create_time=1700000002.0),
            "a2": node("a2", "u", "assistant", "Risotto.", create_time=1700000003.0, weight=1.0),
        },
    }
]

CLAUDE = [
    {
        "uuid": "chat-1",
        "name": "Tea",
        "created_at": "2025-01-01T10:00:00.000000Z",
        "account": {"uuid": "me"},
        "chat_messages": [
            {
                "uuid": "m1",
                "text": "Which tea?",
                "content": [{"type": "text", "text": "Which tea?", "citations": []}],
                "sender": "human",
                "created_at": "2025-01-01T10:00:01.000000Z",
                "attachments": [],
                "files": [{"file_name": "menu.png"}],
            },
            {
                "uuid": "m2",
                "text": "Green.",
                "content": [{"type": "text", "text": "Green."}],
                "sender": "assistant",
                "created_at": "2025-01-01T10:00:02.000000Z",
                "attachments": [],
                "files": [],
            },
        ],
    }
]

SLACK = {
    "users.json": [
        {"id": "U1", "name": "ann", "real_name": "Ann Lee", "profile": {"display_name": "annie"}},
        {"id": "U2", "name": "bob", "profile": {"real_name": "Bob"}},
    ],
    "channels.json": [{"id": "C1", "name": "lunch", "members": ["U1", "U2"]}],
    "lunch/2024-05-01.json": [
        {
            "type": "message",
            "subtype": "channel_join",
            "user": "U1",
            "text": "<@U1> has joined the channel",
            "ts": "1714550400.000100",
        },
        {"type": "message", "user": "U1", "text": "Who is hungry?", "ts": "1714550401.000200"},
    ],
}

TELEGRAM = {
    "name": "Ann",
    "type": "personal_chat",
    "id": 4321,
    "messages": [
        {
            "id": 1,
            "type": "message",
            "date": "2024-05-01T08:00:00",
            "date_unixtime": "1714550400",
            "from": "Ann",
            "from_id": "user1",
            "text": "Hungry?",
            "text_entities": [{"type": "plain", "text": "Hungry?"}],
        }
    ],
}

CLAUDE_CODE = [
    {"type": "summary", "summary": "Fix the test", "leafUuid": "u3"},
    {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": "session-1",
        "isSidechain": False,
        "cwd": "/src",
        "version": "2.1.0",
        "timestamp": "2026-02-10T21:00:00.000Z",
        "message": {"role": "user", "content": "Fix the test."},
    },
    {
        "type": "assistant",
        "uuid": "u2",
        "parentUuid": "u1",
        "sessionId": "session-1",
        "isSidechain": False,
        "timestamp": "2026-02-10T21:00:01.000Z",
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-4-6",
            "content": [{"type": "text", "text": "Done."}],
        },
    },
]

CODEX = [
    {
        "timestamp": "2025-10-29T00:59:38.317Z",
        "type": "session_meta",
        "payload": {"id": "019a", "timestamp": "2025-10-29T00:59:38.308Z", "cwd": "/src"},
    },
    {
        "timestamp": "2025-10-29T00:59:38.400Z",
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "What is 2+2?"}],
        },
    },
    {
        "timestamp": "2025-10-29T00:59:39.500Z",
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "4"}],
        },
    },
]

FINETUNING = [
    {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]},
    {"messages": [{"role": "user", "content": "Bye"}, {"role": "assistant", "content": "Ciao"}]},
]

PORT42 = {
    "id": "cli-1",
    "agent": "@ai-engineer",
    "updated_at": "2025-08-01T10:00:02Z",
    "messages": [
        {"role": "user", "content": "Hello", "timestamp": "2025-08-01T10:00:00.123456789+02:00"},
        {"role": "assistant", "content": "Hi", "timestamp": "2025-08-01T10:00:01Z"},
    ],
}
