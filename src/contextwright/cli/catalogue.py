"""`cw formats`, `cw models` and `cw recipes`: the lists to choose from."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, cast

import msgspec

from contextwright import formats as known_formats
from contextwright.cli import completion
from contextwright.cli.arguments import find_model, known_models
from contextwright.cli.options import Argument, AsJson, ModelsFile
from contextwright.cli.output import note, say, say_json, table
from contextwright.context import recipe_files as known_recipes
from contextwright.formats.base import Format
from contextwright.models import Model

__all__ = ["formats", "models", "recipes"]


def formats(as_json: AsJson = False) -> int:
    """List the formats.

    \b
    cw formats
    """
    found = [known_formats.find(name) for name in known_formats.NAMES]
    if as_json:
        say_json([described(format) for format in found])
    else:
        say(table([(format.name, format.title) for format in found]))
    return 0


def described(format: Format) -> dict[str, Any]:
    """Return a format as data."""
    return {
        "name": format.name,
        "title": format.title,
        "replies": format.parse_reply is not None,
        "streams": format.parse_stream is not None,
    }


def recipes(
    name: Annotated[
        str | None,
        Argument(
            "[NAME|FILE]", help="Recipe to print. Default: list all.", complete=completion.recipes
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """List the shipped recipes, or print one.

    A printed recipe is a start for your own. A file is checked before it is printed.

    \b
    cw recipes
    cw recipes gryag > mine.toml
    """
    if name is not None:
        known_recipes.find(name)
        shipped = name in known_recipes.SHIPPED
        text = recipe_text(name) if shipped else Path(name).read_text("utf-8-sig")
        if not as_json:
            say(text.rstrip())
        elif name.endswith(".json"):
            say_json(msgspec.json.decode(text))
        else:
            say_json(tomllib.loads(text))
        return 0
    found = [known_recipes.find(name) for name in known_recipes.SHIPPED]
    if as_json:
        say_json([{"name": recipe.name, "title": recipe.title} for recipe in found])
    else:
        say(table([(recipe.name, recipe.title) for recipe in found]))
    return 0


def recipe_text(name: str) -> str:
    """Return the file of a shipped recipe."""
    folder = resources.files("contextwright").joinpath("data/recipes")
    return folder.joinpath(f"{name}.toml").read_text("utf-8")


def models(
    name: Annotated[
        str | None,
        Argument("[NAME]", help="Name of a model. Default: list all.", complete=completion.models),
    ] = None,
    models: ModelsFile = None,
    as_json: AsJson = False,
) -> int:
    """List the known models, or one model's facts.

    A name that is not in the table gets the facts of the longest known prefix or of its family,
    with a remark.

    \b
    cw models
    cw models claude-sonnet-5-5
    cw models my-model --models my-models.toml --json
    """
    if name is None:
        rows = list(known_models(models))
        say_json(rows) if as_json else say(table([COLUMNS, *map(row, rows)]))
        return 0
    model = find_model(name, models)
    say_json(model) if as_json else say(facts(model))
    if model.note:
        note(f"cw: {model.note}")
    return 0


COLUMNS = ("model", "format", "input", "output", "tokenizer", "$ in", "$ out")


def row(model: Model) -> tuple[str, ...]:
    """Return a model as a row; prices are per million tokens."""
    return (
        model.id,
        model.format,
        f"{model.max_input:,}",
        "" if model.max_output is None else f"{model.max_output:,}",
        model.tokenizer,
        price(model.prices.input),
        price(model.prices.output),
    )


def price(dollars: float | None) -> str:
    """Format dollars without needless zeros; a dash if unknown."""
    return "-" if dollars is None else f"{dollars:g}"


def facts(model: Model) -> str:
    """Return everything known about a model, one fact per line."""
    values = msgspec.structs.asdict(model)
    return "\n".join(
        f"{name:<{max(map(len, values))}}  {spelled(value)}" for name, value in values.items()
    )


def spelled(value: object) -> str:
    """Format a fact for people."""
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, tuple):
        return ", ".join(map(str, cast("tuple[object, ...]", value))) or "none taken"
    if isinstance(value, msgspec.Struct):
        pairs = msgspec.structs.asdict(value).items()
        known = ", ".join(f"{name} {spelled(item)}" for name, item in pairs if item is not None)
        return known or "-"
    return str(value)
