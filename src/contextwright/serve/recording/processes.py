"""Which gateway answers a recorded request, and whether it still can."""

from __future__ import annotations

import os
import socket
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from contextwright.store.rows.recorded import requests

__all__ = ["is_running", "process_name"]

ENDED = (b"Z", b"X")
"""The states of Linux for a process that has ended, and whose parent has not asked how."""
LOST_AFTER = timedelta(days=1)
"""A request that is open for longer is lost, wherever its gateway runs."""


def process_name() -> str:
    """Return the name under which this process records."""
    return f"{socket.gethostname()}/{os.getpid()}"


def is_running(process: str, started: str) -> bool:
    """Whether the gateway of an open request may still answer it."""
    host, _, pid = process.rpartition("/")
    if started < requests.moment(datetime.now(UTC) - LOST_AFTER):
        return False
    return host != socket.gethostname() or is_alive(int(pid))


def is_alive(pid: int) -> bool:
    """Whether a process of this machine runs."""
    if pid == os.getpid():
        return True
    if sys.platform == "win32":  # signal 0 would end it there
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return state_of(pid) not in ENDED


def state_of(pid: int) -> bytes:
    """Return the state of a process; empty where there is no `/proc`."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return b""
    return stat.rpartition(b") ")[2][:1]  # behind the name, in which anything may stand
