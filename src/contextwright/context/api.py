"""`build` for programs: takes a recipe, or the name of one."""

from __future__ import annotations

from typing import Unpack

from contextwright.context.build import build as build_by
from contextwright.context.context import Context
from contextwright.context.fitting.plan import Given
from contextwright.context.options import BuildOptions
from contextwright.context.recipe_data import RecipeData
from contextwright.context.recipe_files import as_recipe
from contextwright.summaries.summary import SummarySource

__all__ = ["build"]


def build(
    conversation: Given,
    recipe: RecipeData | str = "default",
    *,
    summaries: SummarySource | None = None,
    **options: Unpack[BuildOptions],
) -> Context:
    """Build the best valid request within the budget, with its receipt.

    `recipe` may be the name of one that comes with the package, or the path of a file. Sections
    only see the time and the memories passed in. `summaries` provides summaries that are not made
    here.

    Raises:
        BudgetError: the required parts do not fit; it names the smallest budget that works.
    """
    return build_by(conversation, as_recipe(recipe), summaries=summaries, **options)
