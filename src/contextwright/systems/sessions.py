"""Port 42's session files: `YYYY-MM-DD/session-<seconds>-<words>.json` in a folder.

A session is found by the id inside its file. File names are for people: they contain safe
characters only, and are never trusted. The list of sessions that Port 42 keeps next to the folder
is written for its own commands, and not read here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Struct

from contextwright.context.context import Context
from contextwright.documents.read import read_document
from contextwright.errors import ContextwrightError, UsageError, require, shown
from contextwright.formats.api import parse, render
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, as_conversation, replaced
from contextwright.messages.message import Message
from contextwright.messages.times import read_time, with_zone
from contextwright.messages.validation import refuse_faults
from contextwright.text.json import encode_json

__all__ = ["Sessions", "log_lines"]

FORMAT = "port42"
LARGEST = 48 * 2**20
UNCLEAN = re.compile(r"[^a-z0-9]+")
LONGEST_SLUG = 48
AGENT = "@ai-assistant"
PLACE, INDEX = "sessions", "index.json"
NEVER = "0001-01-01T00:00:00Z"
"""How Go writes an unknown time."""
KEPT = ("agent", "metadata")
"""Fields that a new session takes from another one."""


class SessionListing(Struct, frozen=True):
    """A session file as the index has it, and how complete it is."""

    path: Path
    completeness: tuple[int, datetime]
    entry: dict[str, Any]


class Sessions:
    """The session files of a folder such as `~/.port42/memory/sessions`.

    Beside a folder of that name, `index.json` lists the sessions after every `save`.

        sessions = Sessions(folder)
        session = sessions.open("my-session", agent="@ai-engineer")
        sessions.save(sessions.added(session, user("Hello")), now=datetime.now(UTC))
    """

    def __init__(self, folder: str | Path) -> None:
        require(folder, str | os.PathLike, "a folder")
        if "\0" in os.fspath(folder):
            raise UsageError(f"a folder cannot be {shown(folder)}")
        self.folder = Path(folder).expanduser()
        self.changes: list[Change] = []
        """Files that were not sessions, what a file could not hold, an index that could not be
        written; each once."""

    def find(self, id: str) -> Conversation | None:
        """Return the session with that id; of several files, the one with the most messages."""
        found = self.file_of(id)
        return found[1] if found else None

    def open(self, id: str, *, agent: str = AGENT) -> Conversation:
        """Return the session with that id, or a new one.

        An existing session keeps its agent, and becomes active again.

        Raises:
            UsageError: the id is not valid in a file, or the agent is not a name.
        """
        require(agent, str, "an agent's name")
        found = self.find(require_id(id))
        if found is None:
            return Conversation((), id=id, source=FORMAT, extra={FORMAT: {"agent": agent}})
        return with_fields(found, state="active") if "state" in fields_of(found) else found

    def save(self, session: Conversation, *, now: datetime) -> Path:
        """Write the session to its file, which appears whole or not at all.

        The file keeps its name, even if the session's first message changes. A message without a
        time is written with `now`, and keeps that time when it is saved again.

        Raises:
            UsageError: no file can hold the session's id, `now` is not a time, or the folder cannot
                be written.
        """
        session = as_conversation(session)
        id, now = require_id(session.id), require_time(now)
        listed = self.listed()
        known = listed.get(id)
        written = parse(read_document(known.path, limit=LARGEST), FORMAT) if known else None
        begun_at = created_at(session) or (created_at(written) if written else None)
        created = read_time(str(begun_at)) or begun(session) or now
        stamped = with_fields(
            replaced(session, messages=timed(session, written, now)),
            created_at=begun_at or created.isoformat(),
            updated_at=now.isoformat(),
        )
        said = written is None or stamped.messages != written.messages
        if said and "last_activity" in fields_of(session):
            stamped = with_fields(stamped, last_activity=now.isoformat())
        rendered = render(stamped, FORMAT)
        for change in rendered.changes:
            self.report(change)
        path = known.path if known else self.free_path(created, slug_of(session))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, msgspec.json.format(encode_json(rendered.payload), indent=2))
        except OSError as error:
            raise UsageError(f"cannot write {shown(str(path))}: {error.strerror}") from error
        if known and completeness(stamped) < known.completeness:
            self.remove_copies(id, path)
        if self.folder.name == PLACE:
            listed[id] = listing_of(path, stamped)
            self.write_index(index_of(listed.values(), now))
        return path

    def report(self, change: Change) -> None:
        """Add a change, unless it was reported before."""
        if change not in self.changes:
            self.changes.append(change)

    def remove_copies(self, id: str, path: Path) -> None:
        """Remove other files of a session: a more complete one would restore deleted messages."""
        for other, session in self.all():
            if session.id == id and other != path:
                other.unlink()

    def write_index(self, index: dict[str, Any]) -> None:
        """Write the list of sessions; the sessions themselves do not depend on it."""
        text = msgspec.json.format(encode_json(index), indent=2)
        try:
            write_whole(self.folder.parent / INDEX, text)
        except OSError as error:
            reason = f"not written: {error.strerror}"
            self.report(Change("loss.index", INDEX, reason))

    def listed(self) -> dict[str, SessionListing]:
        """Return the sessions by id, each with its most complete file, from the files alone.

        So an index that is wrong, or that two programs wrote at once, is right again after the next
        `save`.
        """
        listed: dict[str, SessionListing] = {}
        for path, session in self.all():
            if session.id:
                entry = listing_of(path, session)
                known = listed.get(session.id, entry)
                listed[session.id] = max(known, entry, key=lambda one: one.completeness)
        return listed

    def all(self) -> Iterator[tuple[Path, Conversation]]:
        """Yield every readable session file, oldest day first."""
        # Not Path.resolve, which raises a RuntimeError for a link to itself.
        root = os.path.realpath(self.folder)
        for path in sorted(self.folder.glob("*/session-*.json")):
            if not Path(os.path.realpath(path)).is_relative_to(root):
                self.report(Change("loss.file", shown(path.name), "leads out of the folder"))
                continue
            if not path.is_file():  # a pipe would be waited for
                self.report(Change("loss.file", shown(path.name), "is not a file"))
                continue
            try:
                session = parse(read_document(path, limit=LARGEST), FORMAT)
            except ContextwrightError as error:
                self.report(Change("loss.file", shown(path.name), str(error)))
                continue
            yield path, session

    def file_of(self, id: str) -> tuple[Path, Conversation] | None:
        """Return the file of a session: the most complete, then the one written last."""
        found = [entry for entry in self.all() if entry[1].id == id]
        return max(found, key=lambda entry: completeness(entry[1])) if found else None

    def free_path(self, created: datetime, slug: str) -> Path:
        """Return a free path for a new session."""
        day = self.folder / f"{created:%Y-%m-%d}"
        seconds = int(created.timestamp())
        path = day / f"session-{seconds}-{slug}.json"
        number = 1
        while path.exists():
            number += 1
            path = day / f"session-{seconds}-{slug}-{number}.json"
        return path

    @staticmethod
    def added(session: Conversation, *messages: Message | Conversation) -> Conversation:
        """Return the session with more messages, also those that `parse_reply` returns."""
        session = as_conversation(session)
        more = [as_conversation(one).messages for one in messages]
        for some in more:
            refuse_faults(some)
        return replaced(session, messages=(*session.messages, *chain.from_iterable(more)))

    @staticmethod
    def cleared(session: Conversation, *, id: str | None = None) -> Conversation:
        """Return the session without its messages, with the same agent.

        Under its own id, `save` empties its file. Under another `id` it is a new session, and the
        file of the old one stays.
        """
        session = as_conversation(session)
        fresh = session.id if id is None else require_id(id)
        kept = {name: fields_of(session)[name] for name in KEPT if name in fields_of(session)}
        extra = {**session.extra, FORMAT: kept} if id is not None else session.extra
        return replaced(session, messages=(), changes=(), id=fresh, extra=extra)


def log_lines(session: Conversation, context: Context) -> list[str]:
    """Return the lines that Port 42 logs about a session and its context."""
    session = as_conversation(session)
    require(context, Context, "a context", "build() makes one")
    sent = sum(1 for _ in context.decisions.kept())
    total = sent + context.decisions.omitted
    id = shown(session.id or "")[1:-1]
    loaded = f"Session loaded: ID={id}, MessageCount={len(session.messages)}"
    if sent == total:
        return [loaded, f"Context: Including all {total} messages"]
    omitted = context.decisions.omitted
    return [loaded, f"Context: Including {sent} of {total} messages, {omitted} omitted"]


# --- what the index says ---------------------------------------------------------------------


def listing_of(path: Path, session: Conversation) -> SessionListing:
    """Return a session's line in the index."""
    fields = fields_of(session)
    spoken = [message.sent_at for message in session.messages if message.sent_at]
    entry = {
        "id": session.id,
        "date": path.parent.name,
        "slug": slug_of(session),
        "agent": str(fields.get("agent", "")),
        "command_generated": bool(fields.get("command_generated")),
        "state": str(fields.get("state", "active")),
        "file": f"{path.parent.name}/{path.name}",
        "created_at": first_time(fields.get("created_at"), *spoken[:1]),
        "last_activity": first_time(
            fields.get("last_activity"), *spoken[-1:], fields.get("updated_at")
        ),
        "message_count": len(session.messages),
    }
    return SessionListing(path, completeness(session), entry)


def first_time(*times: Any) -> str:
    """Return the first valid time, in its original spelling."""
    return next((time for time in times if isinstance(time, str) and read_time(time)), NEVER)


def index_of(listed: Iterable[SessionListing], now: datetime) -> dict[str, Any]:
    """Return the index: all sessions, oldest first, and the number of each kind."""
    entries = [one.entry for one in sorted(listed, key=lambda one: one.path)]
    stats = {
        "total_sessions": len(entries),
        "commands_generated": sum(entry["command_generated"] for entry in entries),
        "active_sessions": sum(entry["state"] in ("active", "idle") for entry in entries),
        "last_session_time": now.isoformat(),
    }
    return {"sessions": entries, "stats": stats}


# --- what a file is called -------------------------------------------------------------------


def slug_of(session: Conversation) -> str:
    """Return a few safe words: from the command it made, or from its first question."""
    made = fields_of(session).get("command_generated")
    name = cast("dict[str, Any]", made).get("name") if isinstance(made, dict) else None
    if not isinstance(name, str):
        first = next((one.text for one in session.messages if one.role == "user"), "")
        name = " ".join(first[:1_000].split()[:3])
    return UNCLEAN.sub("-", name[:1_000].lower()).strip("-")[:LONGEST_SLUG].strip("-") or (
        "conversation"
    )


def require_id(id: Any) -> str:
    """Raise for an id by which a session could not be found again in its file."""
    if not isinstance(id, str) or not id:
        raise UsageError(f"a session's id cannot be {shown(id)}", hint="give it a text")
    if "\0" in id or any("\ud800" <= letter <= "\udfff" for letter in id):
        raise UsageError(f"a session's id cannot hold NUL or a lone surrogate: {shown(id)}")
    return id


def require_time(now: Any) -> datetime:
    """Raise for a value that is not a time; a time without a zone is UTC."""
    if not isinstance(now, datetime):
        raise UsageError(f"now cannot be {shown(now)}", hint="pass a datetime")
    return with_zone(now)


def timed(
    session: Conversation, written: Conversation | None, now: datetime
) -> tuple[Message, ...]:
    """Return the messages, each with a time: its own, that of the last save, or now."""
    before = written.messages if written else ()
    times = [one.sent_at for one in before[: len(session.messages)]]
    times += [None] * (len(session.messages) - len(times))
    return tuple(
        message
        if message.sent_at
        else msgspec.structs.replace(message, sent_at=time or now.isoformat())
        for message, time in zip(session.messages, times, strict=True)
    )


def created_at(session: Conversation) -> Any:
    """Return when a session was created, as its file has it."""
    return fields_of(session).get("created_at")


def begun(session: Conversation) -> datetime | None:
    """Return the time of the first message, if it is known."""
    return session.messages[0].time if session.messages else None


def completeness(session: Conversation) -> tuple[int, datetime]:
    """Return how complete a copy of a session is."""
    updated = read_time(str(fields_of(session).get("updated_at")))
    return len(session.messages), updated or datetime.min.replace(tzinfo=UTC)


# --- fields and files ------------------------------------------------------------------------


def fields_of(session: Conversation) -> dict[str, Any]:
    """Return the fields of the file besides its messages."""
    return session.extra.get(FORMAT, {})


def with_fields(session: Conversation, **fields: Any) -> Conversation:
    """Return the session with other fields besides its messages."""
    return replaced(session, extra={**session.extra, FORMAT: {**fields_of(session), **fields}})


def write_whole(path: Path, content: bytes) -> None:
    """Write a new file, then rename it over the old one."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content + b"\n")
        part.replace(path)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()
