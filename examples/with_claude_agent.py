"""Claude Agent SDK: transcripts in a store, read and searched like every conversation."""

import asyncio
import tempfile

import contextwright as cw
from contextwright.integrations.claude_agent import StoreSessions


async def main(path: str) -> None:
    async with cw.AsyncStore(path) as store:
        sessions = StoreSessions(store)  # ClaudeAgentOptions(session_store=sessions)
        key = {"project_key": "lunch", "session_id": "s1"}
        message = {"role": "user", "content": "Is there risotto?"}
        await sessions.append(key, [{"type": "user", "uuid": "u1", "message": message}])
        print(await sessions.load(key))
        print([hit.message.text for hit in await store.search("risotto")])


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main(f"{folder}/chat.db"))
