"""`cw doctor`, `cw reindex`, `cw backup` and `cw copy`: looking after whole stores."""

from __future__ import annotations

import os
from typing import Any

from contextwright.cli.output import note, numbered, progress, say, say_json
from contextwright.cli.store import existing, place_of
from contextwright.errors import NotFound, StoreError, UnknownSchema, UsageError
from contextwright.recall.embedding import Given
from contextwright.store.backup import back_up, free_name, require_free
from contextwright.store.base import Store
from contextwright.store.copying import copy
from contextwright.store.doctor import Report, examine, mend
from contextwright.store.engine import Engine, file_of, is_server
from contextwright.store.records import Finding

__all__ = ["back_up_store", "copy_store", "doctor", "reindex"]


# --- doctor --------------------------------------------------------------------------------------


def doctor(place: str | None, *, repair: bool, backup: bool, thorough: bool, as_json: bool) -> int:
    """Print what is wrong with a store, and mend what can be mended if asked to."""
    mended: list[Finding] = []
    saved: str | None = None
    try:
        with existing(place) as store:
            with progress(f"looking at {place_of(place)}") as moved:
                report = examine(store.engine, thorough=thorough, progress=moved)
            if repair and any(finding.cure for finding in report.findings):
                saved = saved_first(store.engine) if backup else None
                mended = mend(store.engine, report, thorough=thorough)
                report = examine(store.engine, thorough=thorough)
    except (NotFound, UnknownSchema):
        raise
    except StoreError as error:
        if "damaged" not in str(error):
            raise
        report = Report({}, [Finding("database", f"{error.args[0]}; bring back a backup")])
    (tell_json if as_json else tell)(report, mended, saved)
    return 1 if report.findings else 0


def saved_first(engine: Engine) -> str:
    """Put a copy beside the file; gives its name."""
    if engine.kind != "sqlite":
        hint = "call pg_dump, then cw doctor --repair --no-backup"
        raise UsageError("no copy can be put beside a Postgres database", hint=hint)
    name = free_name(engine.where, "repair")
    back_up(engine.where, name)
    return name


def tell(report: Report, mended: list[Finding], saved: str | None) -> None:
    """What was found, one line each."""
    if report.facts:
        say(", ".join(f"{name} {fact}" for name, fact in report.facts.items()))
    if saved is not None:
        say(f"saved  {saved}")
    for finding in mended:
        say(f"mended {finding}; {finding.cure.effect if finding.cure else ''}")
    for finding in report.findings:
        hint = " (--repair mends it)" if finding.cure else ""
        say(f"wrong  {finding}{hint}")
    looked = f"{numbered(report.conversations, 'conversation')}, "
    looked += numbered(report.messages, "message")
    say(f"{looked}: {numbered(len(report.findings), 'problem')}")


def tell_json(report: Report, mended: list[Finding], saved: str | None) -> None:
    """The same for programs."""
    say_json(
        {
            "facts": report.facts,
            "conversations": report.conversations,
            "messages": report.messages,
            "problems": [as_fields(finding) for finding in report.findings],
            "mended": [as_fields(finding) for finding in mended],
            "backup": saved,
        }
    )


def as_fields(finding: Finding) -> dict[str, Any]:
    """A finding without its statements."""
    fields = {"code": finding.code, "where": finding.where, "problem": finding.problem}
    return {**fields, "cure": finding.cure.effect if finding.cure else None}


# --- reindex -------------------------------------------------------------------------------------


def reindex(
    place: str | None,
    tenant: str,
    *,
    conversation: str | None,
    embedder: Given,
    again: bool,
    drop: bool,
    as_json: bool,
) -> int:
    """Bring the index of words and vectors up to date, and print what was done."""
    with existing(place, tenant=tenant, embedder=embedder) as store:
        if conversation is not None:
            store.conversation(conversation).length()  # there is one of that name
        with progress(f"indexing {place_of(place)}") as moved:
            indexed = store.index(conversation, few=0, again=again, progress=moved)
        dropped = store.drop_unused_vectors() if drop else 0
        name = None if store.space is None else store.space.embedder.name
    if as_json:
        fields = {"words": indexed.words, "vectors": indexed.vectors}
        say_json({**fields, "embedder": name, "dropped": dropped})
        return 0
    say(f"words:   {numbered(indexed.words, 'message')}")
    say(f"vectors: {numbered(indexed.vectors, 'message')} by {name}" if name else "vectors: none")
    if drop:
        say(f"dropped: vectors of {numbered(dropped, 'message')}")
    if name is None and embedder == "auto":
        note("cw: vectors need pip install 'contextwright[vectors]'")
    return 0


# --- backup and copy -----------------------------------------------------------------------------


def back_up_store(target: str, place: str | None) -> int:
    """Copy an SQLite store into a new file while others write."""
    if is_server(target):
        raise UsageError("a backup is a file", hint="cw copy SOURCE TARGET goes into a database")
    if is_server(place_of(place)):
        hint = f"pg_dump -n contextwright -Fc -f {target} URL, or cw copy URL {target}"
        raise UsageError("Postgres makes its own backups", hint=hint)
    require_free(target)
    with existing(place) as store, progress(f"{store.engine.where} → {target}") as moved:
        back_up(store.engine.where, target, moved)
    size = os.path.getsize(target)
    say(f"{target}: {numbered(size, 'byte')}")
    return 0


def copy_store(source: str, target: str, *, as_json: bool) -> int:
    """Bring everything of a store into another, and compare the two."""
    if same_file(source, target):
        raise UsageError("a store is no copy of itself", hint="name two stores")
    with existing(source) as one, Store(target) as other:
        with progress(f"{one.engine.where} → {other.engine.where}") as moved:
            copied = copy(one.engine, other.engine, moved)
    if as_json:
        say_json(copied)
        return 0
    known = f" ({copied.known:,} were there already)" if copied.known else ""
    conversations = numbered(copied.conversations, "conversation")
    say(f"{numbered(copied.messages, 'message')} of {conversations}{known}")
    if copied.memories:
        say("1 memory" if copied.memories == 1 else f"{copied.memories:,} memories")
    note(f"cw: both sides are the same, digest {copied.digest}")
    return 0


def same_file(one: str, other: str) -> bool:
    """Whether two places are the same file."""
    if is_server(one) or is_server(other):
        return one == other
    names = file_of(one), file_of(other)
    return all(map(os.path.exists, names)) and os.path.samefile(*names)
