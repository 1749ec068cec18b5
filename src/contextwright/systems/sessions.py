"""Port 42's sessions as it keeps them: `YYYY-MM-DD/session-<seconds>-<words>.json` in a folder.

A session is found by the id inside its file. The name of a file is for people: it is made of
clean characters only, and never believed. Nor is the list of sessions that Port 42 keeps beside
the folder: it is written for its own commands, and read by nobody here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Struct

from contextwright.context.context import Context
from contextwright.documents.read import read_document
from contextwright.errors import ContextwrightError, UsageError, shown
from contextwright.formats.api import parse, render
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, replaced
from contextwright.messages.message import Message
from contextwright.messages.times import read_time
from contextwright.text.json import encode_json

__all__ = ["Sessions", "log_lines"]

FORMAT = "port42"
LARGEST = 48 * 2**20
UNCLEAN = re.compile(r"[^a-z0-9]+")
LONGEST_SLUG = 48
AGENT = "@ai-assistant"
PLACE, INDEX = "sessions", "index.json"
NEVER = "0001-01-01T00:00:00Z"
"""How Go writes a time that is not known."""


class Listed(Struct, frozen=True):
    """A session file as the index has it, and how complete it is."""

    path: Path
    fullness: tuple[int, datetime]
    entry: dict[str, Any]


class Sessions:
    """The session files of a folder such as `~/.port42/memory/sessions`.

    Beside a folder of that name, `index.json` lists the sessions after every `save`.

    sessions = Sessions(folder)
    session = sessions.open("my-session", agent="@ai-engineer")
    sessions.save(sessions.added(session, user("Hello")), now=datetime.now(UTC))
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).expanduser()
        self.changes: list[Change] = []
        """Files that were no session, and an index that could not be written, as they were met."""

    def find(self, id: str) -> Conversation | None:
        """The session with that id; of several files, the one with the most messages."""
        found = self.file_of(id)
        return found[1] if found else None

    def open(self, id: str, *, agent: str = AGENT) -> Conversation:
        """The session with that id to go on with, or a new one.

        A session that is found stays with its agent, and is active again.
        """
        found = self.find(id)
        if found is None:
            return Conversation((), id=id, source=FORMAT, extra={FORMAT: {"agent": agent}})
        return with_fields(found, state="active") if "state" in fields_of(found) else found

    def save(self, session: Conversation, *, now: datetime) -> Path:
        """Write the session to its file, which appears whole or not at all.

        The file has one name for ever, whatever the session's first words become.
        """
        if not session.id:
            raise UsageError("a session without an id cannot be found again", hint="give it one")
        told = fields_of(session).get("created_at")
        created = read_time(str(told)) or begun(session) or now
        listed = self.listed()
        known = listed.get(session.id)
        stamped = with_fields(
            session, created_at=told or created.isoformat(), updated_at=now.isoformat()
        )
        payload = render(stamped, FORMAT).payload
        path = known.path if known else self.free_path(created, slug_of(session))
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, msgspec.json.format(encode_json(payload), indent=2))
        if self.folder.name == PLACE:
            listed[session.id] = listed_as(path, stamped)
            self.write_index(index_of(listed.values(), now))
        return path

    def write_index(self, index: dict[str, Any]) -> None:
        """Write the list of sessions; the sessions themselves do not depend on it."""
        text = msgspec.json.format(encode_json(index), indent=2)
        try:
            write_whole(self.folder.parent / INDEX, text)
        except OSError as error:
            reason = f"not written: {error.strerror}"
            self.changes.append(Change("loss.index", INDEX, reason))

    def listed(self) -> dict[str, Listed]:
        """The sessions by their ids, each with its fullest file: what the files say, not the index.

        So an index that is wrong, or that two programs wrote at once, is right again after the
        next `save`.
        """
        listed: dict[str, Listed] = {}
        for path, session in self.all():
            if session.id:
                entry = listed_as(path, session)
                known = listed.get(session.id, entry)
                listed[session.id] = max(known, entry, key=lambda one: one.fullness)
        return listed

    def all(self) -> Iterator[tuple[Path, Conversation]]:
        """Every session file that can be read, oldest day first."""
        root = self.folder.resolve()
        for path in sorted(self.folder.glob("*/session-*.json")):
            if not path.resolve().is_relative_to(root):
                self.changes.append(Change("loss.file", path.name, "leads out of the folder"))
                continue
            try:
                session = parse(read_document(path, limit=LARGEST), FORMAT)
            except ContextwrightError as error:
                self.changes.append(Change("loss.file", shown(path.name), str(error)))
                continue
            yield path, session

    def file_of(self, id: str) -> tuple[Path, Conversation] | None:
        """The file of a session: the fullest, and of those the one written last."""
        found = [entry for entry in self.all() if entry[1].id == id]
        return max(found, key=lambda entry: fullness(entry[1])) if found else None

    def free_path(self, created: datetime, slug: str) -> Path:
        """Where a new session goes: no other session has that file."""
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
        """The session with more messages: those of a reply too, as `parse_reply` returns it."""
        more: list[Message] = []
        for one in messages:
            more.extend(one.messages if isinstance(one, Conversation) else (one,))
        return replaced(session, messages=(*session.messages, *more))

    @staticmethod
    def cleared(session: Conversation) -> Conversation:
        """The session without its messages: the same id and agent, ready to start again."""
        return replaced(session, messages=(), changes=())


def log_lines(session: Conversation, context: Context) -> list[str]:
    """What Port 42 writes into its log about a session and its context, as lines of a receipt."""
    sent = sum(1 for _ in context.decisions.kept())
    total = sent + context.decisions.omitted
    id = shown(session.id or "")[1:-1]
    loaded = f"Session loaded: ID={id}, MessageCount={len(session.messages)}"
    if sent == total:
        return [loaded, f"Context: Including all {total} messages"]
    omitted = context.decisions.omitted
    return [loaded, f"Context: Including {sent} of {total} messages, {omitted} omitted"]


# --- what the index says ---------------------------------------------------------------------


def listed_as(path: Path, session: Conversation) -> Listed:
    """A session's line in the index."""
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
    return Listed(path, fullness(session), entry)


def first_time(*told: Any) -> str:
    """The first of some times that is one, as it is spelled."""
    return next((time for time in told if isinstance(time, str) and read_time(time)), NEVER)


def index_of(listed: Iterable[Listed], now: datetime) -> dict[str, Any]:
    """All sessions, oldest first, and how many there are of which kind."""
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
    """A few clean words: of the command it made, or of its first question."""
    made = fields_of(session).get("command_generated")
    name = cast("dict[str, Any]", made).get("name") if isinstance(made, dict) else None
    if not isinstance(name, str):
        first = next((one.text for one in session.messages if one.role == "user"), "")
        name = " ".join(first[:1_000].split()[:3])
    return UNCLEAN.sub("-", name[:1_000].lower()).strip("-")[:LONGEST_SLUG].strip("-") or (
        "conversation"
    )


def begun(session: Conversation) -> datetime | None:
    """When the first message was said, where that is told."""
    return session.messages[0].time if session.messages else None


def fullness(session: Conversation) -> tuple[int, datetime]:
    """How complete a copy of a session is."""
    updated = read_time(str(fields_of(session).get("updated_at")))
    return len(session.messages), updated or datetime.min.replace(tzinfo=UTC)


# --- fields and files ------------------------------------------------------------------------


def fields_of(session: Conversation) -> dict[str, Any]:
    """What the file says beside its messages."""
    return session.extra.get(FORMAT, {})


def with_fields(session: Conversation, **fields: Any) -> Conversation:
    """The session with other fields beside its messages."""
    return replaced(session, extra={**session.extra, FORMAT: {**fields_of(session), **fields}})


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside the old one, then put it in its place."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content + b"\n")
        part.replace(path)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()
