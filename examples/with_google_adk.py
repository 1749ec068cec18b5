"""Google ADK: sessions in a store, within a budget."""

import asyncio
import tempfile
from typing import Any

from google.adk.events.event import Event  # pyright: ignore[reportMissingImports]
from google.genai.types import Content, Part

import contextwright as cw
from contextwright.integrations.google_adk import StoreSessionService


async def main(path: str) -> None:
    key: Any = {"app_name": "lunch", "user_id": "olena", "session_id": "s1"}
    async with cw.AsyncStore(path) as store:
        service = StoreSessionService(store, model="gemini-3.8-flash", budget=200)
        session = await service.create_session(**key)  # Runner(…, session_service=service)
        for number in range(50):
            said = Content(role="user", parts=[Part(text=f"Lunch for {number}?")])
            await service.append_event(session, Event(author="user", content=said))
        found = await service.get_session(**key) or session
        print(f"{len(found.events)} of {len(session.events)} events are sent")


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main(f"{folder}/chat.db"))
