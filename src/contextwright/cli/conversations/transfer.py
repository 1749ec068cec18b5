"""`cw import` and `cw export`: conversations of other tools into a store, and out again."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated

import msgspec

from contextwright import formats, importers
from contextwright.cli import completion
from contextwright.cli.arguments import named_model
from contextwright.cli.options import (
    Argument,
    ListChanges,
    ModelName,
    ModelsFile,
    Option,
    OptionGroup,
    Output,
    ReplaceInvalid,
    StoreOptions,
    refuse,
)
from contextwright.cli.output import (
    count_changes,
    indented,
    left_out,
    list_changes,
    note,
    numbered,
    progress,
    report_changes,
    say_line,
    written,
)
from contextwright.cli.stores import existing, existing_or_none, opened, require_conversation
from contextwright.documents.files import Files
from contextwright.errors import ContextwrightError, UsageError
from contextwright.formats import api
from contextwright.formats.base import Rendered
from contextwright.importers.intake import Intake, Outcome
from contextwright.messages.changes import Change
from contextwright.models import Model
from contextwright.store.chat import Chat
from contextwright.store.frames import TIMED, conversation_of
from contextwright.store.store import Store

__all__ = ["export", "import_files"]

OWN = "contextwright"
SAID = ("guess.me", "guess.participant")
"""Changes that are printed in full, because a different call would avoid the guess."""


# --- import --------------------------------------------------------------------------------------


class SourceOptions(OptionGroup, frozen=True, kw_only=True):
    """Options for reading the files of another tool."""

    branches: Annotated[
        bool, Option("--branches", help="Store edited and regenerated versions as forks.")
    ] = False
    me: Annotated[
        str | None,
        Option("--me", metavar="NAME|ID", help="Participant who is the assistant: name or id."),
    ] = None
    threads: Annotated[
        bool, Option("--threads", help="Store each thread as a conversation of its own.")
    ] = False
    latest: Annotated[
        bool,
        Option("--latest", help="Newest export: delete later stored messages."),
    ] = False
    id: Annotated[
        str | None,
        Option("--as", metavar="ID", help="Id to store the only conversation under."),
    ] = None
    strict: Annotated[
        bool, Option("--strict", help="Refuse data that a request would have to mend.")
    ] = False


def import_files(
    files: Annotated[
        list[str],
        Argument("FILE...", help="Files, folders or zips; - for standard input."),
    ],
    where: StoreOptions,
    source: SourceOptions,
    format: Annotated[
        str | None,
        Option(
            "--format",
            "-f",
            "--from",
            metavar="SOURCE",
            help="Format or tool the files come from. Default: detected.",
            complete=completion.sources,
        ),
    ] = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Read and check everything, store nothing.")
    ] = False,
    replace_invalid: ReplaceInvalid = False,
    changes: ListChanges = False,
    as_json: Annotated[bool, Option("--json", help="Print one line of JSON per file.")] = False,
) -> int:
    """Import conversations of other tools.

    Reads exports of ChatGPT, Claude, Slack and Telegram, logs of Claude Code and Codex,
    fine-tuning data, Port 42 sessions, and every format of cw formats: as a document, as JSON
    Lines with a conversation per line, or as JSON Lines with a message per line, which together
    are one conversation. Each file is stored whole or not at all. Importing a file again adds only
    what is new; a later export of Slack or Telegram also brings what was edited or deleted since.

    \b
    cw import chatgpt-export.zip
    cw import ~/.claude/projects --dry-run
    cw import slack-export.zip --me aya --threads
    cw import train.jsonl --format openai-finetuning --store data.db
    """
    how = msgspec.structs.asdict(source)
    intake = Intake(format=format or "", replace=replace_invalid, **how)
    if source.strict and replace_invalid:
        raise UsageError("--strict refuses what --replace-invalid replaces", hint="leave one out")
    if source.id is not None and len(files) > 1:
        raise UsageError("--as names one conversation, but there are several files")
    if format:
        importers.find(format)
    store = existing_or_none(where)
    try:
        for name in files:
            with importers.open_files(name) as opened_files:
                task = with_format(intake, opened_files)
                # A file without messages creates no store.
                if store is None and not dry_run and task.has_messages(opened_files):
                    store = opened(where)
                outcome = take_in(opened_files, task, store, dry_run=dry_run)
                label = opened_files.label
                report_import(label, outcome, dry_run=dry_run, listed=changes, as_json=as_json)
    finally:
        if store is not None:
            store.close()
    return 0


def with_format(intake: Intake, files: Files) -> Intake:
    """Return the intake with the format of the files, which is detected if none is named."""
    files.replace = intake.replace  # detection reads the file too
    format = intake.format or importers.detect(files)
    refuse_unused(intake, format)
    return msgspec.structs.replace(intake, format=format)


def take_in(files: Files, intake: Intake, store: Store | None, *, dry_run: bool) -> Outcome:
    """Import one file, with a progress bar; without a store, only read and check it."""
    with progress(f"{files.label} ({intake.format})", in_bytes=True) as moved, rare_collection():
        task = msgspec.structs.replace(intake, progress=moved)
        return task.rehearse(files, store) if dry_run or not store else task.into(store, files)


@contextmanager
def rare_collection() -> Generator[None]:
    """Look for circles among objects less often, because values from JSON have none."""
    usual = gc.get_threshold()
    gc.set_threshold(20_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def refuse_unused(intake: Intake, format: str) -> None:
    """Refuse options that mean nothing for files of that format.

    Raises:
        UsageError: one of them is given.
    """
    known = importers.find(format).options
    options = ("branches", "threads", "latest", "me")
    unused = {f"--{name}": getattr(intake, name) for name in options if name not in known}
    refuse(unused, f"has no effect on files of {format}")


def report_import(
    label: str, outcome: Outcome, *, dry_run: bool, listed: bool, as_json: bool
) -> None:
    """Print how a file was read, how much of it is new, and what was left out."""
    found = outcome.report
    if as_json:
        fields = {name: getattr(outcome, name) for name in ("conversations", "messages", "known")}
        skipped = {"skipped": dict(found.skipped), "changes": dict(found.codes)}
        line = {"file": label, "format": outcome.format, **fields, **skipped}
        with written(None) as write:
            write(msgspec.json.encode(line) + b"\n")
        list_changes(found.changes if listed else ())
        return
    new = numbered(outcome.messages, "message")
    verb = "would store " if dry_run else ""
    known = f" ({outcome.known:,} already stored)" if outcome.known else ""
    conversations = numbered(outcome.conversations, "conversation")
    say_line(f"{label}: {outcome.format}: {verb}{new} of {conversations}{known}")
    left_out(found.skipped)
    if listed:
        list_changes(found.changes)
        return
    for change in found.changes:
        if change.code in SAID:
            note(f"cw: {change.reason}")
    count_changes(Counter({code: n for code, n in found.codes.items() if code not in SAID}))


# --- export --------------------------------------------------------------------------------------


def export(
    where: StoreOptions,
    conversation: Annotated[
        str | None,
        Argument(
            "[CONVERSATION]",
            help="Id of a stored conversation. Default: all of them.",
            complete=completion.conversations,
        ),
    ] = None,
    format: Annotated[
        str,
        Option(
            "--format",
            "-f",
            "--to",
            metavar="FORMAT",
            help="Format of the output (see cw formats).",
            complete=completion.formats,
        ),
    ] = OWN,
    output: Output = None,
    model: ModelName = None,
    models: ModelsFile = None,
    changes: ListChanges = False,
) -> int:
    """Export conversations in any format.

    One conversation becomes a JSON document, all of them become JSON Lines.

    \b
    cw export lunch --format gryag
    cw export --format openai-chat -o all.jsonl
    """
    formats.find(format)
    facts = named_model(model, models)
    with existing(where) as store:
        if conversation is None:
            export_all(store, format, output, model=facts, listed=changes)
            return 0
        require_conversation(store, conversation)
        rendered, made = exported(store.conversation(conversation), format, facts)
        with written(output) as write:
            write(indented(rendered.json))
        report_changes(made, listed=changes)
    return 0


def exported(chat: Chat, format: str, model: Model | None) -> tuple[Rendered, tuple[Change, ...]]:
    """Return a stored conversation in a format, and all changes."""
    value = conversation_of(chat, timed=format in TIMED)
    rendered = api.render(value, format, model=model)
    withheld = [
        Change("loss.hidden", f"messages[{index}]", "only its place is written, not its words")
        for index, message in enumerate(value.messages)
        if format == OWN and message.visibility in ("hidden", "deleted")
    ]
    return rendered, (*value.changes, *withheld, *rendered.changes)


def export_all(
    store: Store, format: str, output: str | None, *, model: Model | None, listed: bool
) -> None:
    """Write every conversation on its own line."""
    codes: Counter[str] = Counter()
    with written(output) as write:
        for info in store.list():
            try:
                rendered, made = exported(store.conversation(info.id), format, model)
            except ContextwrightError as error:
                raise type(error)(f"{info.id}: {error}") from error
            write(rendered.json + b"\n")
            codes.update(change.code for change in made)
            if listed:
                list_changes(made, prefix=f"{info.id}: ")
    if not listed:
        count_changes(codes)
