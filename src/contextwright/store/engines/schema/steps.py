"""All tables, as numbered migration steps; a store is updated by the steps it lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from contextwright.errors import UnknownSchema
from contextwright.store.engines.base import Connection
from contextwright.store.engines.digests import fill_digests
from contextwright.store.engines.lengths import fill_lengths
from contextwright.store.engines.origins import fill_origins
from contextwright.store.engines.schema import conversations, recall, requests
from contextwright.store.rows.pairing import fill_answers

__all__ = ["STEPS", "Step", "steps_after"]


class Step(Struct, frozen=True):
    """One change of the tables, for each engine; its index in the list is its number."""

    sqlite: str
    postgres: str
    fill: Callable[[Connection], None] | None = None
    """Fills new columns for existing rows."""


def steps_after(version: int, steps: Sequence[Step], where: str) -> Sequence[Step]:
    """Return the steps that a store of some version lacks.

    Raises:
        UnknownSchema: the store is newer than this release.
    """
    if not 0 <= version <= len(steps):
        raise UnknownSchema(
            f"{where} has tables of version {version}, this release knows {len(steps)}",
            hint="upgrade contextwright",
        )
    return steps[version:]


STEPS: tuple[Step, ...] = (
    Step(conversations.SQLITE, conversations.POSTGRES),
    Step(recall.SQLITE_MEMORIES, recall.POSTGRES_MEMORIES),
    Step(recall.SQLITE_VECTORS, recall.POSTGRES_VECTORS),
    Step(conversations.SQLITE_LENGTHS, conversations.POSTGRES_LENGTHS, fill_lengths),
    Step(conversations.SQLITE_DIGESTS, conversations.POSTGRES_DIGESTS, fill_digests),
    Step(conversations.SQLITE_TIMES, conversations.POSTGRES_TIMES),
    Step(conversations.SQLITE_VERSIONS, conversations.POSTGRES_VERSIONS, fill_origins),
    Step(requests.SQLITE, requests.POSTGRES),
    Step(recall.SQLITE_TERMS, recall.POSTGRES_TERMS),
    Step(
        recall.SQLITE_TERMS + recall.DIGESTS,
        recall.POSTGRES_TERMS + recall.DIGESTS,
    ),
    Step(recall.SQLITE_MEANINGS, recall.POSTGRES_MEANINGS),
    Step(recall.LASTS, recall.LASTS),
    Step(requests.SQLITE_SIGNATURES, requests.POSTGRES_SIGNATURES),
    Step(
        recall.SQLITE_TERMS + recall.DIGESTS,
        recall.POSTGRES_TERMS + recall.DIGESTS,
    ),
    Step(requests.SQLITE_ANSWERS, requests.POSTGRES_ANSWERS),
    Step(
        recall.SQLITE_TERMS + recall.DIGESTS,
        recall.POSTGRES_TERMS + recall.DIGESTS,
    ),
    Step(conversations.SQLITE_ANSWERS, conversations.POSTGRES_ANSWERS, fill_answers),
    Step(recall.SQLITE_TERMS, recall.POSTGRES_TERMS),
    Step(
        recall.SQLITE_TERMS + recall.DIGESTS,
        recall.POSTGRES_TERMS + recall.DIGESTS,
    ),
    Step(recall.SQLITE_TERMS, recall.POSTGRES_TERMS),
)
