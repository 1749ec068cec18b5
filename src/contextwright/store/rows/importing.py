"""Importing: whole conversations, compared with what is stored, and written many at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

from msgspec import Struct

from contextwright.errors import Conflict, shown
from contextwright.messages.message import Message
from contextwright.store.engines.base import Connection
from contextwright.store.records import ConversationInfo
from contextwright.store.rows import conversations, turns
from contextwright.store.rows import messages as reading
from contextwright.store.rows.damage import read_message
from contextwright.store.rows.validation import (
    NUL,
    body_of,
    require_text,
    require_visible,
    settings_text,
)
from contextwright.text.json import encode_json

__all__ = ["Importing"]

MOST_MESSAGES = 256
"""Messages that are held and written at once, of one conversation or of many."""
MOST_BYTES = 2**20
"""Their size, beyond which they are written even if they are few."""


Settle: TypeAlias = Callable[[str, int, int, Message, Message], bool]
"""Brings a stored message up to date with an imported one: by conversation, its row and number.
False if it is another message."""


class Piece(Struct, frozen=True):
    """Consecutive messages of a conversation, to be compared or written."""

    info: ConversationInfo
    start: int
    """The number of its own messages that came before."""
    messages: Sequence[Message]
    bodies: Sequence[bytes]
    settle: Settle | None = None


class Importing:
    """An import into a store: conversations in any number, in one transaction.

    Messages that are stored already are compared; later ones are added. Without a connection
    everything is validated and nothing stored.
    """

    def __init__(self, connection: Connection | None, tenant: str) -> None:
        self.connection, self.tenant = connection, tenant
        self._waiting: dict[str, Piece] = {}
        self._messages = self._bytes = 0
        self.added = self.known = 0
        """The number of messages stored, and of those that were stored already."""

    def add(
        self,
        info: ConversationInfo,
        messages: Iterable[Message],
        settle: Settle | None = None,
    ) -> Iterator[int]:
        """Take the messages of a conversation; yield how many, as they are taken.

        A conversation with a parent is forked first. `settle` is asked about stored messages that
        differ; without it they are a conflict.

        Raises:
            Conflict: this conversation, or one before it, is stored with other messages.
            UsageError: a text of this conversation cannot be stored.
        """
        require_visible(info.id, "conversation's id")
        require_text(info.title, "title")
        settings_text(info.settings)
        if info.id in self._waiting or info.parent is not None:
            self.flush()  # so that conversations are created in their order
        if self.connection is not None and info.parent is not None:
            turns.fork(self.connection, self.tenant, info.parent, info.id, info.fork_at, None)
        messages, taken = iter(messages), 0
        while batch := list(islice(messages, MOST_MESSAGES)):
            bodies = bodies_of(batch, taken)
            self._waiting[info.id] = Piece(info, taken, batch, bodies, settle)
            taken += len(batch)
            self._messages += len(batch)
            self._bytes += sum(map(len, bodies))
            if self._messages >= MOST_MESSAGES or self._bytes >= MOST_BYTES:
                self.flush()
            yield len(batch)

    def flush(self) -> None:
        """Compare and write what has been taken.

        Raises:
            Conflict: a conversation is stored with other messages.
        """
        pieces = list(self._waiting.values())
        self._waiting.clear()
        taken, self._messages, self._bytes = self._messages, 0, 0
        known = self._write(self.connection, pieces) if self.connection and pieces else 0
        self.known += known
        self.added += taken - known

    def _write(self, connection: Connection, pieces: Sequence[Piece]) -> int:
        """Write what is new; return the number of messages that were stored already."""
        ids = [piece.info.id for piece in pieces]
        ends = conversations.locked_ends(connection, self.tenant, ids)
        missing = [piece.info for piece in pieces if piece.info.id not in ends]
        if missing:
            conversations.create_all(connection, self.tenant, missing)
            # Another process may have been faster; then what it wrote is compared.
            ids = [info.id for info in missing]
            ends.update(conversations.locked_ends(connection, self.tenant, ids))
        additions: list[tuple[conversations.End, turns.EncodedTurn]] = []
        total = 0
        for piece in pieces:
            if piece.info.id not in ends:
                raise conversations.unknown(piece.info.id)
            end = ends[piece.info.id]
            known, is_settled = known_of(connection, piece, end)
            total += known
            if is_settled:
                end = conversations.locked_end(connection, end.number) or end
            if known < len(piece.messages):
                new = turns.EncodedTurn(piece.messages[known:], piece.bodies[known:])
                additions.append((end, new))
        if additions:
            turns.append_all(connection, additions, None)
        return total


def known_of(connection: Connection, piece: Piece, end: conversations.End) -> tuple[int, bool]:
    """Return how many messages of a piece are stored already, and whether one was replaced.

    Raises:
        Conflict: they are other messages.
    """
    before = end.fork_at + piece.start
    known = min(end.last - before, len(piece.messages))
    if not known:
        return 0, False
    is_settled = False
    stored = reading.bodies_between(connection, end.number, before + 1, before + known)
    each = zip(stored, piece.messages, piece.bodies, strict=False)
    for seq, (old, message, body) in enumerate(each, before + 1):
        # The same message may be spelled differently: with fields in another order.
        if old[0] == body.decode() or (before_it := read_message(*old)) == message:
            continue
        if piece.settle and piece.settle(piece.info.id, end.number, seq, before_it, message):
            is_settled = True
            continue
        raise Conflict(
            f"{shown(piece.info.id)} is in the store with another message {seq}",
            hint="remove it with cw rm, or import under another name with --as",
        )
    return known, is_settled


def bodies_of(messages: Sequence[Message], start: int) -> list[bytes]:
    """Return the JSON of imported messages.

    They were made from valid JSON, so they are not decoded again as a check, which would be a sixth
    of the work of an import. Tests assert that they can be decoded.
    """
    bodies = list(map(encode_json, messages))
    # A search from the end takes half the time: few bytes of text are a backslash.
    if b"".join(bodies).rfind(NUL) >= 0:  # not certain: an escaped backslash looks the same
        return [body_of(one, f"messages[{index}]") for index, one in enumerate(messages, start)]
    return bodies
