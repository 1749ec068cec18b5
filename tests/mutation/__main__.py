"""Mutation sampling: small faults are put into the core, one at a time; do the tests notice?

    uv run python -m tests.mutation                    # 200 mutants, seed 1
    uv run python -m tests.mutation --only 7,101-120   # some of them, by number
    uv run python -m tests.mutation --count 20 --seed 7 --folders windows,context
    uv run python -m tests.mutation --reach reach.jsonl    # only tests that reach the fault

A mutant changes one comparison, operator, condition or constant. Nothing here is touched: with
what reach.py wrote, the tests that reach a function's fault run in a fork (trials.py), for 20 s of
CPU at most; else the sources are copied, and the tests of a file are those that mirror it
(tests/windows/ for windows/stepped.py) and the laws. The first that fails, or does not end, has
killed the mutant and is named. Survivors are listed with their line: give each a test, or say in
equivalents.py why it changes nothing.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import resource
import shutil
import sys
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any, NoReturn

import hypothesis.strategies
import msgspec
import numpy
import pytest
import xdist.plugin

from .equivalents import EQUIVALENT
from .mutants import ROOT, SOURCE, Mutant, sample
from .trials import MEMORY, Trials, last_in_a_fork

__all__ = ["hypothesis", "msgspec", "numpy", "xdist"]  # every test run needs them

FOLDERS = "text messages tokens wire formats windows recall sections context store"
HANG_SECONDS = 180
"""No test takes a tenth of this, also on a busy machine."""
QUICK_SECONDS = 0.1
"""CPU time of a test that says something of every definition without taking the time of others."""
COMMAND = ["-q", "-n0", "-p", "no:cacheprovider", "-o", f"timeout={HANG_SECONDS}"]
COMMAND += ["--hypothesis-profile", "mutants"]
COMMAND += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # a fork imported it before
WITHOUT_SERVER = ("-m", "not slow and not postgres")


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--count", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", metavar="1,5-9", help="mutants of these numbers, from 1")
    options.add_argument("--reach", type=Path, help="what reach.py wrote: which tests to run")
    options.add_argument("--seconds", type=float, default=20, help="CPU time of its tests")
    options.add_argument("--folders", default=FOLDERS.replace(" ", ","))
    given = options.parse_args()
    chosen = sample(given.folders.split(","), given.count, given.seed)
    numbers = list(numbers_of(given.only or f"1-{given.count}"))
    same = {n: why for n in numbers if (why := EQUIVALENT.get(chosen[n - 1].words))}
    numbers = [n for n in numbers if n not in same]
    tests = tests_by_reach({n: chosen[n - 1] for n in numbers}, given.reach, given.seconds)
    killers = tried_at_once({n: (chosen[n - 1], names) for n, names in tests.items() if names})
    survivors: list[str] = []
    for number in numbers:
        mutant = chosen[number - 1]
        place = f"{mutant.name}:{mutant.line}  {mutant.fault}"
        killer = killers.get(number, "")
        if not killer and (tests[number] or not given.reach):
            # Outside of functions, or noticed only by a test that starts processes.
            killer = killer_of(mutant, tests_of(mutant, tests[number]), Choice(tests[number]))
        print(f"{number:>4} {killer and 'killed' or 'SURVIVED':8} {place}  {killer}", flush=True)
        survivors += [] if killer else [f"{number:>4} {place}"]
    noticed = len(numbers) - len(survivors)
    print(f"\n{noticed} of {len(numbers)} killed; {len(same)} more change nothing that can be seen")
    print(*survivors, sep="\n")
    return 0


def numbers_of(ranges: str) -> Iterator[int]:
    """The numbers in a list such as 1,5-9."""
    for some in ranges.split(","):
        first, _, last = some.partition("-")
        yield from range(int(first), int(last or first) + 1)


def tried_at_once(chosen: Mapping[int, tuple[Mutant, Sequence[str]]]) -> dict[int, str]:
    """The tests that kill mutants in forks of one process that has collected all of them."""
    files = {name.partition("::")[0] for _, names in chosen.values() for name in names}

    def run() -> Iterator[str]:
        trials = Trials(chosen)
        pytest.main([*COMMAND, *WITHOUT_SERVER, *sorted(files)], plugins=[trials])
        yield json.dumps(trials.killers)

    found = json.loads(last_in_a_fork(run)) if files else {}
    return {int(number): killer for number, killer in found.items()}


class Choice:
    """A plugin for pytest that runs tests of these names, in their order; all if there are none."""

    def __init__(self, names: Sequence[str]) -> None:
        self.places = {name: place for place, name in enumerate(names)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.places:
            chosen = [item for item in items if item.nodeid in self.places]
            items[:] = sorted(chosen, key=lambda item: self.places[item.nodeid])


def killer_of(mutant: Mutant, tests: Iterable[list[str]], choice: Choice) -> str:
    """The first test that fails, or does not end, with the mutant and not without it."""
    sound = ast.parse(mutant.path.read_text("utf-8"))
    with TemporaryDirectory() as folder:
        shutil.copytree(SOURCE, Path(folder) / "contextwright")
        copied = Path(folder) / "contextwright" / mutant.path.relative_to(SOURCE)
        waiting = [*reversed([*tests])]
        while waiting:
            arguments = waiting.pop()
            copied.write_text(ast.unparse(mutant.tree), "utf-8")
            killer = failure(arguments, folder, choice)
            alone = [*WITHOUT_SERVER, killer], folder, Choice(())
            copied.write_text(ast.unparse(sound), "utf-8")
            if killer and not failure(*(alone if "::" in killer else (arguments, folder, choice))):
                return killer
            if "::" in killer:
                waiting.append([*arguments, "--deselect", killer])
    return ""


def tests_of(mutant: Mutant, chosen: Sequence[str]) -> Iterator[list[str]]:
    """The files of the chosen tests, else those of the file, the folder, the laws."""
    if chosen:
        yield [*WITHOUT_SERVER, *dict.fromkeys(name.partition("::")[0] for name in chosen)]
        return
    folder = mirror_of(mutant)
    named = [str(found) for found in folder.glob(f"test_{mutant.path.stem}*.py")]
    yield from ([[*WITHOUT_SERVER, *named]] if named else [])
    yield [str(folder)]
    yield [str(ROOT / "tests" / "laws")]


def mirror_of(mutant: Mutant) -> Path:
    """The folder of tests that mirrors the file's folder, or the nearest one above that does."""
    folder = ROOT / "tests" / mutant.path.relative_to(SOURCE).parent
    return next(one for one in (folder, *folder.parents) if one.is_dir())


def tests_by_reach(
    mutants: Mapping[int, Mutant], reach: Path | None, cpu_seconds: float
) -> dict[int, list[str]]:
    """The tests to run for each mutant, by what reach.py wrote; none if that is not known."""
    rows = reach.read_text("utf-8").splitlines() if reach else []
    reached = [
        (name, seconds, {file: set(at) for file, at in lines.items()})
        for name, seconds, lines in sorted(map(json.loads, rows), key=itemgetter(1))
    ]
    return {n: chosen_tests(mutant, reached, cpu_seconds) for n, mutant in mutants.items()}


def chosen_tests(mutant: Mutant, reached: Sequence[Any], cpu_seconds: float) -> list[str]:
    """The tests that reach the fault, cases of all kinds first, within some CPU seconds.

    `reached` has a row of reach.py for each test, cheap ones first. Tests that mirror the file are
    most likely to notice: ten of their cases come before a second case of others.
    A fault outside of functions takes effect where its name is used: first the tests that get there
    and to the file, with quick ones that only look at definitions, then those that get there, then
    those that reach the file.
    """
    uses = mutant.uses()
    mirror = f"{mirror_of(mutant).relative_to(ROOT).as_posix()}/"
    cases: Counter[tuple[bool, bool, str]] = Counter()
    order: list[tuple[bool, bool, int, float, str]] = []
    for name, seconds, lines in reached:
        files = uses.keys() & lines.keys()
        misses = bool(lines) and all(uses[file].isdisjoint(lines[file]) for file in files)
        apart = bool(lines) and mutant.name not in lines
        if (misses and apart) or (not mutant.known_as and (misses or not lines)):
            continue
        function = (misses, apart, name.partition("[")[0])
        cases[function] += 1
        few = 10 if (name.startswith(mirror) if lines else seconds < QUICK_SECONDS) else 1
        order.append((misses, apart, cases[function] // few, seconds, name))
    order.sort()
    total = accumulate(seconds for _, _, _, seconds, _ in order)
    return [one[-1] for one, spent in zip(order, total, strict=True) if spent < cpu_seconds]


def failure(arguments: list[str], folder: str, choice: Choice) -> str:
    """The first test that fails with the package in that folder, in a process of its own.

    A fork, because most of what a test run imports is imported here already.
    """
    with TemporaryFile() as output:
        child = os.fork()
        if not child:
            run_tests(arguments, folder, choice, output.fileno())
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        lines = output.read().decode(errors="replace").splitlines()
    if code == pytest.ExitCode.USAGE_ERROR:
        if any(line.startswith("ImportError while loading conftest") for line in lines):
            return "tests/conftest.py"  # which imports the package first
        raise SystemExit("\n".join(lines))
    if code in (0, pytest.ExitCode.NO_TESTS_COLLECTED):  # there are none without a server
        return ""
    named = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
    return named[0].split(" - ")[0].split(" ", 1)[1] if named else f"exit code {code}"


def run_tests(arguments: list[str], folder: str, choice: Choice, output: int) -> NoReturn:
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(ROOT)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    sys.path.insert(0, folder)
    os.environ["PYTHONPATH"] = os.pathsep.join((folder, str(ROOT / "tests")))
    code = 3
    try:
        code = int(pytest.main([*COMMAND, "-x", *arguments], plugins=[choice]))
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    raise SystemExit(main())
