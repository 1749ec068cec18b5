"""The API answers alike from SQLite and from PostgreSQL."""

from urllib.parse import quote

import pytest

import contextwright as cw
from contextwright.serve.api import events
from serve.api.calls import SOUND
from serve.api.client import (
    FORGOTTEN,
    ID,
    MEMORY,
    PAYLOAD,
    Client,
    filled,
    of,
    recorded,
    remembered,
)
from serve.gateways import running

READING = (
    "list_conversations",
    "get_conversation",
    "list_messages",
    "get_message",
    "build_context",
    "compare_contexts",
    "fly",
    "export_all",
    "list_requests",
    "recall",
    "search",
    "list_memories",
    "simulate_recipes",
)


def test_every_engine_serves_the_same(place: str) -> None:
    with cw.Store(place, embedder=None) as store:
        filled(store, rounds=3)
        remembered(store, MEMORY, cw.Memory("memory", "Likes tea.", "U1234546"))
        remembered(store, FORGOTTEN, cw.Memory("fact", "Kyiv", "U1234546", "Location"))
        recorded(store, cw.render([cw.user("Soup?")], "openai-chat", model="gpt-4o").json)
        with running(store=store) as gateway:
            client = Client(gateway, store)
            for name in READING:
                assert client.call(*SOUND[name]).status == 200, name
            turn = {"key": "k", "messages": PAYLOAD["messages"]}
            before = events.look(store, events.Snapshot())
            assert [client.call(f"{of()}/turns", turn).json["seq"] for _ in range(2)] == [
                [13],
                [13],
            ]
            assert client.call(f"/memories/{MEMORY}", method="DELETE").status == 204
        told = events.changes(before, events.look(store, before))
        assert told == [events.MessageEvent(ID, 13, 13)]


@pytest.mark.parametrize("q", ["'", "%", "\\", '"x" OR 1', "a\x00b", "soup -- ;", "💥"])
def test_words_are_words(client: Client, q: str) -> None:
    for path in ("/search", "/recall", "/conversations"):
        answer = client.call(f"{path}?q={quote(q)}")
        assert answer.status in (200, 422)
        assert answer.status == 200 or "\x00" in q
