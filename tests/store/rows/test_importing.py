"""Conversations written in groups: nobody sees where one group ends, and none is stored twice."""

import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.errors import ContextwrightError
from contextwright.store.engines.base import Connection
from contextwright.store.records import ConversationInfo
from contextwright.store.rows import conversations, importing
from contextwright.store.rows import messages as reading
from contextwright.store.rows.importing import MOST_MESSAGES, Importing
from contextwright.store.rows.validation import decode_message, replace_invalid
from doubles import Watch
from strategies.messages import messages as any_messages

TABLES = {
    "conversations": "number, tenant, id, title, agent, settings, parent, fork_at",
    "heads": "*",
    "messages": "conversation, seq, joins, kind, body, length, digest",
    "turns": "*",
    "marks": "*",
    "open_calls": "*",
}
SIZES = (0, 1, 1, 2, 3, 5, MOST_MESSAGES - 1, MOST_MESSAGES, MOST_MESSAGES + 1)
WAITING = """
SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"""
FEW_BYTES = 4_096
LONG = cw.user("x" * FEW_BYTES)

Conversation = tuple[ConversationInfo, list[cw.Message]]


@st.composite
def imports(draw: st.DrawFn) -> list[Conversation]:
    """Conversations, forks of them, and some that come twice, perhaps with other messages."""
    found: list[Conversation] = []
    lengths: dict[str, int] = {}
    drawn, _ = replace_invalid(draw(st.lists(any_messages, min_size=1, max_size=5)))
    pool = [*drawn, LONG][: draw(st.integers(1, 6))]
    for _ in range(draw(st.integers(1, 6))):
        id, size = draw(st.sampled_from("abcdef")), draw(st.sampled_from(SIZES))
        messages = (pool * (size // len(pool) + 1))[:size] if LONG not in pool else pool[:size]
        info = ConversationInfo(id, 0, draw(st.none() | st.just("A title")), None, {"n": size})
        parents = [other for other in lengths if other != id]
        if parents and id not in lengths and draw(st.booleans()):
            parent = draw(st.sampled_from(parents))
            at = draw(st.integers(0, lengths[parent]))
            info = ConversationInfo(id, 0, parent=parent, fork_at=at)
        elif not messages:
            continue  # nothing is created for it
        lengths[id] = max(lengths.get(id, 0), len(messages) + (info.fork_at or 0))
        found.append((info, messages))
    return found


def take(store: cw.Store, groups: Iterable[list[Conversation]]) -> tuple[Any, ...]:
    """Import in one transaction, and write at the end of each group; return what is stored."""

    def work(connection: Connection) -> tuple[int, int]:
        importing = Importing(connection, store.tenant)
        for group in groups:
            for info, messages in group:
                assert sum(importing.add(info, messages)) == len(messages)
            importing.flush()
        return importing.added, importing.known

    try:
        outcome: object = store.engine.write_alone(work)
    except ContextwrightError as error:
        outcome = str(error)
    return outcome, store.engine.read(rows_of)


def rows_of(connection: Connection) -> dict[str, list[Any]]:
    return {
        table: connection.rows(f"SELECT {columns} FROM {table} ORDER BY 1, 2")
        for table, columns in TABLES.items()
    }


@given(imports())
def test_groups_are_not_seen(empty_store: Path, found: list[Conversation]) -> None:
    """All at once, and one after the other, give the same rows, counts and errors; also again.

    Without an error, every message is there.
    """
    with TemporaryDirectory() as folder:
        files = [shutil.copy(empty_store, Path(folder, name)) for name in ("together", "apart")]
        with (
            pytest.MonkeyPatch.context() as patch,
            cw.Store(files[0]) as together,
            cw.Store(files[1]) as apart,
        ):
            patch.setattr(importing, "MOST_BYTES", FEW_BYTES)
            for _ in range(2):
                taken = take(together, [found])
                assert taken == take(apart, [[one] for one in found])
                for info, messages in () if isinstance(taken[0], str) else found:
                    stored = together.engine.read(lambda one, of=info: own_messages(one, of))
                    assert stored[: len(messages)] == messages


def own_messages(connection: Connection, info: ConversationInfo) -> list[cw.Message]:
    """A conversation's own messages, as they were written."""
    head = conversations.require(connection, "", info.id)
    first, last = (info.fork_at or 0) + 1, conversations.length_of(connection, head, info.id)
    rows = reading.bodies_between(connection, head.number, first, last)
    return [decode_message(body) for body, _ in rows]


def test_short_conversations_share_their_statements(
    empty_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Watch(monkeypatch)
    found = [
        (ConversationInfo(f"c{at}", 0), [cw.user("Hi"), cw.assistant("Hello")]) for at in range(128)
    ]
    with cw.Store(shutil.copy(empty_store, tmp_path / "store.db")) as store:
        watch.taken()
        store.engine.write_alone(lambda connection: run(connection, found))
        importing = watch.taken()
    # BEGIN, COMMIT; look, create two rows, look again; messages, turns, heads
    assert importing["statements"] == 9


def run(connection: Connection, found: list[Conversation]) -> Importing:
    importing = Importing(connection, "")
    for info, messages in found:
        list(importing.add(info, messages))
    importing.flush()
    return importing


def test_two_imports_at_once_store_a_file_once(postgres: str) -> None:
    """The slower one waits, and then compares with what the faster one wrote."""
    found = [(ConversationInfo("a", 0), [cw.user("Hi"), cw.assistant("Hello")])]
    outcomes: list[Importing] = []
    with cw.Store(postgres) as store:
        slower = Thread(
            target=lambda: outcomes.append(store.engine.write_alone(lambda one: run(one, found)))
        )

        def work(connection: Connection) -> Importing:
            importing = run(connection, found)
            slower.start()
            deadline = time.monotonic() + 60
            while not store.engine.read(lambda other: other.rows(WAITING)):
                assert time.monotonic() < deadline
                time.sleep(0.01)
            return importing

        faster = store.engine.write_alone(work)
        slower.join()
        assert [(one.added, one.known) for one in (faster, *outcomes)] == [(2, 0), (0, 2)]
        assert len(list(store.conversation("a").read())) == 2
