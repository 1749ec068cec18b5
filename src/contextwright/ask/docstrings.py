"""Descriptions of functions and parameters from docstrings in Google, Sphinx and NumPy style."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

__all__ = ["read_docstring"]

SECTION = re.compile(
    r"(Args|Arguments|Parameters|Params|Returns?|Raises|Yields|Examples?|Notes?|See Also)\s*:?\s*$"
)
PARAMETERS = frozenset(("Args", "Arguments", "Parameters", "Params"))
GOOGLE = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
NUMPY = re.compile(r"\*{0,2}(\w+)\s*(?::.*)?$")
SPHINX = re.compile(r":(param|parameter|arg|argument)\s+(?:[^:]*\s)?(\w+)\s*:\s*(.*)$")
FIELD = re.compile(r":\w+[^:]*:")
RULE = re.compile(r"-{3,}\s*$")


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """Return the description of a function, and of each of its parameters by name.

    `text` is the docstring without indentation, as from `inspect.getdoc`.
    """
    lines = text.splitlines()
    end = next((index for index in range(len(lines)) if begins_section(lines, index)), len(lines))
    described = "\n".join(lines[:end]).strip()
    found = dict(sphinx_fields(lines))
    for index in range(end, len(lines)):
        named = SECTION.match(lines[index])
        if named and named[1] in PARAMETERS:
            found.update(parameters_below(lines[index + 1 :]))
    return described, found


def begins_section(lines: list[str], index: int) -> bool:
    """Whether a line is the title of a section, or a field such as `:param x:`."""
    line = lines[index]
    if FIELD.match(line):
        return True
    ruled = index + 1 < len(lines) and RULE.match(lines[index + 1])
    return bool(SECTION.match(line)) and (line.rstrip().endswith(":") or bool(ruled))


def parameters_below(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the parameters that a section lists, until the next section."""
    numpy = bool(lines) and RULE.match(lines[0]) is not None
    pattern = NUMPY if numpy else GOOGLE
    rows = lines[1:] if numpy else lines
    margin: int | None = 0 if numpy else None
    name, words = "", list[str]()
    for index, line in enumerate(rows):
        depth = len(line) - len(line.lstrip())
        if line.strip() and (depth == 0 and not numpy or begins_section(rows, index)):
            break
        margin = depth if margin is None and line.strip() else margin
        entry = pattern.match(line.strip()) if line.strip() and depth == margin else None
        if entry:
            yield from described(name, words)
            name, words = entry[1], ["" if numpy else entry[2]]
        else:
            words.append(line.strip())
    yield from described(name, words)


def sphinx_fields(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the parameters of `:param x: …` fields, with their continued lines."""
    name, words = "", list[str]()
    for line in lines:
        field = SPHINX.match(line)
        if field or FIELD.match(line) or not line.startswith(" "):
            yield from described(name, words)
            name, words = (field[2], [field[3]]) if field else ("", [])
        else:
            words.append(line.strip())
    yield from described(name, words)


def described(name: str, words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield a parameter with its description on one line, if there is one."""
    text = " ".join(word for word in words if word)
    if name and text:
        yield name, text
