"""How fast does `cw batch` go through a data set, on one core, on two, on Ray, in what memory?

    uv run python benchmarks/batch.py --messages 1000000
    uv run python benchmarks/batch.py --ray     # also two workers of a Ray cluster on this machine
    uv run python benchmarks/batch.py --ray --kill    # each is killed half-way, and resumed

Converts conversations of OpenAI's format to an Anthropic batch and builds requests within a budget.
Every run is a process of its own; its results are compared byte for byte with the first one's.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

TURNS = 5
HALF_WAY = 5
"""Finished pieces after which a run is killed; a million messages have about twice as many."""
WORDS = (
    "soup risotto table window please thanks meeting Kyiv кава обід tomorrow one two three".split()
)
OPERATIONS = {
    "convert": ("convert", "--to", "anthropic-batch", "--model", "claude-sonnet-5-5"),
    "build": ("build", "--model", "claude-sonnet-5-5", "--budget", "400"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--operation", choices=OPERATIONS, action="append")
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--kill", action="store_true", help="kill each run, and run it again")
    options = parser.parse_args()
    runs: list[tuple[str, tuple[str, ...]]] = [("1 core", ("-j", "1")), ("2 cores", ("-j", "2"))]
    if options.ray:
        runs.append(("Ray, 2 workers", ("-j", "2", "--runner", "ray")))
    with tempfile.TemporaryDirectory() as folder:
        sizes = (options.messages // 10, options.messages)
        sources = [data_set(Path(folder, f"{size}.jsonl"), size) for size in sizes]
        for name in options.operation or OPERATIONS:
            print(f"\n{name}: {options.messages:,} messages, {mebibytes(sources[-1])} MiB")
            print("run             messages     wall  faster      CPU  peak memory  same bytes")
            data = list(zip(sizes, sources, strict=True))
            figures(Path(folder), name, data[-1:] if options.kill else data, runs, options.kill)


def figures(
    folder: Path,
    name: str,
    data: list[tuple[int, Path]],
    runs: list[tuple[str, tuple[str, ...]]],
    kill: bool,
) -> None:
    """Print a row per run and size; with `kill`, all but the first are killed and resumed."""
    first: dict[int, tuple[float, str]] = {}
    for title, options in runs:
        for size, source in data:
            output = folder / f"{name}-{title}-{size}".replace(" ", "-")
            arguments = [*OPERATIONS[name], str(source), "-o", str(output), *options]
            if kill and first:
                print(f"killed after {killed_half_way(arguments, output)} pieces")
            wall, cpu, memory = measured(arguments)
            digest = digest_of(output)
            alone, bytes = first.setdefault(size, (wall, digest))
            print(
                f"{title:<15} {size:>8,} {wall:>7.1f}s {alone / wall:>6.2f}× {cpu:>7.1f}s "
                f"{memory:>8,} MiB  {'yes' if digest == bytes else 'NO'}"
            )


def measured(arguments: list[str]) -> tuple[float, float, int]:
    """Run `cw batch`; return its wall time, CPU seconds, and the peak memory of all processes."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "contextwright", "batch", *arguments]
    trouble = tempfile.TemporaryFile()
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=trouble)
    peak = 0
    cpu: dict[str, float] = {}
    while running.poll() is None:
        peak = max(peak, sum(memory_of(pid, cpu) for pid in tree(str(running.pid))))
        time.sleep(0.2)
    if running.returncode:
        trouble.seek(0)
        raise SystemExit(trouble.read().decode())
    return time.perf_counter() - start, sum(cpu.values()), peak // 2**20


def killed_half_way(arguments: list[str], output: Path) -> int:
    """Kill `cw batch` and all its processes once some pieces are finished; return how many are."""
    command = [sys.executable, "-m", "contextwright", "batch", *arguments]
    quiet = subprocess.DEVNULL
    running = subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True)
    while running.poll() is None and len(finished(output)) < HALF_WAY:
        time.sleep(0.05)
    with suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    time.sleep(3)  # Ray's own processes notice, and end
    return len(finished(output))


def finished(output: Path) -> list[Path]:
    """The records of the pieces that are done."""
    return list(output.glob("*/*.json"))


def tree(root: str) -> list[str]:
    """A process and all below it."""
    parents: dict[str, list[str]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents.setdefault(stat.read_text().rpartition(")")[2].split()[1], []).append(
                stat.parent.name
            )
        except OSError:
            continue
    found = [root]
    for pid in found:
        found.extend(parents.get(pid, []))
    return found


def memory_of(pid: str, cpu: dict[str, float]) -> int:
    """The resident bytes of a process; notes its CPU seconds."""
    try:
        fields = Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    cpu[pid] = (int(fields[11]) + int(fields[12])) / 100
    return int(fields[21]) * 4096


def digest_of(output: Path) -> str:
    """A digest of all shards."""
    digest = hashlib.sha256()
    for part in sorted(output.glob("part-*")):
        digest.update(part.read_bytes())
    return digest.hexdigest()


def data_set(file: Path, messages: int) -> Path:
    """Write conversations of a few turns, some with a tool call, that end with a question."""
    pick = random.Random(7)

    def text(count: int) -> str:
        return " ".join(pick.choices(WORDS, k=count))

    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at":1}'}}
    written = 0
    with file.open("w", encoding="utf-8") as stream:
        while written < messages:
            history: list[dict[str, object]] = []
            for turn in range(TURNS):
                history.append({"role": "user", "content": text(20)})
                if turn == 1 and written % 3 == 0:
                    history.append({"role": "assistant", "content": None, "tool_calls": [call]})
                    history.append({"role": "tool", "tool_call_id": "c1", "content": text(15)})
                history.append({"role": "assistant", "content": text(30)})
            history.append({"role": "user", "content": text(8)})
            written += len(history)
            body = {"model": "gpt-5.6-sol", "messages": history}
            stream.write(json.dumps(body, ensure_ascii=False) + "\n")
    return file


def mebibytes(file: Path) -> int:
    return file.stat().st_size // 2**20


if __name__ == "__main__":
    main()
