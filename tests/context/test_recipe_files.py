"""Recipes as files."""

from importlib import resources
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright.context import recipe_files
from contextwright.systems import ContextBuilder


@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        (
            {"fading": {"results": 2}},
            "recipe 'mine': the document has no field 'fading' (it is called 'clearing' now)",
        ),
        (
            {"system": ["Hi", {"type": "relevant"}]},
            "recipe 'mine': system[1].type cannot be 'relevant' (it is called 'past-excerpts' now)",
        ),
        (
            {"system": [{"type": "recalled", "most": 3}]},
            "recipe 'mine': system[0].type cannot be 'recalled' (it is called 'past-messages' now)",
        ),
    ],
)
def test_names_of_the_first_version_get_the_new_one(recipe: Any, expected: str) -> None:
    with pytest.raises(cw.ParseError) as caught:
        recipe_files.read(recipe, name="mine")
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.toml", b"budget = ", "Invalid value (at end of document)"),
        ("a.toml", b"title = 'x'\n\xff", "line 2: byte 0xff is not UTF-8 (save it as UTF-8)"),
        ("a.toml", b"budget = " + b"9" * 5_000,
         "an integer of too many digits (write it as a string)"),
        ("a.toml", b"system = " + b"[" * 9_000, "nested too deeply"),
        ("a.json", b'{"budget": 5', "line 1: budget: the document ends in the middle at column 13 "
         "(is it complete?)"),
        ("a.json", b'{"budget": 5, "budget": 6}',
         "line 1: budget: the key 'budget' occurs twice at column 15 (keep one of them)"),
        ("a.json", '{"budget": 5}'.encode("utf-16"),
         "line 1: this is not UTF-8 text at column 1 (save it as UTF-8, not UTF-16 or binary)"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_named_with_its_fault(
    tmp_path: Path, name: str, content: bytes, expected: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(cw.ParseError) as caught:
        recipe_files.load(file)
    assert str(caught.value) == f"{file}: {expected}"


@pytest.mark.parametrize(
    ("name", "text"), [("a.toml", "budget = 500"), ("a.json", '{"budget": 500}')]
)
def test_a_byte_order_mark_is_skipped(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text, "utf-8-sig")
    assert recipe_files.load(file).budget == 500


def test_a_field_that_a_table_does_not_know_is_refused() -> None:
    with pytest.raises(cw.ParseError, match="note has no field 'colour'"):
        recipe_files.read({"note": {"text": "gone", "colour": 1}}, name="mine")


def test_every_recipe_of_the_package_has_a_name() -> None:
    files = resources.files("contextwright").joinpath("data", "recipes").iterdir()
    assert {file.name for file in files} == {f"{name}.toml" for name in recipe_files.SHIPPED}


def test_a_recipe_by_name_or_path_wherever_one_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('system = ["Be brief."]\nsummary = true\n', "utf-8")
    mine, talk = recipe_files.load(file), [cw.user("Soup?"), cw.assistant("Yes."), cw.user("Why?")]
    built = cw.build(talk, str(file), model="gpt-4o")
    assert built.receipt() == mine.build(talk, model="gpt-4o").receipt()
    rows = cw.simulate(talk, ["013", str(file)], model="gpt-4o")
    assert [row.recipe for row in rows] == ["013", "mine"]
    assert cw.simulate(talk, "013", model="gpt-4o") == rows[:1]
    with cw.Store(tmp_path / "chat.db") as store:
        chat = store.conversation("lunch")
        chat.add(talk)
        stored = chat.context(str(file), model="gpt-4o")
        assert list(stored.sections.values()) == ["Be brief."]
        assert chat.summarise(str(file), model="gpt-4o") is None
        assert chat.undo_summary(str(file)) is None
        assert chat.ask("And now?", model="echo", recipe="aya").text == "And now?"


@pytest.mark.parametrize("name", ["014", "no.toml", "a\0b.toml", "\ud800.json", 3, None, b"013"])
def test_a_name_of_no_recipe_is_refused(name: Any, tmp_path: Path) -> None:
    with cw.Store(tmp_path / "chat.db") as store:
        chat = store.conversation("lunch")
        for call in (
            lambda: cw.build([cw.user("x")], name, model="gpt-4o"),
            lambda: cw.simulate([cw.user("x")], [name], model="gpt-4o"),
            lambda: chat.context(name, model="gpt-4o"),
            lambda: chat.summarise(name, model="gpt-4o"),
            lambda: chat.undo_summary(name),
            lambda: chat.ask("x", model="echo", recipe=name),
            lambda: ContextBuilder(recipe=name),
        ):
            with pytest.raises(cw.UsageError):
                call()


WRONG: dict[str, tuple[Any, ...]] = {
    "answer": ("5", True, 1.5, 0, -5, 10**13),
    "budget": ("5", True, 1.5, 0, -1, 10**13),
    "cache": (1, None, "yes"),
    "name": (5, None),
    "options": ([], None),
    "oversize": ("shrink", None),
    "reply_media": (1, None),
    "reply_tools": ([], None),
    "stored_system": ("drop", True),
    "system": (5, None, b"Be kind.", {"a": 1}),
    "title": (5, None),
    "unseen": ("5", None, -1, 10**13),
    "window": ("stepped", None, cw.windows.Clearing()),
}


@pytest.mark.parametrize(
    ("field", "value"), [(f, v) for f, values in WRONG.items() for v in values]
)
def test_a_field_of_the_wrong_type_is_refused(field: str, value: Any) -> None:
    with pytest.raises(cw.UsageError, match=f"^{field} cannot be "):
        cw.Recipe(**{field: value})


def test_a_class_that_is_no_import_path_is_refused() -> None:
    with pytest.raises(cw.ParseError, match=r"system\[0\]: cannot import '\.mine:Weather'"):
        recipe_files.read({"system": [{"type": ".mine:Weather"}]}, imports=True)
