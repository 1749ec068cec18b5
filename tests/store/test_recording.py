"""What was said in recorded requests: each message once, however a client sends it again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import contextwright as cw
from contextwright.store.care.doctor import examine
from contextwright.store.engines.base import Connection
from contextwright.store.recording import BegunRequest, EndedRequest, RequestLog
from contextwright.store.requests import RecordedRequest, RequestBodies
from contextwright.store.rows.recorded import places, requests
from contextwright.store.rows.recorded.places import spoken_content
from contextwright.store.rows.validation import replace_invalid
from contextwright.text.json import encode_json
from profiles import STORE, examples
from samples.stores.records import PASSED
from strategies.messages import messages as any_message
from strategies.messages import parts as any_parts

SESSIONS = count()


def sound(message: cw.Message) -> cw.Message:
    """A message as it can come in JSON: without halves of characters."""
    return replace_invalid([message])[0][0]


asking = any_message.filter(lambda one: one.role != "assistant").map(sound)
questions = st.lists(asking, min_size=1, max_size=3)
answers = st.lists(any_parts, min_size=1, max_size=3).map(
    lambda parts: sound(cw.Message("assistant", tuple(parts)))
)
turns = st.lists(st.tuples(questions, answers), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[cw.Store]:
    """A store for many examples, each a session of its own."""
    with cw.Store(tmp_path_factory.mktemp("shared") / "store.db", sync="fast") as store:
        yield store


def record(
    log: RequestLog, session: str, said: Sequence[cw.Message], reply: cw.Message | None
) -> RecordedRequest:
    """Record a request and its answer."""
    begun = replace(PASSED, session=session)
    payload: dict[str, Any] = {"messages": [one.text for one in said]}
    (number,) = log.begin([BegunRequest(begun, encode_json(payload))])
    ended = EndedRequest(
        record=replace(begun, number=number, state="answered" if reply else "failed"),
        bodies=RequestBodies(encode_json(payload), None, b"{}"),
        payload=payload,
        said=cw.Conversation(tuple(said)),
        reply=reply,
    )
    return log.finish([ended])[0]


def speaking(messages: list[cw.Message]) -> list[tuple[str, list[Any]]]:
    """Who said what; a message without words, calls and results has no place of its own."""
    told = [(one.role, list(spoken_content(one))) for one in messages]
    return [(role, words) for role, words in told if words]


def spelt_otherwise(message: cw.Message) -> cw.Message:
    """The same message as another client, or the next request, may send it."""
    kept = [part for part in message.parts if not isinstance(part, cw.Thinking)]
    other: list[Any] = []
    for part in kept:
        if isinstance(part, cw.ToolCall):
            other.append(replace(part, id="another", raw=None))
        elif isinstance(part, cw.Text):
            other.append(cw.Text(f"{part.text}\n", {"anthropic": {"cache_control": {}}}))
        else:
            other.append(part)
    return message.with_parts(other)


def test_images_in_results_are_stored_as_they_came(shared_store: cw.Store) -> None:
    """Two histories that differ in nothing else, each marked for the cache where it ends."""
    log = RequestLog(shared_store.state, "here/1")
    kept: list[list[cw.Message]] = []
    for data in ("AAAA", "BBBB"):
        parts = (cw.Media("image", "image/png", data), cw.Text("And now?"))
        marked = tuple(replace(one, extra={"anthropic": {"cache_control": {}}}) for one in parts)
        asked = [cw.user("Look."), cw.Message("tool", (cw.ToolResult("1", marked),))]
        name = record(log, "looking", asked, cw.assistant("I see.")).conversation
        kept.append([one.message for one in shared_store.conversation(name or "").read()])
        assert kept[-1][1] == cw.Message("tool", (cw.ToolResult("1", parts),))
    assert [len(messages) for messages in kept] == [3, 3]


@examples(STORE)
@given(turns, st.booleans())
def test_each_message_is_stored_once(
    shared_store: cw.Store, asked: list[tuple[list[cw.Message], cw.Message]], respelt: bool
) -> None:
    """Whatever the messages are, the conversation holds what was said, in order."""
    session = f"s{next(SESSIONS)}"
    log = RequestLog(shared_store.state, "here/1")
    history: list[cw.Message] = []
    said: list[cw.Message] = []
    for number, (questions, answer) in enumerate(asked):
        # Two turns that say the same are one place: a number tells them apart.
        news = [*questions, cw.user(f"question {number}")]
        before = [spelt_otherwise(one) for one in history] if respelt else history
        done = record(log, session, [*before, *news], answer)
        history += [*news, answer]
        said += [*news, answer]
        assert done.fork is None
        assert done.last == shared_store.conversation(f"client/{session}").length()
    (conversation,) = {each.conversation for each in shared_store.requests(limit=len(asked))}
    assert conversation == f"client/{session}"
    chat = shared_store.conversation(f"client/{session}")
    stored = [one.message for one in chat.read(hidden=True)]
    assert speaking(stored) == speaking(said)


def test_a_fork_is_compared_with_the_conversation_it_left(shared_store: cw.Store) -> None:
    log, session = RequestLog(shared_store.state, "here/1"), f"s{next(SESSIONS)}"
    opening = [cw.user("Hello"), cw.assistant("Hi")]
    record(log, session, opening[:1], opening[1])
    left = record(log, session, [*opening, cw.user("More?")], cw.assistant("More."))
    fork = record(log, session, [*opening, cw.user("Else?")], cw.assistant("Else."))
    assert fork.fork is not None
    assert (fork.conversation != left.conversation, fork.previous) == (True, left.number)


def test_requests_without_tools_leave_no_conversation(shared_store: cw.Store) -> None:
    """A session has requests on the side, such as for a title: none goes on from another."""
    log, session = RequestLog(shared_store.state, "here/1"), f"s{next(SESSIONS)}"
    first = record(log, session, [cw.user("A title for: Hello")], cw.assistant("Greeting"))
    second = record(log, session, [cw.user("A title for: Bye")], cw.assistant("Farewell"))
    assert (first.conversation, first.fork) == (f"client/{session}", None)
    assert (second.conversation, second.fork) == (f"client/{session}~{second.number}", None)


REMOVALS: dict[str, Callable[[cw.Store, str], object]] = {
    "forget": lambda store, id: store.forget(id),
    "by age": lambda store, id: store.erase_before(datetime(2025, 1, 1, tzinfo=UTC), scrub=False),
    "words": lambda store, id: store.conversation(id).erase(1, scrub=False),
}


@pytest.mark.parametrize("remove", REMOVALS.values(), ids=REMOVALS)
def test_bodies_outlive_the_conversation_they_are_differences_from(
    place: str, remove: Callable[[cw.Store, str], object]
) -> None:
    """One client begins two conversations with the same instructions."""
    with cw.Store(place, embedder=None) as store:
        log = RequestLog(store.state, "here/1")
        kept: list[RecordedRequest] = []
        for question, sent_at in (("Hello", "2024-05-04T12:00:00Z"), ("Good day", None)):
            body = encode_json({"system": "You book tables. " * 50, "messages": [question]})
            (number,) = log.begin([BegunRequest(PASSED, body, "one client")])
            ended = EndedRequest(
                record=replace(PASSED, number=number, state="answered"),
                bodies=RequestBodies(body, None, b"{}"),
                payload={},
                owner="one client",
                said=cw.Conversation((cw.user(question, sent_at=sent_at),)),
                reply=cw.assistant("Hi.", sent_at=sent_at),
            )
            kept += log.finish([ended])
        first, second = kept
        rows = store.engine.read(lambda one: one.rows("SELECT request, base FROM bodies"))
        assert (second.number, first.number) in rows
        remove(store, first.conversation or "")
        assert store.request_bodies(second.number).request == body
        assert examine(store.engine).findings == []


def test_an_unanswered_request_adds_nothing(shared_store: cw.Store) -> None:
    log, session = RequestLog(shared_store.state, "here/1"), f"s{next(SESSIONS)}"
    record(log, session, [cw.user("Hello")], cw.assistant("Hi"))
    question = [cw.user("Hello"), cw.assistant("Hi"), cw.user("More?")]
    failed = record(log, session, question, None)
    found = shared_store.request(failed.number)
    assert (found.conversation, found.first) == (f"client/{session}", None)
    assert len(shared_store.conversation(f"client/{session}")) == 2
    assert record(log, session, question, cw.assistant("More.")).first == 3


def ended_of(log: RequestLog, said: Sequence[cw.Message], reply: cw.Message) -> EndedRequest:
    """A request that is over, and not yet written; it names no session."""
    (number,) = log.begin([BegunRequest(PASSED, b"{}", "owner")])
    return EndedRequest(
        record=replace(PASSED, number=number, state="answered"),
        bodies=RequestBodies(b"{}", None, b"{}"),
        payload={},
        owner="owner",
        said=cw.Conversation(tuple(said)),
        reply=reply,
    )


TALK = [cw.user("one"), cw.assistant("1"), cw.user("two"), cw.assistant("2")]


def test_the_second_request_may_be_written_before_the_first(tmp_path: Path) -> None:
    """Two gateways that get a talk by turns record one conversation."""
    path = tmp_path / "store.db"
    with cw.Store(path, sync="fast") as here, cw.Store(path, sync="fast") as there:
        logs = RequestLog(here.state, "here/1"), RequestLog(there.state, "here/2")
        first = ended_of(logs[0], TALK[:1], TALK[1])
        second = ended_of(logs[1], TALK[:3], TALK[3])
        (late,), (early,) = logs[1].finish([second]), logs[0].finish([first])
        assert late.conversation == early.conversation
        assert early.fork is late.fork is None
        (conversation,) = here.list()
        assert [one.message.text for one in here.conversation(conversation.id).read()] == [
            one.text for one in TALK
        ]


def test_two_gateways_do_not_begin_one_talk_twice(postgres: str) -> None:
    """One that is about to write a talk lets others wait that write the same."""
    written, go_on = Event(), Event()
    with cw.Store(postgres) as here, cw.Store(postgres) as there, ThreadPoolExecutor() as pool:
        slow, quick = RequestLog(here.state, "here/1"), RequestLog(there.state, "here/2")
        first = ended_of(slow, TALK[:1], TALK[1])
        second = ended_of(quick, TALK[:3], TALK[3])

        def write_slowly(connection: Connection) -> None:
            slow.write(connection, [first])
            written.set()
            go_on.wait(20)

        begun = pool.submit(here.state.engine.write_alone, write_slowly)
        assert written.wait(20)
        other = pool.submit(quick.finish, [second])
        waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        while not other.done() and not here.state.engine.read(lambda one: one.rows(waiting))[0][0]:
            pass
        go_on.set()
        begun.result(20)
        other.result(20)
        (conversation,) = here.list()
        assert len(here.conversation(conversation.id)) == 4


def test_another_process_goes_on_where_one_ended(tmp_path: Path) -> None:
    """Nothing that is needed is in memory alone."""
    history: list[cw.Message] = []
    for number in range(3):
        with cw.Store(tmp_path / "store.db", sync="fast") as store:
            history.append(cw.user(f"question {number}"))
            log = RequestLog(store.state, f"here/{number}")
            done = record(log, "s", history, cw.assistant(f"answer {number}"))
            history.append(cw.assistant(f"answer {number}"))
            assert (done.prefix is None) == (number == 0)
            assert done.prefix is None or done.prefix.first_difference is None
            assert len(store.conversation("client/s")) == len(history)


def test_text_that_cannot_be_stored_is_replaced_and_told(place: str) -> None:
    with cw.Store(place) as store:
        log = RequestLog(store.state, "here/1")
        done = record(log, "s", [cw.user("a\x00b")], cw.assistant("c"))
        assert [change.code for change in done.changes] == ["repair.text"]
        assert store.conversation("client/s").tail(2)[0].message.text == "a\ufffdb"


@pytest.mark.parametrize(
    ("sql", "values"),
    [
        (places.FIND.format("?, ?"), ("", "a", "b")),
        (requests.OF_SESSION, ("", "s", 9)),
        (requests.LATEST, ("", 1, 9)),
    ],
    ids=["the conversation of a history", "the last of a session", "the last of a conversation"],
)
def test_a_request_costs_the_same_in_a_large_store(
    shared_store: cw.Store, sql: str, values: tuple[Any, ...]
) -> None:
    """Nothing is looked for among all conversations or all requests of a tenant."""
    plan = shared_store.engine.read(lambda one: one.rows(f"EXPLAIN QUERY PLAN {sql}", *values))
    steps = [str(step) for *_, step in plan]
    assert steps
    assert not any("SCAN" in step or "(tenant=? AND number<?)" in step for step in steps)
    assert not any(step.endswith("(tenant=?)") for step in steps)
