"""The result of an importer: conversations, and a report of what was changed or left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, TypeAlias, cast
from unicodedata import category
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct

from contextwright import formats
from contextwright.documents.files import Files
from contextwright.errors import ParseError, shown
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, framed, replaced
from contextwright.messages.message import Author, Message
from contextwright.messages.parts import Media, MediaKind, Text
from contextwright.messages.quotes import SOURCE

__all__ = [
    "MODULES",
    "NAMES",
    "Fields",
    "Imported",
    "Importer",
    "ReadOptions",
    "Report",
    "as_id",
    "event",
    "line_at",
    "mark",
    "media_named",
    "one_clean_line",
    "without_secrets",
]

MODULES = {
    "chatgpt": "chatgpt",
    "claude": "claude",
    "claude-code": "claude_code",
    "codex": "codex",
    "openai-finetuning": "finetuning",
    "port42": "port42",
    "slack": "slack",
    "telegram": "telegram",
}
"""The module of each importer that is not simply a format."""
NAMES = tuple(sorted({*MODULES, *formats.NAMES}))
"""All sources: files of other tools, and every format."""
LISTED = 1_000
"""Changes listed one by one; further ones are only counted, so that a hostile file costs little."""
REASONS = 100
"""Maximum number of different reasons for skipping; further ones are counted together."""
SECRET = re.compile(
    r"^(?:t|sig|key|jwt|pwd)$|token|signature|secret|password|credential|auth|api_?key",
    re.IGNORECASE,
)
"""Names of query fields that hold a secret."""
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
PLACE = re.compile(r"(?:\w*\[(?P<index>\d{1,9})\]|message (?P<seq>\d{1,9})\b)")
"""The beginning of a path to a message of a conversation."""
FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Invisible letters; the store refuses ids with them."""
LONGEST_ID = 256
KINDS: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}


class Report:
    """Changes and omissions; complete once all messages have been taken."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.codes: Counter[str] = Counter()
        """The number of changes of each kind, including those that are not listed."""
        self.skipped: Counter[str] = Counter()
        """The number of skipped entries for each reason."""

    def change(self, code: str, path: str, reason: str) -> None:
        """Report a difference from the source."""
        self.add(Change(code, path, reason))

    def add(self, change: Change) -> None:
        """Add a change."""
        self.codes[change.code] += 1
        if self.room:
            self.changes.append(change)

    @property
    def room(self) -> int:
        """Return how many more changes are listed."""
        return LISTED - len(self.changes)

    def skip(self, reason: str, number: int = 1) -> None:
        """Count entries that do not become messages."""
        known = reason in self.skipped or len(self.skipped) < REASONS
        self.skipped[reason if known else "other reasons"] += number


class Imported(Struct, frozen=True, kw_only=True):
    """One conversation of a source.

    `messages` may be read once, in order, before the next conversation is requested.
    """

    id: str
    format: str
    messages: Iterable[Message]
    report: Report
    title: str | None = None
    agent: str | None = None
    settings: dict[str, Any] = {}
    """The rest of the request: tools, model, settings."""
    parent: str | None = None
    """The conversation this one was forked from, which came before."""
    at: int = 0
    """The number of the parent's messages before the branch."""
    lines: Sequence[int] = ()
    """Its line in the file, or the line of each of its messages."""
    has_ids: bool = False
    """Whether each message has its own id, so that a later export can change it."""

    def whole(self) -> Conversation:
        """Read all messages; return the conversation with its tools, settings and changes."""
        messages = tuple(self.messages)
        changes = tuple(self.report.changes)  # complete only now
        return replaced(framed(self.settings), id=self.id, messages=messages, changes=changes)


class ReadOptions(Struct, frozen=True, kw_only=True):
    """How to read a source."""

    branches: bool = False
    """Whether other versions of a conversation follow it as forks."""
    me: str | None = None
    """The id, handle or name of the participant whose messages are the assistant's."""
    threads: bool = False
    """Whether threads become separate conversations, which follow their channel."""

    def is_me(self, *names: str | None) -> bool:
        """Whether one of these names or ids is `me`."""
        return self.me is not None and bare(self.me) in {bare(name) for name in names if name}


Read: TypeAlias = Callable[[Files, ReadOptions], Iterator[Imported]]


class Importer(Struct, frozen=True):
    """A source: `read(files, options)` yields its conversations."""

    name: str
    title: str
    read: Read
    options: tuple[str, ...] = ()
    """Options of `cw import` that files of this source can have a use for."""


class Fields:
    """A foreign object and its path; a value of the wrong type is refused with its path."""

    __slots__ = ("_within", "data", "name")

    def __init__(self, data: Any, name: str = "", within: Fields | None = None) -> None:
        """Read an object that has this name, or path, within another."""
        self.name = name
        self._within = within
        if not isinstance(data, dict):
            raise ParseError(f"must be an object, not {shown(data)}", path=self.path)
        self.data = cast("dict[str, Any]", data)

    @property
    def path(self) -> str:
        """The path of the object; hardly ever needed, so it is not kept."""
        return self.name if self._within is None else self._within.place(self.name)

    def place(self, name: str) -> str:
        """Return the path of a field."""
        path = self.path
        return f"{path}.{name}" if path else name

    def text(self, name: str) -> str:
        """Return a required text."""
        value = self.data.get(name)
        if type(value) is str:
            return value
        missing = "is missing" if name not in self.data else f"must be text, not {shown(value)}"
        raise ParseError(missing, path=self.place(name))

    def maybe(self, name: str) -> str | None:
        """Return a text that may be missing or null."""
        value = self.data.get(name)
        return value if value is None or type(value) is str else self.text(name)

    def spelled(self, name: str) -> str | None:
        """Return a number or text as text, because ids and times come as either."""
        value = self.data.get(name)
        if type(value) in (int, float):
            return str(value)
        return self.maybe(name)

    def object(self, name: str) -> Fields:
        """Return an object; an empty one if it is missing."""
        value = self.data.get(name)
        return Fields({} if value is None else value, name, self)

    def objects(self, name: str) -> list[Fields]:
        """Return the objects of a list; empty if it is missing."""
        return [Fields(item, f"{name}[{i}]", self) for i, item in enumerate(self.list(name))]

    def list(self, name: str) -> list[Any]:
        """Return a list; an empty one if it is missing."""
        value = self.data.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise ParseError(f"must be a list, not {shown(value)}", path=self.place(name))
        return cast("list[Any]", value)

    def rest(self, *read: str) -> dict[str, Any]:
        """Return the fields that were not read and are not empty."""
        return {
            key: value
            for key, value in self.data.items()
            if key not in read and (value or isinstance(value, (int, float)))
        }


def line_at(path: str, lines: Sequence[int]) -> int | None:
    """Return the line of a path such as `messages[3].content` or `message 4`; None if unknown."""
    if len(lines) < 2:
        return lines[0] if lines else None
    found = PLACE.match(path)
    if found is None:
        return None
    index = int(found["index"]) if found["index"] else int(found["seq"]) - 1
    return lines[index] if 0 <= index < len(lines) else None


def mark(source: str, **rest: Any) -> dict[str, Any]:
    """Return the `meta` of an imported message: its identity at the source, and leftover fields."""
    return {SOURCE: source, **{name: value for name, value in rest.items() if value}}


def as_id(*steps: str) -> str:
    """Return an id for the store: one clean line of at most 256 bytes, made of no other steps.

    An id that cannot stay as it is ends with a digest: two of them may look alike once they are
    clean, and one conversation would be taken for a newer version of the other.
    """
    joined = "-".join(step for step in steps if step) or "imported"
    clean = one_clean_line(joined)
    if clean == joined and len(joined.encode()) <= LONGEST_ID:
        return joined
    digest = sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{clean.encode()[: LONGEST_ID - 9].decode('utf-8', 'ignore') or 'imported'}-{digest}"


def one_clean_line(text: str) -> str:
    """Return a text without invisible characters, on one line."""
    if text.isascii() and text.isprintable():
        return text.strip()
    visible = "".join(one for one in text if category(one) != "Cf" and one not in FILLERS)
    whole = visible.encode("utf-8", "replace").decode()  # without lone surrogates
    return CONTROL.sub(" ", whole).strip()


def bare(name: str) -> str:
    """Return a name for comparison: in lower case, without a leading `@`."""
    return name.strip().removeprefix("@").casefold()


def event(
    text: str, author: Author | None = None, *, at: str | None = None, meta: dict[str, Any]
) -> Message:
    """Make a message for an event in a conversation: a join, a new topic, a changed title.

    Its text is never system text, because anyone can choose it. No request includes it as a
    message; the section `Events` quotes it.
    """
    return Message(
        "user",
        (Text(text),),
        author,
        sent_at=at,
        kind="event",
        visibility="internal",
        meta=meta,
    )


def without_secrets(url: str) -> str:
    """Return a URL without user, password and secrets in its query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    fields = parts.query.split("&") if parts.query else []
    kept = [field for field in fields if not is_secret(*field.partition("=")[::2])]
    host = parts.netloc.rpartition("@")[2]
    if len(kept) == len(fields) and host == parts.netloc:
        return url
    return urlunsplit(parts._replace(netloc=host, query="&".join(kept)))


def is_secret(name: str, value: str) -> bool:
    """Whether a query field is a secret that grants access."""
    return bool(SECRET.search(name)) or value.startswith("xox")


def media_named(
    name: str | None,
    mime: str | None = None,
    *,
    url: str | None = None,
    handle: str | None = None,
    origin: str | None = None,
) -> Media:
    """Return media by name, URL or handle; their bytes are never fetched.

    Secrets are removed from a URL, because it may be sent to a provider.
    """
    kind = KINDS.get((mime or "").split("/")[0], "document")
    origin = origin if handle else None
    url = without_secrets(url) if url else None
    return Media(kind, mime or None, None, url, handle or None, origin, name or None)
