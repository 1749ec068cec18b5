"""Recorded requests as rows: begun before they are sent on, finished when they are answered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import get_args

import msgspec
from msgspec.structs import replace

from contextwright.errors import NotFound, require
from contextwright.messages.times import utc_text
from contextwright.store.engines.base import Connection, Row
from contextwright.store.requests import RecordedRequest, RequestState
from contextwright.store.rows.recorded import bodies, signatures
from contextwright.store.rows.validation import require_name
from contextwright.text.json import decoder, encode_json

__all__ = [
    "DAMAGED",
    "STATES",
    "answered_with",
    "begin",
    "decoded",
    "find",
    "finish",
    "forget_words",
    "give_up",
    "last_of_session",
    "latest",
    "mark_lost",
    "moment",
    "of_process",
    "page",
    "remove_before",
    "written",
]

LARGEST = 2**63 - 1
"""The largest number that both databases hold."""
SELECT = """
SELECT r.number, r.state, c.id, r.record
FROM requests r LEFT JOIN conversations c ON c.number = r.conversation
WHERE r.tenant = ?"""
INSERT = """
INSERT INTO requests (tenant, session, state, process, started, record)
VALUES (?, ?, ?, ?, ?, ?) RETURNING number"""
FINISH = "UPDATE requests SET state = ?, conversation = ?, record = ?, answer = ? WHERE number = ?"
ANSWERED = """
SELECT max(number) FROM requests WHERE tenant || '' = ? AND answer = ? AND number < ?"""
"""By the answer: `|| ''` keeps SQLite from going through all requests of the tenant instead."""
OPEN = "SELECT number, process, started FROM requests WHERE state = 'open'"
LOSE = "UPDATE requests SET state = 'lost' WHERE number = ? AND state = 'open'"
LATEST = """
SELECT max(number) FROM requests
WHERE tenant = ? AND conversation = ? AND number < ? AND state = 'answered'"""
FEW = 20
"""Requests of a session that are looked at."""
OF_SESSION = f"""{SELECT}
AND r.session = ? AND r.session <> '' AND r.number < ? ORDER BY r.number DESC LIMIT {FEW}"""
"""`<> ''` lets SQLite use the index of requests that name a session."""
OLD = "FROM requests WHERE tenant = ? AND started < ?"
HOLDING = "(conversation = ? OR (tenant = ? AND conversation IS NULL))"

decode = decoder(RecordedRequest).decode

STATES: tuple[RequestState, ...] = get_args(RequestState)
DAMAGED = RecordedRequest(
    format="",
    upstream_format="",
    upstream="",
    mode="pass-through",
    model="",
    sent_model="",
    error="damaged",
)
"""The placeholder of a record whose figures cannot be read."""


def begin(connection: Connection, tenant: str, record: RecordedRequest, process: str) -> int:
    """Note a request that is sent on, and return its number."""
    row = (tenant, record.session, "open", process, record.started, written(record))
    ((number,),) = connection.rows(INSERT, *row)
    return number


def finish(
    connection: Connection,
    record: RecordedRequest,
    conversation: int | None,
    answer: str | None = None,
) -> None:
    """Note how a request ended, the number of its conversation, and the digest of its answer."""
    row = (record.state, conversation, written(record), answer)
    connection.run(FINISH, *row, record.number)


def answered_with(connection: Connection, tenant: str, answer: str, before: int) -> int | None:
    """Return the number of the last request before another whose answer has a digest."""
    ((number,),) = connection.rows(ANSWERED, tenant, answer, before)
    return number


def moment(time: datetime) -> str:
    """Return a time as requests have it: such texts are in the order of their times."""
    return utc_text(time, "milliseconds")


def written(record: RecordedRequest) -> str:
    """Return a record as it is stored, without what has a column or follows from its row."""
    return encode_json(replace(record, number=0, state="open", conversation=None)).decode()


def find(connection: Connection, tenant: str, number: int) -> RecordedRequest:
    """Return a request by its number.

    Raises:
        NotFound: there is none.
    """
    require(number, int, "the number of a request")
    if 0 < number <= LARGEST:
        for row in connection.rows(f"{SELECT} AND r.number = ?", tenant, number):
            return as_record(row)
    raise NotFound(f"there is no recorded request {number}")


def page(
    connection: Connection, tenant: str, conversation: str | None, before: int | None, limit: int
) -> list[RecordedRequest]:
    """Return the newest requests before one, of all conversations or of one."""
    require(limit, int, "limit")
    require(before, int | None, "before", "the number of a request")
    sql, values = SELECT, list[str | int]()
    if conversation is not None:
        sql, values = f"{sql} AND c.id = ?", [require_name(conversation, "conversation's id")]
    if before is not None:
        sql, values = f"{sql} AND r.number < ?", [*values, within_range(before)]
    sql, values = f"{sql} ORDER BY r.number DESC LIMIT ?", [*values, within_range(limit)]
    rows = connection.rows(sql, tenant, *values)
    return [as_record(row) for row in rows]


def within_range(number: int) -> int:
    """Return the nearest number that is not negative, and that databases can hold."""
    return min(max(number, 0), LARGEST)


def of_process(
    connection: Connection, tenant: str, process: str, after: int
) -> list[RecordedRequest]:
    """Return the requests that a process recorded, behind a number, in order."""
    sql = f"{SELECT} AND r.process = ? AND r.number > ? ORDER BY r.number"
    return [as_record(row) for row in connection.rows(sql, tenant, process, after)]


def latest(connection: Connection, tenant: str, conversation: int, before: int) -> int | None:
    """Return the number of the last answered request of a conversation, before another."""
    ((number,),) = connection.rows(LATEST, tenant, conversation, before)
    return number


def last_of_session(
    connection: Connection, tenant: str, record: RecordedRequest
) -> RecordedRequest | None:
    """Return the last request before one that has the same session and the same tools.

    A session has requests on the side, such as one for a title; these have other tools.
    """
    for row in connection.rows(OF_SESSION, tenant, record.session, record.number):
        found = as_record(row)
        if found.toolset == record.toolset and found.state == "answered":
            return found
    return None


def give_up(connection: Connection, is_running: Callable[[str, str], bool]) -> int:
    """Mark the requests lost whose gateway ended without a word; return how many.

    `is_running` is asked with the process and the start of a request.
    """
    lost = [
        number
        for number, process, started in connection.rows(OPEN)
        if not is_running(process, started)
    ]
    mark_lost(connection, lost)
    return len(lost)


def mark_lost(connection: Connection, numbers: Iterable[int]) -> None:
    """Note that nobody will store how some requests ended."""
    lost = [(number,) for number in numbers]
    connection.run_many(LOSE, lost)
    connection.run_many(signatures.DELETE, lost)


def remove_before(connection: Connection, tenant: str, time: datetime) -> int:
    """Remove a tenant's requests from before a time; return how many."""
    limit = moment(time)
    bodies.remove(connection, f"SELECT number {OLD}", tenant, limit)
    ((count,),) = connection.rows(f"SELECT count(*) {OLD}", tenant, limit)
    connection.run(f"DELETE {OLD}", tenant, limit)
    return count


def forget_words(
    connection: Connection, tenant: str, conversation: int, seqs: Sequence[int]
) -> None:
    """Remove all that recorded requests hold of a conversation's words; their figures stay.

    A request that belongs to no conversation may hold them too.
    """
    holding = f"SELECT number FROM requests WHERE {HOLDING}"
    bodies.remove(connection, holding, conversation, tenant)
    signatures.remove(connection, holding, conversation, tenant)
    place = "DELETE FROM places WHERE conversation = ? AND seq = ?"
    connection.run_many(place, [(conversation, seq) for seq in seqs])
    rows = connection.rows(
        f"SELECT number, record FROM requests WHERE {HOLDING}", conversation, tenant
    )
    changed = [
        (
            written(
                replace(record, changes=tuple(replace(one, reason="") for one in record.changes))
            ),
            number,
        )
        for number, text in rows
        if (record := decoded(text)) is DAMAGED or record.changes
    ]
    connection.run_many("UPDATE requests SET record = ? WHERE number = ?", changed)


def as_record(row: Row) -> RecordedRequest:
    """Return a row as a value."""
    number, state, conversation, text = row
    record = decoded(text)
    if state not in STATES:
        record, state = DAMAGED, "lost"
    return replace(record, number=number, state=state, conversation=conversation)


def decoded(text: str) -> RecordedRequest:
    """Return a record from its JSON; a placeholder if it changed on disk."""
    try:
        return decode(text)
    except (msgspec.DecodeError, UnicodeError, TypeError):  # or it is no text at all
        return DAMAGED
