"""However little of a conversation is loaded, it is what the whole has there."""

from __future__ import annotations

from pathlib import Path

import pytest

import contextwright as cw
from contextwright.store.contexts import loader
from contextwright.store.contexts.loader import EVERYTHING, Needs
from contextwright.store.engines.base import Connection
from contextwright.store.rows import conversations
from contextwright.store.rows import messages as reading
from contextwright.windows.log import Log
from samples.stores.long_talk import long_talk

AGENT = [
    cw.assistant("I am ready."),
    cw.user(["What is on it?", cw.Media("image", "image/png", "aGk=")]),
    cw.assistant(cw.ToolCall("look", {}, "a")),
    cw.tool_result("a", "A cat on a mat."),
    cw.assistant("A cat."),
]


@pytest.mark.parametrize("talk", [AGENT, long_talk(8)], ids=["agent", "talk"])
def test_what_is_loaded_is_as_in_the_whole(
    talk: list[cw.Message], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader, "CHUNK", 1)
    with cw.Store(tmp_path / "chat.db", embedder=None) as store:
        store.conversation("a").add(talk)

        def loaded(needs: Needs) -> Log:
            def read(connection: Connection) -> Log:
                head = conversations.require(connection, "", "a")
                log, _ = loader.load(connection, head, len(talk), needs)
                return log

            return store.engine.read(read)

        whole = loaded(Needs(EVERYTHING))
        assert whole.loaded == talk
        for newest in range(1, len(talk) + 1):
            for first in (0, 2):
                some = loaded(Needs(0, newest, first))
                there = [index for index in range(len(talk)) if index in some]
                assert len(there) >= newest
                assert {*range(first)} <= {*there}
                assert some.loaded == [talk[index] for index in there]
                assert some.pictured == [index for index in whole.pictured if index in there]
                assert some.system == whole.system
                assert some.pinned == whole.pinned
                assert some.questions[-1:] == whole.questions[-1:]
                assert some.task == whole.task


def test_twice_as_much_is_needed_after_too_little() -> None:
    assert Needs(100, 50, 10).more() == Needs(200, 100, 20)
    assert Needs(1).more() == Needs(2, 64, 8)


def test_any_number_of_replies_is_read_at_once(place: str) -> None:
    """A database takes only so many values in a statement, and a chat may have more replies."""
    replies = [
        cw.user("Yes!", reply_to=cw.Reply(message_id=str(number), excerpt="Soup?"))
        for number in range(70_000)
    ]
    with cw.Store(place, embedder=None) as store:
        chat = store.conversation("lunch")
        chat.add(cw.user("Soup?", meta={"message_id": 69_999}))
        chat.hide(1)

        def read(connection: Connection) -> list[cw.Message]:
            head = conversations.require(connection, store.tenant, "lunch")
            return reading.without_lost_quotes(connection, head.number, replies)

        read_replies = store.engine.read(read)
    assert read_replies[:-1] == replies[:-1]
    assert read_replies[-1].reply_to == cw.Reply(message_id="69999")
