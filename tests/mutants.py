"""Mutation sampling: small faults are put into the core, one at a time; do the tests notice?

    uv run python tests/mutants.py                    # 200 mutants, seed 1
    uv run python tests/mutants.py --count 20 --seed 7 --folders windows,context

A mutant changes one comparison, operator, condition or constant. The sources are copied, so
nothing here is touched. The tests of a file are those that mirror it (tests/windows/ for
windows/stepped.py) and the laws; the first that fails, or takes more than two minutes, has killed
the mutant. Survivors are listed with their line: give each a test, or say why it changes nothing.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "contextwright"
FOLDERS = "text messages tokens wire formats windows recall sections context store"
SECONDS = 120
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
    options.add_argument("--folders", default=FOLDERS.replace(" ", ","))
    given = options.parse_args()
    chosen = sample(given.folders.split(","), given.count, Random(given.seed))
    survivors: list[str] = []
    for number, mutant in enumerate(chosen, 1):
        place = f"{mutant.path.relative_to(SOURCE)}:{mutant.line}"
        killed = is_killed(mutant)
        state = "killed" if killed else "SURVIVED"
        print(f"{number:>4} {state:8} {place}  {mutant.fault}", flush=True)
        if not killed:
            survivors.append(f"{place}  {mutant.fault}")
    print(f"\n{len(chosen) - len(survivors)} of {len(chosen)} killed")
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


def is_killed(mutant: Mutant) -> bool:
    """Whether a test fails, or does not end, with the mutant in place of its file."""
    with TemporaryDirectory() as folder:
        source = Path(folder) / "contextwright"
        shutil.copytree(SOURCE, source, ignore=shutil.ignore_patterns("__pycache__"))
        (source / mutant.path.relative_to(SOURCE)).write_text(mutant.text, "utf-8")
        return any(fails(tests, folder) for tests in tests_of(mutant.path))


def tests_of(path: Path) -> Iterator[list[str]]:
    """The tests to run, the nearest first: of the file, of its folder, the laws."""
    near = ROOT / "tests" / path.relative_to(SOURCE).parent
    named = [str(found) for found in near.glob(f"test_{path.stem}*.py")]
    yield from ([named] if named else [])
    while not near.exists():
        near = near.parent
    yield [str(near)]
    yield [str(ROOT / "tests" / "laws")]


def fails(tests: list[str], folder: str) -> bool:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider"]
    paths = os.pathsep.join((folder, str(ROOT / "tests")))
    try:
        done = subprocess.run(
            [*command, *tests],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode == 1


if __name__ == "__main__":
    raise SystemExit(main())
