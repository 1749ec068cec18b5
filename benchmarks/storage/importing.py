"""How fast a large file gets into a store, in how much memory, and what a kill leaves behind.

    uv run python -m benchmarks.storage.importing
    uv run python -m benchmarks.storage.importing --megabytes 100 --format chatgpt
    uv run python -m benchmarks.storage.importing --megabytes 100 --store postgresql://localhost/test

Makes a file, fine-tuning data (`short`: three short messages a line) or an export of ChatGPT,
imports it with `cw import` in a process of its own, and does so again with a `kill -9` in the
middle. CPU seconds are those of the importing process; on a busy machine they say more than the
clock. Nothing is sent anywhere.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from contextwright.store.store import Store

from .exports import WRITERS


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--megabytes", type=int, default=1_000, help="size of the file")
    options.add_argument("--format", choices=WRITERS, default="openai-finetuning")
    options.add_argument("--folder", help="where to work; default: a temporary folder")
    options.add_argument("--store", help="postgresql://…; default: a new SQLite file")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        name, write = WRITERS[chosen.format]
        file = Path(folder, name)
        conversations = write(file, chosen.megabytes * 10**6)
        size = file.stat().st_size
        print(f"file: {size / 1e6:,.0f} MB, {conversations:,} conversations")
        dry = run(file, "--dry-run")
        print_row("read and check", size, dry)
        place = chosen.store or str(Path(folder, "whole.db"))
        print_row("import", size, run(file, "--store", place))
        print_row("import again", size, run(file, "--store", place))
        if chosen.store is None:
            stored = Path(place).stat().st_size
            print(f"store: {stored / 1e6:,.0f} MB, {stored / size:.2f} of the file")
            return killed(file, Path(folder, "killed.db"), conversations)
    return 0


def run(file: Path, *arguments: str) -> tuple[float, float, float, dict[str, object]]:
    """Import in a process of its own: seconds, CPU seconds, peak MB, what it said."""
    command = [sys.executable, "-m", "contextwright", "import", str(file), "--json", *arguments]
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - began
    if process.returncode:
        raise SystemExit(process.returncode)
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1_024, json.loads(said)


def print_row(name: str, size: int, found: tuple[float, float, float, dict[str, object]]) -> None:
    seconds, cpu, peak, said = found
    speed, busy = size / 1e6 / seconds, size / 1e6 / cpu
    print(
        f"{name}: {seconds:.1f} s, {speed:.0f} MB/s ({cpu:.1f} s of CPU, {busy:.0f} MB/s), "
        f"peak {peak:.0f} MB, {said['messages']:,} new and {said['known']:,} known messages"
    )


def killed(file: Path, place: Path, conversations: int) -> int:
    """Kill an import when half of the file has been written, and look what is there."""
    command = [sys.executable, "-m", "contextwright", "import", str(file), "--store", str(place)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        if place.exists() and place.stat().st_size > file.stat().st_size / 2:
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.01)
    code = process.wait()
    with Store(place) as store:
        left = sum(1 for _ in store.list())
    held = sum(path.stat().st_size for path in place.parent.glob(f"{place.name}*")) / 1e6
    print(f"killed half way (exit {code}): {left} conversations left, store {held:.1f} MB")
    said = run(file, "--store", str(place))[3]
    whole = said["conversations"] == conversations and said["known"] == 0
    print(f"imported after that: {said['conversations']:,} conversations")
    return 0 if code == -signal.SIGKILL and left == 0 and whole else 1


if __name__ == "__main__":
    raise SystemExit(main())
