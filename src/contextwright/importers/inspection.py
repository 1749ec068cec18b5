"""Reports what no provider would accept in an imported conversation, when it is imported.

Messages are stored as they came. What a later request has to repair or leave out is reported with
the import: parts of an unknown type, media without data or URL, results without a call, calls and
results whose ids are ambiguous.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from contextwright.errors import shown
from contextwright.formats.api import check
from contextwright.importers.base import Report
from contextwright.messages.exchanges import Answer, Waiting
from contextwright.messages.message import Message
from contextwright.messages.parts import Media, Opaque, Text, ToolCall, ToolResult
from contextwright.wire.media import data_fault

__all__ = ["Inspection"]

BODIES = {
    "anthropic": ("messages", "content"),
    "gemini": ("contents", "parts"),
    "openai-chat": ("messages", "content"),
    "openai-responses": ("input", ""),
}
"""The fields of a request's messages and of their parts; Responses has items."""
SHAPE = ("T-", "G-parts")
"""Prefixes of problems that concern a part by itself."""
LARGEST = 1 << 40  # size limits of providers do not matter here
ANSWERED = ToolResult(None)
"""Stands for any result of a call, whose content would take memory."""


class Inspection:
    """Inspects the messages of one conversation in order."""

    def __init__(self, report: Report, *, pairs: bool = True) -> None:
        self._report = report
        self._pairs = pairs
        """Whether all calls are seen; those of a fork may be in its parent."""
        self._waiting = Waiting()
        self._shapes: dict[tuple[Any, ...], str] = {}

    def watch(self, messages: Iterable[Message], start: int = 0) -> Iterator[Message]:
        """Yield each message, and report what a request will have to repair."""
        for index, message in enumerate(messages, start):
            parts = message.parts
            if len(parts) != 1 or type(parts[0]) is not Text:
                self._inspect(message, index)
            yield message

    def _inspect(self, message: Message, index: int) -> None:
        for place, part in enumerate(message.parts):
            if type(part) is ToolResult:
                self._result(part, message, index)
            elif type(part) is ToolCall:
                self._call(part, message, (index, place))
            elif type(part) is Media or type(part) is Opaque:
                self._piece(part, message.role, index)

    def _report_at(self, index: int, code: str, reason: str) -> None:
        self._report.change(code, f"message {index + 1}", reason)

    def _piece(self, piece: Media | Opaque, role: str, index: int) -> None:
        if isinstance(piece, Opaque):
            problem = self._shape(piece, role)
            if problem:
                self._report_at(index, "loss.part", problem)
        elif piece.data is not None:
            if data_fault(piece.data, LARGEST):
                reason = f"the data of its {piece.kind} are not base64"
                self._report_at(index, "loss.media", reason)
        elif not (piece.url or piece.file_id or piece.name):
            reason = f"its {piece.kind} has neither data nor an address"
            self._report_at(index, "loss.media", reason)

    def _shape(self, block: Opaque, role: str) -> str:
        """Return what a provider's check says about a block; each shape is checked once."""
        if block.format not in BODIES:
            return ""
        kind = (block.format, role, str(block.data.get("type")), *sorted(block.data))
        if kind not in self._shapes:
            self._shapes[kind] = shape_problem(block, role)
        return self._shapes[kind]

    def _call(self, call: ToolCall, message: Message, at: tuple[int, int]) -> None:
        if message.role != "assistant" or message.visibility != "public":
            return
        if call.id is not None and call.id in self._waiting.by_id:
            self._report_at(at[0], "repair.id", "a call has the id of an earlier one")
        bare = ToolCall(call.name, {}, call.id)  # drop the arguments to save memory
        self._waiting.add(Answer(bare, at))

    def _result(self, result: ToolResult, message: Message, index: int) -> None:
        if isinstance(result.content, tuple):
            for piece in result.content:
                if not isinstance(piece, Text):
                    self._piece(piece, message.role, index)
        if not self._pairs or message.visibility != "public":
            return
        answer = self._waiting.take(result)
        if answer is None:
            self._report_at(index, "loss.orphan", "a result answers no call")
            return
        answer.result = ANSWERED
        if result.call_id is None and result.name is None and answer.call.id is not None:
            reason = "a result without an id is taken as the oldest call's"
            self._report_at(index, "repair.result", reason)


def shape_problem(block: Opaque, role: str) -> str:
    """Return why a provider does not accept a block; empty if it does."""
    messages, parts = BODIES[block.format]
    item = {"role": role, parts: [block.data]} if parts else block.data
    path = f"{messages}[0].{parts}[0]" if parts else f"{messages}[0]"
    for problem in check({messages: [item]}, block.format):
        if problem.path.startswith(path) and problem.code.startswith(SHAPE):
            kind = shown(block.data.get("type", next(iter(block.data), "")))
            why = "its type is unknown" if problem.code == "T-literal" else problem.message
            return f"a part {kind} is kept as it came: {why}"
    return ""
