"""`cw doctor`, `cw reindex`, `cw backup` and `cw copy`: maintenance of whole stores."""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from contextwright.cli import completion
from contextwright.cli.locations import is_kept, location_of
from contextwright.cli.options import (
    Argument,
    AsJson,
    EmbedderName,
    Option,
    StoreLocation,
    StoreOptions,
    refuse,
)
from contextwright.cli.output import note, numbered, progress, say, say_json, say_line
from contextwright.cli.stores import existing, require_conversation
from contextwright.errors import NotFound, StoreError, UnknownSchema, UsageError
from contextwright.messages.times import now_text
from contextwright.store.care.copying import copy as copy_everything
from contextwright.store.care.doctor import Report, examine, mend
from contextwright.store.engines.address import file_of, is_server
from contextwright.store.engines.backup import back_up, free_name, require_free
from contextwright.store.engines.base import Engine
from contextwright.store.records import Finding
from contextwright.store.store import Store

__all__ = ["backup", "copy", "doctor", "reindex"]

BACKUP = "INSERT INTO backups (file, made) VALUES (?, ?) ON CONFLICT (file) DO NOTHING"


# --- doctor --------------------------------------------------------------------------------------


def doctor(
    store: StoreLocation = None,
    repair: Annotated[
        bool, Option("--repair", help="Repair what can be rebuilt from the remaining data.")
    ] = False,
    backup: Annotated[
        bool,
        Option("--backup/--no-backup", help="Back up the file before repairing."),
    ] = True,
    as_json: AsJson = False,
) -> int:
    """Check a store for damage and repair it.

    Checks the database, its settings and versions, and the numbers, turns, messages, marks, open
    calls, lengths and vectors of every conversation of every tenant. --repair corrects last
    numbers, marks, open calls and lengths, removes vectors to be rebuilt, and sets damaged messages
    aside; it changes no other message. Exits with 1 if problems are found.

    \b
    cw doctor
    cw doctor --store chat.db --repair
    """
    if not repair:
        refuse({"--no-backup": not backup}, "has no effect without --repair")
    where = StoreOptions(store=store)
    repaired: list[Finding] = []
    saved: str | None = None
    try:
        with existing(where) as opened:
            with progress(f"checking {opened.engine.where}") as moved:
                report = examine(opened.engine, progress=moved)
            if repair and any(finding.cure for finding in report.findings):
                saved = back_up_first(opened.engine) if backup else None
                repaired = mend(opened.engine, report)
                report = examine(opened.engine)
    except (NotFound, UnknownSchema):
        raise
    except StoreError as error:
        if "damaged" not in str(error):
            raise
        report = Report({}, [Finding("database", f"{error.args[0]}; restore a backup")])
    (print_findings_json if as_json else print_findings)(report, repaired, saved)
    return 1 if report.findings else 0


def back_up_first(engine: Engine) -> str:
    """Copy the file next to itself; return the name of the copy."""
    if engine.kind != "sqlite":
        hint = "run pg_dump, then cw doctor --repair --no-backup"
        raise UsageError("a Postgres database cannot be backed up here", hint=hint)
    name = free_name(engine.where, "repair")
    back_up(engine.where, name)
    return name


def print_findings(report: Report, repaired: list[Finding], saved: str | None) -> None:
    """Print the findings, one line each."""
    if report.facts:
        say(", ".join(f"{name} {fact}" for name, fact in report.facts.items()))
    if saved is not None:
        say_line(f"backup    {saved}")
    for finding in repaired:
        say_line(f"repaired  {finding}; {finding.cure.effect if finding.cure else ''}")
    for finding in report.findings:
        hint = " (--repair repairs it)" if finding.cure else ""
        say_line(f"problem   {finding}{hint}")
    checked = f"{numbered(report.conversations, 'conversation')}, "
    checked += numbered(report.messages, "message")
    say(f"{checked}: {numbered(len(report.findings), 'problem')}")


def print_findings_json(report: Report, repaired: list[Finding], saved: str | None) -> None:
    """Print the findings for programs."""
    say_json(
        {
            "facts": report.facts,
            "conversations": report.conversations,
            "messages": report.messages,
            "problems": [finding_fields(finding) for finding in report.findings],
            "repaired": [finding_fields(finding) for finding in repaired],
            "backup": saved,
        }
    )


def finding_fields(finding: Finding) -> dict[str, Any]:
    """Return a finding for programs."""
    fields = {"code": finding.code, "where": finding.where, "problem": finding.problem}
    return {**fields, "cure": finding.cure.effect if finding.cure else None}


# --- reindex -------------------------------------------------------------------------------------


def reindex(
    where: StoreOptions,
    conversation: Annotated[
        str | None,
        Option(
            "--conversation",
            "-c",
            metavar="ID",
            help="Index this conversation. Default: all.",
            complete=completion.conversations,
        ),
    ] = None,
    embedder: EmbedderName = "auto",
    rebuild: Annotated[
        bool, Option("--rebuild", help="Delete the index first and build it again.")
    ] = False,
    drop_unused: Annotated[
        bool, Option("--drop-unused", help="Delete the vectors of all other embedders.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Update the search index of a store.

    Optional: cw search and cw recall index what is missing. An interrupted run continues where it
    stopped.

    \b
    cw reindex --store chat.db
    cw reindex --conversation lunch --rebuild
    """
    with existing(where, embedder=None if embedder == "none" else embedder) as store:
        if conversation is not None:
            require_conversation(store, conversation)
        with progress(f"indexing {store.engine.where}") as moved:
            indexed = store.index(conversation, few=0, again=rebuild, progress=moved)
        dropped = store.drop_unused_vectors() if drop_unused else 0
        name = None if store.embedder is None else store.embedder.name
    if as_json:
        fields = {"words": indexed.words, "vectors": indexed.vectors}
        say_json({**fields, "embedder": name, "dropped": dropped})
        return 0
    say(f"words:   {numbered(indexed.words, 'message')}")
    say(f"vectors: {numbered(indexed.vectors, 'message')} by {name}" if name else "vectors: none")
    if drop_unused:
        say(f"dropped: vectors of {numbered(dropped, 'message')}")
    if name is None and embedder == "auto":
        note("cw: vectors need pip install 'contextwright[vectors]'")
    return 0


# --- backup and copy -----------------------------------------------------------------------------


def backup(
    target: Annotated[str, Argument("TARGET", help="New file. It must not exist.")],
    store: StoreLocation = None,
    as_json: AsJson = False,
) -> int:
    """Back up an SQLite store to a new file.

    The backup is a consistent copy, even while other processes write.

    \b
    cw backup chat-monday.db --store chat.db
    """
    if is_server(target):
        raise UsageError("a backup is a file", hint="cw copy SOURCE TARGET fills a database")
    if is_server(location_of(store)):
        hint = f"pg_dump -n contextwright -Fc -f {target} URL, or cw copy URL {target}"
        raise UsageError("cw backup copies SQLite files", hint=hint)
    require_free(target)
    with existing(StoreOptions(store=store)) as opened:
        with progress(f"{opened.engine.where} → {target}") as moved:
            back_up(opened.engine.where, target, moved)
        note_backup(opened.engine, target)
    size = os.path.getsize(target)
    if as_json:
        say_json({"file": target, "bytes": size})
    else:
        say_line(f"{target}: {numbered(size, 'byte')}")
    return 0


def note_backup(engine: Engine, target: str) -> None:
    """Record a backup, so that `cw erase` can name it."""
    if not engine.is_read_only:
        made = now_text()
        engine.write(lambda connection: connection.run(BACKUP, os.path.abspath(target), made))


def copy(
    source: Annotated[str, Argument("SOURCE", help="Store to read: SQLite file or URL.")],
    target: Annotated[str, Argument("TARGET", help="Store to write: SQLite file or URL.")],
    tenant: Annotated[
        str | None, Option("--tenant", metavar="NAME", help="Copy this tenant only.")
    ] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Compare and count, write nothing.")] = False,
    as_json: AsJson = False,
) -> int:
    """Copy a store to another, SQLite or Postgres.

    Copies the conversations, memories and recorded requests of all tenants, or of one, with forks,
    turns, keys and marks, and compares both stores. Requests get new numbers. Copying again adds
    what is new; titles, settings and marks become those of the source. If a conversation of the
    target has other messages, nothing is written.

    \b
    cw copy chat.db postgresql://host/database
    cw copy postgresql://host/database chat.db
    cw copy chat.db acme.db --tenant acme
    """
    if same_file(source, target):
        raise UsageError("source and target are the same store")
    is_made = not dry_run or is_server(target) or is_kept(file_of(target))
    with (
        TemporaryDirectory() as folder,
        existing(StoreOptions(store=source)) as one,
        Store(target if is_made else f"{folder}/store.db") as other,
    ):
        with progress(f"{one.engine.where} → {other.engine.where}") as moved:
            copied = copy_everything(
                one.engine, other.engine, moved, tenant=tenant, dry_run=dry_run
            )
    if as_json:
        say_json(copied)
        return 1 if copied.damaged else 0
    known = f" ({copied.known:,} already stored)" if copied.known else ""
    conversations = numbered(copied.conversations, "conversation")
    say(f"{numbered(copied.messages, 'message')} of {conversations}{known}")
    if copied.memories:
        say("1 memory" if copied.memories == 1 else f"{copied.memories:,} memories")
    if copied.requests:
        say(numbered(copied.requests, "recorded request"))
    for damage in copied.damaged:
        note(f"cw: {damage}; the copy has a placeholder for it")
    if not copied.damaged and not dry_run:
        note(f"cw: both stores are equal, digest {copied.digest}")
    return 1 if copied.damaged else 0


def same_file(one: str, other: str) -> bool:
    """Whether two locations are the same store."""
    if is_server(one) or is_server(other):
        return one == other
    names = file_of(one), file_of(other)
    return all(map(os.path.exists, names)) and os.path.samefile(*names)
