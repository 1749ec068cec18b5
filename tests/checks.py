"""The numbered checks of the five systems, and the tests that hold them.

A test names a check in its own name (`test_gry_33_…`), its docstring, or the id of one of its
rows. `python tests/checks.py` writes docs/checks.md from what it finds.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "checks.md"
SYSTEMS = {"AYA": "Aya", "CB": "013", "FRG": "Forge", "GRY": "gryag", "P42": "Port 42"}
NUMBER = re.compile(r"\b(AYA|CB|FRG|GRY|P42)-(\d+[ab]?)(?: to (?:\1-)?(\d+))?")
IN_NAME = re.compile(r"(aya|cb|frg|gry|p42)((?:_(?:and|to|\d+[ab]?))+)(?=_|$)")


class Check(NamedTuple):
    """One line of the table."""

    number: str
    level: str
    behaviour: str
    left_out: str


def table() -> list[Check]:
    """The checks there are."""
    lines = (TESTS / "checks.txt").read_text("utf-8").splitlines()
    rows = [line.split(" | ") for line in lines if line and not line.startswith("#")]
    return [Check(row[0], row[1], row[2], row[3] if len(row) > 3 else "") for row in rows]


def named_in(text: str) -> Iterator[str]:
    """The checks a text names: `GRY-33`, `AYA-20 to AYA-24`."""
    for system, first, last in NUMBER.findall(text):
        yield f"{system}-{first}"
        if last:
            yield from (f"{system}-{number}" for number in range(int(first) + 1, int(last) + 1))


def named_by(name: str) -> Iterator[str]:
    """The checks a test's name names: `test_frg_18_and_23_…`, `test_cb_4_10_12_…`."""
    for system, rest in IN_NAME.findall(name):
        steps = rest.strip("_").split("_")
        for place, step in enumerate(steps):
            if step == "to" and steps[place + 1 :]:
                numbers = range(int(steps[place - 1]), int(steps[place + 1]))
                yield from (f"{system.upper()}-{number}" for number in numbers)
            elif step not in ("and", "to"):
                yield f"{system.upper()}-{step}"


def tests_of(path: Path) -> Iterator[tuple[str, set[str]]]:
    """The tests of a file with the checks they name, also in the tables they are given."""
    text = path.read_text("utf-8")
    if not NUMBER.search(text) and not IN_NAME.search(text):
        return
    tree, lines = ast.parse(text), text.splitlines()

    def named_at(node: ast.expr | ast.stmt) -> set[str]:
        return set(named_in("\n".join(lines[node.lineno - 1 : node.end_lineno])))

    tables = {
        target.id: named_at(node)
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
            continue
        found = {*named_by(node.name), *named_in(ast.get_docstring(node) or "")}
        for decorator in node.decorator_list:
            found |= named_at(decorator)
            for used in ast.walk(decorator):
                found |= tables.get(used.id, set()) if isinstance(used, ast.Name) else set()
        yield f"{path.relative_to(TESTS)}::{node.name}", found


@cache
def tests() -> dict[str, list[str]]:
    """The tests that hold each check."""
    held: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for name, numbers in tests_of(path):
            for number in numbers:
                held.setdefault(number, []).append(name)
    return held


def page() -> str:
    """The page: every check with what is so and where it is held."""
    held = tests()
    lines = [
        "# The five systems, check by check",
        "",
        "Written by `python tests/checks.py` from `tests/checks.txt` and the tests themselves. "
        "M: the system's own document says so. D: the document is silent or contradicts itself, "
        "and this was decided. X: the system's code does so, beyond its document.",
    ]
    for system, title in SYSTEMS.items():
        lines += ["", f"## {title}", "", "| check | | behaviour | tested in |", "|---|---|---|---|"]
        for check in table():
            if check.number.startswith(f"{system}-"):
                where = [f"`{name}`" for name in held.get(check.number, ())]
                where += [f"left out: {check.left_out}"] if check.left_out else []
                cells = (check.number, check.level, check.behaviour, "<br>".join(where))
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
