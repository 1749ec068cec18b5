"""Objects that arrive in pieces, as the deltas of a chat stream."""

from __future__ import annotations

from typing import Any, cast

__all__ = ["Entries", "Grown"]

WHOLE = ("role", "type", "id", "index", "format", "signature")
"""Fields that arrive complete; some hosts repeat them in every chunk, or leave them empty there."""


class Grown:
    """An object that arrives in pieces: text is appended, list entries are merged by `index`.

    Text is joined only when it is read. For other values the latest wins.
    """

    def __init__(self) -> None:
        self.fields: dict[str, Any] = {}

    def add(self, delta: dict[str, Any]) -> None:
        """Add one piece."""
        for key, value in delta.items():
            if value is None:
                continue
            known = self.fields.get(key)
            if known and (key == "id" or (value == "" and key in WHOLE)):
                continue  # some hosts make up another id for every piece
            if isinstance(value, str) and key not in WHOLE:
                if isinstance(known, list):
                    texts = cast("list[str]", known)
                    if key != "name" or "".join(texts) != value:  # a name may be repeated, too
                        texts.append(value)
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
        """Return what has arrived so far."""
        return {key: self.settled(key) for key in self.fields}

    def settled(self, key: str) -> Any:
        """Return one field as JSON; None if none of it arrived."""
        value = self.fields.get(key)
        if isinstance(value, Entries):
            # Only streams number calls; other entries are numbered in whole replies too.
            return value.value() if key != "tool_calls" else value.unnumbered_value()
        if isinstance(value, Grown):
            return value.value()
        return "".join(cast("list[str]", value)) if isinstance(value, list) else value


class Entries:
    """A list whose entries arrive in pieces, identified by their `index`."""

    def __init__(self) -> None:
        self.entries: dict[int, Grown] = {}
        self.others: list[Any] = []
        self.latest: dict[int, int] = {}
        """The newest entry of each index: some hosts give every call the same."""
        self.last_numbers: list[int] = []
        """The indices of the entries in the latest chunk."""

    def add(self, pieces: list[Any]) -> None:
        """Add the pieces of one chunk."""
        self.last_numbers = []
        for piece in pieces:
            if not isinstance(piece, dict):
                self.others.append(piece)
                continue
            entry = cast("dict[str, Any]", piece)
            index = entry.get("index")
            if isinstance(index, int):
                index = self.numbered(index, entry)
            else:
                index = self.unnumbered(entry)
            self.last_numbers.append(index)
            self.entries.setdefault(index, Grown()).add(entry)

    def numbered(self, index: int, entry: dict[str, Any]) -> int:
        """Return the number of the entry of an index.

        A piece with another id and a name begins a new one.
        """
        number, id = self.latest.get(index), entry.get("id")
        known = None if number is None else self.entries[number].fields.get("id")
        if number is None or (is_named(entry) and id and known and id != known):
            number = max(self.entries) + 1 if index in self.entries else index
            self.latest[index] = number
        return number

    def unnumbered(self, entry: dict[str, Any]) -> int:
        """Return an index for an entry without one. Some hosts send whole entries, with new ids."""
        last = len(self.entries) - 1
        return last if "id" not in entry and last >= 0 and "function" in entry else last + 1

    def value(self) -> list[Any]:
        """Return what has arrived so far, ordered by index."""
        return [*(self.entries[index].value() for index in sorted(self.entries)), *self.others]

    def unnumbered_value(self) -> list[Any]:
        """Return what has arrived so far, ordered by index, without it."""
        entries = [self.entries[index].value() for index in sorted(self.entries)]
        for entry in entries:
            entry.pop("index", None)
        return [*entries, *self.others]


def is_named(entry: dict[str, Any]) -> bool:
    """Whether a piece of a call says the name of its tool."""
    match entry:
        case {"function": {"name": str(name)}} | {"custom": {"name": str(name)}}:
            return bool(name)
        case _:
            return False
