"""Mutation sampling: small faults are put into the core, one at a time; do the tests notice?

    uv run python -m tests.mutation                    # 200 mutants, seed 1
    uv run python -m tests.mutation --only 101-120     # some of them, by number
    uv run python -m tests.mutation --count 20 --seed 7 --folders windows,context
    uv run python -m tests.mutation --reach reach.jsonl    # only tests that reach the fault

A mutant changes one comparison, operator, condition or constant. The sources are copied, so
nothing here is touched. The tests of a file are those that mirror it (tests/windows/ for
windows/stepped.py) and the laws, or with what reach.py wrote those that reach the fault, for 20 s
of CPU at most. The first that fails, or does not end, has killed the mutant and is named. Survivors
are listed with their line: give each a test, or say why it changes nothing.
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
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from operator import itemgetter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory, TemporaryFile
from typing import NamedTuple, NoReturn

import hypothesis.strategies
import msgspec
import numpy
import pytest
import xdist.plugin

__all__ = ["hypothesis", "msgspec", "numpy", "xdist"]  # every test run needs them

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "contextwright"
FOLDERS = "text messages tokens wire formats windows recall sections context store"
HANG_SECONDS = 180
"""No test takes a tenth of this, also on a busy machine."""
WITHOUT_SERVER = ("-m", "not slow and not postgres")
CPU_SECONDS = 20
"""What the tests of a mutant may take without it; they stop at the first that fails."""
MEMORY = 8 << 30
"""A loop without an end may fill this much, not the machine's memory."""
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
}


class Mutant(NamedTuple):
    """A file with one fault."""

    path: Path
    line: int
    end: int
    fault: str
    text: str

    @property
    def name(self) -> str:
        """The file below the package."""
        return self.path.relative_to(SOURCE).as_posix()


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--count", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", metavar="FIRST-LAST", help="mutants of these numbers, from 1")
    options.add_argument("--reach", type=Path, help="what reach.py wrote: which tests to run")
    options.add_argument("--folders", default=FOLDERS.replace(" ", ","))
    given = options.parse_args()
    chosen = sample(given.folders.split(","), given.count, Random(given.seed))
    first, _, last = (given.only or f"1-{given.count}").partition("-")
    numbers = range(int(first), int(last or first) + 1)
    reached = given.reach.read_text("utf-8").splitlines() if given.reach else []
    survivors: list[str] = []
    for number in numbers:
        mutant = chosen[number - 1]
        place = f"{mutant.name}:{mutant.line}  {mutant.fault}"
        killer = killer_of(mutant, tests_of(mutant, reached))
        print(f"{number:>4} {killer and 'killed' or 'SURVIVED':8} {place}  {killer}", flush=True)
        survivors += [] if killer else [f"{number:>4} {place}"]
    print(f"\n{len(numbers) - len(survivors)} of {len(numbers)} killed")
    print(*survivors, sep="\n")
    return 0


def sample(folders: list[str], count: int, random: Random) -> list[Mutant]:
    """Mutants from all files, each file as likely as it is long."""
    files = [path for folder in folders for path in sorted((SOURCE / folder).rglob("*.py"))]
    trees = {path: ast.parse(path.read_text("utf-8")) for path in files}
    places = [(path, at) for path in files for at in range(len(faults(trees[path])))]
    return [mutated(path, number) for path, number in random.sample(places, count)]


def faults(tree: ast.Module) -> list[tuple[int, int, str, Callable[[], None]]]:
    """The lines, the words and the making of each fault that a file can have."""
    return [
        (getattr(node, "lineno", 0), getattr(node, "end_lineno", 0), words, make)
        for node in ast.walk(tree)
        for words, make in fault_of(node)
    ]


def fault_of(node: ast.AST) -> Iterator[tuple[str, Callable[[], None]]]:
    """The fault that a node can have: its words, and what makes it; nothing if it has none."""
    match node:
        case ast.Compare(ops=[only]) if type(only) in COMPARISONS:
            other = COMPARISONS[type(only)]
            yield named(only, other), partial(setattr, node, "ops", [other()])
        case ast.BinOp(op=operator) if type(operator) in OPERATORS:
            other = OPERATORS[type(operator)]
            yield named(operator, other), partial(setattr, node, "op", other())
        case ast.BoolOp(op=operator):
            other = ast.Or if isinstance(operator, ast.And) else ast.And
            yield named(operator, other), partial(setattr, node, "op", other())
        case ast.If() | ast.IfExp():
            always = ast.Constant(True)
            yield "the condition is always true", partial(setattr, node, "test", always)
        case ast.Constant(value=bool() as value):
            yield f"{value} becomes {not value}", partial(setattr, node, "value", not value)
        case ast.Constant(value=int() as value):
            yield f"{value} becomes {value + 1}", partial(setattr, node, "value", value + 1)
        case _:
            return


def named(before: ast.AST, after: type[ast.AST]) -> str:
    return f"{type(before).__name__} becomes {after.__name__}"


def mutated(path: Path, number: int) -> Mutant:
    """A file with its fault of that number."""
    tree = ast.parse(path.read_text("utf-8"))
    line, end, words, make = faults(tree)[number]
    make()
    return Mutant(path, line, end, words, ast.unparse(ast.fix_missing_locations(tree)))


def killer_of(mutant: Mutant, tests: Iterable[list[str]]) -> str:
    """The first test that fails, or does not end, with the mutant in place of its file."""
    with TemporaryDirectory() as folder:
        source = Path(folder) / "contextwright"
        shutil.copytree(SOURCE, source)
        (source / mutant.path.relative_to(SOURCE)).write_text(mutant.text, "utf-8")
        return next(filter(None, (failure(some, folder) for some in tests)), "")


def tests_of(mutant: Mutant, reached: Sequence[str]) -> Iterator[list[str]]:
    """The tests that reach the fault, else those of the file, the folder, the laws."""
    if found := chosen_tests(mutant, reached):
        yield [*WITHOUT_SERVER, *found]
        return
    folder = ROOT / "tests" / mutant.path.relative_to(SOURCE).parent
    named = [str(found) for found in folder.glob(f"test_{mutant.path.stem}*.py")]
    yield from ([[*WITHOUT_SERVER, *named]] if named else [])
    while not folder.exists():
        folder = folder.parent
    yield [str(folder)]
    if not reached:
        yield [str(ROOT / "tests" / "laws")]


def chosen_tests(mutant: Mutant, reached: Sequence[str]) -> list[str]:
    """The tests that reach a line of the fault, cases of all kinds first, within some CPU seconds.

    A fault outside of functions takes effect on import: then all that reach the file.
    """
    span = set(range(mutant.line, mutant.end + 1))
    near: list[tuple[str, float]] = []
    far: list[tuple[str, float]] = []
    for name, seconds, lines in map(json.loads, (row for row in reached if mutant.name in row)):
        if mutant.name in lines:
            hit = not span.isdisjoint(lines[mutant.name])
            (near if hit else far).append((name, seconds))
    cases: Counter[str] = Counter()
    order: list[tuple[int, float, str]] = []
    for name, seconds in sorted(near or far, key=itemgetter(1)):
        function = name.partition("[")[0]
        cases[function] += 1
        order.append((cases[function], seconds, name))
    total = accumulate(seconds for _, seconds, _ in sorted(order))
    return [
        name
        for (_, _, name), spent in zip(sorted(order), total, strict=True)
        if spent < CPU_SECONDS
    ]


def failure(arguments: list[str], folder: str) -> str:
    """The first test that fails with the package in that folder, in a process of its own.

    A fork, because most of what a test run imports is imported here already.
    """
    with TemporaryFile() as output:
        child = os.fork()
        if not child:
            run_tests(arguments, folder, output.fileno())
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        lines = output.read().decode(errors="replace").splitlines()
    if code in (0, 5):  # 5: there are none without a server
        return ""
    named = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
    return named[0].split(" - ")[0] if named else f"exit code {code}"


def run_tests(arguments: list[str], folder: str, output: int) -> NoReturn:
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(ROOT)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    sys.path.insert(0, folder)
    os.environ["PYTHONPATH"] = os.pathsep.join((folder, str(ROOT / "tests")))
    command = ["-q", "-x", "-n0", "-p", "no:cacheprovider", "-o", f"timeout={HANG_SECONDS}"]
    command += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # imported before: see above
    code = 3
    try:
        code = int(pytest.main([*command, *arguments]))
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    raise SystemExit(main())
