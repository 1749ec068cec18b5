"""Import and export, both as streams."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from contextwright import importers
from contextwright.documents.files import open_files
from contextwright.errors import ContextwrightError
from contextwright.formats import FormatName
from contextwright.formats.api import render
from contextwright.importers.intake import Intake
from contextwright.messages.changes import Change
from contextwright.models import Model
from contextwright.models import find as find_model
from contextwright.serve.http.fields import ConversationId, ModelName
from contextwright.serve.http.operation import Lines
from contextwright.store.frames import TIMED, conversation_of
from contextwright.store.store import Store
from contextwright.text.json import encode_json

__all__ = ["export_all", "export_conversation", "import_file"]


class ImportQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to read a file of another tool."""

    format: (
        Annotated[str, Meta(max_length=64, description="Format or tool; detected by default.")]
        | None
    ) = None
    id: Annotated[ConversationId, Meta(description="Id of the only conversation in it.")] | None = (
        None
    )
    branches: Annotated[bool, Meta(description="Store other versions as forks.")] = False
    threads: Annotated[bool, Meta(description="Store threads as conversations.")] = False
    me: (
        Annotated[str, Meta(max_length=256, description="Participant who is the assistant.")] | None
    ) = None
    strict: Annotated[bool, Meta(description="Refuse data that would need a repair.")] = False


class ImportAnswer(Struct, frozen=True, kw_only=True):
    """The result of an import: stored, stored before, and left out."""

    format: str
    conversations: int
    messages: int
    known: int
    skipped: dict[str, int]
    changes: list[Change]


class ExportQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The format of an export."""

    format: FormatName = "contextwright"
    model: ModelName | None = None


class ConversationExportQuery(ExportQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which conversation to export, and in which format."""

    conversation: ConversationId


def import_file(store: Store, query: ImportQuery, file: Path) -> ImportAnswer:
    """Import a file of another tool, or in any format.

    The body is the file itself: JSON, JSON Lines or a zip. It is stored whole or not at all; the
    same file again adds only what is new.
    """
    with open_files(file, "the file") as files:
        intake = Intake(
            format=query.format or importers.detect(files),
            id=query.id,
            branches=query.branches,
            threads=query.threads,
            me=query.me,
            strict=query.strict,
        )
        outcome = intake.into(store, files)
    return ImportAnswer(
        format=outcome.format,
        conversations=outcome.conversations,
        messages=outcome.messages,
        known=outcome.known,
        skipped=dict(outcome.report.skipped),
        changes=list(outcome.report.changes),
    )


def export_conversation(store: Store, query: ConversationExportQuery) -> Lines:
    """Export a conversation as a JSON document."""
    model = find_model(query.model) if query.model else None
    return iter([rendered(store, query.conversation, query.format, model)])


def export_all(store: Store, query: ExportQuery) -> Lines:
    """Export all conversations as JSON Lines.

    A conversation that cannot be written in that format is a line `{"error": …}` in its place.
    """
    model = find_model(query.model) if query.model else None
    return (line_of(store, info.id, query.format, model) for info in store.list())


def line_of(store: Store, id: str, format: str, model: Model | None) -> bytes:
    """Return a conversation as a line."""
    try:
        return rendered(store, id, format, model) + b"\n"
    except ContextwrightError as error:
        return encode_json({"error": {"conversation": id, "message": str(error)}}) + b"\n"


def rendered(store: Store, id: str, format: str, model: Model | None) -> bytes:
    """Return a conversation in a format."""
    conversation = conversation_of(store.conversation(id), timed=format in TIMED)
    return render(conversation, format, model=model).json
