"""The store for an event loop does what the store does, call by call."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright.store import Turn

RECIPE = cw.Recipe(system=["Be short."], budget=60, summary=cw.SummaryPolicy())
Step = tuple[str, tuple[Any, ...], dict[str, Any]]


def step(name: str, *given: Any, **options: Any) -> Step:
    return name, given, options


def words(count: int) -> cw.Message:
    return cw.user(f"Words of message {count}, about soup and bread.", author="ann")


STEPS = [
    step("chat.add", words(1)),
    step("chat.add", [words(2), cw.assistant("Soup.")], "once"),
    step("chat.add", [words(2), cw.assistant("Soup.")], key="once"),
    *(step("chat.add", [words(one), cw.assistant("Bread.")]) for one in range(4, 12)),
    step("add_each", [Turn("other", [words(1)]), Turn("other", [])]),
    step("add_all", [Turn("third", [words(1)]), Turn("third", [words(2)])]),
    step("list"),
    step("chat.length"),
    step("chat.details"),
    step("chat.read", 2, 4),
    step("chat.tail", 2),
    step("chat.hide", 1),
    step("chat.read", 1, 3),
    step("chat.read", 1, 3, hidden=True),
    step("chat.show", 1),
    step("chat.delete", 3),
    step("chat.delete", 3),
    step("chat.edit", 1, "Another text about cheese."),
    step("chat.versions", 1),
    step("chat.edit", 1, "A third text about cheese.", keep=False),
    step("chat.versions", 1),
    step("chat.pin", 2),
    step("chat.read", 1, 4, hidden=True),
    step("chat.unpin", 2),
    step("chat.update", title="Lunch", agent="cook", settings={"own": 1}),
    step("chat.update", title=None),
    step("chat.details"),
    step("chat.fork", "branch", 4),
    step("rename", "branch", "twig"),
    step("list"),
    step("search", "cheese"),
    step("search", "soup", "third", 1),
    step("chat.search", "cheese"),
    step("recall", "Who likes cheese?", budget=50),
    step("chat.recall", "Who likes cheese?", limit=1),
    step("index", "main", words_only=True),
    step("index", again=True),
    step("drop_unused_vectors"),
    step("remember", "Likes tea.", about="ann"),
    step("remember", cw.Memory("fact", "Likes milk.", about="bob", at="2026-01-01T00:00:00Z")),
    step("memories"),
    step("memories", about="bob", kind="fact"),
    step("update_memory", "MEMORY", text="Likes green tea."),
    step("memories", about="ann"),
    step("forget_memory", "MEMORY"),
    step("memories"),
    step("chat.context", RECIPE, model="gpt-4o"),
    step("chat.summarise", RECIPE, model="gpt-4o"),
    step("chat.summaries"),
    step("chat.undo_summary", RECIPE),
    step("chat.summaries"),
    step("chat.calibration", "gpt-4o"),
    step("chat.make_episodes"),
    step("chat.episodes"),
    step("requests"),
    step("request", 1),
    step("request_bodies", 1),
    step("chat.erase", 1, 2),
    step("chat.read", 1, 4, hidden=True),
    step("tenants"),
    step("erase_before", "2026-02-01T00:00:00Z"),
    step("erase_person", "ann"),
    step("chat.read"),
    step("forget", "third"),
    step("erase_tenant", ""),
    step("list"),
    step("scrub"),
]
NOT_CALLED = {"ask", "ask_stream", "close", "conversation", "each", "for_tenant", "run", "store"}
"""Tested in tests/ask, or called for every step."""


def test_both_do_the_same(tmp_path: Path) -> None:
    with cw.Store(tmp_path / "now.db", embedder=None) as store:
        expected = [*told(store)]
    assert asyncio.run(later(tmp_path / "later.db")) == expected


def test_a_tenant_s_name_is_checked_at_once(tmp_path: Path) -> None:
    store = cw.AsyncStore(tmp_path / "later.db")
    with pytest.raises(cw.UsageError, match="tenant"):
        store.for_tenant("a\0b")
    asyncio.run(store.close())


def test_every_method_is_called() -> None:
    called = {name.rpartition(".")[2] for name, _, _ in STEPS}
    methods = {name for kind in (cw.AsyncStore, cw.AsyncChat) for name in dir(kind)}
    assert {name for name in methods if not name.startswith("_")} - called == NOT_CALLED


def told(store: cw.Store) -> Iterator[str]:
    """What each step gives."""
    memory = ""
    for name, given, options in STEPS:
        try:
            result = call(store, name, given, options, memory)
            result = [*result] if isinstance(result, Iterator) else result
        except cw.ContextwrightError as error:
            result = error
        memory = memory or (str(result) if name == "remember" else "")
        yield lasting(name, result)


async def later(path: Path) -> list[str]:
    """What each step gives in an event loop."""
    found: list[str] = []
    memory = ""
    async with cw.AsyncStore(path, embedder=None) as store:
        for name, given, options in STEPS:
            try:
                result = call(store, name, given, options, memory)
                if isinstance(result, AsyncIterator):
                    result = [one async for one in result]
                elif isinstance(result, Awaitable):
                    result = await result
            except cw.ContextwrightError as error:
                result = error
            memory = memory or (str(result) if name == "remember" else "")
            found.append(lasting(name, result))
    return found


def call(
    store: Any, name: str, given: tuple[Any, ...], options: dict[str, Any], memory: str
) -> Any:
    """Call a method of the store, or of a conversation in it."""
    owner, _, method = name.rpartition(".")
    function: Callable[..., Any] = attrgetter(method)(
        store.conversation("main") if owner else store
    )
    return function(*(memory if one == "MEMORY" else one for one in given), **options)


def lasting(name: str, result: object) -> str:
    """A result without times and ids, which differ."""
    shown = type(result).__name__.removeprefix("Async") if name == "chat.fork" else repr(result)
    shown = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME", shown)
    return f"{name} {re.sub(r'[0-9a-f]{16}|0x[0-9a-f]+|later|now', '…', shown)}"


def test_a_second_close_does_nothing(tmp_path: Path) -> None:
    async def close_twice() -> None:
        async with cw.AsyncStore(tmp_path / "chat.db", embedder=None) as store:
            other = store.for_tenant("acme")
            await other.conversation("lunch").add(words(1))
            await store.close()
            await store.close()
        await other.close()
        with pytest.raises(cw.UsageError, match="the store is closed"):
            await other.conversation("lunch").length()

    asyncio.run(close_twice())
