"""Small data sets: conversations of several APIs, one per line, among rows that are broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

QUESTION = {"role": "user", "content": "Soup or risotto? 🍲"}
ANSWER = {"role": "assistant", "content": "Risotto."}


def chat(number: int, turns: int = 2) -> dict[str, Any]:
    """A conversation in OpenAI's format that ends with a question."""
    history = [
        {"role": role, "content": f"{role} {number}.{turn} Київ"}
        for turn in range(turns)
        for role in ("user", "assistant")
    ]
    return {"model": "gpt-5.6-sol", "messages": [*history, QUESTION]}


BROKEN: tuple[bytes, ...] = (
    b"{",
    b"[1, 2",
    b'"only words"',
    b"\xff\xfe\x00",
    b'{"messages": [{"role": "user", "content": "a"}], "messages": []}',
    b'{"messages": "none"}',
    b'{"model": "gpt-5.6-sol", "messages": [{"role": "user", "content": "\\ud800"}]}',
    b"[" * 300 + b"]" * 300,
    b"NaN",
    b"nothing at all",
)
"""Rows that are not conversations."""


def lines(count: int, turns: int = 2, broken: bool = False) -> bytes:
    """Conversations, one per line; with `broken`, every tenth line is not one."""
    rows: list[bytes] = []
    for number in range(count):
        rows.append(json.dumps(chat(number, turns), ensure_ascii=False).encode())
        if broken and number % 10 == 5:
            rows.append(BROKEN[number // 10 % len(BROKEN)])
    return b"\n".join(rows) + b"\n"


def files_in(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, with its content."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
