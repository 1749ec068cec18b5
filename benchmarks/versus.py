"""The same work through other libraries and through ours, one process for each.

    uv run --group peers python benchmarks/versus.py --data FOLDER --write
    uv run --group peers python benchmarks/versus.py --only litellm,contextwright
    uv run --group peers python benchmarks/versus.py --only langchain --jobs turns --sizes 100000

Installs each library into an environment of its own, which is kept (`--environments`). Figures are
kept too (`--results`): a run of some libraries, jobs or sizes leaves the others as they were.
`--write` makes docs/comparison.md and its pictures from all of them. Nothing is sent anywhere but
to the package index.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from comparison.page import write_page
from contenders.environments import ENVIRONMENTS, REQUIREMENTS, environment

HERE = Path(__file__).parent
LIBRARIES = ("contextwright", "by hand", "floor", *REQUIREMENTS)


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--only", default="", help="libraries to run, by name; default: all")
    options.add_argument("--data", type=Path, help="a folder with wire/, trajectories/ and recall/")
    options.add_argument("--sizes", default="100,1000,10000,100000")
    options.add_argument("--jobs", default="", help="jobs to run, by name; default: all")
    options.add_argument("--environments", type=Path, default=ENVIRONMENTS)
    options.add_argument("--results", type=Path, default=HERE / "comparison/results.json")
    options.add_argument("--seconds", type=int, default=1_800, help="limit for each library")
    options.add_argument("--write", action="store_true", help="write docs/comparison.md")
    given = options.parse_args()
    wanted = given.only.split(",") if given.only else LIBRARIES
    results = json.loads(given.results.read_text("utf-8")) if given.results.exists() else {}
    for library in wanted if wanted != ["none"] else ():
        print(f"{library} …", file=sys.stderr, flush=True)
        found = measured(library, given)
        results[library] = joined(results.get(library, {}), found)
        given.results.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
        if reason := found.get("missing"):
            print(f"{library} is left out: {reason}", file=sys.stderr)
    if given.write:
        write_page({name: results[name] for name in LIBRARIES if name in results})
    else:
        print(json.dumps(results, indent=1))
    return 0


def joined(before: Any, found: Any) -> Any:
    """The new figures, and the old ones of what did not run again."""
    if not isinstance(before, dict) or not isinstance(found, dict):
        return found
    if "missing" in found:
        return before or found
    old = {key: value for key, value in before.items() if key != "missing"}
    return old | {key: joined(old.get(key), value) for key, value in found.items()}


def measured(library: str, given: argparse.Namespace) -> dict[str, Any]:
    """What a library does, or why it is missing."""
    try:
        python = environment(library, given.environments.resolve())
    except RuntimeError as error:
        return {"missing": f"cannot be installed: {error}"}
    command = [str(python), "-m", "contenders.jobs", library, "--sizes", given.sizes]
    if given.jobs:
        command += ["--jobs", given.jobs]
    if given.data:
        command += ["--data", str(given.data.resolve())]
    try:
        done = subprocess.run(
            command, cwd=HERE, capture_output=True, text=True, timeout=given.seconds
        )
    except subprocess.TimeoutExpired:
        return {"missing": f"took more than {given.seconds} s"}
    if done.returncode:
        return {"missing": (done.stderr.strip().splitlines() or ["no reason given"])[-1]}
    now = datetime.now(UTC).date().isoformat()
    return {"day": now, "python": platform.python_version(), **json.loads(done.stdout)}


if __name__ == "__main__":
    raise SystemExit(main())
