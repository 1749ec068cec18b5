"""The MCP server, started as `cw mcp` and asked by the real client."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.server.mcpserver import MCPServer

import contextwright as cw
from contextwright.integrations.mcp import create_server

TOOLS = {"explain", "recall", "remember", "search"}


CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search", {"words": "peanuts"}),
    ("recall", {"question": "What is Alice allergic to?", "conversation": "lunch"}),
    ("remember", {"about": "alice", "text": "Eats no peanuts"}),
    ("explain", {"conversation": "lunch", "model": "gpt-5.6-sol", "budget": 500}),
    ("explain", {"conversation": "dinner", "model": "gpt-5.6-sol"}),
    ("explain", {"conversation": "lunch", "model": "gpt-5.6-sol", "budget": 1}),
    ("recall", {"question": "What is Alice allergic to?", "conversation": "dinner"}),
    ("search", {"words": "peanuts", "conversation": "dinner"}),
    ("remember", {"about": "alice", "text": "Lost", "conversation": "dinner"}),
    ("search", {"words": "peanuts", "limit": 0}),
)


def ask(server: StdioServerParameters | MCPServer) -> list[tuple[bool, str]]:
    """Call the tools of a server, and return whether each failed, and its text."""

    async def main() -> list[tuple[bool, str]]:
        async with Client(server) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
            results = [await client.call_tool(name, fields) for name, fields in CALLS]
        texts: list[Any] = [result.content[0] for result in results]
        return [
            (bool(result.is_error), text.text) for result, text in zip(results, texts, strict=True)
        ]

    return asyncio.run(main())


def fill(store: cw.Store) -> None:
    chat = store.conversation("lunch")
    chat.add([cw.user("Alice is allergic\nto peanuts."), cw.assistant("Noted.")])


def verify(answers: list[tuple[bool, str]], store: cw.Store) -> None:
    found, recalled, remembered, explained, missing, small, *wrong = answers
    assert found == (False, "lunch #1 user: Alice is allergic to peanuts.")
    assert not recalled[0]
    assert "peanuts" in recalled[1]
    assert not explained[0]
    assert "gpt-5.6-sol" in explained[1]
    assert missing[0]
    assert "dinner" in missing[1]
    assert small[0]
    assert "the smallest that works" in small[1]
    assert [failed for failed, _ in wrong] == [True] * 4
    assert ["dinner" in text for _, text in wrong] == [True, True, True, False]
    (memory,) = store.memories(about="alice")
    assert (remembered, memory.memory.text) == ((False, memory.id), "Eats no peanuts")


def test_the_tools_read_and_write_the_store(tmp_path: Path) -> None:
    with cw.Store(tmp_path / "chat.db", embedder=None) as store:
        fill(store)
        verify(ask(create_server(store)), store)


@pytest.mark.slow
def test_cw_mcp_serves_them_on_standard_input_and_output(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    with cw.Store(path) as store:
        fill(store)
    start = ["-m", "contextwright", "mcp", "--store", str(path)]
    answers = ask(StdioServerParameters(command=sys.executable, args=start))
    with cw.Store(path) as store:
        verify(answers, store)
