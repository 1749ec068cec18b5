"""Mutants: copies of a file of the package with one small fault each."""

from __future__ import annotations

import ast
import heapq
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "contextwright"
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
    tree: ast.Module

    @property
    def name(self) -> str:
        """The file below the package."""
        return self.path.relative_to(SOURCE).as_posix()


def sample(folders: list[str], count: int, seed: int) -> list[Mutant]:
    """Mutants from all files, each file as likely as it is long.

    An edit changes no mutants but those of its own lines, so that runs can be compared.
    """
    files = [path for folder in folders for path in sorted((SOURCE / folder).rglob("*.py"))]
    places = heapq.nsmallest(count, (place for path in files for place in drawn(path, seed)))
    return [mutated(path, number) for _, path, number in places]


def drawn(path: Path, seed: int) -> Iterator[tuple[bytes, Path, int]]:
    """The faults of a file, each with a lot drawn from its words and its line."""
    source = path.read_text("utf-8")
    lines = source.splitlines()
    alike: Counter[str] = Counter()
    for number, (line, _, words, _) in enumerate(faults(ast.parse(source))):
        fault = f"{path.relative_to(SOURCE).as_posix()}\n{lines[line - 1].strip()}\n{words}"
        alike[fault] += 1
        yield blake2b(f"{seed}\n{alike[fault]}\n{fault}".encode()).digest(), path, number


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
    return Mutant(path, line, end, words, ast.fix_missing_locations(tree))
