"""Finds the earlier message that a result answers, as turns are stored, without reading back.

The rule is that of `exchanges.Waiting`. Calls without a result at the end of their turn are kept in
`open_calls` until they are answered, so the cost does not grow with the conversation. Messages that
were never public are ignored, as in a `History`; a hidden call waits until it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import TypeAlias

from contextwright.messages.exchanges import Answer, Waiting
from contextwright.messages.message import Message
from contextwright.messages.parts import Text, ToolCall, ToolResult
from contextwright.store.engines.base import Connection

__all__ = ["OpenCall", "join", "open_call_rows", "unanswered"]

OpenCall: TypeAlias = tuple[int, int, str | None, str]
"""Number of the message, index of the part, id, name."""

LONGEST = 200
"""Longer ids and names are stored as their digest, because no index can hold them."""

TAKE = """
SELECT o.seq, o.part FROM open_calls o
WHERE o.conversation = ? {condition} AND NOT EXISTS (
    SELECT 1 FROM marks k
    WHERE k.conversation = o.conversation AND k.seq = o.seq AND k.visibility <> 'public')
ORDER BY o.seq, o.part LIMIT 1"""
TAKE_BY_ID = TAKE.format(condition="AND o.id = ?")
TAKE_BY_NAME = TAKE.format(condition="AND o.name = ?")
TAKE_OLDEST = TAKE.format(condition="")


def join(
    connection: Connection, conversation: int, first: int, messages: Sequence[Message]
) -> list[int | None]:
    """Return, for each message of a turn, the first earlier message with a call that it answers."""
    if not any(type(part) in (ToolCall, ToolResult) for one in messages for part in one.parts):
        return [None] * len(messages)
    joining = Joining(connection, conversation, first)
    joins = [
        None
        if len(message.parts) == 1 and type(message.parts[0]) is Text
        else joining.join(message, seq)
        for seq, message in enumerate(messages, first)
    ]
    joining.leave_open()
    return joins


class Joining:
    """The calls a turn can answer: its own, and those that waited before it."""

    def __init__(self, connection: Connection, conversation: int, first: int) -> None:
        self._connection, self._conversation = connection, conversation
        self._own = Waiting()
        self._calls: list[Answer] = []
        waiting = "SELECT 1 FROM open_calls WHERE conversation = ? LIMIT 1"
        self._others_wait = first > 1 and bool(connection.rows(waiting, conversation))

    def join(self, message: Message, seq: int) -> int | None:
        """Add one message; return the first earlier message that it answers."""
        if message.visibility != "public":
            return None
        answered: list[int] = []
        for index, part in enumerate(message.parts):
            if type(part) is ToolCall and message.role == "assistant":
                answer = Answer(part, (seq, index))
                self._own.add(answer)
                self._calls.append(answer)
            elif type(part) is ToolResult:
                answered.extend(self._take(part))
        if not answered:
            return None
        return min((call for call in answered if call != seq), default=None)

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


def unanswered(messages: Iterable[tuple[int, Message]]) -> list[OpenCall]:
    """Return the calls among numbered messages that have no result."""
    own, calls = Waiting(), list[Answer]()
    for seq, message in messages:
        if message.visibility != "public":
            continue
        for index, part in enumerate(message.parts):
            if type(part) is ToolCall and message.role == "assistant":
                calls.append(Answer(part, (seq, index)))
                own.add(calls[-1])
            elif type(part) is ToolResult:
                answer = own.take(part)
                if answer is not None:
                    answer.result = part
    return still_open([answer for answer in calls if answer.result is None], own)


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
