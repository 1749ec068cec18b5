"""Workers on this machine's cores."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from importlib import import_module
from queue import SimpleQueue
from typing import Any

from contextwright.batch.inputs import Piece
from contextwright.batch.job import Job, Record
from contextwright.errors import ContextwrightError, MissingExtra

try:
    # The standard library's pickle does not take the classes of a script, such as its own sections.
    cloudpickle: Any = import_module("cloudpickle")
except ModuleNotFoundError as error:
    raise MissingExtra("cw batch", "batch") from error

__all__ = ["each"]


def each(job: Job, pieces: list[Piece], workers: int) -> Iterator[Record]:
    """Yield the record of each piece as it is finished.

    Raises:
        ContextwrightError: a worker failed.
    """
    started = [Worker() for _ in range(workers)]
    idle: SimpleQueue[Worker] = SimpleQueue()
    for worker in started:
        idle.put(worker)

    def record_of(piece: Piece) -> Record:
        worker = idle.get()
        try:
            return worker.work(job, piece)
        finally:
            idle.put(worker)

    with ThreadPoolExecutor(workers) as threads:
        try:
            for future in as_completed([threads.submit(record_of, piece) for piece in pieces]):
                yield future.result()
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            for worker in started:
                worker.end()


class Worker:
    """A process that does one piece after another.

    It is a program of its own: the standard library's pool runs a script again in every worker
    unless the script has a guard. It ends when its input does, so none outlives the command.
    """

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "contextwright.batch.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            process_group=0,  # Ctrl-C is for the command, which ends its workers
        )

    def work(self, job: Job, piece: Piece) -> Record:
        """Do a piece.

        Raises:
            ContextwrightError: it cannot be done, or the worker failed.
        """
        given, taken = self.process.stdin, self.process.stdout
        assert given is not None
        assert taken is not None
        try:
            pickle.dump(cloudpickle.dumps((job, piece)), given)
            given.flush()
            found: Record | str = pickle.load(taken)
        except (EOFError, OSError) as error:
            hint = "the same command goes on where it stopped"
            raise ContextwrightError(
                f"a worker ended with exit code {self.process.wait()}", hint=hint
            ) from error
        if isinstance(found, str):
            raise ContextwrightError(found)
        return found

    def end(self) -> None:
        """End it at once."""
        with suppress(BrokenPipeError), self.process:  # it may not have read all of a piece
            self.process.kill()
