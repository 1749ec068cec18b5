"""Threads that use something for the first time at the same moment."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from contextwright.store.contexts.builds import MAX_LOADED, Builds
from source import SOURCE

FIRST_USE = """
import sys, threading
import contextwright as cw

sys.setswitchinterval(1e-6)
start = threading.Barrier(8)
problems = []

def work():
    start.wait()
    messages = [
        cw.user("Go"), cw.assistant(cw.ToolCall("a", {}, "c1")), cw.tool_result("c1", "done")
    ]
    for format in ("anthropic", "openai-chat", "openai-responses", "gemini", "contextwright"):
        payload = cw.render(messages, format, model="gpt-4o").payload
        problems.extend(cw.check(payload, format, model="gpt-4o"))
        cw.parse(payload, format)

threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print([problem for problem in problems if problem.level == "error"])
"""


def test_many_threads_may_be_the_first() -> None:
    """msgspec crashes the process if two threads first convert to one type."""
    done = subprocess.run([sys.executable, "-c", FIRST_USE], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "[]", "")


def test_types_are_prepared_in_one_place() -> None:
    """`contextwright.text.json` has `convert` and `decoder`, which wait for each other."""
    unsafe = re.compile(r"msgspec\.(convert|json\.Decoder)\((?!\))")
    own = {"text/json.py", "models.py"}
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if unsafe.search(path.read_text("utf-8"))
    }
    assert found <= own


def test_many_threads_may_build_many_conversations() -> None:
    """More than stay loaded, so that each build drops one while others are built."""
    builds = Builds()
    loaded: Any = object()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def build(number: int) -> None:
        for turn in range(2_000):
            moment = "", f"chat {(number * 31 + turn) % (2 * MAX_LOADED)}", None
            builds.take(moment)
            builds.keep(moment, loaded)

    try:
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(build, range(8)))
    finally:
        sys.setswitchinterval(interval)
