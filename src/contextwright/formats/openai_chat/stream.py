"""A streamed chat reply, put together from its chunks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from contextwright.changes import Change

__all__ = ["accumulate"]


def accumulate(events: Iterable[Any]) -> tuple[dict[str, Any], list[Change]]:
    """The whole reply, and a change where the stream broke off before its end.

    Of several choices the first is read. Fields of a delta that are text grow, lists grow by
    their entries' `index`, and anything else is taken as it came last.
    """
    reply: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    message = Grown()
    for event in events:
        chunk = as_dict(event)
        for key, value in chunk.items():
            if key != "choices" and value is not None:
                reply[key] = value
        for entry in as_list(chunk.get("choices")):
            if entry.get("index", 0) == 0:
                message.add(as_dict(entry.get("delta")))
                if entry.get("finish_reason") is not None:
                    choice["finish_reason"] = entry["finish_reason"]
    changes: list[Change] = []
    if "finish_reason" not in choice:
        changes.append(Change("repair.interrupted", "", "the stream broke off; what came is kept"))
    said = message.value()
    if "tool_calls" in said:
        said["tool_calls"] = [call for call in as_list(said["tool_calls"]) if is_named(call)]
        if len(said["tool_calls"]) < len(message.fields["tool_calls"].value()):
            changes.append(Change("loss.call", "tool_calls", "the beginning of a call never came"))
    reply["choices"] = [{**choice, "message": said}]
    return reply, changes


def is_named(call: dict[str, Any]) -> bool:
    """Whether enough of a call came to tell which tool it is for."""
    match call:
        case {"function": {"name": str()}} | {"custom": {"name": str()}}:
            return True
        case _:
            return False


class Grown:
    """An object that arrives in pieces; text is joined once, at the end."""

    def __init__(self) -> None:
        self.fields: dict[str, Any] = {}

    def add(self, delta: dict[str, Any]) -> None:
        """Add one piece."""
        for key, value in delta.items():
            if value is None:
                continue
            known = self.fields.get(key)
            if isinstance(value, str) and key not in WHOLE:
                if isinstance(known, list):
                    cast("list[str]", known).append(value)
                else:
                    self.fields[key] = [value]
            elif isinstance(value, dict):
                grown = known if isinstance(known, Grown) else Grown()
                grown.add(cast("dict[str, Any]", value))
                self.fields[key] = grown
            elif isinstance(value, list):
                entries = known if isinstance(known, Entries) else Entries()
                entries.add(cast("list[Any]", value))
                self.fields[key] = entries
            else:
                self.fields[key] = value

    def value(self) -> dict[str, Any]:
        """What has come so far."""
        return {key: settled(value) for key, value in self.fields.items()}


WHOLE = ("role", "type", "id", "index", "format", "signature")
"""Fields that come whole; some hosts repeat them in every chunk."""


class Entries:
    """A list whose entries arrive in pieces, told apart by their `index`."""

    def __init__(self) -> None:
        self.entries: dict[Any, Grown] = {}
        self.others: list[Any] = []

    def add(self, pieces: list[Any]) -> None:
        """Add the pieces of one chunk."""
        for piece in pieces:
            if not isinstance(piece, dict):
                self.others.append(piece)
                continue
            entry = cast("dict[str, Any]", piece)
            index = entry.get("index")
            if not isinstance(index, int):
                index = self.unnumbered(entry)
            self.entries.setdefault(index, Grown()).add(
                {key: value for key, value in entry.items() if key != "index"}
            )

    def unnumbered(self, entry: dict[str, Any]) -> int:
        """Some hosts send whole entries without an index: each id is a new one."""
        last = len(self.entries) - 1
        return last if "id" not in entry and last >= 0 and "function" in entry else last + 1

    def value(self) -> list[Any]:
        """What has come so far, in the order of the indices."""
        return [*(self.entries[index].value() for index in sorted(self.entries)), *self.others]


def settled(value: Any) -> Any:
    """A field as JSON."""
    if isinstance(value, Grown | Entries):
        return value.value()
    return "".join(cast("list[str]", value)) if isinstance(value, list) else value


def as_dict(value: Any) -> dict[str, Any]:
    """A chunk as a dict: decoded JSON, or an SDK's own object."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        value = dump(mode="json", exclude_none=True)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[dict[str, Any]]:
    """The objects of a list."""
    if not isinstance(value, list):
        return []
    return [as_dict(entry) for entry in cast("list[Any]", value)]
