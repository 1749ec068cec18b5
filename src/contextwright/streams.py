"""Replies and streams: read event by event, written for clients of any of the four APIs."""

from contextwright.formats.replies.events import (
    ArgumentsDelta,
    CallStart,
    ErrorEvent,
    Event,
    Finish,
    FinishReason,
    PartEnd,
    ReplyError,
    ReplyStart,
    SignatureDelta,
    TextDelta,
    ThinkingDelta,
    Usage,
    UsageUpdate,
)
from contextwright.formats.replies.failures import WrittenError, read_error, write_error
from contextwright.formats.replies.reader import StreamReader
from contextwright.formats.replies.reply import ModelReply, events_of, gather
from contextwright.formats.replies.streams import (
    WrittenReply,
    read_stream,
    read_stream_async,
    stream_reader,
    stream_writer,
    write_reply,
    write_stream,
)
from contextwright.formats.replies.writer import Frame, StreamWriter
from contextwright.formats.tools import restore_calls

__all__ = [
    "ArgumentsDelta",
    "CallStart",
    "ErrorEvent",
    "Event",
    "Finish",
    "FinishReason",
    "Frame",
    "ModelReply",
    "PartEnd",
    "ReplyError",
    "ReplyStart",
    "SignatureDelta",
    "StreamReader",
    "StreamWriter",
    "TextDelta",
    "ThinkingDelta",
    "Usage",
    "UsageUpdate",
    "WrittenError",
    "WrittenReply",
    "events_of",
    "gather",
    "read_error",
    "read_stream",
    "read_stream_async",
    "restore_calls",
    "stream_reader",
    "stream_writer",
    "write_error",
    "write_reply",
    "write_stream",
]
