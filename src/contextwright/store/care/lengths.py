"""Examination of the length of a conversation up to each of its messages."""

from __future__ import annotations

from collections.abc import Iterator

from contextwright.messages.lengths import length_of
from contextwright.store.care.examination import Examination
from contextwright.store.engines.lengths import length_until
from contextwright.store.records import Cure, Finding
from contextwright.store.rows.damage import STAND_IN, read_message

__all__ = ["length_findings"]

PAGE = 500
ROWS = """
SELECT seq, body, digest, length FROM messages
WHERE conversation = ? AND seq > ? ORDER BY seq LIMIT ?"""
HEAD = "SELECT length FROM heads WHERE conversation = ?"
SET = "UPDATE messages SET length = ? WHERE conversation = ? AND seq = ?"
SET_HEAD = "UPDATE heads SET length = ? WHERE conversation = ?"


def length_findings(examined: Examination) -> Iterator[Finding]:
    """Find lengths that differ from the messages', because builds would read too little.

    After a missing message, and at a damaged one, the stored length counts as correct.
    """
    connection, patient = examined.connection, examined.patient
    number, seq = patient.number, patient.before
    length = length_until(connection, patient.parent, seq) if patient.parent else 0
    wrong: list[tuple[int, int, int]] = []
    while rows := connection.rows(ROWS, number, seq, PAGE):
        for following, body, digest, stored in rows:
            message = read_message(body, digest)
            is_known = following == seq + 1 and STAND_IN not in message.meta
            length = length + length_of(message) if is_known else stored
            seq = following
            if stored != length:
                wrong.append((length, number, seq))
    if wrong:
        problem = f"messages whose recorded length is wrong: {len(wrong):,}"
        yield examined.found("lengths", problem, Cure(SET, tuple(wrong), "computed again"))
    if connection.rows(HEAD, number) not in ([], [(length,)]):
        cure = Cure(SET_HEAD, ((length, number),), "computed again")
        yield examined.found("lengths", "its recorded length is not that of its messages", cure)
