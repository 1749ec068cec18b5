"""A plugin for pytest that writes which lines of the package each test reaches.

    REACH=reach.jsonl uv run -p 3.13 pytest -n0 -p mutation.reach tests/windows

Needs Python 3.12, where a line costs its first visit only. Adds a line of JSON for each
test: its name, its CPU seconds, and the lines it reached in each file.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from inspect import CO_OPTIMIZED
from pathlib import Path
from time import process_time
from types import CodeType
from typing import Any

import pytest

SOURCE = str(Path(__file__).parents[2] / "src" / "contextwright") + os.sep
monitoring: Any = getattr(sys, "monitoring", None)
reached: dict[str, set[int]] = {}


def pytest_configure() -> None:
    monitoring.use_tool_id(monitoring.COVERAGE_ID, "reach")
    events = monitoring.events
    monitoring.register_callback(monitoring.COVERAGE_ID, events.PY_START, follow)
    monitoring.register_callback(monitoring.COVERAGE_ID, events.LINE, note)
    monitoring.set_events(monitoring.COVERAGE_ID, events.PY_START)


def follow(code: CodeType, offset: int) -> object:
    """Ask for the lines of a function of the package when it is first called.

    What runs on import, lazy.py and the bodies of modules and classes, runs in whichever test
    comes first.
    """
    path = code.co_filename
    if path.startswith(SOURCE) and path != f"{SOURCE}lazy.py" and code.co_flags & CO_OPTIMIZED:
        monitoring.set_local_events(monitoring.COVERAGE_ID, code, monitoring.events.LINE)
    return monitoring.DISABLE


def note(code: CodeType, line: int) -> object:
    reached.setdefault(code.co_filename.removeprefix(SOURCE), set()).add(line)
    return monitoring.DISABLE


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    reached.clear()
    monitoring.restart_events()
    start = process_time()
    result = yield
    row = [item.nodeid, process_time() - start, {path: sorted(at) for path, at in reached.items()}]
    with open(os.environ["REACH"], "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    return result


def pytest_unconfigure() -> None:
    monitoring.set_events(monitoring.COVERAGE_ID, 0)
    monitoring.free_tool_id(monitoring.COVERAGE_ID)
