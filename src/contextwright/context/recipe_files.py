"""Recipes as TOML or JSON files: your own, or those that come with the package."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module, resources
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, cast

import msgspec
from msgspec import Meta, Struct

from contextwright.context.omission import OmissionNote
from contextwright.context.recipe import Recipe
from contextwright.context.recipe_data import RecipeData
from contextwright.documents.read import decode
from contextwright.errors import (
    ContextwrightError,
    ParseError,
    UsageError,
    in_one_line,
    require,
    shown,
)
from contextwright.formats.base import as_options
from contextwright.sections import BuiltIn, File, Section
from contextwright.sections.budget import as_section
from contextwright.summaries.policy import SummaryPolicy
from contextwright.text.fields import wrong_value
from contextwright.text.json import convert
from contextwright.text.toml import decode_toml
from contextwright.windows.clearing import Clearing
from contextwright.windows.policies import BuiltIn as BuiltInWindow
from contextwright.windows.policies import Stepped

__all__ = ["SHIPPED", "as_recipe", "find", "load", "read"]

R = TypeVar("R", bound=RecipeData)

SHIPPED = ("default", "recall", "aya", "013", "forge", "gryag", "port42")


class WrittenSummary(Struct, forbid_unknown_fields=True):
    """The summary policy in a file, without the summariser."""

    tokens: Annotated[int, Meta(ge=1)] = SummaryPolicy().tokens
    model: str | None = None


class RecipeFile(Struct, forbid_unknown_fields=True):
    """A recipe as a file has it."""

    title: str = ""
    system: list[str | BuiltIn] = []
    window: BuiltInWindow = Stepped()
    clearing: Clearing = Clearing()
    budget: int | None = None
    answer: int | None = None
    unseen: int = 0
    note: OmissionNote | bool = True
    summary: WrittenSummary | bool = False
    placement: Literal["volatility", "system"] = "volatility"
    oversize: Literal["refuse", "cut"] = "refuse"
    cache: bool = True
    stored_system: Literal["keep", "skip"] = "keep"
    reply_media: bool = False
    reply_tools: dict[str, str] = {}
    options: dict[str, Any] = {}


def as_recipe(recipe: R | str) -> R | Recipe:
    """Return the recipe; a string is the name of a shipped one, or the path of a file.

    Raises:
        UsageError: the value is neither a recipe nor the name of one.
    """
    if isinstance(recipe, str):
        return find(recipe)
    require(recipe, RecipeData, "a recipe", "pass a Recipe, or a name")
    return recipe


def find(name: str) -> Recipe:
    """Find a recipe by the name of a shipped one, or by the path of a file."""
    require(name, str, "the name of a recipe")
    if name in SHIPPED:
        return shipped(name)
    if Path(name).suffix in (".toml", ".json"):
        return load(Path(name))
    raise UsageError(
        f"unknown recipe {shown(name)}",
        hint=f"a .toml or .json file, or one of: {', '.join(SHIPPED)}",
    )


@cache
def shipped(name: str) -> Recipe:
    """Return a recipe of the package; read on first use."""
    file = resources.files("contextwright").joinpath(f"data/recipes/{name}.toml")
    return read(decode_toml(file.read_bytes()), name=name)


def load(path: Path) -> Recipe:
    """Read a recipe from a file."""
    try:
        content = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        hint = "name a .toml or .json file, or a recipe of cw recipes"
        raise UsageError(f"cannot read {shown(str(path))}: {reason}", hint=hint) from error
    except ValueError as error:  # NUL, or a lone surrogate
        raise UsageError(f"{shown(str(path))} is not a path") from error
    try:
        data = decode_toml(content) if path.suffix == ".toml" else decode(content)
    except ParseError as error:
        raise error.within(file=str(path)) from error
    return read(data, name=path.stem, folder=path.parent, imports=True)


def read(
    data: Any, *, name: str = "recipe", folder: Path | None = None, imports: bool = False
) -> Recipe:
    """Read a recipe from decoded TOML or JSON; it may name files below its folder only.

    With `imports`, sections may name a class by its import path: the author of such a recipe
    chooses which installed code runs.
    """
    try:
        data, own = without_own_sections(data, imports=imports)
        written = convert(data, RecipeFile)
        as_options(written.options)
        sections = [
            own.get(index) or rooted(section, folder)
            for index, section in enumerate(written.system)
        ]
        return recipe_of(written, sections, name)
    except msgspec.ValidationError as error:
        raise refused(name, data, error) from error
    except ContextwrightError as error:
        raise ParseError(f"recipe {shown(name)}: {error}") from error


def recipe_of(written: RecipeFile, sections: Sequence[str | Section], name: str) -> Recipe:
    """Return a recipe as it was written, with its sections."""
    note = written.note
    if isinstance(note, bool):
        note = OmissionNote() if note else None
    return Recipe(
        name=name,
        title=written.title,
        system=tuple(sections),
        window=written.window,
        clearing=written.clearing,
        budget=written.budget,
        answer=written.answer,
        unseen=written.unseen,
        note=note,
        summary=summary_of(written.summary),
        placement=written.placement,
        oversize=written.oversize,
        cache=written.cache,
        stored_system=written.stored_system,
        reply_media=written.reply_media,
        # TOML has no null: an empty argument means a tool that only ends the turn.
        reply_tools={tool: argument or None for tool, argument in written.reply_tools.items()},
        options=written.options,
    )


def without_own_sections(data: Any, *, imports: bool) -> tuple[Any, dict[int, Section]]:
    """Remove sections that name a class by its import path from a recipe.

    Returns the recipe with an empty text in place of each, and the sections by index.

    Raises:
        UsageError: there is no such class, or it does not accept these fields.
    """
    own: dict[int, Section] = {}
    written = cast("dict[str, Any]", data if isinstance(data, dict) else {})
    system = written.get("system")
    if not imports or not isinstance(system, list):
        return cast("Any", data), own
    rest = list(cast("list[Any]", system))
    for index, fields in enumerate(rest):
        if isinstance(fields, dict) and ":" in str(cast("Any", fields).get("type", "")):
            own[index] = made_section(dict(cast("dict[str, Any]", fields)), index)
            rest[index] = ""
    return {**written, "system": rest}, own


def made_section(fields: dict[str, Any], index: int) -> Section:
    """Return a section of a class that is named by its import path, such as `my_bot:Weather`."""
    place = str(fields.pop("type"))
    module, _, name = place.partition(":")
    try:
        kind = getattr(import_module(module), name)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        hint = "module:Class, of a module that Python can import here"
        raise UsageError(f"system[{index}]: cannot import {shown(place)}", hint=hint) from error
    if not isinstance(kind, type) or not callable(getattr(kind, "write", None)):
        hint = "a class with a method write(moment)"
        raise UsageError(f"system[{index}]: {shown(place)} is not a section", hint=hint)
    try:
        return as_section(cast("Any", kind)(**fields), index)
    except TypeError as error:
        raise UsageError(f"system[{index}]: {shown(place)}: {in_one_line(error)}") from error


def summary_of(written: WrittenSummary | bool) -> SummaryPolicy | None:
    """Return the summary policy, if there is one."""
    if isinstance(written, WrittenSummary):
        return SummaryPolicy(written.tokens, written.model)
    return SummaryPolicy() if written else None


def refused(name: str, data: Any, error: msgspec.ValidationError) -> ParseError:
    """Return an error with the path into the recipe, and what is valid there."""
    wrong = wrong_value(data, RecipeFile, error)
    today = RENAMED.get(str(error).partition(" - at `")[0])
    hint = f"it is called {today!r} now" if today else wrong.hint or "see docs/recipes.md"
    return ParseError(str(wrong.args[0]), path=f"recipe {shown(name)}", hint=hint)


RENAMED = {
    "Object contains unknown field `fading`": "clearing",
    "Invalid value 'recalled'": "past-messages",
    "Invalid value 'relevant'": "past-excerpts",
}
"""msgspec's errors for names of version 0.1, and today's names."""


def rooted(section: str | BuiltIn, folder: Path | None) -> str | BuiltIn:
    """Return the section; one that reads a file reads it below the recipe's folder.

    Raises:
        UsageError: the recipe has no folder, or its section names another one.
    """
    if not isinstance(section, File):
        return section
    if folder is None:
        raise UsageError(f"it has no folder to read {shown(section.path)} in")
    if section.root is not None:
        raise UsageError("files are read below the recipe's own folder")
    return msgspec.structs.replace(section, root=str(folder))
