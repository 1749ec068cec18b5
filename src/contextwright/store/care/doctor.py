"""Check a store for damage and repair it: `examine` reads, `mend` writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from contextwright.errors import StoreError
from contextwright.store.care.derived import derived_findings, memory_findings
from contextwright.store.care.examination import Examination, patient_of
from contextwright.store.care.health import Facts, health_of
from contextwright.store.care.lengths import length_findings
from contextwright.store.care.recorded import request_findings
from contextwright.store.care.values import value_findings
from contextwright.store.engines.base import Connection, Engine
from contextwright.store.records import Finding

__all__ = ["Report", "examine", "mend"]

Progress: TypeAlias = Callable[[int, int], None]

ROUNDS = 3
"""Maximum passes over a conversation, because one repair may make another necessary."""

COUNT = "SELECT count(*) FROM conversations"
NUMBERS = "SELECT number FROM conversations WHERE number > ? ORDER BY number LIMIT 500"


BESIDE = {"memories": memory_findings, "recorded requests": request_findings}
"""What belongs to tenants: what it is, and the function that examines it."""


class Report(Struct):
    """The result of an examination."""

    facts: Facts
    findings: list[Finding]
    conversations: int = 0
    messages: int = 0


def examine(engine: Engine, *, progress: Progress | None = None) -> Report:
    """Examine the database and every conversation of every tenant.

    Each conversation is read at one moment; others may write meanwhile.
    """
    report = Report(*health_of(engine))
    if any(finding.code == "database" for finding in report.findings):
        return report
    is_damaged = any(finding.code == "integrity" for finding in report.findings)
    try:
        examine_each(engine, report, progress, is_damaged=is_damaged)
    except StoreError as error:
        if not is_damaged:
            raise
        report.findings.append(Finding("database", f"{error.args[0]}; bring back a backup"))
    return report


def examine_each(
    engine: Engine, report: Report, progress: Progress | None, *, is_damaged: bool
) -> None:
    """Examine every conversation, as far as a damaged file can be read."""
    ((total,),) = engine.read(lambda connection: connection.rows(COUNT))
    for number in numbers_of(engine):
        try:
            found, messages = engine.read(lambda connection, one=number: look(connection, one))
        except StoreError as error:
            if is_damaged:
                raise
            where = f"conversation number {number}"
            found, messages = [Finding("row", error.args[0], number, where)], 0
        report.findings.extend(found)
        report.conversations += 1
        report.messages += messages
        if progress is not None:
            progress(report.conversations, max(total, report.conversations))
    for place, look_at in BESIDE.items():
        try:
            report.findings.extend(
                engine.read(lambda connection, look=look_at: [*look(connection)])
            )
        except StoreError as error:
            if is_damaged:
                raise
            report.findings.append(Finding("row", error.args[0], where=place))


def mend(engine: Engine, report: Report) -> list[Finding]:
    """Repair what can be rebuilt from the remaining data; return the findings and the repairs.

    Each conversation is examined again in the transaction that repairs it.
    """
    ill = {finding.conversation for finding in report.findings if finding.cure is not None}
    mended: list[Finding] = []
    for number in sorted(one for one in ill if one is not None):
        mended += engine.write_alone(lambda connection, one=number: cured(connection, one))
    if None in ill:
        mended += engine.write_alone(lambda one: applied(one, [*request_findings(one)]))
    return mended


def cured(connection: Connection, number: int) -> list[Finding]:
    """Repair one conversation; return what was repaired."""
    connection.rows(f"SELECT last FROM heads WHERE conversation = ?{connection.for_update}", number)
    mended: list[Finding] = []
    for _ in range(ROUNDS):
        done = applied(connection, look(connection, number)[0])
        if not done:
            break
        mended += done
    return mended


def applied(connection: Connection, findings: Sequence[Finding]) -> list[Finding]:
    """Repair what can be repaired of some findings; return those."""
    curable = [finding for finding in findings if finding.cure is not None]
    for finding in curable:
        if finding.cure is not None:
            connection.run_many(finding.cure.sql, finding.cure.rows)
    return curable


def look(connection: Connection, number: int) -> tuple[list[Finding], int]:
    """Examine one conversation; return the findings and the number of messages read."""
    patient = patient_of(connection, number)
    if patient is None:
        return [], 0
    examined = Examination(connection, patient)
    found = [*examined.findings(), *value_findings(examined), *derived_findings(examined)]
    if examined.has_origin:
        found += length_findings(examined)
    return found, examined.messages


def numbers_of(engine: Engine) -> Iterator[int]:
    """Yield the numbers of all conversations."""
    after = 0
    while page := engine.read(lambda connection, after=after: connection.rows(NUMBERS, after)):
        yield from (number for (number,) in page)
        after = page[-1][0]
