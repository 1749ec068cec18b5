"""Server-sent events: new messages and new requests, as the store has them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TypeAlias

from anyio import CapacityLimiter, to_thread
from msgspec import Struct

from contextwright.errors import StoreError
from contextwright.serve.http.errors import ApiError
from contextwright.store.engines.base import Connection, Row
from contextwright.store.rows import conversations
from contextwright.store.store import Store
from contextwright.text.json import encode_json

__all__ = ["ChangedEvent", "Event", "Events", "MessageEvent", "RequestEvent", "listen"]

EventStream: TypeAlias = AsyncIterator[bytes]
"""Events as they are sent."""

POLL_SECONDS = 0.5
HEARTBEAT_SECONDS = 15.0
MAX_LISTENERS = 32
MAX_WAITING = 1_000
"""Events that wait for a listener; one that falls behind further is let go, and comes again."""
LATEST_REQUESTS = 100
"""Requests in which changes are looked for."""


class MessageEvent(Struct, frozen=True):
    """Messages were added to a conversation."""

    conversation: str
    first: int
    last: int


class ChangedEvent(Struct, frozen=True):
    """Messages of a conversation were hidden, edited or pinned, or it was removed."""

    conversation: str
    removed: bool


class RequestEvent(Struct, frozen=True):
    """A recorded request began or ended."""

    number: int
    state: str
    conversation: str | None


Event: TypeAlias = MessageEvent | ChangedEvent | RequestEvent
Heads: TypeAlias = dict[str, tuple[int, int]]
"""The last message of each conversation, and how often messages of it were changed."""

NAMES: dict[type[Event], str] = {
    MessageEvent: "message",
    ChangedEvent: "changed",
    RequestEvent: "request",
}


class Snapshot(Struct, frozen=True):
    """The state of the store at the last look."""

    fingerprint: Row = ()
    heads: Heads = {}
    requests: dict[int, tuple[str, str | None]] = {}


def look(store: Store, before: Snapshot) -> Snapshot:
    """Look at the store; conversations are listed only if one of them has changed."""

    def work(connection: Connection) -> tuple[Row, Heads]:
        found = conversations.fingerprint(connection, store.tenant)
        same = found == before.fingerprint
        return found, before.heads if same else conversations.states(connection, store.tenant)

    latest = store.requests(limit=LATEST_REQUESTS)
    requests = {one.number: (str(one.state), one.conversation) for one in latest}
    return Snapshot(*store.engine.read(work), requests)


def changes(before: Snapshot, now: Snapshot) -> list[Event]:
    """Return what happened between two looks."""
    events: list[Event] = []
    heads = {} if now.heads is before.heads else now.heads
    for id, (last, marked) in heads.items():
        old_last, old_marked = before.heads.get(id, (0, marked))
        if last > old_last:
            events.append(MessageEvent(id, old_last + 1, last))
        if marked != old_marked or last < old_last:
            events.append(ChangedEvent(id, removed=False))
    gone = before.heads.keys() - now.heads.keys()
    events += [ChangedEvent(id, removed=True) for id in sorted(gone)]
    oldest = min(before.requests, default=0)
    for number in sorted(now.requests):
        if number >= oldest and before.requests.get(number) != now.requests[number]:
            events.append(RequestEvent(number, *now.requests[number]))
    return events


class Events:
    """Looks at the store while somebody listens, once for all listeners."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.threads = CapacityLimiter(1)
        self.listeners: set[asyncio.Queue[bytes | None]] = set()
        self.watching: asyncio.Task[None] | None = None

    async def listen(self) -> EventStream:
        """Return events until the listener goes away.

        Raises:
            ApiError: there are too many listeners.
        """
        if len(self.listeners) >= MAX_LISTENERS:
            raise ApiError(503, f"more than {MAX_LISTENERS} listen already", {"retry-after": "5"})
        queue: asyncio.Queue[bytes | None] = asyncio.Queue(MAX_WAITING)
        self.listeners.add(queue)  # at once: others may come while the store is looked at
        try:
            before = await to_thread.run_sync(look, self.store, Snapshot(), limiter=self.threads)
        except BaseException:
            self.listeners.discard(queue)
            raise
        if self.watching is None or self.watching.done():
            self.watching = asyncio.create_task(self.watch(before))
        return self.sent(queue)

    async def sent(self, queue: asyncio.Queue[bytes | None]) -> AsyncIterator[bytes]:
        """Yield the events of one listener, and a comment now and then that keeps it connected."""
        try:
            yield b": listening\n\n"
            while True:
                try:
                    async with asyncio.timeout(HEARTBEAT_SECONDS):
                        event = await queue.get()
                except TimeoutError:
                    yield b": still here\n\n"
                    continue
                if event is None:
                    return
                yield event
        finally:
            self.listeners.discard(queue)

    async def watch(self, before: Snapshot) -> None:
        """Look at the store again and again, until nobody listens."""
        while self.listeners:
            await asyncio.sleep(POLL_SECONDS)
            try:
                now = await to_thread.run_sync(look, self.store, before, limiter=self.threads)
            except StoreError:
                continue  # busy or away for a moment: the next look shows what is missed
            for event in changes(before, now):
                self.tell(written(event))
            before = now

    def tell(self, text: bytes) -> None:
        """Send an event to all listeners; end those that fell behind."""
        for queue in tuple(self.listeners):
            if queue.full():
                self.listeners.discard(queue)
                queue.get_nowait()
                queue.put_nowait(None)
            else:
                queue.put_nowait(text)

    def close(self) -> None:
        """End all listeners."""
        for queue in self.listeners:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(None)


def written(event: Event) -> bytes:
    """Return an event as it is sent."""
    return b"event: %s\ndata: %s\n\n" % (NAMES[type(event)].encode(), encode_json(event))


async def listen(events: Events) -> EventStream:
    """Listen to what happens in the store, as server-sent events.

    `message`: messages were added to a conversation, `first` to `last`. `changed`: some of its
    messages were hidden, edited or pinned, or it was `removed`. `request`: a recorded request
    began or ended. A comment comes every 15 seconds. A listener that falls behind is disconnected.
    """
    return await events.listen()
