"""Recorded requests: what is kept, in how much space, and what an erasure takes along."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import contextwright as cw
from contextwright.context.receipt import Comparison
from contextwright.errors import NotFound, UsageError
from contextwright.formats.replies.events import Usage
from contextwright.store.engines.base import Connection
from contextwright.store.requests import RecordedRequest, RequestBodies
from contextwright.store.rows import conversations
from contextwright.store.rows.recorded import bodies, requests
from profiles import STORE, examples
from samples.stores.records import TRANSLATED

RECORD = replace(
    TRANSLATED,
    usage=Usage(100, 7, 60),
    changes=(cw.Change("loss.thinking", "messages[1]", "signed by another"),),
    prefix=Comparison(60, 100, "messages[3]", 812, "message 4 changed", 0.01),
)


def recorded(
    store: cw.Store,
    conversation: str | None,
    sent: Sequence[bytes],
    record: RecordedRequest = RECORD,
) -> list[int]:
    """Record requests of a conversation, one after the other."""
    numbers: list[int] = []

    def work(connection: Connection) -> None:
        head = conversation and conversations.ensure(connection, store.tenant, conversation)
        began = datetime.fromisoformat(record.started)
        for hours, body in enumerate(sent):
            started = requests.moment(began + timedelta(hours=hours))
            one = replace(record, started=started)
            number = requests.begin(connection, store.tenant, one, "here/1")
            bodies.add(connection, number, "request", body)
            base = numbers[-1] if numbers else None
            bodies.replace(connection, number, "request", body, base)
            bodies.replace(connection, number, "reply", b"answer", None)
            if head:
                done = replace(one, number=number, state="answered")
                requests.finish(connection, done, head.number)
            numbers.append(number)

    store.engine.write_alone(work)
    return numbers


def stored_bytes(store: cw.Store) -> int:
    sql = "SELECT coalesce(sum(length(body)), 0) FROM bodies"
    return store.engine.read(lambda connection: connection.rows(sql))[0][0]


def test_a_request_is_read_as_it_was_recorded(place: str) -> None:
    with cw.Store(place) as store:
        (one,) = recorded(store, None, [b"{}"])
        (two, three) = recorded(store, "a", [b"{}", b"[]"])
        found = store.request(two)
        assert found == replace(RECORD, number=two, state="answered", conversation="a")
        assert found.cached == 0.6
        assert store.request_bodies(three) == RequestBodies(b"[]", None, b"answer")
        assert [each.number for each in store.requests()] == [three, two, one]
        assert [each.number for each in store.requests("a", limit=1)] == [three]
        assert [each.number for each in store.requests("a", before=three)] == [two]
        assert store.requests("b") == []
        with pytest.raises(NotFound, match="there is no recorded request 99"):
            store.request_bodies(99)
        other = store.for_tenant("other")
        assert other.requests() == []
        for read in (other.request, other.request_bodies):
            with pytest.raises(NotFound):
                read(two)
        store.rename("a", "b")
        assert store.request(two).conversation == "b"


pieces = st.lists(st.binary(max_size=12), max_size=6).map(b"".join)


@examples(STORE)
@given(st.lists(pieces, min_size=1, max_size=8), st.integers(0, 8))
def test_every_byte_comes_back(
    tmp_path_factory: pytest.TempPathFactory, sent: list[bytes], gone: int
) -> None:
    """Also when the requests are removed that the others were kept as differences to."""
    with cw.Store(tmp_path_factory.mktemp("bodies") / "store.db", sync="fast") as store:
        numbers = recorded(store, "a", sent)
        began = datetime.fromisoformat(RECORD.started)
        store.engine.write_alone(
            lambda connection: requests.remove_before(connection, "", began + timedelta(hours=gone))
        )
        found = [store.request_bodies(number).request for number in numbers[gone:]]
        assert found == sent[gone:]


def test_a_history_sent_again_and_again_takes_its_space_once(tmp_path: object) -> None:
    chance = Random(90)  # no two turns are alike, and none can be compressed by much
    turns = [{"role": "user", "content": chance.randbytes(400).hex()} for _ in range(90)]
    system = chance.randbytes(2_500).hex()
    sent = [
        json.dumps({"model": "m", "messages": turns[: n + 1], "system": system}).encode()
        for n in range(len(turns))
    ]
    with cw.Store(f"{tmp_path}/store.db", sync="fast") as store:
        numbers = recorded(store, "a", sent)
        assert sum(map(len, sent)) > 30 * len(sent[-1])
        assert stored_bytes(store) < 1.1 * len(sent[-1])
        sql = "SELECT depth FROM bodies WHERE kind = 'request' ORDER BY request"
        depths = store.engine.read(lambda connection: connection.rows(sql))
        assert depths == [(n % (bodies.MAX_DEPTH + 1),) for n in range(90)]
        assert store.request_bodies(numbers[-1]).request == sent[-1]


def test_a_forgotten_conversation_takes_its_requests_along(place: str) -> None:
    with cw.Store(place) as store:
        (lost,) = recorded(store, None, [b"{}"])
        recorded(store, "a", [b"{}", b"{}"])
        store.forget("a")
        assert [each.number for each in store.requests()] == [lost]


def test_erased_words_leave_recorded_requests_too(place: str) -> None:
    with cw.Store(place) as store:
        store.conversation("a").add([cw.user("secret"), cw.assistant("yes")])
        store.conversation("b").add(cw.user("other"))
        (lost,) = recorded(store, None, [b"secret"])
        (one,) = recorded(store, "a", [b"secret"])
        (other,) = recorded(store, "b", [b"other"])
        store.conversation("a").erase(1)
        for number in (lost, one):
            assert store.request_bodies(number) == RequestBodies()
            assert [change.reason for change in store.request(number).changes] == [""]
        assert store.request_bodies(other).request == b"other"


def test_words_that_were_replaced_for_good_leave_them_too(place: str) -> None:
    with cw.Store(place) as store:
        chat = store.conversation("a")
        chat.add(cw.user("secret"))
        (one,) = recorded(store, "a", [b"secret"])
        chat.edit(1, "other")
        assert store.request_bodies(one).request == b"secret"
        chat.edit(1, "third", keep=False)
        assert store.request_bodies(one) == RequestBodies()


def test_old_requests_and_those_of_a_tenant_are_erased(place: str) -> None:
    with cw.Store(place) as store:
        late = replace(RECORD, started="2026-11-17T00:00:00Z")
        recorded(store, "a", [b"{}"])
        (kept,) = recorded(store, "a", [b"{}"], late)
        store.erase_before("2026-11-16T12:00:00+02:00")
        assert [each.number for each in store.requests()] == [kept]
        other = store.for_tenant("other")
        recorded(other, "a", [b"{}"])
        store.erase_tenant("other")
        assert other.requests() == []
        assert len(store.requests()) == 1


def test_numbers_that_no_database_holds(place: str) -> None:
    with cw.Store(place) as store:
        (number,) = recorded(store, None, [b"{}"])
        for beyond in (-1, 0, 2**63, 10**30):
            with pytest.raises(NotFound, match="there is no recorded request"):
                store.request(beyond)
            with pytest.raises(NotFound, match="there is no recorded request"):
                store.request_bodies(beyond)
        assert [one.number for one in store.requests(limit=10**30, before=10**30)] == [number]
        assert store.requests(limit=-1) == store.requests(before=-1) == []
        wrong: list[dict[str, Any]] = [{"limit": "1"}, {"before": "1"}, {"conversation": 1}]
        for one in wrong:
            with pytest.raises(UsageError):
                store.requests(**one)
