"""Recipes as files: TOML or JSON, yours or one of those that come with the package."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from contextwright.errors import ContextwrightError, ParseError, UsageError, shown
from contextwright.history import Fading
from contextwright.recipe import Note, Recipe
from contextwright.sections import BuiltIn
from contextwright.windows import Stepped, Window

__all__ = ["SHIPPED", "find", "load", "read"]

SHIPPED = ("default", "aya", "013", "forge", "gryag", "port42")


class Written(Struct, forbid_unknown_fields=True):
    """A recipe as it stands in a file."""

    title: str = ""
    system: list[str | BuiltIn] = []
    window: Window = Stepped()
    fading: Fading = Fading()
    budget: int | None = None
    answer: int = 1_024
    note: Note | bool = True
    placement: Literal["volatility", "system"] = "volatility"
    oversize: Literal["refuse", "cut"] = "refuse"
    cache: bool = True
    stored_system: Literal["keep", "skip"] = "keep"
    reply_tools: dict[str, str] = {}
    options: dict[str, Any] = {}


def find(name: str) -> Recipe:
    """A recipe by the name of a shipped one, or by the path of a file."""
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
    """A recipe of the package; read at its first use."""
    text = resources.files("contextwright").joinpath(f"data/recipes/{name}.toml").read_text("utf-8")
    return read(tomllib.loads(text), name=name)


def load(path: Path) -> Recipe:
    """A recipe from a file."""
    try:
        text = path.read_text("utf-8")
        data = tomllib.loads(text) if path.suffix == ".toml" else msgspec.json.decode(text)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ParseError(f"{path}: {error}") from error
    return read(data, name=path.stem)


def read(data: Any, *, name: str = "recipe") -> Recipe:
    """A recipe from decoded TOML or JSON."""
    try:
        written = msgspec.convert(data, Written)
    except msgspec.ValidationError as error:
        raise ParseError(f"recipe {shown(name)}: {error}", hint="see docs/recipes.md") from error
    except ContextwrightError as error:
        raise ParseError(f"recipe {shown(name)}: {error}") from error
    note = written.note if isinstance(written.note, Note) else (Note() if written.note else None)
    return Recipe(
        name=name,
        title=written.title,
        system=tuple(written.system),
        window=written.window,
        fading=written.fading,
        budget=written.budget,
        answer=written.answer,
        note=note,
        placement=written.placement,
        oversize=written.oversize,
        cache=written.cache,
        stored_system=written.stored_system,
        # TOML has no null: an empty argument is a tool that only ends the turn.
        reply_tools={tool: argument or None for tool, argument in written.reply_tools.items()},
        options=written.options,
    )
