"""Mutants: copies of a file of the package with one small fault each."""

from __future__ import annotations

import ast
import heapq
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from hashlib import blake2b
from itertools import chain
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
OPPOSITES = {"min": "max", "max": "min", "any": "all", "all": "any"}


class Mutant(NamedTuple):
    """A file with one fault."""

    path: Path
    line: int
    end: int
    fault: str
    tree: ast.Module
    known_as: frozenset[str]
    """Outside of functions: the names of the constants, field, class or function it belongs to."""

    @property
    def name(self) -> str:
        """The file below the package."""
        return self.path.relative_to(SOURCE).as_posix()

    @property
    def words(self) -> tuple[str, str, str]:
        """The file, the line and the fault: what stays when other lines change."""
        line = self.path.read_text("utf-8").splitlines()[self.line - 1]
        return self.name, line.strip(), self.fault

    def uses(self) -> dict[str, set[int]]:
        """The lines of each file where the fault matters: its own, or those with its names."""
        if not self.known_as:
            return {self.name: set(range(self.line, self.end + 1))}
        return {
            name: {line for word in self.known_as for line in words.get(word, ())}
            for name, words in package_words().items()
        }


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
    for number, (node, words, _) in enumerate(faults(ast.parse(source))):
        line = lines[getattr(node, "lineno", 0) - 1].strip()
        fault = f"{path.relative_to(SOURCE).as_posix()}\n{line}\n{words}"
        alike[fault] += 1
        yield blake2b(f"{seed}\n{alike[fault]}\n{fault}".encode()).digest(), path, number


def faults(tree: ast.Module) -> list[tuple[ast.AST, str, Callable[[], None]]]:
    """The place, the words and the making of each fault that a file can have."""
    return [
        (node.ifs[0] if isinstance(node, ast.comprehension) else node, words, make)
        for node in ast.walk(tree)
        for words, make in fault_of(node)
    ]


def fault_of(node: ast.AST) -> Iterator[tuple[str, Callable[[], None]]]:
    """The faults that a node can have: the words of each, and what makes it."""
    match node:
        case ast.Compare(ops=[only]) if type(only) in COMPARISONS:
            other = COMPARISONS[type(only)]
            yield named(only, other), partial(setattr, node, "ops", [other()])
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator) if type(operator) in OPERATORS:
            other = OPERATORS[type(operator)]
            yield named(operator, other), partial(setattr, node, "op", other())
        case ast.BoolOp(op=operator):
            other = ast.Or if isinstance(operator, ast.And) else ast.And
            yield named(operator, other), partial(setattr, node, "op", other())
        case ast.If() | ast.IfExp():
            for always in True, False:
                words = f"the condition is always {str(always).lower()}"
                yield words, partial(setattr, node, "test", ast.Constant(always))
        case ast.comprehension(ifs=[_, *_]):
            yield "nothing is filtered", partial(setattr, node, "ifs", [])
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            doubled = ast.UnaryOp(ast.Not(), operand)
            yield "Not is left out", partial(setattr, node, "operand", doubled)
        case ast.Expr(value=ast.Call()):
            yield "the call is left out", partial(setattr, node, "value", ast.Constant(None))
        case ast.Call(func=ast.Name(id=name)) if name in OPPOSITES:
            other = OPPOSITES[name]
            yield f"{name} becomes {other}", partial(setattr, node.func, "id", other)
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
    node, words, make = faults(tree)[number]
    known_as = next((names for other, names in outside(tree) if other is node), frozenset[str]())
    make()
    line, end = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    return Mutant(path, line, end, words, ast.fix_missing_locations(tree), known_as)


def outside(
    node: ast.AST, names: frozenset[str] = frozenset()
) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """What is not in the body of a function, with the nearest names around it."""
    yield node, names
    below = ast.iter_child_nodes(node)
    match node:
        case ast.FunctionDef(args=args) | ast.AsyncFunctionDef(args=args):
            names, below = frozenset([node.name]), iter([args])
        case ast.Lambda(args=args):
            below = iter([args])
        case ast.ClassDef(keywords=options, body=body):  # not by the names of its options
            names, below = frozenset([node.name]), chain((one.value for one in options), body)
        case ast.Assign(targets=targets):
            names = frozenset(
                one.id
                for target in targets
                for one in ast.walk(target)
                if isinstance(one, ast.Name)
            )
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.keyword(arg=str(name)):
            names = frozenset([name])
        case _:
            pass
    for child in below:
        yield from outside(child, names)


@cache
def package_words() -> dict[str, dict[str, set[int]]]:
    """The lines of each file of the package on which it uses a name."""
    found: dict[str, dict[str, set[int]]] = {}
    for path in SOURCE.rglob("*.py"):
        words = found.setdefault(path.relative_to(SOURCE).as_posix(), {})
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Name(id=word) | ast.Attribute(attr=word):
                    words.setdefault(word, set()).add(node.lineno)
                case _:
                    pass
    return found
