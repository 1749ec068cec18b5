"""A job over a data set, and what a worker does of it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any, get_args

import msgspec
from msgspec import Struct

from contextwright.batch.chunks import Chunk, ChunkWriter, Container, Limits
from contextwright.batch.inputs import Columns, Piece, RowBatch, read_piece
from contextwright.batch.operation import Operation
from contextwright.batch.places import FoundFile, Place
from contextwright.batch.rows import reason, transform
from contextwright.errors import UsageError, require, shown
from contextwright.text.json import decode_json, decoder, encode_json

__all__ = ["IDS", "Job", "Record", "work"]

CHUNKS_PER_SHARD = 8
"""Chunks are joined whole, so that shards are at least seven eighths full."""


IDS = ".ids"
"""The ending of a file with the ids of a piece's rows."""


class Job(Struct, frozen=True, kw_only=True):
    """An operation on a data set, and the folder for its results."""

    operation: Operation
    output: Place
    columns: Columns = Columns()
    container: Container = "jsonl"
    shard_bytes: int = 100_000_000

    def __post_init__(self) -> None:
        require(self.operation, Operation, "operation", "operation_of() makes one")
        require(self.output, Place, "output", "Place(folder)")
        require(self.columns, Columns, "columns")
        if self.container not in get_args(Container):
            raise UsageError(f"container cannot be {shown(self.container)}", hint="jsonl, parquet")
        require(self.shard_bytes, int, "shard_bytes")

    @property
    def limits(self) -> Limits:
        """The limits of a finished file: the user's and the provider's."""
        file = self.operation.file
        return Limits(min(self.shard_bytes, file.max_bytes or self.shard_bytes), file.max_rows)

    @property
    def must_have_unique_ids(self) -> bool:
        """Whether two rows of a file could have one id, which the provider refuses."""
        return self.columns.id is not None and self.operation.file.has_ids

    @property
    def must_have_one_model(self) -> bool:
        """Whether rows could be for several models, which the provider refuses."""
        return self.operation.model is None and self.operation.file.has_one_model

    @property
    def pieces(self) -> Place:
        """The folder that holds finished pieces until all of them are."""
        return self.output / "pieces"

    def place_of(self, number: int, ending: str) -> Place:
        """Return the place of a file that belongs to a piece."""
        return self.pieces / f"{number:06d}{ending}"

    def fingerprint(self, files: Iterable[FoundFile]) -> str:
        """Return a digest of everything that the results depend on."""
        parts = [self.operation, self.columns, self.container, self.shard_bytes, list(files)]
        data = msgspec.json.encode(parts, enc_hook=fields_of, order="deterministic")
        return hashlib.sha256(data).hexdigest()


def fields_of(value: Any) -> Any:
    """Return the fields of an object that JSON does not know, such as a section of your own."""
    return [f"{type(value).__module__}:{type(value).__qualname__}", vars(value)]


class Record(Struct, frozen=True):
    """What became of a piece. It is written last: where it is, the piece is finished."""

    number: int
    rows: int
    rejected: int
    unsound: int
    """Rows in which `check` or `simulate` found an error."""
    changes: dict[str, int]
    chunks: tuple[Chunk, ...]
    models: tuple[str, ...] = ()
    """The models of the rows, where a file may be for one only."""


def work(job: Job, piece: Piece) -> Record:
    """Run the operation on every row of a piece, and write the results.

    Doing a piece twice writes the same files again.

    Raises:
        ContextwrightError: a file cannot be read or written, or a table lacks a column.
    """
    changes: Counter[str] = Counter()
    rows = rejected = unsound = 0
    ids: list[str] = []
    models: set[str] = set()
    rejects: Any = None
    base = job.place_of(piece.number, "")
    limits = job.limits.parts(CHUNKS_PER_SHARD)
    with ExitStack() as files:
        chunks = files.enter_context(ChunkWriter(base, job.container, job.operation.file, limits))
        for batch in read_piece(piece, job.columns):
            for index, result in enumerate(transform(batch.records, job.operation).to_pylist()):
                rows += 1
                if index in batch.faults or result["error"] is not None:
                    if rejects is None:
                        rejects = files.enter_context(base.beside(".rejects.jsonl").written())
                    rejects.write(rejection(batch, index, result["error"]))
                    rejected += 1
                else:
                    changes.update(result["changes"])
                    unsound += not result["sound"]
                    ids += [result["id"]] if job.must_have_unique_ids else []
                    models |= {model_of(result["document"])} if job.must_have_one_model else set()
                    chunks.write(result["id"], result["document"], result["changes"])
    if job.must_have_unique_ids:
        with job.place_of(piece.number, IDS).written() as stream:
            stream.write(encode_json(ids))
    done = tuple(chunks.done), tuple(sorted(models))
    record = Record(piece.number, rows, rejected, unsound, dict(changes), *done)
    with job.place_of(piece.number, ".json").written() as stream:
        stream.write(encode_json(record))
    return record


class RequestBody(Struct):
    """The model of a request."""

    model: str


class BatchRequest(Struct):
    """A row of OpenAI's batches, as far as its model is concerned."""

    body: RequestBody


REQUEST = decoder(BatchRequest)


def model_of(document: str) -> str:
    """Return the model that a row of a batch is for."""
    return REQUEST.decode(document).body.model


def rejection(batch: RowBatch, index: int, error: str | None) -> bytes:
    """Return the line for a rejected row: where it is, why it was rejected, and the row itself."""
    row = batch.records.column("document")[index].as_py()
    fault = batch.faults.get(index)
    line = {
        "file": batch.file.place.name,
        "offset": batch.offsets[index],
        "error": reason(fault) if fault else decode_json(error or "null"),
        "row": row.decode("utf-8", "replace") if isinstance(row, bytes) else row,
    }
    return msgspec.json.encode(line, enc_hook=str) + b"\n"
