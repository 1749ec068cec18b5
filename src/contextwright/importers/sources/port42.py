"""Port 42 sessions: a file, JSON Lines with one session per line, or the folder of all days.

Renaming a session leaves its first file behind. Of the copies with one id, the one with the most
messages counts, then the one updated last. File names are ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from contextwright import formats
from contextwright.documents.files import Files
from contextwright.errors import ParseError
from contextwright.importers.base import Fields, Imported, Importer, ReadOptions, line_at
from contextwright.importers.sources.any_format import ENDINGS, Body, bodies, imported
from contextwright.messages.times import read_time

__all__ = ["IMPORTER"]

NAME = "port42"
INDEX = ("index.json", "agents.json")
EARLIEST = float("-inf")


class Copy(Struct, frozen=True):
    """One of the copies of a session: its place among all, and how complete it is."""

    place: int
    messages: int
    updated: float

    @property
    def rank(self) -> tuple[int, float]:
        """The rank among copies of one session."""
        return self.messages, self.updated


def read(files: Files, options: ReadOptions) -> Iterator[Imported]:
    """Yield the sessions, from the best copy of each."""
    names = session_files(files)
    best: dict[str, Copy] = {}
    copies = Counter[str]()
    with files.ahead():
        for place, body in enumerate(bodies(files, names)):
            fields = fields_of(files, body)
            id, copy = fields.maybe("id") or f"{body.file}:{place}", ranked(fields, place)
            best[id] = max(copy, best.get(id, copy), key=lambda one: one.rank)
            copies[id] += 1
    chosen = {copy.place: copies[id] - 1 for id, copy in best.items()}
    for place, body in enumerate(bodies(files, names)):
        if place in chosen:
            yield session_of(files, body, stale=chosen[place])


def session_files(files: Files) -> list[str]:
    """Return the files that may be sessions: all JSON except the index and the agents."""
    if len(files.names) == 1:
        return list(files.names)
    names = [name for name in files.ending(*ENDINGS) if name.rpartition("/")[2] not in INDEX]
    if not names:
        raise ParseError("it contains no session (.json)", file=files.label)
    return names


def fields_of(files: Files, body: Body) -> Fields:
    """Return the fields of a session."""
    try:
        fields = Fields(body.data)
        fields.objects("messages")
        fields.maybe("id")
    except ParseError as error:
        raise located(error, files, body) from None
    return fields


def located(error: ParseError, files: Files, body: Body) -> ParseError:
    """Return an error about a session, with its file and line."""
    return error.within(line=line_at(error.path, body.lines), file=files.shown(body.file))


def ranked(fields: Fields, place: int) -> Copy:
    """Return the rank of a copy: how much it has, and how new it is."""
    times = (fields.data.get(key) for key in ("updated_at", "last_activity", "created_at"))
    moments = (read_time(time) for time in times if isinstance(time, str))
    newest = next((moment.timestamp() for moment in moments if moment), EARLIEST)
    return Copy(place, len(fields.objects("messages")), newest)


def session_of(files: Files, body: Body, *, stale: int) -> Imported:
    """Return a session as a conversation."""
    fields = fields_of(files, body)
    try:
        conversation = formats.find(NAME).parse(fields.data, False)
    except ParseError as error:
        raise located(error, files, body) from None
    one = imported(conversation, body)
    if stale:
        one.report.skip("stale copy of the same session", stale)
    agent = fields.data.get("agent")
    return msgspec.structs.replace(one, agent=agent if isinstance(agent, str) else None)


IMPORTER = Importer(NAME, "Port 42 sessions, a file or the folder", read)
