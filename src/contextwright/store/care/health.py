"""The database itself: its version, its settings, and whether its own checks find anything."""

from __future__ import annotations

from contextwright.errors import StoreError
from contextwright.store.engines.base import Connection, Engine
from contextwright.store.records import Finding

__all__ = ["Facts", "health_of"]

Facts = dict[str, str]
"""Facts about a database, in the order in which they are printed."""

SOUND_SQLITE = (3, 51, 3)
"""The first release that loses no page when two processes write and checkpoint at once."""

WAL_AT, WAL = 18, b"\x02\x02"
"""Offset and value of the bytes of a file's header that say that it has a write-ahead log."""

SYNCHRONOUS = ("off", "normal", "full", "extra")

INVALID_INDEXES = """
SELECT c.relname FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'contextwright' AND NOT (i.indisvalid AND i.indisready)"""


def health_of(engine: Engine) -> tuple[Facts, list[Finding]]:
    """Return what a database reports about itself."""
    look = sqlite_health if engine.kind == "sqlite" else postgres_health
    try:
        return engine.read(look)
    except StoreError as error:
        return {}, [Finding("database", str(error))]


def sqlite_health(connection: Connection) -> tuple[Facts, list[Finding]]:
    """Return the settings of a file, and the results of SQLite's own checks."""
    version = text(connection, "SELECT sqlite_version()")
    journal = journal_of(connection)
    facts = {
        "tables": f"version {text(connection, 'PRAGMA user_version')}",
        "SQLite": version,
        "journal": journal,
        "synchronous": SYNCHRONOUS[int(text(connection, "PRAGMA synchronous"))],
        "page": f"{text(connection, 'PRAGMA page_size')} bytes",
    }
    findings: list[Finding] = []
    if tuple(map(int, version.split("."))) < SOUND_SQLITE:
        wanted = ".".join(map(str, SOUND_SQLITE))
        findings.append(Finding("version", f"SQLite {version} can lose pages; {wanted} does not"))
    if journal != "wal":
        findings.append(Finding("settings", f"the journal is {journal}, not a write-ahead log"))
    said = [row[0] for row in connection.rows("PRAGMA integrity_check(20)")]
    findings.extend(Finding("integrity", one) for one in said if one != "ok")
    for table, _, parent, _ in connection.rows("PRAGMA foreign_key_check")[:20]:
        findings.append(Finding("integrity", f"a row of {table} belongs to none of {parent}"))
    return facts, findings


def journal_of(connection: Connection) -> str:
    """Return the journal mode of a file, by its header, which SQLite ignores if it is read-only."""
    file = connection.rows("PRAGMA database_list")[0][2]
    with open(file, "rb") as stream:
        versions = stream.read(WAL_AT + 2)[WAL_AT:]
    return "wal" if versions == WAL else text(connection, "PRAGMA journal_mode")


def postgres_health(connection: Connection) -> tuple[Facts, list[Finding]]:
    """Return the settings of a server that our guarantees depend on."""
    facts = {
        "tables": f"version {text(connection, 'SELECT number FROM version')}",
        "Postgres": text(connection, "SHOW server_version"),
        "synchronous_commit": text(connection, "SHOW synchronous_commit"),
        "checksums": text(connection, "SHOW data_checksums"),
    }
    findings = [
        Finding("settings", f"{name} is off: a crash of the server may lose or damage data")
        for name in ("fsync", "full_page_writes")
        if text(connection, f"SHOW {name}") != "on"
    ]
    for (name,) in connection.rows(INVALID_INDEXES):
        findings.append(Finding("integrity", f"the index {name} is not valid"))
    return facts, findings


def text(connection: Connection, sql: str) -> str:
    """Return the one value of a statement."""
    return str(connection.rows(sql)[0][0])
