"""Google ADK (`pip install google-adk`): sessions in a store, within a budget.

sessions = StoreSessionService(cw.AsyncStore("chat.db"), model="gemini-3.8-flash", budget=20_000)
runner = Runner(agent=agent, app_name="lunch", session_service=sessions)
"""

# google-adk is not installed where types are checked: it asks for old versions of other packages.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportUntypedBaseClass=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from operator import attrgetter
from typing import Any
from urllib.parse import quote, unquote
from uuid import uuid4

from contextwright.context.recipe_data import RecipeData
from contextwright.errors import Conflict, UsageError
from contextwright.formats.api import parse, render
from contextwright.integrations.originals import kept_original, original_of, with_original
from contextwright.integrations.trimming import Trimming, joined
from contextwright.messages.message import Message
from contextwright.models import Model
from contextwright.store.async_chat import AsyncChat
from contextwright.store.async_store import AsyncStore
from contextwright.store.records import StoredMessage, Turn

try:
    from google.adk.errors.already_exists_error import AlreadyExistsError
    from google.adk.errors.session_not_found_error import SessionNotFoundError
    from google.adk.events.event import Event
    from google.adk.sessions import Session, State
    from google.adk.sessions.base_session_service import (
        BaseSessionService,
        GetSessionConfig,
        ListSessionsResponse,
    )
    from google.genai.types import Content
except ModuleNotFoundError as error:
    # No extra of ours brings it, because it would hold back other packages of everybody.
    hint = "pip install google-adk"
    raise UsageError("the integration of Google ADK needs google-adk", hint=hint) from error

__all__ = ["StoreSessionService"]

NAME, STATE, CREATED = "google_adk", "google_adk_state", "created"
FORMAT = "gemini"
SCOPES = (State.APP_PREFIX, State.USER_PREFIX)


class StoreSessionService(BaseSessionService):
    """A session service whose sessions are the conversations of a store.

    Events come back as they were appended, except those edited in the store since. Hidden, deleted
    and erased ones are left out. The conversation of a session is `APP/USER/SESSION`, each part
    percent-encoded; `APP` and `APP/USER` keep the state that sessions share.
    """

    def __init__(
        self,
        store: AsyncStore,
        *,
        model: str | Model | None = None,
        budget: int | None = None,
        recipe: RecipeData | str | None = None,
    ) -> None:
        """Keep sessions in a store; with a `model`, a session has the events that fit a budget.

        The budget is that of the events: instructions, tools and the new question come on top. By
        default it is the recipe's, else the model's input limit.

        Raises:
            UsageError: a budget or a recipe without a model, or a recipe that writes text.
        """
        if model is None and (budget is not None or recipe is not None):
            raise UsageError("a budget or a recipe without a model", hint="name the model too")
        self.store = store
        self._trimming = (
            None if model is None else Trimming(model, budget=budget, recipe=recipe, format=FORMAT)
        )

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        """Create a session, with a state of its own, its user's and its app's.

        Raises:
            AlreadyExistsError: there is a session with this id.
        """
        id = (session_id or "").strip() or uuid4().hex
        chat = self._chat(app_name, user_id, id)
        if await chat.length():
            raise AlreadyExistsError(f"Session with id {id} already exists.")
        # Its name makes it differ from that of another process, which creates the same session.
        name = uuid4().hex
        opening = Message("system", kind="event", visibility="internal", meta={CREATED: name})
        try:
            await self._store(
                chat.id, (app_name, user_id), opening, state or {}, key=CREATED, shared_key=name
            )
        except Conflict as error:
            raise AlreadyExistsError(f"Session with id {id} already exists.") from error
        created = await self.get_session(app_name=app_name, user_id=user_id, session_id=id)
        assert created is not None
        return created

    async def get_session(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: str,
        config: GetSessionConfig | None = None,
    ) -> Session | None:
        """Return a session with its state and events; None if there is none.

        Raises:
            BudgetError: the newest question does not fit.
        """
        chat = self._chat(app_name, user_id, session_id.strip())
        stored = [one async for one in chat.read(hidden=True)]
        if not stored:
            return None
        shared = await self._shared_state(app_name, user_id)
        events = self._fitting([one for one in stored if is_event(one)])
        return Session(
            id=session_id.strip(),
            app_name=app_name,
            user_id=user_id,
            state={**own_state(stored), **shared},
            events=within(events, config),
            last_update_time=changed(stored),
        )

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None
    ) -> ListSessionsResponse:
        """Return the sessions of an app or of one of its users, without events, oldest first."""
        wanted = [app_name] if user_id is None else [app_name, user_id]
        found: list[Session] = []
        async for key in self._keys():
            if key[: len(wanted)] == wanted:
                app, user, id = key
                session = await self.get_session(
                    app_name=app,
                    user_id=user,
                    session_id=id,
                    config=GetSessionConfig(num_recent_events=0),
                )
                found += [] if session is None else [session]
        found.sort(key=attrgetter("last_update_time", "user_id", "id"))
        return ListSessionsResponse(sessions=found)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Remove a session from the store, permanently; what its user and app share stays."""
        await self.store.forget(self._chat(app_name, user_id, session_id.strip()).id)

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Return the state that all sessions of a user share, without its prefix."""
        return await self._folded(self._chat(app_name, user_id))

    async def append_event(self, session: Session, event: Event) -> Event:
        """Store an event with the state it leaves, and add it to the session; once for each id.

        A partial event is not stored.

        Raises:
            SessionNotFoundError: the session was deleted.
        """
        if event.partial:
            return event
        chat = self._chat(session.app_name, session.user_id, session.id)
        if not await chat.length():
            raise SessionNotFoundError(f"Session {session.id} not found.")
        appended = await super().append_event(session, event)
        owner = (session.app_name, session.user_id)
        dumped = event.model_dump(mode="json", by_alias=True, exclude_none=True)
        message = with_original(message_of(event), NAME, dumped)
        delta = dict(event.actions.state_delta) if event.actions else {}
        shared_key = f"{chat.id} {event.id}"
        await self._store(chat.id, owner, message, delta, key=event.id, shared_key=shared_key)
        session.last_update_time = event.timestamp
        return appended

    def _chat(self, *key: str) -> AsyncChat:
        """Return the conversation of an app, a user or a session."""
        return self.store.conversation("/".join(quote(part, safe="") for part in key))

    async def _store(
        self,
        id: str,
        owner: tuple[str, str],
        message: Message,
        delta: dict[str, Any],
        *,
        key: str,
        shared_key: str,
    ) -> None:
        """Store a message and what it changes in the states, all of it or nothing.

        `key` names it in the session, `shared_key` among the changes of the user's and app's state.
        """
        app, user, own = split(delta)
        shared = ((self._chat(owner[0]).id, app), (self._chat(*owner).id, user))
        note = Message("system", kind="event", visibility="internal")
        turns = [
            Turn(place, [with_original(note, STATE, values)], shared_key)
            for place, values in shared
            if values
        ]
        await self.store.add_all([*turns, Turn(id, [with_original(message, STATE, own)], key)])

    async def _shared_state(self, app_name: str, user_id: str) -> dict[str, Any]:
        """Return the state that sessions share, with its prefixes."""
        app = await self._folded(self._chat(app_name))
        user = await self._folded(self._chat(app_name, user_id))
        return {
            **{State.APP_PREFIX + key: value for key, value in app.items()},
            **{State.USER_PREFIX + key: value for key, value in user.items()},
        }

    async def _folded(self, chat: AsyncChat) -> dict[str, Any]:
        """Return the state that the messages of a conversation leave."""
        return own_state([stored async for stored in chat.read(hidden=True)])

    async def _keys(self) -> AsyncIterator[list[str]]:
        """Iterate over app, user and id of all sessions."""
        async for info in self.store.list():
            parts = [unquote(part) for part in info.id.split("/")]
            if len(parts) == 3:
                yield parts

    def _fitting(self, stored: list[StoredMessage]) -> list[Event]:
        """Return the events of messages, those that fit the budget if there is one."""
        messages = [one.message for one in stored]
        if self._trimming is None:
            return [event for message in messages for event in restored(message)]
        said = [at for at, message in enumerate(messages) if message.visibility == "public"]
        kept = self._trimming.kept([messages[at] for at in said])
        staying = {said[at] for at in kept}
        first = min(staying, default=0)
        return [
            event
            for at, message in enumerate(messages)
            if at in staying or (message.visibility == "internal" and at > first)
            for event in restored(message)
        ]


def split(delta: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return what a change of the state changes for the app, for the user and for the session."""
    found: dict[str, dict[str, Any]] = {State.APP_PREFIX: {}, State.USER_PREFIX: {}, "": {}}
    for key, value in delta.items():
        scope = next((prefix for prefix in SCOPES if key.startswith(prefix)), "")
        if not key.startswith(State.TEMP_PREFIX):
            found[scope][key.removeprefix(scope)] = value
    return found[State.APP_PREFIX], found[State.USER_PREFIX], found[""]


def own_state(stored: list[StoredMessage]) -> dict[str, Any]:
    """Return the state that messages leave, one change after the other."""
    state: dict[str, Any] = {}
    for one in stored:
        state.update(kept_original(one.message, STATE) or {})
    return state


def is_event(stored: StoredMessage) -> bool:
    """Whether a message is an event that agents see: said and visible, or of the framework."""
    internal = stored.message.visibility == "internal" and NAME in stored.message.meta
    return (internal or stored.message.visibility == "public") and not stored.damage


def within(events: list[Event], config: GetSessionConfig | None) -> list[Event]:
    """Return the events that were asked for."""
    if config is None:
        return events
    if config.num_recent_events is not None:
        events = events[-config.num_recent_events :] if config.num_recent_events else []
    if config.after_timestamp is not None:
        events = [event for event in events if event.timestamp >= config.after_timestamp]
    return events


def changed(stored: list[StoredMessage]) -> float:
    """Return the time of the last event, else of its storing, in seconds."""
    newest = stored[-1]
    original = kept_original(newest.message, NAME)
    if original is not None:
        return float(original["timestamp"])
    return datetime.fromisoformat(newest.stored_at).timestamp() if newest.stored_at else 0.0


def restored(message: Message) -> list[Event]:
    """Return the event that was stored, else those that ours renders to."""
    original = original_of(message, NAME)
    if original is not None:
        return [Event.model_validate(original)]
    contents = render([message], FORMAT, repair=False).payload["contents"]
    author = "user" if message.role == "user" else "model"
    return [Event(author=author, content=Content.model_validate(one)) for one in contents]


def message_of(event: Event) -> Message:
    """Return an event as ours; one without content is internal."""
    internal = Message("system", kind="event", visibility="internal")
    if event.content is None or not event.content.parts:
        return internal
    content = event.content.model_dump(mode="json", by_alias=True, exclude_none=True)
    read = parse({"contents": [content]}, FORMAT).messages
    return joined(read) if read else internal
