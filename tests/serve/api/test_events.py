"""Events: what happens in the store reaches those who listen."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright.errors import UsageError
from contextwright.serve.api import events
from contextwright.serve.http.errors import ApiError
from contextwright.store import Store
from serve.api.client import BEARER, ID, Client, recorded, served


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "POLL_SECONDS", 0.01)


@contextmanager
def listening(client: Client) -> Iterator[HTTPResponse]:
    """A stream of events; the store has been looked at once."""
    with closing(HTTPConnection("127.0.0.1", client.gateway.port, timeout=30)) as connection:
        connection.request("GET", "/api/v1/events", headers=BEARER)
        response = connection.getresponse()
        assert response.status == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.readline() == b": listening\n"
        assert response.readline() == b"\n"
        yield response


def next_event(stream: HTTPResponse) -> tuple[str, dict[str, Any]]:
    """The next event of a stream; comments are passed over."""
    while not (line := stream.readline()).startswith(b"event: "):
        assert line
    data = stream.readline().removeprefix(b"data: ")
    return line[7:-1].decode(), json.loads(data)


def test_new_messages_and_requests_are_told(client: Client) -> None:
    chat = client.store.conversation("live")
    with listening(client) as stream:
        chat.add([cw.user("One"), cw.assistant("Two")])
        assert next_event(stream) == ("message", {"conversation": "live", "first": 1, "last": 2})
        chat.add(cw.user("Three"))
        assert next_event(stream) == ("message", {"conversation": "live", "first": 3, "last": 3})
        chat.hide(3)
        assert next_event(stream) == ("changed", {"conversation": "live", "removed": False})
        number = recorded(client.store, b"{}")
        expected = {"number": number, "state": "answered", "conversation": ID}
        assert next_event(stream) == ("request", expected)
        client.store.forget("live")
        assert next_event(stream) == ("changed", {"conversation": "live", "removed": True})


def test_another_process_is_heard_too(client: Client) -> None:
    with listening(client) as stream:
        with Store(client.store.engine.where, embedder=None) as other:
            other.conversation("elsewhere").add(cw.user("Hi"))
        assert next_event(stream)[1] == {"conversation": "elsewhere", "first": 1, "last": 1}


def test_all_listeners_hear_the_same(client: Client) -> None:
    with listening(client) as one, listening(client) as two:
        client.store.conversation("both").add(cw.user("Hi"))
        assert next_event(one) == next_event(two)


def test_one_listener_too_many_is_told_to_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MAX_LISTENERS", 1)
    with served(tmp_path) as client, listening(client):
        assert client.call("/events").status == 503


def test_listeners_that_come_together_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MAX_LISTENERS", 3)

    async def come() -> list[bool]:
        with cw.Store(tmp_path / "store.db") as store:
            heard = events.Events(store)
            came = await asyncio.gather(*(heard.listen() for _ in range(8)), return_exceptions=True)
            assert heard.watching is not None
            heard.watching.cancel()
            return [isinstance(one, ApiError) for one in came]

    assert sorted(asyncio.run(come())) == [False] * 3 + [True] * 5


def test_a_store_that_cannot_be_read_leaves_no_listener(tmp_path: Path) -> None:
    async def come() -> int:
        store = cw.Store(tmp_path / "store.db")
        store.close()
        heard = events.Events(store)
        with pytest.raises(UsageError):
            await heard.listen()
        return len(heard.listeners)

    assert asyncio.run(come()) == 0


def test_a_listener_is_kept_connected(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "HEARTBEAT_SECONDS", 0.01)
    with listening(client) as stream:
        assert stream.readline() == b": still here\n"


def test_a_listener_that_falls_behind_is_let_go(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It hears what was waiting for it, and then the end."""
    monkeypatch.setattr(events, "MAX_WAITING", 1)
    with listening(client) as stream:
        turns = [cw.store.Turn(f"many {n}", [cw.user("Hi")]) for n in range(200)]
        client.store.add_all(turns)
        assert len(stream.read().split(b"event: ")) < 200


def test_listeners_end_when_the_gateway_does(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        connection = HTTPConnection("127.0.0.1", client.gateway.port, timeout=30)
        connection.request("GET", "/api/v1/events", headers=BEARER)
        response = connection.getresponse()
        response.readline()
    assert response.read() == b"\n"
    connection.close()


SNAPSHOT = events.Snapshot(
    (), {"a": (3, 0), "b": (1, 1)}, {7: ("open", None), 8: ("answered", "a")}
)


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (SNAPSHOT, []),
        (
            events.Snapshot((), {"a": (5, 0), "b": (1, 1)}, SNAPSHOT.requests),
            [events.MessageEvent("a", 4, 5)],
        ),
        (
            events.Snapshot((), {"a": (3, 0), "b": (1, 2), "c": (1, 0)}, SNAPSHOT.requests),
            [events.ChangedEvent("b", False), events.MessageEvent("c", 1, 1)],
        ),
        (
            events.Snapshot((), {"a": (2, 0)}, SNAPSHOT.requests),
            [events.ChangedEvent("a", False), events.ChangedEvent("b", True)],
        ),
        (
            events.Snapshot((), SNAPSHOT.heads, {6: ("lost", None), 7: ("answered", "b")}),
            [events.RequestEvent(7, "answered", "b")],
        ),
    ],
)
def test_what_happened_between_two_looks(now: events.Snapshot, told: list[events.Event]) -> None:
    assert events.changes(SNAPSHOT, now) == told
