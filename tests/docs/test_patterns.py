"""Regular expressions that every Python 3.11 reads alike.

Before 3.11.5, which Debian 12's own Python is, possessive *groups* match wrongly: `(?:ab)*+`. A
possessive repetition of one character, `[ab]*+`, is right everywhere.
"""

import ast
import re

import pytest

from source import SOURCE

GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+|\(\?>")


def possessive_groups(source: str) -> list[str]:
    """The regular expressions of a module with a possessive or an atomic group."""
    constants = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    texts = (
        node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
        for node in constants
    )
    return [text for text in texts if isinstance(text, str) and GROUP.search(text) and fits(text)]


def fits(text: str) -> bool:
    """Whether a text is a regular expression."""
    try:
        re.compile(text)
    except re.error:
        return False
    return True


def test_no_module_uses_possessive_groups() -> None:
    found = {path: possessive_groups(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")}
    assert {path: patterns for path, patterns in found.items() if patterns} == {}
    assert len(found) > 300


@pytest.mark.parametrize("pattern", ["(?:a|b)*+", "(ab)++", "(?>ab)", "(a){2,3}+", "(a)?+"])
def test_they_would_be_found(pattern: str) -> None:
    assert possessive_groups(f"PATTERN = re.compile(rb'''x{pattern}y''')")
    assert not possessive_groups("PATTERN = re.compile(r'[^()]*+ [)]++ \\)*+ (?:a)* +')")
