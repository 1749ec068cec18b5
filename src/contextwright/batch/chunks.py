"""The files that a worker writes for a piece, and the shards they are joined to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from contextwright.batch.arrow import pa, pq
from contextwright.batch.places import Place
from contextwright.batch.rows import OUTPUT
from contextwright.batch.targets import Target

__all__ = ["Chunk", "ChunkWriter", "Container", "Limits", "Shard", "join", "shards_of"]

Container: TypeAlias = Literal["jsonl", "parquet"]

COPY_BYTES = 4 * 2**20
GROUP_ROWS = 4_096
"""Rows of a Parquet row group."""
SCHEMA = pa.schema([OUTPUT.field(name) for name in ("id", "document", "changes")])


class Limits(Struct, frozen=True):
    """The maximum bytes and rows of a file; None: any number of rows."""

    bytes: int
    rows: int | None = None

    def hold(self, bytes: int, rows: int) -> bool:
        """Whether a file of that size is within the limits."""
        return bytes <= self.bytes and (self.rows is None or rows <= self.rows)

    def parts(self, number: int) -> Limits:
        """Return the limits of a file of which that many make up one of these."""
        rows = None if self.rows is None else max(self.rows // number, 1)
        return Limits(max(self.bytes // number, 1), rows)


class Chunk(Struct, frozen=True):
    """A file with rows of one piece."""

    name: str
    rows: int
    bytes: int


# --- writing -------------------------------------------------------------------------------------


class ChunkWriter:
    """Writes rows to files of limited size: `NAME-0.jsonl`, `NAME-1.jsonl` …

    Rows of JSON are each followed by what stands between two of them.
    """

    def __init__(self, base: Place, container: Container, target: Target, limits: Limits) -> None:
        self.base = base
        self.container = container
        self.between = target.between
        self.limits = limits
        self.done: list[Chunk] = []
        self.files = ExitStack()
        self.rows: list[tuple[str, str, list[str]]] = []
        self.writer: Any = None
        self.count = self.bytes = 0

    def write(self, id: str, document: str, changes: list[str]) -> None:
        """Write a row; begin a new file if it would be too large."""
        size = len(document.encode()) + len(self.between)
        if self.count and not self.limits.hold(self.bytes + size, self.count + 1):
            self.finish()
        self.count += 1
        self.bytes += size
        self.rows.append((id, document, changes))
        if len(self.rows) >= GROUP_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write the rows that are held in memory."""
        if self.writer is None:
            place = self.base.beside(f"-{len(self.done)}.{self.container}")
            self.writer = self.files.enter_context(place.written())
            if self.container == "parquet":
                self.writer = self.files.enter_context(pq.ParquetWriter(self.writer, SCHEMA))
        if self.container == "parquet":
            columns = zip(*self.rows, strict=True)
            arrays = [
                pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)
            ]
            self.writer.write_batch(pa.record_batch(arrays, schema=SCHEMA))
        else:
            between = self.between
            self.writer.write(b"".join(text.encode() + between for _, text, _ in self.rows))
        self.rows = []

    def finish(self) -> None:
        """Finish the current file."""
        if self.rows:
            self.flush()
        if self.count:
            self.files.close()
            name = self.base.beside(f"-{len(self.done)}.{self.container}").name
            self.done.append(Chunk(name, self.count, self.bytes))
        self.writer = None
        self.count = self.bytes = 0

    def __enter__(self) -> ChunkWriter:
        return self

    def __exit__(self, *error: Any) -> None:
        if error[0] is None:
            self.finish()
        else:
            self.files.__exit__(*error)


# --- joining -------------------------------------------------------------------------------------


class Shard(Struct, frozen=True):
    """A finished file of the output."""

    name: str
    rows: int
    bytes: int


def shards_of(chunks: Iterable[Chunk], limits: Limits) -> Iterator[list[Chunk]]:
    """Group chunks, in order, to shards within the limits."""
    group: list[Chunk] = []
    bytes = rows = 0
    for chunk in chunks:
        if group and not limits.hold(bytes + chunk.bytes, rows + chunk.rows):
            yield group
            group, bytes, rows = [], 0, 0
        group.append(chunk)
        bytes += chunk.bytes
        rows += chunk.rows
    if group:
        yield group


def join(chunks: list[Chunk], place: Place, container: Container, target: Target) -> None:
    """Write a shard from its chunks."""
    with place.written() as stream:
        if container == "parquet":
            join_tables(chunks, stream)
        else:
            join_lines(chunks, stream, target)


def join_tables(chunks: list[Chunk], stream: Any) -> None:
    """Copy the row groups of all chunks."""
    with pq.ParquetWriter(stream, SCHEMA) as writer:
        for chunk in chunks:
            with Place(chunk.name).open() as source:
                for records in pq.ParquetFile(source).iter_batches(GROUP_ROWS):
                    writer.write_batch(records)


def join_lines(chunks: list[Chunk], stream: Any, target: Target) -> None:
    """Copy the rows of all chunks, between the head and the foot of the file."""
    stream.write(target.head)
    for index, chunk in enumerate(chunks):
        is_last = index == len(chunks) - 1
        left = chunk.bytes - (len(target.between) if is_last else 0)
        with Place(chunk.name).open() as source:
            while left and (data := source.read(min(left, COPY_BYTES))):
                stream.write(data)
                left -= len(data)
    stream.write(target.foot)
