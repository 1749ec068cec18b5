"""Claude Agent SDK: sessions as conversations. Its own contract of a store is tested apart."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright.integrations.claude_agent import StoreSessions

KEY = {"project_key": "my project/é", "session_id": "s1"}
QUESTION = {
    "type": "user",
    "uuid": "u1",
    "timestamp": "2026-11-16T10:00:00Z",
    "message": {"role": "user", "content": "Is there risotto?"},
}
CALL = {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": "menu"}}
ENTRIES: list[dict[str, Any]] = [
    {"type": "custom-title", "customTitle": "Lunch"},
    QUESTION,
    {"type": "assistant", "uuid": "u2", "message": {"role": "assistant", "content": [CALL]}},
    {
        "type": "user",
        "uuid": "u3",
        "message": {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "Risotto, soup"}],
        },
    },
    {"type": "user", "uuid": "u4", "message": {"role": "user", "content": 7}},
]


@pytest.fixture
def sessions(tmp_path: Path) -> Callable[[], StoreSessions]:
    numbers = iter(range(1_000))
    return lambda: StoreSessions(cw.AsyncStore(tmp_path / f"{next(numbers)}.db", sync="fast"))


def test_entries_come_back_and_are_messages(sessions: Callable[[], StoreSessions]) -> None:
    async def run() -> None:
        held = sessions()
        async with held.store as store:
            await held.append(KEY, ENTRIES)
            await held.append(KEY, [QUESTION, {**QUESTION, "n": 1}])  # a retry
            assert await held.load(KEY) == ENTRIES
            chat = store.conversation("my%20project%2F%C3%A9/s1")
            context = await chat.context(cw.Recipe(), model="claude-sonnet-5-5")
            assert [turn["role"] for turn in context.payload["messages"]] == [
                "user",
                "assistant",
                "user",
            ]
            assert {hit.seq for hit in await store.search("risotto")} == {2, 4}

    asyncio.run(run())


def test_sessions_of_others_are_not_listed(sessions: Callable[[], StoreSessions]) -> None:
    async def run() -> None:
        held = sessions()
        async with held.store as store:
            await store.conversation("lunch").add(cw.user("Hi"))
            await held.append(KEY, ENTRIES[:2])
            await held.append({**KEY, "subpath": "subagents/agent-1"}, ENTRIES[:2])
            await held.append({**KEY, "project_key": "my project"}, ENTRIES[:1])
            (found,) = await held.list_sessions(KEY["project_key"])
            assert found["session_id"] == "s1"
            assert found["mtime"] > 1_700_000_000_000
            assert await held.list_subkeys(KEY) == ["subagents/agent-1"]
            await held.delete(KEY)
            assert await held.load(KEY) is None
            assert [info.id async for info in store.list()] == ["lunch", "my%20project/s1"]

    asyncio.run(run())


def test_entries_with_text_that_no_store_holds_come_back(
    sessions: Callable[[], StoreSessions],
) -> None:
    binary = {
        "type": "user",
        "uuid": "b1",
        "message": {"role": "user", "content": "a\0risotto\ud83d"},
    }

    async def run() -> None:
        held = sessions()
        async with held.store as store:
            await held.append(KEY, [binary, QUESTION])
            assert await held.load(KEY) == [binary, QUESTION]
            assert 1 in {hit.seq for hit in await store.search("risotto")}

    asyncio.run(run())
