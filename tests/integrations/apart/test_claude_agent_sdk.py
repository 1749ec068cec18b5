"""Claude Agent SDK: its own contract of a session store."""

# pyright: reportMissingImports=false

import asyncio
from pathlib import Path

from claude_agent_sdk.testing import run_session_store_conformance

import contextwright as cw
from contextwright.integrations.claude_agent import StoreSessions


def test_the_contract_of_the_sdk(tmp_path: Path) -> None:
    made: list[StoreSessions] = []

    def make() -> StoreSessions:
        made.append(StoreSessions(cw.AsyncStore(tmp_path / f"{len(made)}.db", sync="fast")))
        return made[-1]

    async def run() -> None:
        await run_session_store_conformance(make)
        for one in made:
            await one.store.close()

    asyncio.run(run())
    assert made
