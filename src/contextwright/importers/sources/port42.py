"""Port 42 sessions: a file, or the folder of all days.

Renaming a session leaves its first file behind. Of the files with one id, the one with the most
messages counts, then the one updated last. File names are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from contextwright import formats
from contextwright.documents.files import Files
from contextwright.errors import ParseError
from contextwright.importers.base import Fields, Imported, Importer, ReadOptions
from contextwright.importers.sources.any_format import Body, imported
from contextwright.messages.times import read_time

__all__ = ["IMPORTER"]

NAME = "port42"
INDEX = ("index.json", "agents.json")
EARLIEST = float("-inf")


class Session(Struct, frozen=True):
    """A session file, and how complete it is."""

    file: str
    messages: int
    updated: float

    @property
    def rank(self) -> tuple[int, float]:
        """The rank among files of one session."""
        return self.messages, self.updated


def read(files: Files, options: ReadOptions) -> Iterator[Imported]:
    """Yield the sessions, from the best file of each."""
    best: dict[str, Session] = {}
    stale: dict[str, list[Session]] = {}
    for name in session_files(files):
        with files.ahead():
            fields = fields_of(files, name)
        id, session = fields.maybe("id") or name, ranked(fields, name)
        known = best.setdefault(id, session)
        if known is not session:
            worse, best[id] = sorted((known, session), key=lambda twin: twin.rank)
            stale.setdefault(id, []).append(worse)
    for id, session in best.items():
        yield session_of(files, session.file, len(stale.get(id, ())))


def session_files(files: Files) -> list[str]:
    """Return the files that may be sessions: all JSON except the index and the agents."""
    if len(files.names) == 1:
        return list(files.names)
    names = [name for name in files.ending(".json") if name.rpartition("/")[2] not in INDEX]
    if not names:
        raise ParseError("there is no session (.json) in it", file=files.label)
    return names


def fields_of(files: Files, name: str) -> Fields:
    """Return the fields of a session file."""
    data: Any = files.document(name)
    try:
        fields = Fields(data)
        fields.objects("messages")
        fields.maybe("id")
    except ParseError as error:
        raise error.within(file=files.shown(name)) from None
    return fields


def ranked(fields: Fields, name: str) -> Session:
    """Return the rank of a session file: how much it has, and how new it is."""
    times = (fields.data.get(key) for key in ("updated_at", "last_activity", "created_at"))
    moments = (read_time(time) for time in times if isinstance(time, str))
    newest = next((moment.timestamp() for moment in moments if moment), EARLIEST)
    return Session(name, len(fields.objects("messages")), newest)


def session_of(files: Files, name: str, twins: int) -> Imported:
    """Return a session as a conversation."""
    fields = fields_of(files, name)
    try:
        conversation = formats.find(NAME).parse(fields.data, False)
    except ParseError as error:
        raise error.within(file=files.shown(name)) from None
    one = imported(conversation, Body(name, fields.data))
    if twins:
        one.report.skip("stale copy of the same session", twins)
    agent = fields.data.get("agent")
    return msgspec.structs.replace(one, agent=agent if isinstance(agent, str) else None)


IMPORTER = Importer(NAME, "Port 42 sessions, a file or the folder", read)
