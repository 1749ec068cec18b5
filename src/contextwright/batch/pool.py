"""Workers on this machine's cores."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from threading import Thread
from typing import Any

from contextwright.batch.inputs import Piece
from contextwright.batch.job import Job, Record, work
from contextwright.errors import ContextwrightError, MissingExtra, in_one_line

try:
    # The standard library's pool runs a script again in every worker unless the script has a guard.
    loky: Any = import_module("loky")
except ModuleNotFoundError as error:
    raise MissingExtra("cw batch", "batch") from error

__all__ = ["each"]


def each(job: Job, pieces: list[Piece], workers: int) -> Iterator[Record]:
    """Yield the record of each piece as it is finished.

    Raises:
        ContextwrightError: a worker failed.
    """
    pool = loky.ProcessPoolExecutor(workers, initializer=begin, initargs=(os.getpid(),))
    try:
        done = [pool.submit(result, job, piece) for piece in pieces]
        for future in as_completed(done):
            found = future.result()
            if isinstance(found, str):
                raise ContextwrightError(found)
            yield found
    except BrokenProcessPool as error:
        hint = "the same command goes on where it stopped"
        raise ContextwrightError(f"a worker failed: {in_one_line(error)}", hint=hint) from error
    finally:
        pool.shutdown(kill_workers=True)


def result(job: Job, piece: Piece) -> Record | str:
    """Do a piece; return its record, or the message of an error."""
    try:
        return work(job, piece)
    except ContextwrightError as error:
        return str(error)


def begin(parent: int) -> None:
    """Leave Ctrl-C to the command, which ends its workers; end with it if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=end_with, args=(parent,), daemon=True).start()


def end_with(parent: int) -> None:
    """End this process when its parent is gone."""
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)
