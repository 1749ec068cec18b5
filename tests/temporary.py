"""Where the temporary files of a run lie."""

import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM = 2 * 1024**3
"""Bytes of memory that must be free for temporary files to lie there."""


def use_memory() -> None:
    """Put temporary files into memory, where there is room and nobody has named a folder.

    On a disk every commit of a store waits for a write, and every Postgres database that is dropped
    takes a second.
    """
    in_memory = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM
    if in_memory and "TMPDIR" not in os.environ:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None  # whoever has asked already asks again
