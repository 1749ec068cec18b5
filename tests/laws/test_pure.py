"""A store's context is the build from all its messages, whatever was built before, and by whom."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.context.fitting import priced_history
from contextwright.context.fitting.recent import RECENT
from contextwright.context.options import BuildOptions
from contextwright.context.recipe import Recipe
from contextwright.errors import BudgetError
from contextwright.models import Model, find
from contextwright.store.engines.base import Connection
from contextwright.store.records import ConversationInfo
from contextwright.store.rows.importing import Importing
from contextwright.store.store import Store
from contextwright.windows import Window
from profiles import BODY, STORE, examples
from strategies import runs

recipes = st.builds(
    Recipe,
    window=runs.windows,
    clearing=runs.clearings,
    summary=st.sampled_from((None, None, cw.SummaryPolicy(), cw.SummaryPolicy(60))),
    stored_system=st.sampled_from(("keep", "keep", "skip")),
)
budgets = st.sampled_from((1_000, 2_000, 4_000, 8_000, 100_000))


def tools_with(number: float | None) -> list[cw.Tool] | None:
    """A tool whose arguments have a lowest value; 1, 1.0 and true are equal, and not written so."""
    if number is None:
        return None
    fields = {f"field {place}": {"minimum": number} for place in range(20)}
    return [cw.Tool("move", None, {"type": "object", "properties": fields})]


tools = st.sampled_from((None, None, 1, 1.0, True)).map(tools_with)


def facts_of(name: str, tokenizer: str | None) -> Model:
    """A model, perhaps with another tokenizer under its name."""
    model = find(name)
    return model if tokenizer is None else msgspec.structs.replace(model, tokenizer=tokenizer)


tokenizers = st.sampled_from((None, None, None, "cl100k_base"))
"""Whose facts a caller has: ours mostly."""


class Talk:
    """A conversation of a store, and the same messages in a list."""

    def __init__(self, store: Store, messages: list[cw.Message]) -> None:
        self.store, self.id = store, "a"
        self.said = list(messages)
        self.at: int | None = None
        """The moment that was asked about last."""

    def take_in(self) -> None:
        """Store the beginning as an import does."""
        info = ConversationInfo(self.id, 0)

        def work(connection: Connection) -> None:
            importing = Importing(connection, self.store.tenant)
            list(importing.add(info, self.said))
            importing.flush()

        self.store.engine.write_alone(work)

    def add(self, messages: list[cw.Message]) -> None:
        self.store.conversation(self.id).add(messages)
        self.said += messages

    def fork(self, at: int) -> None:
        self.store.conversation(self.id).fork(f"{self.id}'", at)
        self.id, self.said, self.at = f"{self.id}'", self.said[:at], None

    def hide(self, seq: int) -> None:
        self.store.conversation(self.id).hide(seq)
        self.said[seq - 1] = msgspec.structs.replace(self.said[seq - 1], visibility="hidden")

    def ask(self, data: st.DataObject) -> None:
        """A build from the store, now or of an earlier moment, is the one from the list."""
        recipe, budget = data.draw(recipes), data.draw(budgets)
        format, name = data.draw(runs.targets)
        model = facts_of(name, data.draw(tokenizers))
        at = data.draw(st.sampled_from((None, self.at)) | st.integers(1, len(self.said)))
        self.at = at
        whole, offered = cw.Conversation(tuple(self.said[:at]), id=self.id), data.draw(tools)
        options = BuildOptions(model=model, format=format, budget=budget, tools=offered)
        told = outcome(lambda: recipe.build(whole, **options))
        chat = self.store.conversation(self.id)
        assert told == outcome(lambda: chat.context(recipe, at=at, **options))


def outcome(build: object) -> object:
    """A payload with its decisions and changes, or the smallest budget in its place."""
    try:
        context: cw.Context = build()  # pyright: ignore
    except BudgetError as error:
        return error.minimum
    return context.payload, context.decisions.runs, context.changes, context.ledger


def play(talk: Talk, rest: list[cw.Message], again: list[Store], data: st.DataObject) -> None:
    """Builds of every kind, between them turns, forks, and another program on the same store."""
    talk.take_in()
    for _ in range(data.draw(st.integers(2, 6))):
        match data.draw(st.sampled_from(("ask", "ask", "add", "fork", "hide", "other"))):
            case "add" if rest:
                count = data.draw(st.integers(1, len(rest)))
                talk.add(rest[:count])
                rest = rest[count:]
            case "fork" if talk.id == "a":
                talk.fork(data.draw(st.integers(1, len(talk.said))))
            case "hide" if talk.id == "a":
                talk.hide(data.draw(st.integers(1, len(talk.said))))
            case "other":
                talk.store = data.draw(st.sampled_from(again))
            case _:
                talk.ask(data)
    talk.ask(data)


@examples(STORE)
@given(
    runs.histories(6),
    st.builds(Recipe, window=runs.windows, clearing=runs.clearings, summary=runs.summaries),
    runs.targets,
    st.lists(st.tuples(st.integers(60, 400) | budgets, tokenizers), min_size=2, max_size=5),
)
def test_whatever_was_built_before_from_a_kept_history(
    messages: list[cw.Message],
    recipe: Recipe,
    target: tuple[str, str],
    builds: list[tuple[int, str | None]],
) -> None:
    format, name = target
    history = recipe.history(messages, model=name, format=format)
    for budget, tokenizer in builds:
        model = facts_of(name, tokenizer)
        build = partial(recipe.build, model=model, format=format, budget=budget)
        assert outcome(partial(build, history)) == outcome(partial(build, messages))


@examples(BODY)
@given(
    runs.histories(),
    runs.windows.filter(lambda window: not window.is_unlimited and not window.first_messages),
    runs.clearings,
    runs.summaries,
    runs.targets,
    st.data(),
)
def test_however_little_of_a_list_is_read_at_first(
    messages: list[cw.Message],
    window: Window,
    clearing: cw.Clearing,
    summary: cw.SummaryPolicy | None,
    target: tuple[str, str],
    data: st.DataObject,
) -> None:
    """And however much of it an earlier build has read."""
    recipe = Recipe(window=window, clearing=clearing, summary=summary)
    format, model = target
    stops = st.integers(len(messages) // 2 + 1, len(messages))
    RECENT.forget()
    for stop in sorted(data.draw(st.lists(stops, min_size=1, max_size=3))):
        budget = data.draw(st.integers(60, 400) | budgets)
        build = partial(recipe.build, model=model, format=format, budget=budget)
        history = recipe.history(messages[:stop], model=model, format=format)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(priced_history, "NEWEST", data.draw(st.integers(1, 4)))
            told = outcome(partial(build, messages[:stop]))
        assert told == outcome(partial(build, history))


@examples(STORE)
@given(runs.histories(6), st.data())
def test_whatever_was_built_before_on_sqlite(
    messages: list[cw.Message], data: st.DataObject
) -> None:
    first = data.draw(st.integers(1, len(messages)))
    with TemporaryDirectory() as folder:
        file = Path(folder) / "chat.db"
        with Store(file, sync="fast") as store, Store(file, sync="fast") as other:
            play(Talk(store, messages[:first]), messages[first:], [store, other], data)


@pytest.fixture(scope="module")
def servers(shared_postgres: str) -> Iterator[tuple[Store, Store]]:
    with Store(shared_postgres, sync="fast") as one, Store(shared_postgres, sync="fast") as other:
        yield one, other


TENANTS = itertools.count()


@examples(STORE)
@given(runs.histories(6), st.data())
def test_whatever_was_built_before_on_postgres(
    servers: tuple[Store, Store], messages: list[cw.Message], data: st.DataObject
) -> None:
    first = data.draw(st.integers(1, len(messages)))
    tenant = f"pure {next(TENANTS)}"
    stores = [one.for_tenant(tenant) for one in servers]
    play(Talk(stores[0], messages[:first]), messages[first:], stores, data)


def test_a_model_of_the_same_name_with_other_facts_is_another(tmp_path: Path) -> None:
    messages = [cw.user(f"Потяг {number} відходить о сьомій. " * 9) for number in range(40)]
    with Store(tmp_path / "chat.db") as store:
        chat = store.conversation("a")
        chat.add(messages)
        for tokenizer in (None, "cl100k_base", None):
            options = BuildOptions(model=facts_of("gpt-4o", tokenizer), budget=2_000)
            whole = cw.Conversation(tuple(messages), id="a")
            assert (
                chat.context(Recipe(), **options).ledger == Recipe().build(whole, **options).ledger
            )


def test_another_process_builds_the_same_bytes(tmp_path: Path) -> None:
    messages = [
        each
        for number in range(60)
        for each in (cw.user(f"question {number}? " * 9), cw.assistant(f"answer {number} " * 20))
    ]
    with Store(tmp_path / "chat.db") as store:
        store.conversation("a").add([*messages, cw.user("And?")])
        for budget in (2_000, 4_000):
            context = store.conversation("a").context(Recipe(), model="gpt-4o", budget=budget)
    command = (sys.executable, "-m", "contextwright", "build", "a", "--model", "gpt-4o")
    place = ("--store", str(tmp_path / "chat.db"), "--budget", "4000")
    run = subprocess.run([*command, *place], capture_output=True, check=True)
    assert json.loads(run.stdout) == context.payload
