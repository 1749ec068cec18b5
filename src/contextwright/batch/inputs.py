"""A data set divided into pieces, and the rows of a piece as record batches."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, cast

from msgspec import Struct

from contextwright.batch.arrow import RecordBatch, pa, pq
from contextwright.batch.places import FoundFile, PlaceError
from contextwright.documents.read import (
    DOCUMENT_LIMIT,
    LINE_LIMIT,
    decode_row,
    skip_line,
    too_large,
)
from contextwright.errors import (
    ContextwrightError,
    ParseError,
    UsageError,
    shown,
)
from contextwright.text.fields import Checked
from contextwright.text.json import encode_json

__all__ = ["Columns", "Piece", "RowBatch", "divide", "read_piece"]

BATCH_ROWS = 1_000
BATCH_BYTES = 4 * 2**20
"""A batch is closed when it has that many rows or bytes, so that memory stays flat."""
PIECES = 64
MIN_PIECE, MAX_PIECE = 2**20, 32 * 2**20
"""A piece is a 64th of the data within these sizes: small enough to share out, and to do again."""


class Columns(Checked, frozen=True):
    """Which fields of a row, or columns of a table, hold the conversation and its id."""

    document: str | None = None
    """None: the whole row; in Parquet `document`, else `messages` with `tools`."""
    id: str | None = None
    """None: the file's number and the row's offset."""


class Span(Struct, frozen=True):
    """A part of a file: bytes of JSON Lines, row groups of Parquet, or all of it."""

    file: FoundFile
    number: int
    """The number of the file in the data set, from 0."""
    start: int
    end: int


class Piece(Struct, frozen=True):
    """The piece that one worker reads at a time."""

    number: int
    spans: tuple[Span, ...]


class RowBatch(Struct, frozen=True):
    """Rows as read: a record batch with `id` and `document`, and where they came from."""

    file: FoundFile
    records: RecordBatch
    offsets: tuple[int, ...]
    """The byte at which each line begins, or the number of each row, from 0."""
    faults: dict[int, ContextwrightError] = {}
    """Rows without a document, and why."""


# --- pieces --------------------------------------------------------------------------------------


def divide(files: Iterable[FoundFile]) -> list[Piece]:
    """Divide files into pieces of about the same size, in order; the same files always alike."""
    files = list(files)
    size = min(max(sum(file.size for file in files) // PIECES, MIN_PIECE), MAX_PIECE)
    pieces: list[Piece] = []
    spans: list[Span] = []
    held = 0
    for span, weight in spans_of(files, size):
        spans.append(span)
        held += weight
        if held >= size:
            pieces.append(Piece(len(pieces), tuple(spans)))
            spans, held = [], 0
    return [*pieces, Piece(len(pieces), tuple(spans))] if spans else pieces


def spans_of(files: list[FoundFile], size: int) -> Iterator[tuple[Span, int]]:
    """Yield parts of files of at most `size` bytes where files can be divided, and their sizes."""
    for number, file in enumerate(files):
        if file.kind == "parquet":
            yield from groups_of(file, number, size)
        elif file.kind == "document" or file.is_packed:
            yield Span(file, number, 0, file.size), file.size
        else:
            for start in range(0, file.size, size):
                end = min(start + size, file.size)
                yield Span(file, number, start, end), end - start


def groups_of(file: FoundFile, number: int, size: int) -> Iterator[tuple[Span, int]]:
    """Yield runs of row groups of a Parquet file; all of it if it has no list of them."""
    try:
        with file.place.open() as stream:
            metadata = pq.read_metadata(stream)
    except PlaceError:  # the one who reads the rows says so
        yield Span(file, number, 0, 0), file.size
        return
    start = held = 0
    for group in range(metadata.num_row_groups):
        held += metadata.row_group(group).total_byte_size
        if held >= size or group == metadata.num_row_groups - 1:
            yield Span(file, number, start, group + 1), held
            start, held = group + 1, 0


# --- rows ----------------------------------------------------------------------------------------


def read_piece(piece: Piece, columns: Columns) -> Iterator[RowBatch]:
    """Yield the rows of a piece in order; at most one batch is in memory.

    Raises:
        ContextwrightError: a file cannot be read any more, or a table lacks a column.
    """
    for span in piece.spans:
        if span.file.kind == "parquet":
            yield from table_rows(span, columns)
        else:
            rows = whole_document(span) if span.file.kind == "document" else line_rows(span)
            yield from batched(span, rows, columns)


def whole_document(span: Span) -> Iterator[tuple[int, bytes | ParseError]]:
    """Yield the one document of a file."""
    try:
        with span.file.place.open_unpacked() as stream:
            row = stream.read(DOCUMENT_LIMIT + 1)
    except PlaceError as error:
        row = damage(span.file, error)
    else:
        if len(row) > DOCUMENT_LIMIT:
            row = too_large("document", DOCUMENT_LIMIT, line=None)
    yield 0, row


def line_rows(span: Span) -> Iterator[tuple[int, bytes | ParseError]]:
    """Yield the lines that begin within a span, with their offsets; blank ones are skipped."""
    if span.file.is_packed:
        yield from packed_rows(span.file)
        return
    with span.file.place.open() as file, io.BufferedReader(file, 2**20) as stream:
        if span.start:
            stream.seek(span.start - 1)
            skip_line(cast("BinaryIO", stream))
        yield from lines_from(cast("BinaryIO", stream), stream.tell(), span.end)


def packed_rows(file: FoundFile) -> Iterator[tuple[int, bytes | ParseError]]:
    """Yield the lines of a packed file, with their offsets in what is unpacked."""
    offset = -1
    try:
        with file.place.open_unpacked() as stream:
            for offset, row in lines_from(stream, 0, None):
                yield offset, row
    except PlaceError as error:
        yield offset + 1, damage(file, error)


def damage(file: FoundFile, error: PlaceError) -> ParseError:
    """Return the error that stands for the rest of a damaged file.

    Raises:
        PlaceError: the file may be sound, but the system does not read it just now.
    """
    if not file.is_whole():
        raise error
    return ParseError(f"the file is damaged here, and not read any further: {error}")


def lines_from(
    stream: BinaryIO, offset: int, end: int | None
) -> Iterator[tuple[int, bytes | ParseError]]:
    """Yield lines and their offsets, up to the last that begins before `end`."""
    while (end is None or offset < end) and (line := stream.readline(LINE_LIMIT + 1)):
        length = len(line)
        if length > LINE_LIMIT and not line.endswith(b"\n"):
            yield offset, too_large("line", LINE_LIMIT, line=None)
            length += skip_line(stream)
        elif line.strip():
            yield offset, line
        offset += length


def batched(
    span: Span, rows: Iterator[tuple[int, bytes | ParseError]], columns: Columns
) -> Iterator[RowBatch]:
    """Yield rows in batches."""
    batch = Batch(span, columns)
    for offset, row in rows:
        batch.add(offset, row)
        if len(batch.offsets) >= BATCH_ROWS or batch.size >= BATCH_BYTES:
            yield batch.finish()
            batch = Batch(span, columns)
    if batch.offsets:
        yield batch.finish()


class Batch:
    """Rows of JSON on the way to a record batch."""

    def __init__(self, span: Span, columns: Columns) -> None:
        self.span = span
        self.columns = columns
        self.ids: list[str] = []
        self.documents: list[bytes | None] = []
        self.offsets: list[int] = []
        self.faults: dict[int, ContextwrightError] = {}
        self.size = 0

    def add(self, offset: int, row: bytes | ParseError) -> None:
        """Add a row, or the error of one that cannot be read."""
        id, document = f"{self.span.number}-{offset}", None
        try:
            if isinstance(row, ParseError):
                raise row
            document = row
            if self.columns != Columns():
                id, document = picked(row, self.columns, id)
        except ParseError as error:
            self.faults[len(self.offsets)] = error
        self.ids.append(id)
        self.documents.append(document)
        self.offsets.append(offset)
        self.size += len(document or b"")

    def finish(self) -> RowBatch:
        """Return the rows."""
        arrays = [pa.array(self.ids, pa.string()), pa.array(self.documents, pa.large_binary())]
        records = pa.record_batch(arrays, names=["id", "document"])
        return RowBatch(self.span.file, records, tuple(self.offsets), self.faults)


def picked(row: bytes, columns: Columns, id: str) -> tuple[str, bytes]:
    """Return the id and the document of a row of which they are fields.

    Raises:
        ParseError: the row is not an object with these fields.
    """
    fields = decode_row(row)
    if not isinstance(fields, dict):
        raise ParseError("the row is not an object")
    values = cast("dict[str, Any]", fields)
    for name in (columns.id, columns.document):
        if name is not None and name not in values:
            raise ParseError(f"the row has no field {shown(name)}")
    if columns.id is not None:
        id = as_id(values.pop(columns.id))
    document = values if columns.document is None else values[columns.document]
    return id, document.encode() if isinstance(document, str) else encode_json(document)


def as_id(value: Any) -> str:
    """Return an id as text.

    Raises:
        ParseError: it is neither text nor a whole number, or it is empty.
    """
    if isinstance(value, int | str) and not isinstance(value, bool) and value != "":
        return str(value)
    raise ParseError(f"{shown(value)} is not an id")


# --- tables --------------------------------------------------------------------------------------


def table_rows(span: Span, columns: Columns) -> Iterator[RowBatch]:
    """Yield the rows of row groups of a Parquet file."""
    before = 0
    try:
        with span.file.place.open() as stream:
            table = pq.ParquetFile(stream)
            chosen = table_columns(table.schema_arrow.names, columns)
            before = sum(table.metadata.row_group(group).num_rows for group in range(span.start))
            groups = list(range(span.start, span.end))
            for records in table.iter_batches(BATCH_ROWS, row_groups=groups, columns=chosen):
                offsets = tuple(range(before, before + records.num_rows))
                before += records.num_rows
                yield as_rows(span, records, offsets, columns)
    except PlaceError as error:
        yield from batched(span, iter([(before, damage(span.file, error))]), Columns())


def table_columns(names: list[str], columns: Columns) -> list[str]:
    """Return the columns to read.

    Raises:
        UsageError: there is no such column.
    """
    chosen = [columns.document] if columns.document else default_columns(names)
    chosen += [columns.id] if columns.id else []
    missing = [name for name in chosen if name not in names]
    if missing or not chosen:
        lacking = shown(missing[0]) if missing else "'document' or 'messages'"
        raise UsageError(f"there is no column {lacking}", hint=f"columns: {', '.join(names)}")
    return chosen


def default_columns(names: list[str]) -> list[str]:
    """Return the columns that hold conversations by their names."""
    if "document" in names:
        return ["document"]
    return [name for name in ("messages", "tools") if name in names and "messages" in names]


def as_rows(
    span: Span, records: RecordBatch, offsets: tuple[int, ...], columns: Columns
) -> RowBatch:
    """Return a batch of a table as rows."""
    faults: dict[int, ContextwrightError] = {}
    ids = [f"{span.number}-{offset}" for offset in offsets]
    if columns.id:
        for index, value in enumerate(records.column(columns.id).to_pylist()):
            try:
                ids[index] = as_id(value)
            except ParseError as error:
                faults[index] = error
    if columns.document or "document" in records.schema.names:
        documents = records.column(columns.document or "document")
    else:
        names = [name for name in ("messages", "tools") if name in records.schema.names]
        documents = pa.StructArray.from_arrays([records.column(name) for name in names], names)
    arrays = [pa.array(ids, pa.string()), documents]
    return RowBatch(span.file, pa.record_batch(arrays, names=["id", "document"]), offsets, faults)
