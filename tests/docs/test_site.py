"""The site: every page is in its menu, every link inside it holds, every example is its file."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import how_to
from paths import DOCS, ROOT

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
CODE = re.compile(r"```.*?```", re.DOTALL)
HERE = "https://github.com/contextwright/contextwright/blob/main/"
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])


def anchors(page: Path) -> set[str]:
    """The ids that headings of a page have."""
    found = set(re.findall(r'id="([^"]+)"', page.read_text("utf-8")))
    for heading in HEADING.findall(CODE.sub("", page.read_text("utf-8"))):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        kept = re.sub(r"[^\w\s-]", "", words).strip().lower()
        found.add(re.sub(r"[\s-]+", "-", kept))
        found.add(re.sub(r"\s", "-", kept))  # as the repository's host spells it
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_hold(page: Path) -> None:
    broken: list[str] = []
    for groups in LINK.findall(CODE.sub("", page.read_text("utf-8"))):
        link = groups[0] or groups[1]
        if link.startswith(HERE):
            link = str(ROOT / link.removeprefix(HERE))
        elif re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (
            anchor and target.suffix == ".md" and anchor not in anchors(target)
        ):
            broken.append(link)
    assert broken == []


def test_links_of_the_site_stay_inside_it() -> None:
    """The site has no files outside docs/: such links name the repository."""
    outside = [
        (page.name, groups[0])
        for page in DOCS.rglob("*.md")
        for groups in LINK.findall(CODE.sub("", page.read_text("utf-8")))
        if not re.match(r"[a-z]+:|#", groups[0] or groups[1])
        and not (page.parent / (groups[0] or groups[1])).resolve().is_relative_to(DOCS)
    ]
    assert outside == []


def test_every_page_is_in_the_menu() -> None:
    menu = re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    assert sorted(menu) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


@pytest.mark.parametrize("page", how_to.pages(), ids=lambda page: page.name)
def test_an_example_is_its_file(page: Path) -> None:
    example = how_to.pages()[page]
    assert page.read_text("utf-8") == how_to.written(page, example), "run: python tests/how_to.py"


@pytest.mark.slow
def test_the_site_builds_offline_without_a_warning(tmp_path: Path) -> None:
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    shutil.copytree(DOCS, tmp_path / "docs")
    nowhere = "http://127.0.0.1:9"
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=tmp_path,
        env={**os.environ, "http_proxy": nowhere, "https_proxy": nowhere, "no_proxy": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert "No issues found" in done.stdout
    pages = {str(page.relative_to(DOCS).with_suffix("")) for page in DOCS.rglob("*.md")}
    site = tmp_path / "site"
    assert pages <= {str(page.relative_to(site).with_suffix("")) for page in site.rglob("*.html")}
