"""A store as MCP tools, asked by a client in the same process."""

import asyncio
import tempfile

from mcp import Client

import contextwright as cw
from contextwright.integrations.mcp import create_server


async def main(store: cw.Store) -> None:
    async with Client(create_server(store)) as client:
        found = await client.call_tool("search", {"words": "peanuts"})
        print(found.structured_content)


with tempfile.TemporaryDirectory() as folder, cw.Store(f"{folder}/chat.db") as store:
    store.conversation("lunch").add(cw.user("Alice is allergic to peanuts."))
    asyncio.run(main(store))
