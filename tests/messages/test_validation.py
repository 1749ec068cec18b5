"""A wrong value in a message is named with its path, and with what may be there."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.context import recipe_files

WRONG: list[tuple[Any, str]] = [
    (cw.Message("user", "Soup?"), "messages[0].parts cannot be 'Soup?' (a list of Text(…), "),  # pyright: ignore
    (cw.Message("usr", (cw.Text("x"),)), "messages[0].role cannot be 'usr' (system, user, "),  # pyright: ignore
    (cw.Message("user", ("x",)), "messages[0].parts[0] cannot be 'x' (Text(…), "),  # pyright: ignore
    (cw.Message("user", (cw.Text(5),)), "messages[0].parts[0].text cannot be 5 (text)"),  # pyright: ignore
    (
        cw.Message("user", (cw.Text("x"), cw.Text("y", extra=5))),  # pyright: ignore
        "messages[0].parts[1].extra cannot be 5 (an object)",
    ),
    (
        cw.Message("user", (cw.Text("x"),), author="Max"),  # pyright: ignore
        "messages[0].author cannot be 'Max' (Author(…))",
    ),
]


@pytest.mark.parametrize(("message", "reason"), WRONG)
def test_a_store_and_a_format_name_a_wrong_value_alike(
    tmp_path: Path, message: cw.Message, reason: str
) -> None:
    with pytest.raises(cw.UsageError) as rendered:
        cw.render([message], "anthropic")
    with cw.Store(tmp_path / "chat.db") as store, pytest.raises(cw.UsageError) as stored:
        store.conversation("lunch").add(message)
    assert str(rendered.value).startswith(reason)
    assert str(stored.value) == str(rendered.value)


KEYS = st.one_of(st.text(), st.sampled_from(["x` - at `$.y", "` - at `$[0]", "a - at `$", "..."]))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), KEYS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)
FIELDS = st.sampled_from(["window", "system", "budget", "clearing", "placement", "reply_tools"])


@given(st.dictionaries(st.one_of(FIELDS, KEYS), VALUES, max_size=3))
def test_whatever_a_recipe_holds_the_error_is_ours_and_short(data: dict[str, Any]) -> None:
    assert len(complaint(data)) < 1_000


def complaint(data: dict[str, Any]) -> str:
    """Why a recipe is refused; empty if it is not."""
    try:
        recipe_files.read(data)
    except cw.ContextwrightError as error:
        return str(error.args[0])
    return ""
