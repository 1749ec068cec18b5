"""Loading as much of a conversation as a build needs: its end, and what no window may drop."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from msgspec import Struct

from contextwright.messages.lengths import ends_of
from contextwright.messages.message import Message
from contextwright.store.engines.base import AS_BYTES, Connection
from contextwright.store.engines.numbers import damaged
from contextwright.store.rows import messages as reading
from contextwright.store.rows.conversations import Head
from contextwright.store.rows.damage import is_damaged, read_message
from contextwright.store.rows.kinds import ASKED, QUESTION, SET_ASIDE, SYSTEM
from contextwright.store.rows.pairing import answers_between
from contextwright.windows.log import Log

__all__ = ["Needs", "grow", "load"]

CHUNK = 64
"""Messages read at once."""
EVERYTHING = 1 << 60

ROWS = f"""
SELECT seq, joins, length, {AS_BYTES.format("body")}, digest FROM messages
WHERE conversation = ? AND seq BETWEEN ? AND ? ORDER BY seq"""
LENGTH = "SELECT seq, length FROM messages WHERE conversation = ? AND seq BETWEEN ? AND ?"
OF_KIND = """
SELECT seq FROM messages WHERE conversation = ? AND kind = ? AND seq BETWEEN ? AND ?"""
QUESTIONS = f"""
SELECT m.seq, {AS_BYTES.format("m.body")}, m.digest FROM messages m
WHERE m.conversation = ? AND m.kind = ? AND m.seq BETWEEN ? AND ? AND NOT EXISTS (
    SELECT 1 FROM marks k
    WHERE k.conversation = ? AND k.seq = m.seq AND k.visibility <> 'public')"""
NEWEST = f"{QUESTIONS} ORDER BY m.seq DESC LIMIT 1"
FIRST = f"{QUESTIONS} ORDER BY m.seq LIMIT 1"
ANSWERED = """
SELECT 1 FROM {} m
WHERE m.conversation = ? AND m.joins >= ? AND m.seq BETWEEN ? AND ?"""
ANSWERED_NOW = f"{ANSWERED.format('answers')} LIMIT 1"
ANSWERED_THEN = f"""{ANSWERED.format("messages")} AND NOT EXISTS (
    SELECT 1 FROM answers a WHERE a.conversation = ? AND a.seq = m.seq) LIMIT 1"""
ANSWERS = "SELECT seq FROM {} WHERE conversation = ? AND joins = ? AND seq BETWEEN ? AND ?"
ANSWERS_NOW, ANSWERS_THEN = ANSWERS.format("answers"), ANSWERS.format("messages")


class Row(NamedTuple):
    """A message as it is loaded."""

    joins: Collection[int]
    """The numbers of the messages that it answers."""
    length: int
    """The length of the conversation up to its end, in bytes."""
    message: Message


class Needs(Struct, frozen=True):
    """How much of a conversation to load. Needs only grow."""

    length: int
    """The length of the end in bytes."""
    newest: int = 0
    """The number of newest messages, whatever their length."""
    first: int = 0
    """The number of first messages."""

    def more(self) -> Needs:
        """Return needs for twice as much."""
        return Needs(self.length * 2, max(self.newest * 2, CHUNK), max(self.first * 2, 8))

    def holds(self, other: Needs) -> bool:
        """Whether these needs include all of the others."""
        return (
            self.length >= other.length
            and self.newest >= other.newest
            and self.first >= other.first
        )


def load(connection: Connection, head: Head, count: int, needs: Needs) -> tuple[Log, int]:
    """Load a conversation of `count` messages: its end, and all that no window may drop.

    Returns it with the length of the end in bytes.
    """
    rows = Rows(connection, head, 1, count)
    start = rows.read_end(needs)
    log = Log()
    marked = {seq: visibility for seq, (visibility, _) in rows.marks.items()}
    hidden = {seq for seq, visibility in marked.items() if visibility not in (None, "public")}
    log.erased = {seq - 1 for seq in hidden if marked[seq] == "erased"}
    log.hide(sorted(seq - 1 for seq in {*hidden, *rows.of_kind(SET_ASIDE, start)}))
    for seq in sorted(rows.apart(start, needs.first)):
        row = rows[seq]
        log.add_apart(seq - 1, row.message, since=first_of(row))
    log.start = start - 1
    append(log, (rows[seq] for seq in range(start, count + 1)))
    log.task = rows.task
    return log, rows.length(count) - rows.length(start)


def grow(connection: Connection, head: Head, log: Log, count: int) -> int | None:
    """Add new messages to a log; return their length.

    Returns None if they answer a call that is not loaded.
    """
    if count == len(log):
        return 0
    first = len(log) + 1
    rows = Rows(connection, head, first, count)
    rows.read(first, count)
    new = range(first, count + 1)
    joined = {joins - 1 for seq in new for joins in rows[seq].joins}
    if any(index < len(log) and index not in log for index in joined):
        return None
    append(log, map(rows.__getitem__, new))
    if log.task is None and joined:
        log.task = rows.task
    return ends_of(log[seq - 1] for seq in new)[-1]


def append(log: Log, rows: Iterable[Row]) -> None:
    """Add messages to the end of a log."""
    log.append_all([(row.message, first_of(row)) for row in rows])


def first_of(row: Row) -> int | None:
    """Return the index of the first message that a message answers."""
    return min(row.joins) - 1 if row.joins else None


class Rows:
    """Messages of one conversation by number, each read once, all from `first` on."""

    def __init__(self, connection: Connection, head: Head, first: int, count: int) -> None:
        self._connection, self._head, self._count = connection, head, count
        self.marks = reading.marks_between(connection, head, first, count)
        """Their visibility now, and whether they are pinned."""
        self._rows: dict[int, Row] = {}

    def __getitem__(self, seq: int) -> Row:
        if seq not in self._rows:
            self.read(seq, seq)
        return self._rows[seq]

    def read(self, first: int, last: int) -> None:
        """Read messages, both ends included."""
        connection, head, marks = self._connection, self._head, self.marks
        found: dict[int, Row] = {}
        rows = reading.rows_between(connection, head, ROWS, first, last)
        blank = (None, 0, b"", None)
        for row in reading.with_missing(connection, head.number, rows, first, last, blank):
            seq, joins, length, body, digest = row
            message = read_message(body, digest)
            if seq in marks:
                message = reading.marked(message, *marks[seq])
            found[seq] = Row(() if joins is None else (joins,), length, message)
        messages = [row.message for row in found.values()]
        if any(row.joins or row.message.results for row in found.values()):
            for seq, answers in answers_between(connection, head.number, first, last).items():
                found[seq] = found[seq]._replace(joins=answers)
            if not all(0 < joins < seq for seq, row in found.items() for joins in row.joins):
                raise damaged(connection, head.number, "pairing of results with calls")
        quoted = reading.without_lost_quotes(connection, head.number, messages)
        for (seq, row), message in zip(found.items(), quoted, strict=True):
            self._rows[seq] = row if message is row.message else row._replace(message=message)

    def length(self, seq: int) -> int:
        """Return the length of the conversation up to the end of a message."""
        if seq in self._rows:
            return self._rows[seq].length
        found = reading.rows_between(self._connection, self._head, LENGTH, seq, seq)
        return found[0][1] if found else 0

    def read_end(self, needs: Needs) -> int:
        """Read the end, the newest messages first; return the number of the first one read."""
        start, chunk = self._count + 1, CHUNK
        while start > 1:
            first = max(start - chunk, 1)
            self.read(first, start - 1)
            start = first
            count, length = self._count - start + 1, self.length(self._count) - self.length(start)
            if length >= needs.length and count >= needs.newest:
                break
            # Read as many as the rest needs if it is like what was read, at most twice as many.
            likely = max(needs.length * count // max(length, 1), needs.newest) - count
            chunk = min(max(likely, CHUNK // 4, 1), chunk * 2)
        return start

    def apart(self, start: int, first: int) -> set[int]:
        """Return the messages before the end that are needed in any case, with their exchanges."""
        if start <= 1:
            return set()
        found = {*range(1, min(first, start - 1) + 1), *self._required(start)}
        found.update(self._joined(range(start, self._count + 1), start))
        whole = set(found)
        while found:
            related: set[int] = set()
            for seq in found:
                row = self[seq]
                related.update(row.joins)
                related.update(self._answers(seq) if row.message.calls else [])
            found = {seq for seq in related if seq < start} - whole
            whole |= found
        return whole

    @cached_property
    def task(self) -> int | None:
        """The index of the first question, if a call was answered before the next."""
        questions = self._questions(ASKED, 1, self._count)
        after = next(questions, None)
        if after is None:
            return None
        before, own = next(questions, self._count + 1), self._head.number
        first, last, rows = after + 1, before - 1, self._connection.rows
        is_answered = rows(ANSWERED_NOW, own, first, first, last) or any(
            rows(ANSWERED_THEN, number, first, *part, own)
            for number, *part in self._head.parts(first, last)
        )
        return after - 1 if is_answered else None

    def of_kind(self, kind: int, stop: int) -> Iterator[int]:
        """Yield the messages of a kind before one of them."""
        for number, first, last in self._head.parts(1, stop - 1):
            for (seq,) in self._connection.rows(OF_KIND, number, kind, first, last):
                yield seq

    def _required(self, start: int) -> Iterator[int]:
        """Yield system and pinned messages before the end, and the newest questions."""
        yield from (seq for seq, (_, pinned) in self.marks.items() if pinned and seq < start)
        yield from self.of_kind(SYSTEM, start)
        for kind in (ASKED, QUESTION):
            yield from islice(self._questions(kind, 1, start - 1, newest=True), 1)
        if self.task is not None and self.task + 1 < start:
            yield self.task + 1

    def _questions(
        self, kind: int, first: int, last: int, *, newest: bool = False
    ) -> Iterator[int]:
        """Yield the public questions of a kind that can be read, in order or from the newest."""
        parts, own = self._head.parts(first, last), self._head.number
        for number, first, last in reversed(parts) if newest else parts:
            order = NEWEST if newest else FIRST
            while found := self._connection.rows(order, number, kind, first, last, own):
                ((seq, body, digest),) = found
                if not is_damaged(body, digest):
                    yield seq
                first, last = (first, seq - 1) if newest else (seq + 1, last)

    def _joined(self, seqs: Collection[int], start: int) -> set[int]:
        """Return the messages before the end whose calls are answered in it."""
        return {joins for seq in seqs for joins in self._rows[seq].joins if joins < start}

    def _answers(self, seq: int) -> Iterator[int]:
        """Yield the messages that answer calls of one."""
        head, first, last = self._head, seq + 1, self._count
        parts = [(ANSWERS_THEN, part) for part in head.parts(first, last)]
        for sql, (number, *part) in [*parts, (ANSWERS_NOW, (head.number, first, last))]:
            for (one,) in self._connection.rows(sql, number, seq, *part):
                if seq in self[one].joins:
                    yield one
