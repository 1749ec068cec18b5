"""Codex session logs: `rollout-….jsonl`, whose lines wrap the items of OpenAI Responses.

The items are what the model saw and answered. The events between them repeat the items for display,
and are skipped. A compacted history becomes a summary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from contextwright.documents.files import Files
from contextwright.errors import ParseError, shown
from contextwright.formats.openai_responses.read import Gatherer
from contextwright.formats.reader import Reader
from contextwright.importers.base import (
    Fields,
    Imported,
    Importer,
    ReadOptions,
    Report,
    as_id,
    mark,
)
from contextwright.messages.message import Message
from contextwright.messages.parts import Text

__all__ = ["IMPORTER"]

NAME = "codex"
ITEMS = (
    "message", "reasoning", "function_call", "function_call_output", "custom_tool_call",
    "custom_tool_call_output", "local_shell_call", "web_search_call", "image_generation_call",
    "tool_search_call", "tool_search_output", "compaction",
)  # fmt: skip
ABOUT = ("cwd", "originator", "cli_version", "source", "model_provider", "git", "forked_from_id")


def read(files: Files, options: ReadOptions) -> Iterator[Imported]:
    """Yield the sessions of a log, or of all logs in a folder."""
    names = list(files.names) if len(files.names) == 1 else logs_of(files)
    if not names:
        raise ParseError("it contains no log (.jsonl)", file=files.label)
    for name in names:
        with files.ahead():
            first = next((value for _, value in files.lines(name)), None)
        if first is None and len(names) > 1:  # a log that was never written to
            yield Imported(id=stem_of(name), format=NAME, messages=(), report=Report())
        else:
            yield imported(files, name, first)


def logs_of(files: Files) -> list[str]:
    """Return the logs of a folder, without its other lists, such as `history.jsonl`."""
    names = files.ending(".jsonl")
    return [name for name in names if stem_of(name).startswith("rollout-")] or names


def stem_of(name: str) -> str:
    """Return the name of a log without its folder."""
    return name.replace("\\", "/").rpartition("/")[2].removesuffix(".jsonl")


def imported(files: Files, name: str, first: Any) -> Imported:
    """Return one session: the facts of its first line, then its messages."""
    try:
        about = Fields(first)
        if about.maybe("type") == "session_meta":
            about = about.object("payload")
        id = about.text("id")
    except ParseError as error:
        raise error.within(line=1, file=files.shown(name)) from None
    report = Report()
    settings = {key: about.data[key] for key in ABOUT if about.data.get(key)}
    return Imported(
        id=as_id(id),
        format=NAME,
        messages=Session(files, name, as_id(id), report).messages(),
        report=report,
        settings={NAME: settings} if settings else {},
    )


class Session:
    """The messages of one log, read line by line."""

    def __init__(self, files: Files, name: str, id: str, report: Report) -> None:
        self.files = files
        self.name = name
        self.id = id
        self.report = report
        self.reader = Reader(NAME, strict=False)
        self.gatherer = Gatherer(self.reader)
        self.began: tuple[int, str | None] | None = None
        """Line and time of the first item of the current message."""

    def messages(self) -> Iterator[Message]:
        """Yield all messages in order."""
        for place, (number, value) in enumerate(self.files.lines(self.name)):
            try:
                yield from self.line(Fields(value), number, is_first=place == 0)
                self.settle()
            except ParseError as error:
                raise error.within(line=number, file=self.files.shown(self.name)) from None
        yield from self.closed()

    def line(self, fields: Fields, number: int, *, is_first: bool) -> Iterator[Message]:
        """Yield the messages that a line completes."""
        kind = fields.maybe("type")
        match kind:
            case "response_item":
                yield from self.item(fields.object("payload"), number, fields.maybe("timestamp"))
            case "compacted":
                yield from self.closed()
                yield self.summary(fields, number)
            case "turn_context":
                self.gatherer.model = fields.object("payload").maybe("model")
                self.report.skip("turn context")
            case "event_msg":
                what = fields.object("payload").maybe("type") or "event"
                self.report.skip(f"event {shown(what)[1:-1]}")
            case "session_meta" | None if is_first:
                if instructions := instructions_of(fields):
                    yield self.marked(Message("system", (Text(instructions),)), number, None)
            case None:
                self.report.skip(shown(fields.maybe("record_type") or "line without a type")[1:-1])
            case _ if kind in ITEMS:  # logs of 2025 have items without a wrapper
                yield from self.item(fields, number, None)
            case _:
                self.report.skip(shown(kind)[1:-1])

    def item(self, item: Fields, number: int, time: str | None) -> Iterator[Message]:
        """Read one item; yield the messages it completes."""
        if item.maybe("type") not in ITEMS:
            self.report.skip(shown(item.maybe("type"))[1:-1])
            return
        before = len(self.gatherer.parts)
        self.gatherer.take(item.data, item.path)
        done = self.drained()
        if self.gatherer.parts and (done or not before):
            ended, self.began = self.began, (number, time)
        else:
            ended = self.began
        for message in done:
            spoken = message.role in ("assistant", "tool") and ended is not None
            yield self.marked(message, *(ended if spoken and ended else (number, time)))
            ended = None

    def closed(self) -> Iterator[Message]:
        """Yield the current message."""
        self.gatherer.close()
        for message in self.drained():
            yield self.marked(message, *(self.began or (0, None)))

    def drained(self) -> list[Message]:
        """Return the complete messages, and forget them."""
        done, self.gatherer.messages = self.gatherer.messages, []
        return done

    def marked(self, message: Message, number: int, time: str | None) -> Message:
        """Return a message with its time and its position in the log."""
        meta = mark(f"{NAME}/{self.id}/{number}")
        return msgspec.structs.replace(message, sent_at=time, meta=meta)

    def summary(self, fields: Fields, number: int) -> Message:
        """Return the summary that replaced a compacted history."""
        payload = fields.object("payload")
        words = payload.maybe("message") or "(encrypted)"
        rest: dict[str, Any] = payload.rest("message", "replacement_history")
        if payload.list("replacement_history"):
            reason = "the messages it keeps are already before it"
            self.report.change("loss.replacement", f"line {number}", reason)
        return Message(
            "user",
            (Text(words),),
            sent_at=fields.maybe("timestamp"),
            kind="summary",
            meta=mark(f"{NAME}/{self.id}/{number}", codex=rest),
        )

    def settle(self) -> None:
        """Raise read errors; report repairs."""
        for change in self.reader.finish():
            self.report.add(change)
        self.reader.changes.clear()


def instructions_of(first: Fields) -> str | None:
    """Return the system text of a session, which its first line has."""
    about = first.object("payload")
    base = about.object("base_instructions") if about.data.get("base_instructions") else None
    found = about.data.get("instructions") or first.data.get("instructions")
    found = found or (base.data.get("text") if base else None)
    return found if isinstance(found, str) else None


IMPORTER = Importer(NAME, "Codex session logs (rollout-….jsonl)", read)
