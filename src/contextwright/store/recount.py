"""Running totals, held against the messages they are of.

What does not add up is thrown away: the next build counts it again.
"""

from __future__ import annotations

from collections.abc import Iterator

from contextwright.errors import ContextwrightError
from contextwright.metering import Meter
from contextwright.models import Models
from contextwright.prices import Priced
from contextwright.store import reading, totals
from contextwright.store.examination import Examination, decoded
from contextwright.store.records import Cure, Finding

__all__ = ["Recount"]

SAMPLE, PAGE = 8, 500
"""Messages that are counted again for each meter of a conversation, unless all are; and at once."""

METERS = """
SELECT t.meter, m.name, count(*), min(t.seq), max(t.seq)
FROM totals t JOIN meters m ON m.number = t.meter
WHERE t.conversation = ? GROUP BY t.meter, m.name ORDER BY t.meter"""


class Recount:
    """Counts again with the meters that the totals name."""

    def __init__(self, *, thorough: bool) -> None:
        self._thorough = thorough
        self._meters: dict[str, Meter | None] = {}

    def findings(self, examined: Examination) -> Iterator[Finding]:
        """Totals that have holes, are of no message, or are not what the messages cost."""
        number, connection = examined.patient.number, examined.connection
        for meter, name, count, first, last in connection.rows(METERS, number):
            if first < 0 or last > examined.end or count != last - first + 1:
                problem = f"the totals of {name} have holes or are of no message"
            elif not self._adds_up(examined, meter, name, range(first, last + 1)):
                problem = f"the totals of {name} are not what the messages cost"
            else:
                continue
            sql = "DELETE FROM totals WHERE conversation = ? AND meter = ?"
            cure = Cure(sql, ((number, meter),), "the next build counts them again")
            yield examined.found("totals", problem, cure)

    def _adds_up(self, examined: Examination, number: int, name: str, seqs: range) -> bool:
        """Whether the newest messages, or all, cost what their totals say."""
        meter = self._meter(name)
        if meter is None:
            return True  # a model that is not known here: nobody can tell
        first = seqs[0] if self._thorough else max(seqs[0], seqs[-1] - SAMPLE)
        return all(
            is_same(examined, number, meter, start, min(start + PAGE, seqs[-1]))
            for start in range(first, seqs[-1], PAGE)
        )

    def _meter(self, name: str) -> Meter | None:
        """The meter of a name; None if its model is not known, or prices were other ones then."""
        if name not in self._meters:
            format, _, rest = name.partition(" ")
            try:
                made = Meter(format, Models.shipped().find(rest.rsplit(" ", 2)[0]))
            except ContextwrightError:
                made = None
            self._meters[name] = made if made is not None and made.name == name else None
        return self._meters[name]


def is_same(examined: Examination, number: int, meter: Meter, start: int, stop: int) -> bool:
    """Whether the differences of totals are the prices of the messages between them."""
    connection, conversation = examined.connection, examined.patient.number
    stored = totals.newest(connection, conversation, number, stop, stop - start + 1)
    rows = reading.rows_between(connection, examined.head, reading.BODIES, start + 1, stop)
    for seq, body in rows:
        message = decoded(body)
        if message is None:
            continue
        if stored[seq] - stored[seq - 1] != Priced.of(message, meter.cost):
            return False
    return True
