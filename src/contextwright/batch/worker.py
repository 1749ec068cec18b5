"""A worker of `cw batch`: it reads pieces of a job from its input, and writes their records."""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import IO

from contextwright.batch.inputs import Piece
from contextwright.batch.job import Job, Record, work
from contextwright.errors import ContextwrightError


def main() -> None:
    """Do every piece that arrives."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a section of the user's prints is no record
    pieces: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=receive, args=(sys.stdin.buffer, pieces), daemon=True).start()
    try:
        while True:
            found = result(*pickle.loads(pieces.get()))
            with suppress(BrokenPipeError):  # the command is gone: the thread ends this process
                pickle.dump(found, results)
                results.flush()
    except Exception:
        traceback.print_exc()
        os._exit(1)  # an interpreter that shuts down while the thread reads is aborted


def receive(source: IO[bytes], pieces: SimpleQueue[bytes]) -> None:
    """Pass pieces on; end this process, also in the middle of a piece, when the command is gone."""
    while True:
        try:
            pieces.put(pickle.load(source))
        except EOFError:
            os._exit(0)


def result(job: Job, piece: Piece) -> Record | str:
    """Do a piece; return its record, or the message of an error."""
    try:
        return work(job, piece)
    except ContextwrightError as error:
        return str(error)


if __name__ == "__main__":
    main()
