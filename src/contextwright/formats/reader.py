"""Lenient field access for foreign JSON: repairs are reported, errors are collected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar, cast

from contextwright.errors import ParseError, shown
from contextwright.formats.base import keep_extra
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, Settings
from contextwright.messages.message import Message, Tool
from contextwright.messages.parts import Opaque
from contextwright.text.json import repeated_keys

__all__ = ["Reader", "misshapen", "plain"]

Value = TypeVar("Value", str, int, bool)
MOST_FAULTS = 10
NO_SETTINGS = Settings()


class Reader:
    """One reading of one document. Collects its repairs and errors."""

    def __init__(self, format: str, *, strict: bool) -> None:
        self.format = format
        self.strict = strict
        self.changes: list[Change] = []
        self.faults: list[tuple[str, str]] = []

    def body(self, data: Any, messages: str) -> dict[str, Any]:
        """Return the request body; a bare list is its messages."""
        if isinstance(data, list):
            return {messages: cast("list[Any]", data)}
        if not isinstance(data, dict):
            raise misshapen(self.format, "an object or a list of messages", data)
        body = cast("dict[str, Any]", data)
        if not isinstance(body.get(messages), list):
            raise ParseError("must be a list of messages", path=messages)
        return body

    def reply(self, reply: Any) -> dict[str, Any]:
        """Return a reply as a dict, from decoded JSON or an SDK object."""
        dump = getattr(reply, "model_dump", None)
        body = dump(mode="json", by_alias=True, exclude_none=True) if callable(dump) else reply
        if not isinstance(body, dict):
            raise ParseError(f"a {self.format} reply is an object, not {shown(body)}")
        return cast("dict[str, Any]", body)

    def objects(
        self, body: dict[str, Any], key: str, path: str = ""
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the objects of a list; any other entry is an error."""
        value = body.get(key)
        if path:
            key = f"{path}.{key}"
        if value is None:
            return
        if not isinstance(value, list):
            self.fault(key, f"must be a list, not {shown(value)}")
            return
        for index, item in enumerate(cast("list[Any]", value)):
            path = f"{key}[{index}]"
            if isinstance(item, dict):
                yield path, cast("dict[str, Any]", item)
            else:
                self.fault(path, f"must be an object, not {shown(item)}")

    def optional_text(self, body: dict[str, Any], key: str, path: str = "") -> str | None:
        """Read a text field that may be missing."""
        value = body.get(key)
        if value is None or isinstance(value, str):
            return value
        self.fault(f"{path}.{key}" if path else key, f"must be a string, not {shown(value)}")
        return None

    def text(self, body: dict[str, Any], key: str, path: str) -> str:
        """Read a required text field; empty if it is missing."""
        value = body.get(key)
        if isinstance(value, str):
            return value
        self.fault(f"{path}.{key}", f"must be a string, not {shown(value)}")
        return ""

    def fault(self, path: str, message: str) -> None:
        """Record an error, for `finish` to raise."""
        self.faults.append((path, message))

    def repair(self, code: str, path: str, reason: str) -> None:
        """Record a repair; an error if the reading is strict."""
        if self.strict:
            self.fault(path, reason)
        else:
            self.changes.append(Change(code, path, reason))

    def note_repeated(self, text: str | None, value: object, path: str) -> None:
        """Record keys that a JSON text has twice; `text` is None if it is how we write `value`."""
        keys = repeated_keys(text, value) if text is not None else []
        if keys:
            names = ", ".join(map(shown, keys[:MOST_FAULTS]))
            self.repair("repair.arguments", path, f"given twice, of which the last counts: {names}")

    def conversation(
        self,
        messages: Iterable[Message],
        rest: dict[str, Any],
        *,
        tools: Iterable[Tool | Opaque] = (),
        model: str | None = None,
        settings: Settings = NO_SETTINGS,
    ) -> Conversation:
        """Return the conversation, or raise recorded errors. `rest` are the leftover fields."""
        return Conversation(
            tuple(messages),
            tuple(tools),
            model,
            settings,
            source=self.format,
            extra=keep_extra(self.format, rest),
            changes=self.finish(),
        )

    def finish(self) -> tuple[Change, ...]:
        """Return the repairs; raise all recorded errors at once."""
        if self.faults:
            path, message = self.faults[0]
            others = "".join(f"; {place}: {fault}" for place, fault in self.faults[1:MOST_FAULTS])
            more = len(self.faults) - MOST_FAULTS
            raise ParseError(
                message + others + (f"; and {more} more" if more > 0 else ""), path=path
            )
        return tuple(self.changes)


def plain(value: Any, kind: type[Value]) -> Value | None:
    """Return the value if it is of this type, else None."""
    if isinstance(value, bool) and kind is not bool:
        return None
    return value if isinstance(value, kind) else None


def misshapen(format: str, expected: str, data: Any) -> ParseError:
    """Return the error for data that a format cannot begin with."""
    hint = "decode JSON first: json.loads" if isinstance(data, str | bytes) else ""
    return ParseError(f"{format} expects {expected}, not {shown(data)}", hint=hint)
