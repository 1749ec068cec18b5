"""Contexts over HTTP are those that the library builds."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.context import recipe_files
from contextwright.context.receipt import unmarked
from contextwright.store.frames import newest_question_time
from contextwright.text.json import encode_json
from profiles import STORE, examples
from serve.api.client import ID, Client, of

MODEL = "claude-sonnet-5-5"


def library(client: Client, recipe: cw.Recipe, at: int | None = None, **options: Any) -> cw.Context:
    """The context that the store itself builds."""
    chat = client.store.conversation(ID)
    now = newest_question_time(chat, at)
    given: Any = {"model": MODEL, **options}
    return chat.context(recipe, at=at, now=now, **given)


@examples(STORE)
@given(
    at=st.integers(1, 48) | st.none(),
    recipe=st.sampled_from(recipe_files.SHIPPED),
    model=st.sampled_from([None, "gpt-4o", "gemini-3.8-flash"]),
    format=st.sampled_from([None, "openai-chat", "anthropic"]),
    budget=st.integers(200, 4_000) | st.none(),
)
def test_a_context_over_http_is_the_librarys(
    client: Client,
    at: int | None,
    recipe: str,
    model: str | None,
    format: str | None,
    budget: int | None,
) -> None:
    asked = {"at": at, "recipe": recipe, "model": model, "format": format, "budget": budget}
    query = "&".join(f"{name}={value}" for name, value in asked.items() if value is not None)
    answer = client.call(f"{of()}/context?{query}")
    chosen = recipe_files.find(recipe)
    options: dict[str, Any] = {"model": model or MODEL, "format": format, "budget": budget}
    if answer.status == 422:
        with pytest.raises(cw.BudgetError) as refused:
            library(client, chosen, at, **options)
        assert answer.json["error"]["minimum"] == refused.value.minimum
        return
    own, found = library(client, chosen, at, **options), answer.json
    assert found["payload"] == own.payload
    assert found["ledger"] == msgspec.json.decode(msgspec.json.encode(own.ledger))
    assert found["at"] == (at or 48)
    assert [(run["first"], run["last"], run["action"]) for run in found["runs"]] == [
        (run.start + 1, run.stop, run.action) for run in own.decisions.runs
    ]
    assert sum(one["tokens"] for one in found["sent"]) == own.ledger.history
    assert [(one["code"], one["reason"]) for one in found["changes"]] == [
        (one.code, one.reason) for one in own.changes
    ]
    assert client.call(f"{of()}/payload?{query}").json == own.payload


def test_changes_and_runs_name_messages_by_their_number(client: Client) -> None:
    found = client.call(f"{of()}/context?budget=1200&payload=false").json
    assert found["payload"] is None
    assert (found["runs"][0]["first"], found["runs"][-1]["last"]) == (1, 48)
    for before, after in zip(found["runs"], found["runs"][1:], strict=False):
        assert before["last"] + 1 == after["first"]
    assert [one["code"] for one in found["problems"]] == ["A-tools-missing"]
    assert found["marks"]


def test_a_recipe_of_ones_own_builds_as_its_file_does(client: Client) -> None:
    recipe = {"system": ["You plan lunches."], "window": {"type": "keep-recent", "messages": 4}}
    answer = client.call(f"{of()}/context", {"recipe": recipe})
    own = library(client, recipe_files.read(recipe))
    assert answer.json["payload"] == own.payload
    assert answer.json["sections"][0]["text"] == "You plan lunches."


@pytest.mark.parametrize(
    "recipe",
    [
        {"system": [{"type": "os:system"}]},
        {"system": [{"type": "file", "path": "/etc/passwd"}]},
        {"window": 3},
        {"budget": -1},
    ],
)
def test_a_recipe_names_no_files_and_no_code(client: Client, recipe: dict[str, Any]) -> None:
    answer = client.call(f"{of()}/context", {"recipe": recipe})
    assert (answer.status, answer.json["error"]["type"]) == (422, "invalid")


@pytest.mark.parametrize(
    ("query", "cause"),
    [
        ("at=45&with=at:41", "nothing changed, only added"),
        ("budget=1500&with=at:4", "the window moved"),
        ("budget=1500&with=budget:4000", "the window moved"),
        ("with=recipe:013", "the system text changed"),
    ],
)
def test_two_requests_are_compared(client: Client, query: str, cause: str) -> None:
    found = client.call(f"{of()}/compare?{query}").json
    assert found["cause"] == cause
    assert found["shared"] + found["fresh"] == found["this"]["tokens"]
    assert (found["first_difference"] is None) == (cause == "nothing changed, only added")
    assert (found["cost"] == 0) == (found["first_difference"] is None)
    assert sum(found["other"]["parts"].values()) <= found["other"]["tokens"]
    assert (found["words"] is None) == (found["first_difference"] is None)


def test_a_comparison_shows_the_first_byte_that_differs(client: Client) -> None:
    found = client.call(f"{of()}/compare?budget=1500&with=budget:4000").json
    small, large = (library(client, cw.Recipe(), budget=budget) for budget in (1_500, 4_000))
    mine, theirs = (
        b"".join(encode_json(turn) for turn in unmarked(one.payload)["messages"])
        for one in (small, large)
    )
    words, byte = found["words"], found["words"]["byte"]
    assert mine[:byte] == theirs[:byte]
    assert mine[byte] != theirs[byte]
    assert mine.decode()[byte:].startswith(words["this"])
    assert theirs.decode()[byte:].startswith(words["other"])
    assert mine.decode()[:byte].endswith(words["before"])
    kept = {index + 1 for index in large.decisions.kept()}
    only = kept - {index + 1 for index in small.decisions.kept()}
    assert {n for run in found["other"]["only"] for n in range(run[0], run[1] + 1)} == only
    assert found["this"]["only"] == []
    assert found["seq"] in kept


def test_units_and_problems_name_messages(client: Client) -> None:
    found = client.call(f"{of()}/context?budget=1200").json
    kept = {one["seq"] for one in found["sent"]}
    named = [unit["seq"] for unit in found["units"] if unit["seq"]]
    assert kept.issuperset(named)
    assert named == sorted(named)
    assert named[-1] >= 47
    assert found["answer"] == 1_024
