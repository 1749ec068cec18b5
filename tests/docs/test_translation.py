"""The tables of docs/translation.md say what the code does.

`WRITE_CASES=1 pytest tests/docs/test_translation.py` writes them again; read the difference.
"""

import os
import re
from collections.abc import Iterable

import pytest

import contextwright as cw
from contextwright.formats.settings import BUDGETS, TABLES
from contextwright.formats.tools import HOSTED
from paths import ROOT

PAGE = ROOT / "docs" / "translation.md"
APIS = ("openai-chat", "openai-responses", "anthropic", "gemini")
NONE = "–"


def row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    return "\n".join([row(head), "|" + "---|" * len(head), *map(row, rows)])


def code(text: str | None) -> str:
    return f"`{text}`" if text else NONE


def settings_table() -> str:
    return table(
        ("setting", *APIS),
        (
            (code(name), *(code(TABLES[api].get(name)) for api in APIS))
            for name in cw.Settings.__struct_fields__
        ),
    )


def effort_table() -> str:
    return table(
        ("level", "tokens of thinking"),
        ((code(level), f"{tokens:,}") for level, tokens in BUDGETS.items()),
    )


def hosted_table() -> str:
    def name(tool: dict[str, object] | None) -> str:
        return code(str(tool.get("type") or next(iter(tool))) if tool else None)

    return table(
        ("tool", *APIS),
        ((kind, *(name(equal.get(api)) for api in APIS)) for kind, equal in HOSTED.items()),
    )


TABLES_OF_PAGE = {"settings": settings_table, "effort": effort_table, "hosted": hosted_table}


@pytest.mark.parametrize("name", TABLES_OF_PAGE)
def test_a_table_says_what_the_code_does(name: str) -> None:
    page = PAGE.read_text("utf-8")
    place = re.compile(f"(<!-- {name} -->\n)(.*?)(<!-- end -->)", re.DOTALL)
    found, expected = place.search(page), TABLES_OF_PAGE[name]() + "\n"
    assert found
    if os.environ.get("WRITE_CASES"):
        PAGE.write_text(place.sub(lambda found: found[1] + expected + found[3], page), "utf-8")
        return
    assert found[2] == expected
