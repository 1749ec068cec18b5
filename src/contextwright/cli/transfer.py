"""`cw import` and `cw export`: conversations of other tools into a store, and out again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from contextwright import api, formats, importers
from contextwright.cli.convert import report, summarise
from contextwright.cli.output import indented, note, numbered, progress, say, say_json, written
from contextwright.cli.store import opened
from contextwright.errors import ContextwrightError, UsageError
from contextwright.formats.base import Conversation
from contextwright.importers.base import SOURCE
from contextwright.importers.files import Files
from contextwright.importers.intake import Intake, Outcome
from contextwright.messages import Message
from contextwright.models import Model
from contextwright.store.base import Store
from contextwright.store.records import Details

__all__ = ["conversation_of", "export", "frame_of", "import_files"]


def import_files(
    sources: list[str],
    intake: Intake,
    place: str | None,
    tenant: str,
    *,
    dry_run: bool,
    list_changes: bool,
    as_json: bool,
) -> int:
    """Take in file after file, each whole or not at all; the first that fails ends it."""
    if intake.id is not None and len(sources) > 1:
        raise UsageError("one name for several files", hint="leave --as out, or name one file")
    if intake.format:
        importers.find(intake.format)
    store = None if dry_run else opened(place, tenant=tenant)
    try:
        for source in sources:
            with importers.open_files(source) as files:
                outcome = taken(files, intake, store)
                tell(files.label, outcome, dry_run, list_changes=list_changes, as_json=as_json)
    finally:
        if store is not None:
            store.close()
    return 0


def taken(files: Files, intake: Intake, store: Store | None) -> Outcome:
    """One file, with a bar for whoever waits."""
    format = intake.format or importers.detect(files)
    with progress(f"{files.label} ({format})", in_bytes=True) as moved:
        task = msgspec.structs.replace(intake, format=format, progress=moved)
        return task.into(store, files) if store else task.rehearse(files)


def tell(label: str, outcome: Outcome, dry_run: bool, *, list_changes: bool, as_json: bool) -> None:
    """What was taken for what, how much of it is new, and what was left out."""
    found = outcome.report
    if as_json:
        fields = {name: getattr(outcome, name) for name in ("conversations", "messages", "known")}
        skipped = {"skipped": dict(found.skipped), "changes": dict(found.codes)}
        say_json({"file": label, "format": outcome.format, **fields, **skipped})
        return
    new = numbered(outcome.messages, "message")
    where = f"{'would store ' if dry_run else ''}{new} of "
    known = f" ({outcome.known:,} were there already)" if outcome.known else ""
    conversations = numbered(outcome.conversations, "conversation")
    say(f"{label}: {outcome.format}: {where}{conversations}{known}")
    for reason, number in found.skipped.most_common():
        note(f"cw: left out {number:,} × {reason}")
    if list_changes:
        report(found.changes, listed=True)
    else:
        summarise(found.codes)


# --- export ------------------------------------------------------------------------------------


def export(
    id: str | None,
    format: str,
    place: str | None,
    tenant: str,
    output: str | None,
    *,
    model: Model | None,
    list_changes: bool,
) -> int:
    """Write one conversation as a document, or all as JSON Lines."""
    formats.find(format)
    with opened(place, tenant=tenant) as store:
        if id is not None:
            rendered = api.render(
                conversation_of(store, store.conversation(id).details()), format, model=model
            )
            with written(output) as write:
                write(indented(rendered.json))
            report(rendered.changes, listed=list_changes)
        else:
            export_all(store, format, output, model=model, list_changes=list_changes)
    return 0


def export_all(
    store: Store, format: str, output: str | None, *, model: Model | None, list_changes: bool
) -> None:
    """Every conversation on a line of its own."""
    from collections import Counter

    codes: Counter[str] = Counter()
    with written(output) as write:
        for details in store.list():
            try:
                rendered = api.render(conversation_of(store, details), format, model=model)
            except ContextwrightError as error:
                raise type(error)(f"{details.id}: {error}") from error
            write(rendered.json + b"\n")
            codes.update(change.code for change in rendered.changes)
            if list_changes:
                report(rendered.changes, listed=True, prefix=f"{details.id}: ")
    if not list_changes:
        summarise(codes)


KEPT = frozenset(Conversation.__struct_fields__) - {"messages", "id", "source", "changes"}


def conversation_of(store: Store, details: Details) -> Conversation:
    """A stored conversation as a value, with what its request said when it was imported."""
    messages = tuple(stored.message for stored in store.conversation(details.id).read())
    source = source_of(details, messages)
    return msgspec.structs.replace(frame_of(details), messages=messages, source=source)


def frame_of(details: Details) -> Conversation:
    """What a stored conversation says besides its messages."""
    held: dict[str, Any] = {name: value for name, value in details.settings.items() if name in KEPT}
    about = {"title": details.title, "agent": details.agent}
    known = {name: value for name, value in about.items() if value is not None}
    if known:
        held["extra"] = {**held.get("extra", {}), "contextwright": known}
    try:
        conversation = msgspec.convert({**held, "messages": ()}, Conversation)
    except msgspec.ValidationError:  # settings of somebody's own under our names
        conversation = Conversation(())
    return msgspec.structs.replace(conversation, id=details.id)


def source_of(details: Details, messages: Iterable[Message]) -> str | None:
    """The format it came from, as long as all its messages came from there."""
    source = details.settings.get("source")
    marks = (message.meta.get(SOURCE) for message in messages)
    same = all(isinstance(mark, str) and mark.startswith(f"{source}/") for mark in marks)
    return source if isinstance(source, str) and same else None
