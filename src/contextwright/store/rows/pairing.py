"""Which earlier messages the results of a message answer, kept as turns are stored.

The rule is that of `exchanges.Waiting`, for the messages that are public now: as in a `Log`, others
have no calls and no results. Calls without a result at the end of their turn are in `open_calls`
until they are answered, so that a turn reads nothing back.

The column `joins` has the one message that each answered when it was stored, and never changes,
because forks read the same row and hide messages of their own. Where it does not hold, `answers`
has a conversation's own rows for a message: it answers several, or others since a message with
calls or results was hidden, shown, edited or erased. Then the whole conversation is paired again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import TypeAlias

from msgspec import Struct

from contextwright.errors import StoreError
from contextwright.messages.exchanges import Answer, Waiting
from contextwright.messages.message import Message
from contextwright.messages.parts import Text, ToolCall, ToolResult
from contextwright.store.engines.base import AS_BYTES, Connection
from contextwright.store.engines.numbers import damaged
from contextwright.store.rows import conversations
from contextwright.store.rows.conversations import Head
from contextwright.store.rows.messages import public

__all__ = [
    "OpenCall",
    "Pairing",
    "answers_between",
    "copy_to_fork",
    "fill_answers",
    "join",
    "open_call_rows",
    "pair_again",
    "pairing_of",
    "tools_in",
]

OpenCall: TypeAlias = tuple[int, int, str | None, str]
"""Number of the message, index of the part, id, name."""
AnswerRow: TypeAlias = tuple[int, int]
"""Number of a message with results, and of one that it answers; 0 if it answers none."""

PAIRED = frozenset((ToolCall, ToolResult))
LONGEST = 200
"""Longer ids and names are stored as their digest, because no index can hold them."""
ANSWERED = ToolResult(None, "")
"""Stands for the result of a call."""
PAGE = 500
TAGS = ('%"tool_call"%', '%"tool_result"%')
"""What the bodies of messages with calls or results hold, and few others."""

TAKE = """
SELECT seq, part FROM open_calls WHERE conversation = ? {condition} ORDER BY seq, part LIMIT 1"""
TAKE_BY_ID = TAKE.format(condition="AND id = ?")
TAKE_BY_NAME = TAKE.format(condition="AND name = ?")
TAKE_OLDEST = TAKE.format(condition="")
TOOLS = f"""
SELECT m.seq, m.joins, {AS_BYTES.format("m.body")}, m.digest, k.visibility FROM messages m
LEFT JOIN marks k ON k.conversation = ? AND k.seq = m.seq
WHERE m.conversation = ? AND m.seq BETWEEN ? AND ?
AND (m.joins IS NOT NULL OR m.body LIKE ? OR m.body LIKE ?) ORDER BY m.seq LIMIT {PAGE}"""
ANSWERS = "SELECT seq, joins FROM answers WHERE conversation = ? AND seq BETWEEN ? AND ?"
INSERT = "INSERT INTO answers (conversation, seq, joins) VALUES (?, ?, ?)"
EVERY = """
SELECT c.tenant, c.id, h.last FROM conversations c JOIN heads h ON h.conversation = c.number"""
FORK = """
INSERT INTO answers (conversation, seq, joins)
SELECT ?, seq, joins FROM answers WHERE conversation = ? AND seq <= ?"""


def join(
    connection: Connection, conversation: int, first: int, messages: Sequence[Message]
) -> list[int | None]:
    """Return, for each message of a turn, the first earlier message with a call that it answers.

    Stores the others, and the calls that stay open.
    """
    joins: list[int | None] = [None] * len(messages)
    several: dict[int, set[int]] = {}
    joining: Joining | None = None
    for place, message in enumerate(messages):
        parts = message.parts
        if len(parts) == 1 and type(parts[0]) is Text:  # as nine messages of ten
            continue
        if PAIRED.isdisjoint(map(type, parts)):
            continue
        joining = joining or Joining(connection, conversation, first)
        found = joining.join(message, first + place)
        joins[place] = min(found, default=None)
        if len(found) > 1:
            several[first + place] = found
    if joining is not None:
        joining.leave_open()
        answer_rows(connection, conversation, rows_of(several))
    return joins


class Joining:
    """The calls a turn can answer: its own, and those that waited before it."""

    def __init__(self, connection: Connection, conversation: int, first: int) -> None:
        self._connection, self._conversation, self._first = connection, conversation, first
        self._own = Waiting()
        self._calls: list[Answer] = []
        waiting = "SELECT 1 FROM open_calls WHERE conversation = ? LIMIT 1"
        self._others_wait = first > 1 and bool(connection.rows(waiting, conversation))

    def join(self, message: Message, seq: int) -> set[int]:
        """Add one message; return the earlier messages that it answers."""
        answered: set[int] = set()
        if message.visibility != "public":
            return answered
        for index, part in enumerate(message.parts):
            if type(part) is ToolCall and message.role == "assistant":
                answer = Answer(part, (seq, index))
                self._own.add(answer)
                self._calls.append(answer)
            elif type(part) is ToolResult:
                answered.update(self._take(part))
        return answered - {seq}

    def leave_open(self) -> None:
        """Store the calls without an answer, and remove older ones with the same id."""
        if self._others_wait:
            ids = {answer.call.id for answer in self._calls} - {None}
            self._connection.run_many(
                "UPDATE open_calls SET id = NULL WHERE conversation = ? AND id = ?",
                [(self._conversation, short(id)) for id in sorted(map(str, ids))],
            )
        waiting = [answer for answer in self._calls if answer.result is None]
        open_call_rows(self._connection, self._conversation, still_open(waiting, self._own))

    def _take(self, result: ToolResult) -> list[int]:
        """Return the number of the message with the call that a result answers, if there is one."""
        own, id, name = self._own, result.call_id, result.name
        stored: int | None = None
        if id is not None:
            if id not in own.by_id:
                stored = self._take_stored(TAKE_BY_ID, short(id))
        else:
            if name:
                stored = self._take_stored(TAKE_BY_NAME, short(name))
            if stored is None and not (name and any(waits(own.by_name.get(name, ())))):
                stored = self._take_stored(TAKE_OLDEST)
        if stored is not None:
            return [stored]
        answer = own.take(result)
        if answer is None:
            return []
        answer.result = result
        return [answer.at[0]]

    def _take_stored(self, sql: str, *values: str) -> int | None:
        """Take one call that was open before this turn."""
        if not self._others_wait:
            return None
        for seq, part in self._connection.rows(sql, self._conversation, *values):
            if not 0 < seq < self._first:
                raise damaged(self._connection, self._conversation, "call that waits")
            delete = "DELETE FROM open_calls WHERE conversation = ? AND seq = ? AND part = ?"
            self._connection.run(delete, self._conversation, seq, part)
            return seq
        return None


def waits(answers: Iterable[Answer]) -> Iterable[bool]:
    """Whether each of the calls still has no result."""
    return (answer.result is None for answer in answers)


def still_open(waiting: Iterable[Answer], own: Waiting) -> list[OpenCall]:
    """Return calls as rows; a reused id belongs to the last message that used it."""
    calls: list[OpenCall] = []
    for answer in waiting:
        id = answer.call.id
        newest = id is not None and any(one is answer for one in own.by_id[id])
        calls.append(
            (*answer.at, short(id) if newest and id is not None else None, short(answer.call.name))
        )
    return calls


class Pairing(Struct, frozen=True):
    """How the messages of a conversation are paired now."""

    answers: list[AnswerRow]
    """What its messages answer, where the column `joins` says otherwise."""
    open_calls: list[OpenCall]


def pairing_of(messages: Iterable[tuple[int, int | None, Message]]) -> Pairing:
    """Pair the messages of a conversation in order, each with its number and its column `joins`.

    Those without calls and results may be left out. Keeps no texts, because there may be gigabytes.
    """
    own, calls = Waiting(), list[Answer]()
    other: dict[int, set[int]] = {}
    for seq, joins, message in messages:
        answered: set[int] = set()
        for index, part in enumerate(message.parts if message.visibility == "public" else ()):
            if type(part) is ToolCall and message.role == "assistant":
                call = ToolCall(part.name, {}, part.id)  # without its arguments, which may be long
                calls.append(Answer(call, (seq, index)))
                own.add(calls[-1])
            elif type(part) is ToolResult:
                answer = own.take(part)
                if answer is not None:
                    answer.result = ANSWERED
                    answered.add(answer.at[0])
        answered.discard(seq)
        if answered != ({joins} - {None}):
            other[seq] = answered
    waiting = [answer for answer in calls if answer.result is None]
    return Pairing(rows_of(other), still_open(waiting, own))


def pair_again(connection: Connection, head: Head, last: int) -> None:
    """Write how a conversation is paired, after a message with calls or results changed.

    Its row in `heads` must be locked.
    """
    pairing, number = pairing_of(tools_in(connection, head, last)), head.number
    for table in ("answers", "open_calls"):
        connection.run(f"DELETE FROM {table} WHERE conversation = ?", number)
    answer_rows(connection, number, pairing.answers)
    open_call_rows(connection, number, pairing.open_calls)


def tools_in(
    connection: Connection, head: Head, last: int
) -> Iterator[tuple[int, int | None, Message]]:
    """Yield number, column `joins` and message of all that may have calls or results, as marked."""
    hidden = Message("user", visibility="hidden")
    for number, first, stop in head.parts(1, last):
        while first <= stop:
            rows = connection.rows(TOOLS, head.number, number, first, stop, *TAGS)
            for seq, joins, body, digest, visibility in rows:
                yield seq, joins, public(body, digest, visibility, None) or hidden
            first = rows[-1][0] + 1 if len(rows) == PAGE else stop + 1


def answers_between(
    connection: Connection, number: int, first: int, last: int
) -> dict[int, set[int]]:
    """Return which messages some answer, both ends included, where the column does not hold."""
    found: dict[int, set[int]] = {}
    for seq, joins in connection.rows(ANSWERS, number, first, last):
        found.setdefault(seq, set()).update([joins] if joins else [])
    return found


def fill_answers(connection: Connection) -> None:
    """Pair all conversations of an older store again.

    Its rows say nothing of a second answer, of changes made later, and follow the rules of then.
    """
    for tenant, id, last in connection.rows(EVERY):
        with suppress(StoreError):  # a damaged conversation is paired once `cw doctor` mended it
            pair_again(connection, conversations.require(connection, tenant, id), last)


def copy_to_fork(connection: Connection, parent: int, number: int, at: int) -> None:
    """Copy to a fork what the shared messages answer."""
    connection.run(FORK, number, parent, at)


def rows_of(answers: dict[int, set[int]]) -> list[AnswerRow]:
    """Return the messages that others answer as rows."""
    return [(seq, joins) for seq, found in answers.items() for joins in sorted(found) or [0]]


def answer_rows(connection: Connection, conversation: int, rows: Iterable[AnswerRow]) -> None:
    """Store which messages are answered."""
    values = [(conversation, *row) for row in rows]
    if values:
        connection.run_many(INSERT, values)


def open_call_rows(connection: Connection, conversation: int, calls: Iterable[OpenCall]) -> None:
    """Store calls that wait for their results."""
    rows = [(conversation, *call) for call in calls]
    if rows:
        sql = "INSERT INTO open_calls (conversation, seq, part, id, name) VALUES (?, ?, ?, ?, ?)"
        connection.run_many(sql, rows)


def short(text: str) -> str:
    """Return a text that fits into an index; a long one as its digest."""
    if len(text) <= LONGEST:
        return text
    return "\x1f" + blake2b(text.encode(), digest_size=16).hexdigest()
