"""Running totals: what messages cost, added up once and kept beside them, for each meter.

Row `seq` holds the cost of everything up to that message. Where counting began, which need not be
the first message, stands a row of its own; so the price of any message counted since is the
difference of two rows, and nothing is tokenised twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from contextwright.prices import Priced, Savings
from contextwright.store.engine import Connection, Row

__all__ = ["Counted", "extend", "meter_number", "newest", "row_at", "write"]

FIELDS = "seq, cost, results, media, together"
NEWEST = f"""
SELECT {FIELDS} FROM totals WHERE conversation = ? AND meter = ? AND seq <= ?
ORDER BY seq DESC LIMIT ?"""
AT = f"SELECT {FIELDS} FROM totals WHERE conversation = ? AND meter = ? AND seq = ?"
INSERT = """
INSERT INTO totals (conversation, meter, seq, cost, results, media, together)
VALUES (?, ?, ?, ?, ?, ?, ?)"""


class Counted(Struct, frozen=True):
    """The prices of a turn's messages, by one meter."""

    meter: str
    prices: Sequence[Priced]


def meter_number(connection: Connection, name: str) -> int | None:
    """The number of a meter; None if nothing was ever counted with it."""
    for (number,) in connection.rows("SELECT number FROM meters WHERE name = ?", name):
        return number
    return None


def newest(
    connection: Connection, conversation: int, meter: int, last: int, count: int
) -> dict[int, Priced]:
    """The newest totals up to a message, the newest first."""
    rows = connection.rows(NEWEST, conversation, meter, last, count)
    return dict(map(as_total, rows))


def row_at(connection: Connection, conversation: int, meter: int, seq: int) -> Priced | None:
    """The total up to a message; None if it was not counted."""
    for row in connection.rows(AT, conversation, meter, seq):
        return as_total(row)[1]
    return None


def extend(connection: Connection, conversation: int, last: int, counted: Counted) -> None:
    """Go on behind the last message, where everything up to it was counted.

    Where it was not, nothing is written: the next build counts what is missing.
    """
    meter = meter_number(connection, counted.meter)
    total = None if meter is None else row_at(connection, conversation, meter, last)
    if meter is None or total is None:
        return
    totals: dict[int, Priced] = {}
    for seq, priced in enumerate(counted.prices, last + 1):
        total += priced
        totals[seq] = total
    insert(connection, conversation, meter, totals)


def write(
    connection: Connection,
    conversation: int,
    name: str,
    totals: Mapping[int, Priced],
    ends: tuple[int, int] | None,
) -> None:
    """Keep what a build has counted, unless another build was faster.

    `ends` are the first and the last row it saw; None if there were none. The caller holds the
    conversation's head.
    """
    meters = "INSERT INTO meters (name) VALUES (?) ON CONFLICT (name) DO NOTHING"
    connection.run(meters, name)
    meter = meter_number(connection, name)
    assert meter is not None
    found = "SELECT min(seq), max(seq) FROM totals WHERE conversation = ? AND meter = ?"
    ((first, last),) = connection.rows(found, conversation, meter)
    if (None if first is None else (first, last)) == ends:
        insert(connection, conversation, meter, totals)


def insert(
    connection: Connection, conversation: int, meter: int, totals: Mapping[int, Priced]
) -> None:
    """Add rows."""
    connection.run_many(
        INSERT,
        [
            (conversation, meter, seq, total.cost, *parts_of(total.savings))
            for seq, total in totals.items()
        ],
    )


def parts_of(savings: Savings) -> tuple[int, int, int]:
    """Savings as a row has them."""
    return savings.results, savings.media, savings.both


def as_total(row: Row) -> tuple[int, Priced]:
    """A row as a number and a total."""
    seq, cost, results, media, together = row
    return seq, Priced(cost, Savings(results, media, together))
