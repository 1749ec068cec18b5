"""A client of our own API, and the store it is served from."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from msgspec.structs import replace

import contextwright as cw
from contextwright.serve import GatewaySettings
from contextwright.store import Store
from contextwright.store.engines.base import Connection
from contextwright.store.requests import RecordedRequest
from contextwright.store.rows import conversations, memories
from contextwright.store.rows.recorded import bodies, requests
from contextwright.store.rows.validation import memory_body
from samples.stores.records import PASSED
from serve.gateways import TOKEN, Answer, Running, running

BEARER = {"authorization": f"Bearer {TOKEN}"}
JSON = {"content-type": "application/json"}
ID = "lunch / ..%2e ü\u202f<b>&#x0A;'\"?"
"""A name that would be a path, a query, markup or SQL, if anything took it for one."""


PAYLOAD = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Soup?"}]}
MEMORY, FORGOTTEN = "m1", "m2"


class Client(NamedTuple):
    """Calls of the API with its token."""

    gateway: Running
    store: Store

    def call(
        self,
        path: str,
        body: Any = None,
        *,
        method: str | None = None,
        headers: Mapping[str, str] = BEARER,
    ) -> Answer:
        """Call a path below the API's own; a body is sent as JSON."""
        sent = b"" if body is None else body
        kind = {} if body is None else JSON
        chosen = method or ("GET" if body is None else "POST")
        return self.gateway.ask(f"/api/v1{path}", sent, {**kind, **headers}, chosen)


def of(id: str = ID) -> str:
    """The path of a conversation."""
    return f"/conversations/{quote(id, safe='')}"


def filled(store: Store, id: str = ID, rounds: int = 12) -> None:
    """Store a conversation with questions, calls and results."""
    chat = store.conversation(id)
    for number in range(rounds):
        call = cw.ToolCall("getThreadHistory", {"page": number}, id=f"c{number}")
        chat.add(
            [
                cw.user(f"Question {number}: which soup?", author="U1234546"),
                cw.assistant(call),
                cw.tool_result(f"c{number}", f"Alice likes soup {number}. " * 20),
                cw.assistant(f"Soup {number}."),
            ],
            key=f"turn-{number}",
        )


def remembered(store: Store, id: str, memory: cw.Memory) -> None:
    """Store a memory under an id that tests know."""
    store.engine.write(lambda to: memories.add(to, store.tenant, id, memory, memory_body(memory)))


def recorded(
    store: Store, body: bytes, conversation: str = ID, record: RecordedRequest = PASSED
) -> int:
    """Record a request of a conversation that was answered."""

    def work(connection: Connection) -> int:
        number = requests.begin(connection, store.tenant, record, "here/1")
        bodies.add(connection, number, "request", body)
        head = conversations.ensure(connection, store.tenant, conversation)
        requests.finish(connection, replace(record, number=number, state="answered"), head.number)
        return number

    return store.engine.write_alone(work)


@contextmanager
def served(folder: Path, settings: GatewaySettings | None = None) -> Iterator[Client]:
    """A gateway that serves a store with a conversation, two memories and a recorded request."""
    with Store(folder / "store.db", embedder=None) as store:
        filled(store)
        remembered(store, MEMORY, cw.Memory("memory", "Likes tea.", "U1234546"))
        remembered(store, FORGOTTEN, cw.Memory("fact", "Kyiv", "U1234546", "Location"))
        recorded(store, json.dumps(PAYLOAD).encode())
        store.conversation(ID).update(title="Lunch", settings={"model": "claude-sonnet-5-5"})
        with running(settings, store=store) as gateway:
            yield Client(gateway, store)
