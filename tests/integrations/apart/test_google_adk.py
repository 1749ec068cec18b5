"""Google ADK: sessions, their events and their states, as its own services keep them."""

# pyright: reportMissingImports=false

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.base_session_service import BaseSessionService, GetSessionConfig
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.genai import types

import contextwright as cw
from contextwright.integrations.google_adk import StoreSessionService

KEY: Any = {"app_name": "lunch/app", "user_id": "olena"}
CALL = types.FunctionCall(name="look", args={"at": "menu"}, id="c1")
RESULT = types.FunctionResponse(name="look", id="c1", response={"output": "Risotto"})


def said(text: str, author: str = "user", **more: Any) -> Event:
    role = "user" if author == "user" else "model"
    return Event(
        author=author, content=types.Content(role=role, parts=[types.Part(text=text)]), **more
    )


def history() -> list[Event]:
    def event(part: types.Part, role: str) -> Event:
        return Event(author="agent", content=types.Content(role=role, parts=[part]))

    delta = {"step": 1, "user:diet": "vegan", "app:open": True, "temp:x": 1}
    return [
        said("Is there risotto?", timestamp=1.0),
        event(types.Part(function_call=CALL, thought_signature=b"signed"), "model"),
        event(types.Part(function_response=RESULT), "user"),
        Event(author="agent", actions=EventActions(state_delta=delta)),
        said("Yes.", "agent", timestamp=2.0),
    ]


def with_both(tmp_path: Path, test: Callable[[BaseSessionService], Awaitable[Any]]) -> Any:
    """Run a test with ADK's own service and with ours; both must give the same."""

    async def run() -> list[Any]:
        async with cw.AsyncStore(tmp_path / "chat.db", sync="fast") as store:
            return [await test(InMemorySessionService()), await test(StoreSessionService(store))]

    theirs, ours = asyncio.run(run())
    assert ours == theirs
    return ours


def test_sessions_are_what_adks_own_service_keeps(tmp_path: Path) -> None:
    events = history()

    async def test(service: BaseSessionService) -> Any:
        state = {"step": 0, "app:name": "Lunch"}
        session = await service.create_session(**KEY, session_id=" s1 ", state=state)
        for event in events:
            await service.append_event(session, event.model_copy(deep=True))
        with pytest.raises(AlreadyExistsError):
            await service.create_session(**KEY, session_id="s1")
        other = await service.create_session(**KEY, session_id="s2")
        newest = GetSessionConfig(num_recent_events=2)
        found = [
            await service.get_session(**KEY, session_id="s1"),
            await service.get_session(**KEY, session_id="s1", config=newest),
            await service.get_session(**KEY, session_id="none"),
        ]
        assert other.state == {"app:name": "Lunch", "app:open": True, "user:diet": "vegan"}
        listed = await service.list_sessions(**KEY)
        await service.delete_session(**KEY, session_id="s1")
        return (
            [one and (one.id, one.state, one.events, one.last_update_time) for one in found],
            {(one.id, len(one.events)) for one in listed.sessions},
            await service.get_user_state(**KEY),
            await service.get_session(**KEY, session_id="s1"),
            len((await service.list_sessions(app_name="lunch")).sessions),
        )

    found = with_both(tmp_path, test)
    assert len(found[0][0][2]) == len(events)


def test_a_session_is_created_once_and_deleted_for_good(tmp_path: Path) -> None:
    async def test(service: BaseSessionService) -> Any:
        made = await asyncio.gather(
            *(service.create_session(**KEY, session_id="s1") for _ in range(6)),
            return_exceptions=True,
        )
        assert sum(isinstance(one, AlreadyExistsError) for one in made) == 5
        session = await service.get_session(**KEY, session_id="s1")
        assert session is not None
        await service.delete_session(**KEY, session_id="s1")
        with pytest.raises(SessionNotFoundError):
            await service.append_event(session, said("Too late."))
        assert await service.get_session(**KEY, session_id="s1") is None
        states: list[Any] = []
        for diet in ("vegan", "none", "vegan"):
            again = await service.create_session(**KEY, session_id="s1", state={"user:diet": diet})
            states.append(again.state)
            await service.delete_session(**KEY, session_id="s1")
        return states

    assert with_both(tmp_path, test)[-1] == {"user:diet": "vegan"}


def test_text_that_no_store_holds_comes_back(tmp_path: Path) -> None:
    async def test(service: BaseSessionService) -> Any:
        session = await service.create_session(**KEY, session_id="s1", state={"seen": "a\0b"})
        await service.append_event(session, said("a\0b\ud800", timestamp=3.0, id="e1"))
        found = await service.get_session(**KEY, session_id="s1")
        assert found is not None
        return found.state, [event.content for event in found.events], found.last_update_time

    with_both(tmp_path, test)


def test_events_are_messages_and_fit_a_budget(tmp_path: Path) -> None:
    async def run() -> None:
        async with cw.AsyncStore(tmp_path / "chat.db", sync="fast") as store:
            service = StoreSessionService(store, model="gemini-3.8-flash", budget=120)
            session = await service.create_session(**KEY, session_id="s1")
            for number in range(30):
                await service.append_event(session, said(f"Lunch for {number}?"))
                await service.append_event(session, said("Table 7 is free.", "agent"))
            for event in history():
                await service.append_event(session, event)
                await service.append_event(session, event)  # once for each id
            found = await service.get_session(**KEY, session_id="s1")
            assert found is not None
            assert found.events[-1] == session.events[-1]
            assert 5 <= len(found.events) < 40
            chat = store.conversation("lunch%2Fapp/olena/s1")
            await chat.add(cw.user("from elsewhere"))
            found = await service.get_session(**KEY, session_id="s1")
            assert found is not None
            assert found.events[-1].content.parts[0].text == "from elsewhere"
            assert await store.search("risotto")

    asyncio.run(run())


def test_a_budget_needs_a_model(tmp_path: Path) -> None:
    with pytest.raises(cw.UsageError, match="model"):
        StoreSessionService(cw.AsyncStore(tmp_path / "chat.db"), budget=100)
