"""Whether the gateway of an open request still runs."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from contextwright.serve.recording.processes import is_running, process_name
from contextwright.store.rows.recorded import requests

NOW = requests.moment(datetime.now(UTC))
YESTERDAY = requests.moment(datetime.now(UTC) - timedelta(days=1, minutes=1))


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


def name_of(process: subprocess.Popen[bytes]) -> str:
    return f"{socket.gethostname()}/{process.pid}"


def test_a_process_runs_for_a_day_at_most(child: subprocess.Popen[bytes]) -> None:
    for name in (process_name(), name_of(child), f"another-host/{child.pid}"):
        assert is_running(name, NOW)
        assert not is_running(name, YESTERDAY)


def test_a_process_that_has_ended_does_not_run(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()
    assert not is_running(name_of(child), NOW)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says so")
def test_nor_does_one_whose_parent_has_not_asked_how_it_ended(
    child: subprocess.Popen[bytes],
) -> None:
    """In a container, often nobody asks."""
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and is still there
    os.kill(child.pid, 0)
    assert not is_running(name_of(child), NOW)
