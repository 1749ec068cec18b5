"""Recipes as files."""

from typing import Any

import pytest

import contextwright as cw
from contextwright.context import recipe_files


@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        (
            {"fading": {"results": 2}},
            "recipe 'mine': Object contains unknown field `fading` (it is called 'clearing' now)",
        ),
        (
            {"system": ["Hi", {"type": "relevant"}]},
            "recipe 'mine': system[1].type: Invalid value 'relevant' "
            "(it is called 'past-excerpts' now)",
        ),
        (
            {"system": [{"type": "recalled", "most": 3}]},
            "recipe 'mine': system[0].type: Invalid value 'recalled' "
            "(it is called 'past-messages' now)",
        ),
    ],
)
def test_names_of_the_first_version_get_the_new_one(recipe: Any, expected: str) -> None:
    with pytest.raises(cw.ParseError) as caught:
        recipe_files.read(recipe, name="mine")
    assert str(caught.value) == expected
