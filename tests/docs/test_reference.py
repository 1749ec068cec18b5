"""The reference is made from the code, and every public name, command, option and code is in it."""

import re

import reference
from paths import DOCS


def test_the_pages_are_up_to_date() -> None:
    pages = reference.pages()
    assert set(reference.FOLDER.glob("*.md")) == set(pages)
    stale = [path.name for path, text in pages.items() if path.read_text("utf-8") != text]
    assert stale == [], "run: python tests/reference.py"


def test_every_public_name_is_described() -> None:
    for module in ("contextwright", *(f"contextwright.{name}" for name in reference.MODULES)):
        page = reference.FOLDER / f"{module.rpartition('.')[2]}.md"
        headings = re.findall(r"^##+ (\S+)$", page.read_text("utf-8"), re.MULTILINE)
        assert [name for name in reference.public_names(module) if name not in headings] == []


def test_every_name_has_words_or_a_definition() -> None:
    for path, text in reference.pages().items():
        if path.name != "cli.md":  # whose headings are tasks
            assert re.findall(r"^##+ (\S+)\n\n(?=#|\Z)", text, re.MULTILINE) == [], path.name


def test_every_option_is_explained() -> None:
    page = (DOCS / "reference" / "cli.md").read_text("utf-8")
    assert re.findall(r"^\| `.*` \|  \|$", page, re.MULTILINE) == []
