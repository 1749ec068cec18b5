"""Files of other tools to import, made of the workload: as long as wanted, always the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from contextwright import Message, Text, ToolCall, ToolResult, render

from .. import workload

__all__ = ["WRITERS"]

CONVERSATIONS = 50
"""Different ones in a file; they repeat until it is long enough."""
SHORTEST = 20
"""Messages of the shortest."""
ID = "00000000-0000-4000-8000-000000000000"
"""Stands in a conversation of an export until it gets an id of its own."""


def write_fine_tuning(path: Path, size: int) -> int:
    """Write a line for each conversation until the file is long enough; return their number."""
    bodies: list[bytes] = []
    for number in range(CONVERSATIONS):
        conversation = workload.clean(SHORTEST + number)
        payload = render(conversation, "openai-chat", model="gpt-5.6-sol").payload
        kept = {name: payload[name] for name in ("messages", "tools") if name in payload}
        bodies.append(msgspec.json.encode(kept) + b"\n")
    written = number = 0
    with path.open("wb") as stream:
        while written < size:
            written += stream.write(bodies[number % CONVERSATIONS])
            number += 1
    return number


def write_short(path: Path, size: int) -> int:
    """Write fine-tuning data of a system prompt, a short question and a short answer a line."""
    random = Random(1)
    written = number = 0
    with path.open("wb") as stream:
        while written < size:
            asked, answered = (workload.words(random, random.randint(60, 200)) for _ in range(2))
            texts = {"system": "You are a helpful assistant.", "user": asked, "assistant": answered}
            said = [{"role": role, "content": text} for role, text in texts.items()]
            written += stream.write(msgspec.json.encode({"messages": said}) + b"\n")
            number += 1
    return number


def write_chatgpt(path: Path, size: int) -> int:
    """Write a `conversations.json` of a ChatGPT account; return the number of conversations.

    It is spelled as ChatGPT spells it: on one line, with spaces, other letters than ASCII escaped.
    """
    bodies = [
        json.dumps(chat_of(workload.clean(SHORTEST + number).messages)).encode()
        for number in range(CONVERSATIONS)
    ]
    written = number = 0
    with path.open("wb") as stream:
        while written < size:
            own = f"{number:08x}{ID[8:]}".encode()
            body = bodies[number % CONVERSATIONS].replace(ID.encode(), own)
            written += stream.write((b", " if number else b"[") + body)
            number += 1
        stream.write(b"]")
    return number


WRITERS: dict[str, tuple[str, Callable[[Path, int], int]]] = {
    "openai-finetuning": ("train.jsonl", write_fine_tuning),
    "short": ("short.jsonl", write_short),
    "chatgpt": ("conversations.json", write_chatgpt),
}
"""The name of a file of each kind, and what writes one of at least so many bytes."""


# --- ChatGPT -------------------------------------------------------------------------------------


def chat_of(messages: tuple[Message, ...]) -> dict[str, Any]:
    """Return a chat: a tree of nodes, here without branches."""
    found = [fields for message in messages for fields in entries_of(message)]
    ids = [f"{place:08x}-1111-4111-8111-111111111111" for place in range(len(found))]
    mapping: dict[str, Any] = {}
    for place, (id, fields) in enumerate(zip(ids, found, strict=True)):
        mapping[id] = {
            "id": id,
            "message": {"id": id, **fields},
            "parent": ids[place - 1] if place else None,
            "children": ids[place + 1 : place + 2],
        }
    return {
        "title": "A chat",
        "create_time": 1_700_000_000.25,
        "update_time": 1_700_000_100.5,
        "mapping": mapping,
        "current_node": ids[-1],
        "conversation_id": ID,
        "default_model_slug": "gpt-5",
        "is_archived": False,
        "id": ID,
    }


def entries_of(message: Message) -> Iterator[dict[str, Any]]:
    """Yield a message as ChatGPT has it: calls and results are messages of their own."""
    words = [part.text for part in message.parts if isinstance(part, Text)]
    media = [part for part in message.parts if not isinstance(part, Text | ToolCall | ToolResult)]
    if media:
        image = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_0001"}
        content = {"content_type": "multimodal_text", "parts": [image, *words]}
        yield entry(message.role, content)
    elif words:
        yield entry(message.role, {"content_type": "text", "parts": words})
    for call in message.calls:
        code = {"content_type": "code", "language": "json", "text": call.json}
        yield entry("assistant", code, recipient=call.name)
    for result in message.results:
        text = {"content_type": "text", "parts": [result.text]}
        yield entry("tool", text, name=result.name)


def entry(
    role: str, content: dict[str, Any], *, name: str | None = None, recipient: str = "all"
) -> dict[str, Any]:
    """Return the fields of a message besides its id."""
    return {
        "author": {"role": role, "name": name, "metadata": {}},
        "create_time": 1_700_000_050.125,
        "update_time": None,
        "content": content,
        "status": "finished_successfully",
        "end_turn": role == "assistant",
        "weight": 1.0,
        "metadata": {"model_slug": "gpt-5", "request_id": "0" * 20, "timestamp_": "absolute"},
        "recipient": recipient,
        "channel": None,
    }
