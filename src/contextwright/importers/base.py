"""What an importer gives: conversations, and a report of what is not as it came."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from msgspec import Struct

from contextwright.changes import Change
from contextwright.errors import ParseError, shown
from contextwright.messages import Media, MediaKind, Message

if TYPE_CHECKING:
    from contextwright.importers.files import Files

__all__ = ["SOURCE", "Fields", "Imported", "Importer", "Report", "as_id", "mark", "media_named"]

SOURCE = "source"
"""In `Message.meta`: which message of which source this is. The same import gives the same."""
LISTED = 1_000
"""Changes listed one by one; further ones are only counted, so that a hostile file stays small."""
REASONS = 100
"""Different reasons for leaving entries out; more are counted together."""
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
LONGEST_ID = 256
KINDS: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}


class Report:
    """What was changed and what was left out; complete once all messages have been taken."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.codes: Counter[str] = Counter()
        """How many changes of each kind, also of those no longer listed."""
        self.skipped: Counter[str] = Counter()
        """Why entries were left out, and how many for each reason."""

    def change(self, code: str, path: str, reason: str) -> None:
        """Something is not as it came."""
        self.add(Change(code, path, reason))

    def add(self, change: Change) -> None:
        """One more change."""
        self.codes[change.code] += 1
        if self.room:
            self.changes.append(change)

    @property
    def room(self) -> int:
        """How many more changes are listed."""
        return LISTED - len(self.changes)

    def skip(self, reason: str, number: int = 1) -> None:
        """Entries that do not become messages."""
        known = reason in self.skipped or len(self.skipped) < REASONS
        self.skipped[reason if known else "other reasons"] += number


class Imported(Struct, frozen=True, kw_only=True):
    """One conversation of a source.

    `messages` may be read once, in order, before the next conversation is asked for.
    """

    id: str
    format: str
    messages: Iterable[Message]
    report: Report
    title: str | None = None
    agent: str | None = None
    settings: dict[str, Any] = {}
    """What a request said beyond its messages: tools, model, settings."""
    parent: str | None = None
    """The conversation this one branches off from, which has been given before."""
    at: int = 0
    """How many messages of the parent come before the branch."""


Read: TypeAlias = "Callable[[Files, bool], Iterator[Imported]]"


class Importer(Struct, frozen=True):
    """A source: `read(files, branches)` gives its conversations one by one."""

    name: str
    title: str
    read: Read


class Fields:
    """A foreign object and the path to it; what has the wrong type is refused with its place."""

    __slots__ = ("data", "path")

    def __init__(self, data: Any, path: str = "") -> None:
        if not isinstance(data, dict):
            raise ParseError(f"must be an object, not {shown(data)}", path=path)
        self.data = cast("dict[str, Any]", data)
        self.path = path

    def place(self, name: str) -> str:
        """The path to a field."""
        return f"{self.path}.{name}" if self.path else name

    def text(self, name: str) -> str:
        """A text that must be there."""
        value = self.data.get(name)
        if isinstance(value, str):
            return value
        missing = "is missing" if name not in self.data else f"must be text, not {shown(value)}"
        raise ParseError(missing, path=self.place(name))

    def maybe(self, name: str) -> str | None:
        """A text that may be missing or null."""
        return None if self.data.get(name) is None else self.text(name)

    def spelled(self, name: str) -> str | None:
        """A number or a text, as text: ids and times come as either."""
        value = self.data.get(name)
        if type(value) in (int, float):
            return str(value)
        return self.maybe(name)

    def object(self, name: str) -> Fields:
        """An object; nothing there is an empty one."""
        value = self.data.get(name)
        return Fields({} if value is None else value, self.place(name))

    def objects(self, name: str) -> list[Fields]:
        """The objects of a list; nothing there is an empty list."""
        place = self.place(name)
        return [Fields(item, f"{place}[{i}]") for i, item in enumerate(self.list(name))]

    def list(self, name: str) -> list[Any]:
        """A list; nothing there is an empty one."""
        value = self.data.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise ParseError(f"must be a list, not {shown(value)}", path=self.place(name))
        return cast("list[Any]", value)

    def rest(self, *read: str) -> dict[str, Any]:
        """The fields nobody read that say something."""
        return {
            key: value
            for key, value in self.data.items()
            if key not in read and value not in (None, "", [], {})
        }


def mark(source: str, **rest: Any) -> dict[str, Any]:
    """The `meta` of an imported message: its identity at the source, and what has no field."""
    return {SOURCE: source, **{name: value for name, value in rest.items() if value}}


def as_id(*steps: str) -> str:
    """An id for the store: one clean line of at most 256 bytes."""
    text = CONTROL.sub(" ", "-".join(step for step in steps if step)).strip()
    return text.encode("utf-8", "replace")[:LONGEST_ID].decode("utf-8", "ignore") or "imported"


def media_named(
    name: str | None,
    mime: str | None = None,
    *,
    url: str | None = None,
    handle: str | None = None,
    origin: str | None = None,
) -> Media:
    """Media by name, address or handle; its bytes are never fetched."""
    kind = KINDS.get((mime or "").split("/")[0], "document")
    origin = origin if handle else None
    return Media(kind, mime or None, None, url or None, handle or None, origin, name or None)
