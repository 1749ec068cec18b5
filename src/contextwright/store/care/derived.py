"""Examination of what a store keeps besides messages: summaries, versions, signatures, memories."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import msgspec

from contextwright.errors import StoreError, shown
from contextwright.store.care.examination import Examination
from contextwright.store.engines.base import Connection, Row
from contextwright.store.recall.outlines import INDEXED, columns_after
from contextwright.store.records import Cure, Finding
from contextwright.store.rows import summaries
from contextwright.store.rows.recorded import signatures
from contextwright.store.rows.validation import decode_memory, decode_message

__all__ = ["derived_findings", "memory_findings"]

SUMMARIES = "SELECT body, name, last FROM summaries WHERE conversation = ?"
DROP_SUMMARY = "DELETE FROM summaries WHERE conversation = ? AND name = ? AND last = ?"
VERSIONS = "SELECT body, seq, number FROM versions WHERE conversation = ?"
DROP_VERSION = "DELETE FROM versions WHERE conversation = ? AND seq = ? AND number = ?"
SIGNATURES = """
SELECT s.body, s.request FROM signatures s JOIN requests r ON r.number = s.request
WHERE r.conversation = ? AND s.body IS NOT NULL"""
DROP_SIGNATURE = "DELETE FROM signatures WHERE request = ?"
MEMORIES = """
SELECT body, number, tenant, id FROM memories WHERE number > ? ORDER BY number LIMIT 500"""


def derived_findings(examined: Examination) -> Iterator[Finding]:
    """Yield what cannot be read of a conversation besides its messages."""
    connection, number = examined.connection, examined.patient.number
    for body, name, last in connection.rows(SUMMARIES, number):
        with suppress(StoreError):
            summaries.decoded(body, last)
            continue
        cure = Cure(DROP_SUMMARY, ((number, name, last),), "the summary was removed")
        yield examined.found("summary", f"its summary up to message {last} cannot be read", cure)
    for _, seq, version in unreadable(connection.rows(VERSIONS, number), decode_message):
        cure = Cure(DROP_VERSION, ((number, seq, version),), "the version was removed")
        yield examined.found("version", f"an old version of message {seq} cannot be read", cure)
    for _, request in unreadable(connection.rows(SIGNATURES, number), signatures.decode):
        cure = Cure(DROP_SIGNATURE, ((request,),), "the signatures were removed")
        problem = f"the signatures of the answer to request {request} cannot be read"
        yield examined.found("signatures", problem, cure)
    if not has_index(examined):
        yield examined.found("index", "its index cannot be read; cw reindex --rebuild rebuilds it")


def has_index(examined: Examination) -> bool:
    """Whether the outline of all indexed messages can be read, and no other is indexed."""
    connection, patient = examined.connection, examined.patient
    try:
        columns_after(connection, patient.number, patient.before)
    except (StoreError, msgspec.DecodeError, UnicodeError):
        return False
    last = [last for (last,) in connection.rows(INDEXED, patient.number)]
    return all(patient.before <= one <= examined.end for one in last)


def memory_findings(connection: Connection) -> Iterator[Finding]:
    """Yield the memories of all tenants that cannot be read."""
    after = 0
    while rows := connection.rows(MEMORIES, after):
        for _, _, tenant, id in unreadable(rows, decode_memory):
            where = f"tenant {shown(tenant)}" if tenant else ""
            problem = f"{id} cannot be read; cw forget-memory {id} removes it"
            yield Finding("memory", problem, where=where)
        after = rows[-1][1]


def unreadable(rows: list[Row], decode: Callable[[Any], object]) -> Iterator[Row]:
    """Yield the rows whose body, the first value, cannot be decoded."""
    for row in rows:
        try:
            decode(row[0])
        except (zlib.error, msgspec.DecodeError, UnicodeError, RecursionError):
            yield row
