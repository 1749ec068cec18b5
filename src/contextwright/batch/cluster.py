"""Workers on a Ray cluster, by Daft."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import msgspec

from contextwright.batch.inputs import Piece
from contextwright.batch.job import Job, Record, work
from contextwright.errors import ContextwrightError, MissingExtra, UsageError, in_one_line
from contextwright.text.json import convert

os.environ.setdefault("DAFT_ANALYTICS_ENABLED", "0")  # nothing is sent to anyone
os.environ.setdefault("DAFT_PROGRESS_BAR", "0")

try:
    import daft
    from daft.exceptions import DaftCoreException
except ModuleNotFoundError as error:
    raise MissingExtra("cw batch", "batch") from error

__all__ = ["daft", "each"]


class Worker:
    """A process that does pieces of a job."""

    def __init__(self, job: bytes) -> None:
        self.job: Job = pickle.loads(job)

    @daft.method.batch(return_dtype=daft.DataType.binary(), batch_size=1)
    def run(self, pieces: daft.Series) -> list[bytes]:
        """Do pieces; return their records, or the error of one that failed."""
        return [self.result(pickle.loads(piece)) for piece in pieces.to_pylist()]

    def result(self, piece: Piece) -> bytes:
        """Return the record of a piece as JSON, or the message of an error."""
        try:
            return msgspec.json.encode(work(self.job, piece))
        except ContextwrightError as error:
            return msgspec.json.encode({"error": str(error)})


def each(job: Job, pieces: list[Piece], runner: str, workers: int | None) -> Iterator[Record]:
    """Yield the record of each piece as it is finished.

    Raises:
        ContextwrightError: a worker failed.
    """
    workers = use(runner, workers)
    worker: Any = daft.cls(Worker, max_concurrency=workers, use_process=True)
    frame: Any = daft.from_pydict({"piece": [pickle.dumps(piece) for piece in pieces]})  # pyright: ignore[reportUnknownMemberType]
    frame = frame.into_partitions(min(workers, len(pieces)))
    results = frame.select(worker(pickle.dumps(job)).run(frame["piece"]))
    try:
        with daft.execution_config_ctx(maintain_order=False):
            for row in results.iter_rows(results_buffer_size=1):
                yield record_of(row["piece"])
    except (RuntimeError, DaftCoreException) as error:
        hint = "the same command goes on where it stopped"
        raise ContextwrightError(f"a worker failed: {in_one_line(error)}", hint=hint) from error
    finally:
        # Daft's threads ask for the interpreter once more after the last result, or after Ctrl-C.
        # One that shuts down meanwhile is aborted.
        time.sleep(0.1)


def record_of(result: bytes) -> Record:
    """Return the record that a worker sent.

    Raises:
        ContextwrightError: it sent an error.
    """
    found = msgspec.json.decode(result)
    if "error" in found:
        raise ContextwrightError(found["error"])
    return convert(found, Record)


def use(runner: str, workers: int | None) -> int:
    """Choose a cluster for this process; return the number of workers.

    Raises:
        UsageError: the process uses Daft without a cluster already, which Daft cannot change.
        MissingExtra: Ray is not installed.
    """
    try:
        ray: Any = import_module("ray")
    except ModuleNotFoundError as error:
        raise MissingExtra("a Ray cluster", "ray") from error
    address = None if runner == "ray" else runner
    try:
        daft.set_runner_ray(address, noop_if_initialized=True)
    except DaftCoreException:
        if daft.get_or_create_runner().name != "ray":
            raise UsageError(
                "Daft has another runner in this process", hint="start a new one"
            ) from None
    return workers or max(int(ray.cluster_resources().get("CPU", 1)), 1)
