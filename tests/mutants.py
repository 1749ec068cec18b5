"""Mutation sampling: small faults are put into the core, one at a time; do the tests notice?

    uv run python tests/mutants.py                    # 200 mutants, seed 1
    uv run python tests/mutants.py --only 101-120     # some of them, by number
    uv run python tests/mutants.py --count 20 --seed 7 --folders windows,context

A mutant changes one comparison, operator, condition or constant. The sources are copied, so
nothing here is touched. The tests of a file are those that mirror it (tests/windows/ for
windows/stepped.py) and the laws; the first that fails, or does not end, has killed the mutant and
is named; `--near` leaves out the laws and PostgreSQL, which take minutes. Survivors are listed with
their line: give each a test, or say why it changes nothing.
"""

from __future__ import annotations

import argparse
import ast
import os
import resource
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import partial
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

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "contextwright"
FOLDERS = "text messages tokens wire formats windows recall sections context store"
HANG_SECONDS = 180
"""No test takes a tenth of this, also on a busy machine."""
WITHOUT_SERVER = ("-m", "not slow and not postgres")
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
    fault: str
    text: str


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--count", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", metavar="FIRST-LAST", help="mutants of these numbers, from 1")
    options.add_argument("--near", action="store_true", help="without PostgreSQL and the laws")
    options.add_argument("--folders", default=FOLDERS.replace(" ", ","))
    given = options.parse_args()
    chosen = sample(given.folders.split(","), given.count, Random(given.seed))
    first, _, last = (given.only or f"1-{given.count}").partition("-")
    numbers = range(int(first), int(last or first) + 1)
    survivors: list[str] = []
    for number in numbers:
        mutant = chosen[number - 1]
        place = f"{mutant.path.relative_to(SOURCE)}:{mutant.line}  {mutant.fault}"
        killer = killer_of(mutant, given.near)
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


def faults(tree: ast.Module) -> list[tuple[int, str, Callable[[], None]]]:
    """The line, the words and the making of each fault that a file can have."""
    return [
        (getattr(node, "lineno", 0), words, make)
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
    line, words, make = faults(tree)[number]
    make()
    return Mutant(path, line, words, ast.unparse(ast.fix_missing_locations(tree)))


def killer_of(mutant: Mutant, near: bool) -> str:
    """The first test that fails, or does not end, with the mutant in place of its file."""
    with TemporaryDirectory() as folder:
        source = Path(folder) / "contextwright"
        shutil.copytree(SOURCE, source)
        (source / mutant.path.relative_to(SOURCE)).write_text(mutant.text, "utf-8")
        tried = (failure(tests, folder) for tests in tests_of(mutant.path, near))
        return next(filter(None, tried), "")


def tests_of(path: Path, near: bool) -> Iterator[list[str]]:
    """The tests to run, the nearest first: of the file, of its folder, the laws."""
    folder = ROOT / "tests" / path.relative_to(SOURCE).parent
    named = [str(found) for found in folder.glob(f"test_{path.stem}*.py")]
    yield from ([[*WITHOUT_SERVER, *named]] if named else [])
    while not folder.exists():
        folder = folder.parent
    yield [*WITHOUT_SERVER, str(folder)]
    if not near:
        yield [str(folder), str(ROOT / "tests" / "laws")]


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
