"""A job from beginning to end: planned, worked on, resumed, finished."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import msgspec
from msgspec import Struct

from contextwright.batch.chunks import Chunk, Shard, join, shards_of
from contextwright.batch.inputs import Piece, divide
from contextwright.batch.job import IDS, Job, Record, work
from contextwright.batch.operation import require_workers
from contextwright.batch.places import FoundFile, Place, find_files
from contextwright.errors import UsageError, require, shown
from contextwright.text.json import decode_json, decoder

__all__ = ["Manifest", "run"]

Progress: TypeAlias = Callable[[int, int], object]
"""Called after each piece with the number done and the total."""
VERSION = 1
MANIFEST, REJECTS = "manifest.json", "rejects.jsonl"


class Manifest(Struct, frozen=True, kw_only=True):
    """What a folder of results holds: written when a job begins, and again when it is finished."""

    version: int = VERSION
    job: str
    """A digest of the operation, its options and its inputs."""
    operation: str
    inputs: tuple[str, ...]
    """The files; the number of a file in a row's id counts from 0."""
    skipped: int = 0
    """Files in folders whose endings are not known."""
    finished: bool = False
    rows: int = 0
    rejected: int = 0
    unsound: int = 0
    """Rows in which `check` or `simulate` found an error."""
    changes: dict[str, int] = {}
    shards: tuple[Shard, ...] = ()


def run(
    job: Job,
    inputs: Iterable[str],
    *,
    runner: str = "local",
    workers: int | None = None,
    progress: Progress | None = None,
) -> Manifest:
    """Do a job, or what is left of it; return what the folder then holds.

    A job that was stopped continues where it was: finished pieces are not done again. `runner` is
    `local`, `ray`, or the address of a Ray cluster; `workers` defaults to the number of cores.

    Raises:
        UsageError: there is no input, no such runner, or the folder has other things in it.
        ContextwrightError: a file cannot be read or written; the finished pieces are kept.
    """
    require(job, Job, "job")
    require(runner, str, "runner", "local, ray, or ray://HOST:PORT")
    require_workers(workers)
    require(progress, Callable | None, "progress", "pass a function")
    if runner not in ("local", "ray") and not runner.startswith("ray://"):
        raise UsageError(f"unknown runner {shown(runner)}", hint="local, ray, or ray://HOST:PORT")
    job = msgspec.structs.replace(job, output=job.output.absolute())
    files, skipped = find_files(inputs, job.output)
    begun = begin(job, files, skipped)
    if not begun.finished:
        job.pieces.make_folder()
        records = run_pieces(job, divide(files), runner, workers, progress)
        begun = finish(job, begun, records)
    job.pieces.remove()
    for name in job.output.names():
        if name.endswith(".part"):  # of a process that was killed
            (job.output / name).remove()
    return begun


def begin(job: Job, files: list[FoundFile], skipped: int) -> Manifest:
    """Return the manifest of the folder, or that of a new job.

    Raises:
        UsageError: the folder is a file, or has the results of another job, or other files.
    """
    if job.output.is_file():
        raise UsageError(f"{job.output.name!r} is a file", hint="name a folder")
    place = job.output / MANIFEST
    manifest = Manifest(
        job=job.fingerprint(files),
        operation=job.operation.kind,
        inputs=tuple(file.place.name for file in files),
        skipped=skipped,
    )
    if place.exists():
        there = manifest_at(place)
        if there.job != manifest.job:
            hint = "name another folder; to go on with a job, repeat its options and inputs"
            raise UsageError(f"{job.output.name!r} belongs to another job", hint=hint)
        return there
    if any(not name.endswith(".part") for name in job.output.names()):
        raise UsageError(f"{job.output.name!r} is not empty", hint="name a new folder")
    job.output.make_folder()
    write(place, manifest)
    return manifest


def manifest_at(place: Place) -> Manifest:
    """Read a manifest.

    Raises:
        UsageError: it is not one, or of another version.
    """
    try:
        manifest = decoder(Manifest).decode(place.read())
    except msgspec.MsgspecError:
        manifest = None
    if manifest is None or manifest.version != VERSION:
        raise UsageError(f"{place.name!r} is not a manifest that can be read")
    return manifest


def write(place: Place, manifest: Manifest) -> None:
    """Write a manifest, whole."""
    with place.written() as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")


def run_pieces(
    job: Job, pieces: list[Piece], runner: str, workers: int | None, progress: Progress | None
) -> list[Record]:
    """Do the pieces that are not finished yet; return the records of all."""
    names = {name for name in job.pieces.names() if name.endswith(".json")}
    decode = decoder(Record).decode
    records = {
        number: decode((job.pieces / name).read())
        for name in sorted(names)
        for number in [int(name.removesuffix(".json"))]
    }
    left = [piece for piece in pieces if piece.number not in records]
    for record in each(job, left, runner, workers):
        records[record.number] = record
        if progress is not None:
            progress(len(records), len(pieces))
    return [records[piece.number] for piece in pieces]


def each(job: Job, pieces: list[Piece], runner: str, workers: int | None) -> Iterator[Record]:
    """Yield the record of each piece as it is finished: here, or by workers."""
    if not pieces:
        return iter(())
    if runner != "local":
        from contextwright.batch import cluster

        return cluster.each(job, pieces, runner, workers)
    workers = min(workers or cores(), len(pieces))
    if workers <= 1:
        return (work(job, piece) for piece in pieces)
    from contextwright.batch import pool

    return pool.each(job, pieces, workers)


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def finish(job: Job, begun: Manifest, records: list[Record]) -> Manifest:
    """Join the pieces to shards, in order; write the rejects and the manifest.

    A shard that is there is whole, and its chunks may be gone.

    Raises:
        UsageError: two rows have the same id, or are for two models, and the provider refuses
            such a file.
    """
    if job.must_have_unique_ids:
        refuse_equal_ids(job, records)
    refuse_several_models(records)
    chunks = (chunk for record in records for chunk in record.chunks)
    shards = [
        shard(job, number, group) for number, group in enumerate(shards_of(chunks, job.limits))
    ]
    rejects = [record.number for record in records if record.rejected]
    if rejects:
        with (job.output / REJECTS).written() as stream:
            for number in rejects:
                stream.write(job.place_of(number, ".rejects.jsonl").read())
    changes: Counter[str] = Counter()
    for record in records:
        changes.update(record.changes)
    finished = msgspec.structs.replace(
        begun,
        finished=True,
        rows=sum(record.rows for record in records),
        rejected=sum(record.rejected for record in records),
        unsound=sum(record.unsound for record in records),
        changes=dict(sorted(changes.items())),
        shards=tuple(shards),
    )
    write(job.output / MANIFEST, finished)
    return finished


def refuse_equal_ids(job: Job, records: list[Record]) -> None:
    """Look for an id that two rows have.

    Raises:
        UsageError: there is one.
    """
    seen: set[str] = set()
    for record in records:
        for id in decode_json(job.place_of(record.number, IDS).read()):
            if id in seen:
                hint = "the provider wants unique ids; without --id, rows are numbered"
                raise UsageError(f"two rows have the id {shown(id)}", hint=hint)
            seen.add(id)


def refuse_several_models(records: list[Record]) -> None:
    """Look for rows of another model than that of the first.

    Raises:
        UsageError: there are some.
    """
    models = sorted({model for record in records for model in record.models})
    if len(models) > 1:
        hint = "the provider takes one model per file; name it with --model, or divide the input"
        raise UsageError(f"the rows are for {len(models)} models: {listed(models)}", hint=hint)


def listed(names: list[str]) -> str:
    """Return the first names of a list."""
    return ", ".join(map(shown, names[:3])) + (" …" if len(names) > 3 else "")


def shard(job: Job, number: int, chunks: list[Chunk]) -> Shard:
    """Write a shard unless it is there, and remove its chunks."""
    file = job.operation.file
    ending = "json" if file.head and job.container == "jsonl" else job.container
    name = f"part-{number:05d}.{ending}"
    if not (job.output / name).exists():
        join(chunks, job.output / name, job.container, file)
    for chunk in chunks:
        Place(chunk.name).remove()
    rows = sum(chunk.rows for chunk in chunks)
    return Shard(name, rows, sum(chunk.bytes for chunk in chunks))
