"""A streamed generateContent reply, read chunk by chunk."""

from __future__ import annotations

from typing import Any

from contextwright.formats.gemini.partial_args import add_arguments
from contextwright.formats.gemini.read import NAME, SIGNATURE, parts_of
from contextwright.formats.gemini.reply import finish_of, usage_of
from contextwright.formats.replies.events import Finish, ReplyStart, UsageUpdate
from contextwright.formats.replies.failures import error_of
from contextwright.formats.replies.reader import StreamReader, as_object, stream_parser
from contextwright.messages.changes import Change
from contextwright.messages.parts import ToolCall
from contextwright.wire.gemini.types import Reply
from contextwright.wire.spelling import camel_case
from contextwright.wire.values import Object, is_list, is_object

__all__ = ["GeminiReader", "parse_stream"]

PLAIN = frozenset(("text", "thought"))
"""The fields of a part that is only text, to which more text may be appended."""
WHOLE = "whole"
"""Marks deltas of a part that has more than text, which a writer sends as a whole."""


LOGPROBS = "logprobsResult"
GROWING = ("citationMetadata", "groundingMetadata", "urlContextMetadata", LOGPROBS)
"""Fields of a candidate of which each chunk may bring more."""


class GeminiReader(StreamReader):
    """Reads the chunks of `:streamGenerateContent`, as server-sent events or as a JSON array.

    Consecutive pieces of text, or of thought, form one part. A part with a signature stays
    separate, because the API wants it back where it was.
    """

    format = NAME

    def __init__(self) -> None:
        super().__init__()
        self.head: Object = {}
        self.candidate: Object = {}
        self.open: Object | None = None
        self.pieces: list[str] = []
        self.count = 0
        self.others = 0

    def take(self, event: Any) -> None:
        """Read one event."""
        chunk, _ = camel_case(as_object(event), Reply)
        if not is_object(chunk):
            return
        error = error_of(chunk)
        if error is not None:
            self.fail(error)
        self.head.update({key: chunk[key] for key in chunk if key != "candidates"})
        id = chunk.get("responseId")
        if not self.started and (id or chunk.get("modelVersion")):
            self.start(ReplyStart(id if isinstance(id, str) else None, self.model))
        usage = usage_of(chunk.get("usageMetadata"))
        if usage is not None:
            self.out.append(UsageUpdate(usage))
        candidates: Any = chunk.get("candidates")
        if is_list(candidates) and candidates:
            self.others = max(self.others, len(candidates) - 1)
            self.take_candidate(candidates[0])

    @property
    def model(self) -> str | None:
        """The model that answers."""
        model = self.head.get("modelVersion")
        return model if isinstance(model, str) else None

    def take_candidate(self, candidate: Any) -> None:
        """Read the first candidate of a chunk; only count the others."""
        if not is_object(candidate):
            return
        for field, value in candidate.items():
            if field in GROWING:
                value = grown(self.candidate.get(field), value, resent=field != LOGPROBS)
            if field != "content":
                self.candidate[field] = value
        content = candidate.get("content")
        held: Any = content.get("parts") if is_object(content) else None
        is_last = bool(candidate.get("finishReason"))
        for part in held if is_list(held) else ():
            # The last chunk often brings an empty text, because every chunk has a part.
            if is_object(part) and not (is_last and self.begins_empty(part)):
                self.take_part(part)

    def take_part(self, part: Object) -> None:
        """Read one part of a chunk: more of the open part, or the next one."""
        last = self.open or {}
        call: Any = part.get("functionCall")
        open_call: Any = last.get("functionCall")
        if is_object(call) and is_object(open_call) and open_call.get("willContinue"):
            add_arguments(open_call["args"], call.get("partialArgs"))
            if SIGNATURE in part:
                last[SIGNATURE] = part[SIGNATURE]
            if not call.get("willContinue"):
                del open_call["willContinue"]
                self.end_part()
        elif is_plain(part):
            if not self.goes_on(part):
                self.end_part()
                self.open = dict(part)
            self.pieces.append(part["text"])
            self.hand_on(part)
        else:
            self.end_part()
            self.open = started(part)
            if not (is_object(call) and call.get("willContinue")):
                self.end_part()

    def goes_on(self, part: Object) -> bool:
        """Whether a piece of text belongs to the open part."""
        last = self.open or {}
        return is_plain(last) and part.get("thought") == last.get("thought")

    def begins_empty(self, part: Object) -> bool:
        """Whether a part would be a new one without a word."""
        return is_plain(part) and not part["text"] and not self.goes_on(part)

    def hand_on(self, part: Object) -> None:
        """Send a piece of text or thought as an event."""
        if part.get("thought") is True:
            self.thinking(self.count, part["text"])
        else:
            self.text(self.count, part["text"])

    def end_part(self) -> None:
        """Close the open part."""
        if self.open is None:
            return
        part, path = self.open, f"candidates[0].content.parts[{self.count}]"
        if is_plain(part):
            part = {**part, "text": "".join(self.pieces)}
        self.open, self.pieces = None, []
        for offset, read in enumerate(parts_of(part, path, self.reader)):
            slot: object = (self.count, offset) if offset else self.count
            if isinstance(read, ToolCall) and self.unfinished(part):
                reason = "the arguments ended early; those received are kept"
                self.reader.changes.append(Change("repair.arguments", path, reason))
            self.part(slot, read, "" if is_plain(part) else WHOLE)
        self.count += 1

    def unfinished(self, part: Object) -> bool:
        """Whether the stream ended before the arguments were complete."""
        return is_object(part.get("functionCall")) and bool(
            part["functionCall"].pop("willContinue", False)
        )

    def end(self) -> None:
        """Close the parts that are still open."""
        self.end_part()
        if self.others:
            reason = f"{self.others} more candidates"
            self.reader.changes.append(Change("loss.candidate", "candidates[1]", reason))

    def finish(self) -> Finish:
        """Return how the reply ended."""
        whole = bool(self.candidate.get("finishReason") or self.head.get("promptFeedback"))
        return finish_of(
            self.head,
            self.candidate,
            calls=any(isinstance(part, ToolCall) for part in self.ended.values()),
            changes=self.reader.finish(),
            whole=whole,
            error=self.error,
        )


parse_stream = stream_parser(GeminiReader)


def is_plain(part: Object) -> bool:
    """Whether a part is only text."""
    return isinstance(part.get("text"), str) and part.keys() <= PLAIN


def grown(held: Any, more: Any, *, resent: bool) -> Any:
    """Return what chunks said so far of a field with what another one adds to its lists.

    `resent`: a list that begins with what is held brings that again.
    """
    if is_list(held) and is_list(more):
        again = resent and more[: len(held)] == held
        return more if again else [*held, *more]
    if is_object(held) and is_object(more):
        return {**held, **{key: grown(held.get(key), more[key], resent=resent) for key in more}}
    return more


def started(part: Object) -> Object:
    """Return a new part to extend; a call with the arguments that came with it."""
    call: Any = part.get("functionCall")
    if not is_object(call):
        return dict(part)
    whole: Object = dict(call)
    pieces: Any = whole.pop("partialArgs", None)
    if pieces or whole.get("willContinue"):
        given = whole.get("args")
        whole["args"] = dict(given) if is_object(given) else {}
        add_arguments(whole["args"], pieces)
    if not whole.get("willContinue"):
        whole.pop("willContinue", None)
    return {**part, "functionCall": whole}
