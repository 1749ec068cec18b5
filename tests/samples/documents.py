"""Documents in memory, for importers."""

from __future__ import annotations

import io
import json
from typing import Any

from contextwright import importers
from contextwright.documents import files as files_module
from samples.exports import (
    CHATGPT,
    CLAUDE,
    CLAUDE_CODE,
    CODEX,
    FINETUNING,
    PORT42,
    TELEGRAM,
)


def lines(values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


DOCUMENTS = {
    "chatgpt": json.dumps(CHATGPT).encode(),
    "claude": json.dumps(CLAUDE, indent=1).encode(),
    "telegram": json.dumps(TELEGRAM, indent=1).encode(),
    "port42": json.dumps(PORT42, indent=1).encode(),
    "openai-chat": json.dumps({"messages": FINETUNING[0]["messages"]}, indent=1).encode(),
}

LINES = {
    "claude-code": lines(CLAUDE_CODE),
    "codex": lines(CODEX),
    "openai-finetuning": lines(FINETUNING),
}


def in_memory(data: bytes) -> files_module.OneFile:
    return files_module.OneFile("x", None, io.BytesIO(data))


def everything(data: bytes, format: str) -> list[Any]:
    """The messages one after the other, whoever's conversation they are."""
    return [
        (one.id, message)
        for one in importers.read(in_memory(data), format)
        for message in one.messages
    ]
