"""Examination of one conversation row by row: numbers, turns, marks, answers, open calls, vectors.

Everything is read in one transaction. A finding that can be rebuilt from the remaining data has a
repair. Messages and turns have none: a lost message is reported and stays lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import msgspec
from msgspec import Struct

from contextwright.errors import StoreError, shown
from contextwright.messages.message import Message
from contextwright.messages.parts import ToolCall
from contextwright.store.care.entries import ANSWERS
from contextwright.store.engines.base import Connection
from contextwright.store.engines.digests import digest_of
from contextwright.store.recall import vectors
from contextwright.store.records import Cure, Finding
from contextwright.store.rows import conversations
from contextwright.store.rows import messages as reading
from contextwright.store.rows.damage import damage_of, decoded, stand_in_body
from contextwright.store.rows.kinds import SET_ASIDE, kind_of
from contextwright.store.rows.pairing import pairing_of, tools_in
from contextwright.store.rows.turns import MARK, marks_of

__all__ = ["Examination", "Patient", "patient_of"]

PATIENT = """
SELECT c.number, c.tenant, c.id, c.settings, c.parent, c.fork_at, h.last, h.marked, p.tenant, q.last
FROM conversations c
LEFT JOIN heads h ON h.conversation = c.number
LEFT JOIN conversations p ON p.number = c.parent
LEFT JOIN heads q ON q.conversation = c.parent
WHERE c.number = ?"""
HOLES = """
SELECT seq, next FROM (
    SELECT seq, lead(seq) OVER (ORDER BY seq) AS next
    FROM messages WHERE conversation = ?) AS places
WHERE next <> seq + 1 LIMIT 20"""
GAPS = """
SELECT first, count, next FROM (
    SELECT first, count, lead(first) OVER (ORDER BY first) AS next
    FROM turns WHERE conversation = ?) AS tiles
WHERE count < 1 OR next <> first + count LIMIT 20"""
HALVES = """
SELECT first, count, there FROM (
    SELECT t.first, t.count, (
        SELECT count(*) FROM messages m WHERE m.conversation = t.conversation
        AND m.seq >= t.first AND m.seq < t.first + t.count) AS there
    FROM turns t WHERE t.conversation = ?) AS filled
WHERE there <> count LIMIT 20"""
OWN = """
SELECT seq, kind, body, digest FROM messages
WHERE conversation = ? AND seq > ? ORDER BY seq LIMIT 500"""
WAITING = "SELECT seq, part, id, name FROM open_calls WHERE conversation = ? ORDER BY seq, part"
REPLACE = f"""
UPDATE messages SET body = ?, digest = ?, kind = {SET_ASIDE} WHERE conversation = ? AND seq = ?"""
SET_KIND = "UPDATE messages SET kind = ? WHERE conversation = ? AND seq = ?"
KEEP_CALL = "INSERT INTO open_calls (conversation, seq, part, id, name) VALUES (?, ?, ?, ?, ?)"
DROP_CALL = "DELETE FROM open_calls WHERE conversation = ? AND seq = ? AND part = ?"
KEEP_ANSWER = "INSERT INTO answers (conversation, seq, joins) VALUES (?, ?, ?)"
DROP_ANSWER = "DELETE FROM answers WHERE conversation = ? AND seq = ? AND joins = ?"


class Patient(Struct, frozen=True):
    """A conversation as its own row and its head have it."""

    number: int
    tenant: str
    id: str
    settings: str
    parent: int | None
    fork_at: int | None
    last: int | None
    marked: int | None
    parent_tenant: str | None
    parent_last: int | None

    @property
    def before(self) -> int:
        """The last message that belongs to a parent."""
        return self.fork_at or 0

    @property
    def where(self) -> str:
        """The conversation, described."""
        tenant = f" of {shown(self.tenant)}" if self.tenant else ""
        return f"conversation {shown(self.id)}{tenant}"


def patient_of(connection: Connection, number: int) -> Patient | None:
    """Return a conversation by its number; None if it was removed meanwhile."""
    for row in connection.rows(PATIENT, number):
        return Patient(*row)
    return None


class Examination:
    """The examination of one conversation, within one transaction."""

    def __init__(self, connection: Connection, patient: Patient) -> None:
        self.connection, self.patient = connection, patient
        self.messages = 0
        self.has_origin = True
        """Whether it is known where it begins."""
        self._is_readable = True

    def findings(self) -> Iterator[Finding]:
        """Yield all findings, those that others depend on first."""
        yield from self._settings()
        yield from self._origin()
        if not self.has_origin:
            return  # all numbers follow from where it begins
        yield from self._numbers()
        yield from self._marks()
        yield from self._summaries()
        yield from self._bodies()
        yield from self._pairs()
        yield from self._vectors()

    def found(self, code: str, problem: str, cure: Cure | None = None) -> Finding:
        """Return a finding about this conversation."""
        return Finding(code, problem, self.patient.number, self.patient.where, cure)

    @cached_property
    def numbers(self) -> tuple[int, int | None, int | None]:
        """Return how many messages of its own it has, with the first and the last number."""
        sql = "SELECT count(*), min(seq), max(seq) FROM messages WHERE conversation = ?"
        ((count, first, last),) = self.connection.rows(sql, self.patient.number)
        return count, first, last

    @cached_property
    def head(self) -> conversations.Head:
        """The conversation with those it was forked from."""
        return conversations.require(self.connection, self.patient.tenant, self.patient.id)

    @property
    def end(self) -> int:
        """The number of the last existing message."""
        return self.numbers[2] or self.patient.before

    # --- names and numbers -------------------------------------------------------------------

    def _settings(self) -> Iterator[Finding]:
        patient = self.patient
        try:
            conversations.decode_settings(patient.settings)
        except (msgspec.DecodeError, UnicodeDecodeError):
            sql = "UPDATE conversations SET settings = '{}' WHERE number = ?"
            cure = Cure(sql, ((patient.number,),), "the settings were emptied")
            yield self.found("settings", "its settings cannot be read", cure)

    def _origin(self) -> Iterator[Finding]:
        """Check where it was forked; if its messages and turns begin elsewhere, it is there."""
        patient, cure, problem = self.patient, None, ""
        _, first, _ = self.numbers
        opening = "SELECT min(first) FROM turns WHERE conversation = ?"
        agree = self.connection.rows(opening, patient.number) == [(first,)]
        if patient.parent is not None and patient.parent_tenant != patient.tenant:
            problem = "the conversation it was forked from is not there"
        elif patient.parent is not None and patient.before > (patient.parent_last or 0):
            problem = f"it was forked at {patient.before}, past the end of its parent"
        elif patient.parent is None and patient.fork_at is not None:
            problem = "it was forked from nothing"
        if first is not None and agree and patient.fork_at not in (None, first - 1):
            sql = "UPDATE conversations SET fork_at = ? WHERE number = ?"
            origin = None if patient.parent is None else first - 1
            problem = problem or f"it was forked at {patient.fork_at}, and begins at {first}"
            cure = Cure(sql, ((origin, patient.number),), "it is forked where it begins")
        try:
            conversations.require(self.connection, patient.tenant, patient.id)
        except StoreError as error:
            self.has_origin = False
            problem = problem or error.args[0]
        if problem:
            yield self.found("fork", problem, cure)

    def _numbers(self) -> Iterator[Finding]:
        """Check for gaps between messages, turns that cover them, and the head's last number."""
        number, before = self.patient.number, self.patient.before
        count, first, _ = self.numbers
        begins = first is None or first == before + 1
        is_whole = begins and count == self.end - before
        if not begins:
            yield self.found("hole", f"messages {before + 1} to {(first or 0) - 1} are missing")
        if not is_whole:
            for seq, after in self.connection.rows(HOLES, number):
                yield self.found("hole", f"messages {seq + 1} to {after - 1} are missing")
        ends = "SELECT min(first), max(first + count) - 1 FROM turns WHERE conversation = ?"
        ((opening, closing),) = self.connection.rows(ends, number)
        gaps = self.connection.rows(GAPS, number)
        for turn, size, _ in gaps:
            yield self.found(
                "turns", f"the turn at {turn} ({size} messages) is not linked to the next one"
            )
        covers = (opening, closing) == ((before + 1, self.end) if count else (None, None))
        if not covers or not is_whole:
            for turn, size, there in self.connection.rows(HALVES, number):
                yield self.found("half", f"of the turn at {turn} {there} of {size} are there")
        if not covers and is_whole and opening is not None and opening > before + 1:
            yield self.found("turns", f"messages {before + 1} to {opening - 1} belong to no turn")
        if not covers and is_whole and (closing or before) < self.end:
            problem = f"messages {(closing or before) + 1} to {self.end} belong to no turn"
            yield self.found("turns", problem)
        yield from self._head(is_whole and covers and not gaps)

    def _head(self, is_sound: bool) -> Iterator[Finding]:
        """Check the last number; if messages and turns agree, it is theirs."""
        patient, end = self.patient, self.end
        if patient.last is None:
            yield self.found("head", "it has no row in heads")
        elif patient.last != end:
            sql = "UPDATE heads SET last = ? WHERE conversation = ?"
            cure = Cure(sql, ((end, patient.number),), f"the last number was set to {end}")
            problem = f"its head says {patient.last}, the last message is {end}"
            yield self.found("head", problem, cure if is_sound else None)

    # --- what refers to messages ---------------------------------------------------------------

    def _marks(self) -> Iterator[Finding]:
        number = self.patient.number
        sql = "SELECT seq FROM marks WHERE conversation = ? AND (seq < 1 OR seq > ?)"
        astray = [seq for (seq,) in self.connection.rows(sql, number, self.end)]
        if astray:
            drop = "DELETE FROM marks WHERE conversation = ? AND seq = ?"
            rows = tuple((number, seq) for seq in astray)
            cure = Cure(drop, rows, "they were removed")
            yield self.found("marks", f"marks without a message: {len(astray):,}", cure)

    def _summaries(self) -> Iterator[Finding]:
        """Find summaries that cover hidden messages, because they would reveal them."""
        number = self.patient.number
        sql = "SELECT name, last FROM summaries WHERE conversation = ? AND (last < 1 OR last > ?)"
        rows = tuple((number, *row) for row in self.connection.rows(sql, number, self.end))
        if rows:
            drop = "DELETE FROM summaries WHERE conversation = ? AND name = ? AND last = ?"
            cure = Cure(drop, rows, "they were removed")
            yield self.found("summaries", f"summaries of missing messages: {len(rows):,}", cure)

    @cached_property
    def marked(self) -> set[int]:
        """The messages that have a mark."""
        sql = "SELECT seq FROM marks WHERE conversation = ?"
        return {seq for (seq,) in self.connection.rows(sql, self.patient.number)}

    def _bodies(self) -> Iterator[Finding]:
        """Read every message, and compare it with its columns."""
        number, after = self.patient.number, self.patient.before
        unmarked: list[tuple[str | int | None, ...]] = []
        while page := self.connection.rows(OWN, number, after):
            after = page[-1][0]
            self.messages += len(page)
            for seq, kind, body, digest in page:
                message = decoded(body)
                if message is None or digest_of(body) != digest:
                    self._is_readable = False
                    yield self._damaged(seq, body, message)
                    continue
                if kind != kind_of(message):
                    cure = Cure(
                        SET_KIND, ((kind_of(message), number, seq),), "its kind was corrected"
                    )
                    problem = f"message {seq} is recorded with the wrong kind"
                    yield self.found("kind", problem, cure)
                said = marks_of(message)
                if said and seq not in self.marked and not damage_of(message, seq):
                    unmarked.append((number, seq, *said))
        if unmarked:
            cure = Cure(MARK, tuple(unmarked), "their marks were restored")
            problem = f"hidden or pinned messages without a mark: {len(unmarked):,}"
            yield self.found("marks", problem, cure)

    def _damaged(self, seq: int, body: str, message: Message | None) -> Finding:
        """Return the finding about a message that changed on disk."""
        aside = stand_in_body(body)
        rows = ((aside, digest_of(aside), self.patient.number, seq),)
        cure = Cure(REPLACE, rows, "it is set aside as a deleted message")
        is_so = "cannot be read" if message is None else "is not as it was stored"
        return self.found("body", f"message {seq} {is_so}", cure)

    # --- calls and their results ---------------------------------------------------------------

    def _pairs(self) -> Iterator[Finding]:
        """Check which messages answer which, and which calls wait, if all can be read."""
        number = self.patient.number
        waiting = {tuple(row) for row in self.connection.rows(WAITING, number)}
        astray = {row for row in waiting if not self._is_call(row[0], row[1])}
        if astray:
            rows = tuple((number, seq, part) for seq, part, _, _ in sorted(astray))
            cure = Cure(DROP_CALL, rows, "they were removed")
            yield self.found("calls", f"open calls without a message: {len(astray):,}", cure)
        if not self._is_readable:
            return
        pairing = pairing_of(tools_in(self.connection, self.head, self.end))
        wanted = set(pairing.open_calls)
        extra = waiting - wanted - astray
        if extra:
            rows = tuple((number, seq, part) for seq, part, _, _ in sorted(extra))
            cure = Cure(DROP_CALL, rows, "they were removed")
            yield self.found(
                "calls", f"answered calls that are listed as open: {len(extra):,}", cure
            )
        lost = wanted - waiting
        if lost:
            rows = tuple((number, *call) for call in sorted(lost))
            cure = Cure(KEEP_CALL, rows, "they were listed again")
            problem = f"calls without a result that are not listed as open: {len(lost):,}"
            yield self.found("calls", problem, cure)
        yield from self._answers(set(pairing.answers))

    def _answers(self, wanted: set[tuple[int, int]]) -> Iterator[Finding]:
        """Compare the messages that others answer with what is stored of that."""
        number = self.patient.number
        answers = {tuple(row) for row in self.connection.rows(ANSWERS, number)}
        for sql, rows in ((DROP_ANSWER, answers - wanted), (KEEP_ANSWER, wanted - answers)):
            if rows:
                values = tuple((number, *row) for row in sorted(rows))
                cure = Cure(sql, values, "they were paired again")
                count = len({seq for seq, _ in rows})
                problem = f"messages that are paired with the wrong calls: {count:,}"
                yield self.found("answers", problem, cure)

    def _is_call(self, seq: int, part: int) -> bool:
        """Whether there is a call at this place."""
        for row in reading.rows_between(self.connection, self.head, reading.BODIES, seq, seq):
            message = decoded(row[1])
            if message is None:
                return True  # it cannot be known
            return 0 <= part < len(message.parts) and type(message.parts[part]) is ToolCall
        return False

    # --- vectors -------------------------------------------------------------------------------

    def _vectors(self) -> Iterator[Finding]:
        """Check that pages can be read, and are consecutive from the first message."""
        number = self.patient.number
        for fault in vectors.page_faults(self.connection, number, self.patient.before, self.end):
            rows = ((number, fault.embedder, fault.first),)
            cure = Cure(vectors.REMOVE, rows, "they are removed, and rebuilt when they are needed")
            yield self.found("vectors", fault.problem, cure)
