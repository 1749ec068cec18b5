"""A session of the OpenAI Agents SDK in a store, within a budget."""

import asyncio
import tempfile

import contextwright as cw
from contextwright.integrations.openai_agents import StoreSession


async def main(path: str) -> None:
    async with cw.AsyncStore(path) as store:
        session = StoreSession("lunch", store, model="gpt-5.6-sol", budget=1_000)
        for number in range(50):  # as Runner.run(agent, question, session=session) does
            await session.add_items([{"role": "user", "content": f"Lunch for {number}?"}])
            await session.add_items([{"role": "assistant", "content": f"Table {number} is free."}])
        items = await session.get_items()
        print(f"{len(items)} of {await store.conversation('lunch').length()} items are sent")
        print(items[-1])


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main(f"{folder}/chat.db"))
