"""Where JSON strings end; and no pattern that CPython before 3.11.5 matches wrongly."""

import ast
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright
from contextwright.text.json import string_end

POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+")
SOURCE = Path(contextwright.__file__).parent


@given(text=st.text(st.characters(codec="utf-8") | st.sampled_from('\\"')), ascii=st.booleans())
def test_a_string_ends_at_its_quote(text: str, ascii: bool) -> None:
    written = json.dumps(text, ensure_ascii=ascii)
    assert string_end(written + ', "more"', 1) == len(written)
    encoded = written.encode()
    assert string_end(encoded + b'"', 1) == len(encoded)
    assert string_end(encoded[:-1], 1) == -1


@pytest.mark.parametrize(
    ("text", "end"),
    [('"', 1), ('\\"', -1), ('\\\\"', 3), ('a\\"b"c"', 5), ("", -1), ('\\\\\\"\\""', 7)],
)
def test_escapes_are_passed_over(text: str, end: int) -> None:
    assert string_end(text, 0) == end


def test_no_pattern_repeats_a_group_possessively() -> None:
    """CPython 3.11.0 to 3.11.4 matches `(?:...)*+` wrongly, and Debian 12 has 3.11.2."""
    found = [
        f"{path.name}: {node.value!r}"
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "compile"
        for node in ast.walk(node)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str | bytes)
        and POSSESSIVE_GROUP.search(
            node.value if isinstance(node.value, str) else node.value.decode("latin-1")
        )
    ]
    assert found == []
