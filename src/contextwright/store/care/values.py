"""Examination of values that follow from nothing else: states, pins, counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from contextwright.store.care.examination import Examination
from contextwright.store.engines.numbers import LARGEST
from contextwright.store.records import Cure, Finding
from contextwright.store.rows.messages import VISIBILITIES

__all__ = ["value_findings"]


class Check(NamedTuple):
    """Values of one table that cannot be, and what mends them."""

    code: str
    problem: str
    table: str
    condition: str
    """Of the rows with such a value."""
    cure: str
    effect: str


CHECKS = (
    Check(
        "marks",
        "marks of an unknown state",
        "marks",
        f"visibility NOT IN ({', '.join(map(repr, VISIBILITIES))})",
        "UPDATE marks SET visibility = 'hidden'",
        "their messages are hidden",
    ),
    Check(
        "marks",
        "pins that are neither set nor removed",
        "marks",
        "pinned NOT IN (0, 1)",
        "UPDATE marks SET pinned = 1",
        "their messages are pinned",
    ),
    Check(
        "head",
        "its counts of changes are damaged",
        "heads",
        f"NOT (marked BETWEEN 0 AND {LARGEST} AND rewritten BETWEEN 0 AND {LARGEST})",
        "UPDATE heads SET marked = 0, rewritten = 0",
        "they were reset",
    ),
    Check(
        "episodes",
        "it is divided into episodes beyond its end",
        "divided",
        "last NOT BETWEEN 0 AND (SELECT last FROM heads WHERE conversation = divided.conversation)",
        "DELETE FROM divided",
        "the next call divides it again",
    ),
)


def value_findings(examined: Examination) -> Iterator[Finding]:
    """Yield the values of a conversation's rows that cannot be."""
    number = examined.patient.number
    for check in CHECKS:
        which = f"WHERE conversation = ? AND {check.condition}"
        if examined.connection.rows(f"SELECT 1 FROM {check.table} {which} LIMIT 1", number):
            cure = Cure(f"{check.cure} {which}", ((number,),), check.effect)
            yield examined.found(check.code, check.problem, cure)
