"""Signed answers: kept with the record of their request, and gone with it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

import contextwright as cw
from contextwright.store.care import copying
from contextwright.store.recording import BegunRequest, EndedRequest, RequestLog
from contextwright.store.requests import RequestBodies
from contextwright.store.rows.recorded import requests, signatures
from contextwright.store.rows.recorded.signatures import Found, SignedAnswer
from store.rows.recorded.test_requests import RECORD

THINKING = cw.Thinking("Hm.", "sig\x00nature", "gemini")
SIGNED = SignedAnswer("call-1", (THINKING, cw.ToolCall("run", {"x": 1}, "c1")))


def record(store: cw.Store, name: str, signed: SignedAnswer | None = SIGNED) -> int:
    """Record a request and its answer, in a conversation of its own."""
    log, begun = RequestLog(store.state, "here/1"), replace(RECORD, session=name)
    (number,) = log.begin([BegunRequest(begun, b"{}", place=f"place of {name}")])
    ended = EndedRequest(
        record=replace(begun, number=number, state="answered"),
        bodies=RequestBodies(b"{}", None, b"{}"),
        payload={},
        said=cw.Conversation((cw.user(f"Hello from {name}"),)),
        reply=cw.assistant("Yes."),
        signed=signed,
    )
    return log.finish([ended])[0].number


def found(store: cw.Store, *digests: str) -> list[Found]:
    return store.engine.read(lambda one: signatures.find(one, store.tenant, digests))


def test_an_answer_is_found_by_its_place_and_its_first_call(place: str) -> None:
    with cw.Store(place) as store:
        record(store, "a")
        record(store, "b", replace(SIGNED, first_call=None))
        record(store, "c", None)
        one = Found("place of a", "call-1", SIGNED.parts, awaited=None)
        assert found(store, "place of a") == found(store, "call-1") == [one]
        assert found(store, *map(str, range(1_200)), "call-1") == [one]
        assert found(store, "place of b", "place of c") == [
            Found("place of b", None, SIGNED.parts, awaited=None)
        ]
        assert found(store.for_tenant("other"), "place of a", "call-1") == []


def test_an_answer_that_is_expected_is_open_until_it_comes_or_is_lost(place: str) -> None:
    with cw.Store(place) as store:
        log = RequestLog(store.state, "here/1")
        log.begin([BegunRequest(RECORD, b"{}", place="p")])
        assert found(store, "p") == [Found("p", None, (), ("here/1", RECORD.started))]
        store.engine.write(lambda one: requests.give_up(one, lambda *_: False) and None)
        assert found(store, "p") == []


GONE: dict[str, Callable[[cw.Store], object]] = {
    "forget": lambda store: store.forget("claude-cli/a"),
    "erase": lambda store: store.conversation("claude-cli/a").erase(1),
    "edit": lambda store: store.conversation("claude-cli/a").edit(1, "Other", keep=False),
    "tenant": lambda store: store.erase_tenant(""),
    "old": lambda store: store.erase_before("2030-01-01T00:00:00Z"),
}


@pytest.mark.parametrize("way", GONE)
def test_they_go_with_their_request(place: str, way: str) -> None:
    with cw.Store(place) as store:
        record(store, "a")
        record(store, "b")
        GONE[way](store)
        left = {"tenant": [], "old": []}.get(way, ["place of b"])
        assert [one.place for one in found(store, "place of a", "place of b", "call-1")] == left


def test_a_copy_has_them_too(tmp_path: Path, place: str) -> None:
    with cw.Store(tmp_path / "source.db", sync="fast") as store, cw.Store(place) as other:
        record(other, "b")
        record(store, "a")
        RequestLog(store.state, "here/1").begin([BegunRequest(RECORD, b"{}", place="p")])
        for _ in range(2):
            copying.copy(store.engine, other.engine)
            assert found(other, "place of a", "p") == found(store, "place of a")


def test_bytes_that_changed_are_no_signature(place: str) -> None:
    with cw.Store(place) as store:
        record(store, "a")
        store.engine.write_alone(lambda one: one.run("UPDATE signatures SET body = ?", b"x"))
        assert found(store, "call-1") == [Found("place of a", "call-1", (), awaited=None)]
