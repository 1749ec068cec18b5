"""Claude account exports: `conversations.json` with `chat_messages`.

A reply in the export holds its calls and results in one message; here results become separate
messages, as everywhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from contextwright.documents.files import Files
from contextwright.documents.stream import Document
from contextwright.errors import ParseError, shown
from contextwright.importers.base import (
    Fields,
    Imported,
    Importer,
    ReadOptions,
    Report,
    as_id,
    mark,
    media_named,
)
from contextwright.importers.sources.chatgpt import conversation_files
from contextwright.messages.make import as_result
from contextwright.messages.message import Message
from contextwright.messages.parts import Media, Opaque, Part, Text, Thinking, ToolCall, ToolResult

__all__ = ["IMPORTER"]

NAME = "claude"
READ = ("uuid", "text", "content", "sender", "created_at", "attachments", "files", "files_v2")
SENDERS: dict[str, Literal["user", "assistant"]] = {"human": "user", "assistant": "assistant"}


def read(files: Files, options: ReadOptions) -> Iterator[Imported]:
    """Yield the conversations of an export."""
    for name in conversation_files(files):
        with files.open(name) as stream:
            document = Document(stream, mend=files.mend)
            if document.peek() == b"{":
                yield conversation(Fields(document.value()))
            else:
                for number in document.entries():
                    yield conversation(Fields(document.value(), f"[{number}]"))
            document.end()


def conversation(fields: Fields) -> Imported:
    """Read one conversation."""
    id = as_id(fields.text("uuid"))
    report = Report()
    messages: list[Message] = []
    before: str | None = None
    for message in fields.objects("chat_messages"):
        parent, uuid = message.maybe("parent_message_uuid"), message.maybe("uuid")
        if before is not None and parent not in (None, before):
            reason = f"follows {shown(parent)}, not the message before it: versions in one row"
            report.change("repair.branch", f"message {len(messages) + 1}", reason)
        before = uuid
        made = messages_of(message, id, report)
        if not made:
            report.skip("empty message")
        messages.extend(made)
    return Imported(
        id=id,
        format=NAME,
        title=fields.maybe("name") or None,
        messages=tuple(messages),
        report=report,
        settings={NAME: rest} if (rest := fields.rest("uuid", "name", "chat_messages")) else {},
    )


def messages_of(fields: Fields, id: str, report: Report) -> list[Message]:
    """Return the messages of an entry: one, or several if results are between the texts."""
    sender = fields.text("sender")
    if sender not in SENDERS:
        raise ParseError(f"{shown(sender)} is not one of: human, assistant", path=fields.path)
    runs: list[tuple[bool, list[Part]]] = []
    for part in parts_of(fields, report):
        is_result = isinstance(part, ToolResult)
        if not runs or runs[-1][0] != is_result:
            runs.append((is_result, []))
        runs[-1][1].append(part)
    messages: list[Message] = []
    for place, (is_result, parts) in enumerate(runs):
        source = f"{NAME}/{id}/{fields.maybe('uuid') or ''}" + (f"/{place}" if place else "")
        messages.append(
            Message(
                "tool" if is_result else SENDERS[sender],
                tuple(parts),
                sent_at=fields.maybe("created_at"),
                meta=mark(source, claude={} if place else fields.rest(*READ)),
            )
        )
    return messages


def parts_of(fields: Fields, report: Report) -> Iterator[Part]:
    """Yield the parts of an entry: its blocks, else its plain text, then attachments."""
    calls: list[str] = []
    is_empty = True
    for block in fields.objects("content"):
        part = part_of(block, calls, fields.maybe("uuid") or "", report)
        if part is not None:
            is_empty = False
            yield part
    if is_empty and fields.maybe("text"):
        yield Text(fields.text("text"))
    for file in fields.objects("attachments"):
        yield attachment(file)
    for file in fields.objects("files") or fields.objects("files_v2"):
        yield media_named(file.maybe("file_name"), handle=file.maybe("file_uuid"), origin=NAME)


def part_of(block: Fields, calls: list[str], message: str, report: Report) -> Part | None:
    """Return the part of a block; None if it is empty. `calls` gets the ids of calls."""
    match block.text("type"):
        case "text":
            text = block.maybe("text")
            if text is None:
                report.skip("block without its text")
            return Text(text) if text else None
        case "thinking":
            return Thinking(block.maybe("thinking") or "", origin=NAME)
        case "tool_use":
            # Exports of some months have no ids: then a result follows its call.
            id = block.maybe("id") or f"{message}-{len(calls)}"
            calls.append(id)
            return ToolCall(block.text("name"), block.object("input").data, id)
        case "tool_result":
            id = block.maybe("tool_use_id") or (calls[-1] if calls else None)
            name, failed = block.maybe("name"), block.data.get("is_error") is True
            return ToolResult(id, result_content(block), name, failed)
        case "token_budget":
            report.skip("token budget")
            return None
        case _:
            return Opaque(NAME, block.data, block.maybe("text"))


def result_content(block: Fields) -> str | dict[str, object] | tuple[Text | Media | Opaque, ...]:
    """Return the content of a tool's result; plain text is a string."""
    content = block.data.get("content")
    if not isinstance(content, list):
        return as_result("" if content is None else content)
    pieces: list[Text | Media | Opaque] = []
    for piece in block.objects("content"):
        text = piece.maybe("text")
        words = text is not None and piece.maybe("type") == "text"
        pieces.append(Text(text or "") if words else Opaque(NAME, piece.data, text))
    if len(pieces) == 1 and isinstance(pieces[0], Text):
        return pieces[0].text
    return tuple(pieces) or ""


def attachment(file: Fields) -> Part:
    """Return a file with its text, or only its name."""
    media = media_named(file.maybe("file_name"), file.maybe("file_type"))
    words = file.maybe("extracted_content")
    if not words:
        return media
    return Media.from_bytes(
        "document", words.encode("utf-8", "surrogatepass"), "text/plain", name=media.name
    )


IMPORTER = Importer(NAME, "Claude account export", read)
