"""Sections of one's own: plain classes, and classes that a recipe file names."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright.context import recipe_files


class Weather:
    """A class without a base, with fields as Python has them."""

    heading = "## Weather"

    def __init__(self, city: str = "Kyiv") -> None:
        self.city = city

    def write(self, moment: cw.sections.SectionInput) -> str | None:
        return f"It is sunny in {self.city}."


@dataclass(frozen=True)
class Rain(cw.Section):
    """A data class."""

    city: str
    priority: int = 100

    def write(self, moment: cw.sections.SectionInput) -> Any:
        return f"It rains in {self.city}." if self.city else 5


def text_of(*system: Any) -> str:
    context = cw.build([cw.user("Hi")], cw.Recipe(system=system), model="gpt-4o")
    return "\n".join(context.sections.values())


def test_a_plain_class_is_a_section() -> None:
    said = text_of("Be brief.", Weather("Lviv"), Rain("Odesa"))
    assert said == "Be brief.\n## Weather\nIt is sunny in Lviv.\nIt rains in Odesa."


def test_what_is_not_a_section_is_refused() -> None:
    for wrong in (5, object(), Weather, None):
        with pytest.raises(cw.UsageError, match=r"system\[1\] is .*, not a section"):
            text_of("Be brief.", wrong)
    with pytest.raises(cw.UsageError, match="a section must write text, not 5"):
        text_of(Rain(""))


RECIPE = """
system = ["Be brief.", {{ type = "{place}", city = "Lviv" }}, {{ type = "current-user" }}]
"""


def test_a_recipe_file_names_a_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "my_bot.py").write_text(
        "class Weather:\n"
        "    def __init__(self, city): self.city = city\n"
        "    def write(self, moment): return f'Sunny in {self.city}.'\n"
        "number = 5\n"
    )
    file = tmp_path / "mine.toml"
    file.write_text(RECIPE.format(place="my_bot:Weather"))
    context = cw.build([cw.user("Hi", author="7")], recipe_files.load(file), model="gpt-4o")
    assert [*context.sections.values()][:2] == ["Be brief.", "Sunny in Lviv."]
    for place, complaint in {
        "my_bot:Nothing": "system[1]: cannot import 'my_bot:Nothing'",
        "nowhere.at.all:Weather": "system[1]: cannot import 'nowhere.at.all:Weather'",
        ":Weather": "system[1]: cannot import ':Weather'",
        "my_bot:number": "system[1]: 'my_bot:number' is not a section",
    }.items():
        file.write_text(RECIPE.format(place=place))
        with pytest.raises(cw.ParseError) as caught:
            recipe_files.load(file)
        assert complaint in str(caught.value)
    file.write_text(RECIPE.format(place="my_bot:Weather").replace("city =", "town ="))
    with pytest.raises(cw.ParseError, match=r"system\[1\]: 'my_bot:Weather': .*town"):
        recipe_files.load(file)


def test_only_files_name_classes() -> None:
    with pytest.raises(cw.ParseError, match="cannot be 'os:path'"):
        recipe_files.read({"system": [{"type": "os:path"}]})
