"""The catalogue to choose from: recipes, formats, models."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Annotated, Any

from msgspec import Meta, Struct

from contextwright import formats
from contextwright.context import recipe_files
from contextwright.models import Model, Models
from contextwright.serve.api.contexts.contexts import recipe_named
from contextwright.serve.http.fields import ModelName

__all__ = ["get_model", "get_recipe", "list_formats", "list_models", "list_recipes"]


class RecipeEntry(Struct, frozen=True):
    """A recipe of the package."""

    name: str
    title: str


class RecipeList(Struct, frozen=True):
    """The recipes of the package."""

    recipes: list[RecipeEntry]


class RecipeQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which recipe."""

    recipe: Annotated[str, Meta(max_length=256, description="Name of a recipe.")]


class FormatEntry(Struct, frozen=True):
    """A format, and what it has besides requests."""

    name: str
    title: str
    replies: bool
    streams: bool


class FormatList(Struct, frozen=True):
    """All formats."""

    formats: list[FormatEntry]


class ModelList(Struct, frozen=True):
    """All known models."""

    models: list[Model]


class ModelQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which model."""

    model: ModelName


def list_recipes() -> RecipeList:
    """List the recipes that come with the package."""
    found = [recipe_files.find(name) for name in recipe_files.SHIPPED]
    return RecipeList([RecipeEntry(recipe.name, recipe.title) for recipe in found])


def get_recipe(query: RecipeQuery) -> dict[str, Any]:
    """Return a recipe as data; it can be changed, and posted to build a context."""
    name = recipe_named(query.recipe).name
    folder = resources.files("contextwright").joinpath("data/recipes")
    return tomllib.loads(folder.joinpath(f"{name}.toml").read_text("utf-8"))


def list_formats() -> FormatList:
    """List the formats."""
    found = [formats.find(name) for name in formats.NAMES]
    return FormatList(
        [
            FormatEntry(
                one.name, one.title, one.parse_reply is not None, one.parse_stream is not None
            )
            for one in found
        ]
    )


def list_models() -> ModelList:
    """List the known models with their limits and prices."""
    return ModelList(list(Models.shipped()))


def get_model(query: ModelQuery) -> Model:
    """Return the facts about a model.

    Any name has some: `matched` says whether they are its own, or those of its family.
    """
    return Models.shipped().find(query.model)
