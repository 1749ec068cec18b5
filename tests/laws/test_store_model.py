"""Every store gives the answers of a few dictionaries: SQLite and Postgres, sync and async."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

import contextwright as cw
from contextwright.store.care.copying import copy
from contextwright.store.care.doctor import look
from contextwright.store.records import Erasure, Version
from contextwright.store.rows.validation import replace_invalid
from profiles import STORE, examples
from strategies.messages import IDS, NAMES, call_parts, text_parts

ids = st.sampled_from(("a", "b", "Ж/../x", "'; --"))
keys = st.none() | st.sampled_from(("k1", "k2", "k3"))
result_parts = st.builds(
    cw.ToolResult, st.sampled_from(IDS), st.just("r"), st.none() | st.sampled_from(NAMES)
)
parts = st.one_of(text_parts, call_parts, result_parts)
messages = st.builds(
    cw.Message,
    st.sampled_from(("system", "user", "assistant", "assistant", "tool")),
    st.lists(parts, max_size=3).map(tuple),
    pinned=st.sampled_from((False, False, True)),
    visibility=st.sampled_from(("public", "public", "public", "internal")),
).map(lambda message: replace_invalid([message])[0][0])
places = st.integers(0, 12)


class Written:
    """What was written at one place, and before; a conversation and its forks share it."""

    def __init__(self, message: cw.Message) -> None:
        self.message = message
        self.earlier: list[cw.Message] = []

    @property
    def is_erased(self) -> bool:
        return self.message.visibility == "erased"

    def is_like(self, message: cw.Message) -> bool:
        """Whether a turn that comes again may have this message here."""
        return self.message == message or self.is_erased or "edited" in self.message.meta


class Model:
    """A store as a person would write it down: rows of number, key, what is there, and marks."""

    def __init__(self) -> None:
        self.chats: dict[str, dict[str, Any]] = {}

    def chat(self, id: str) -> dict[str, Any]:
        return self.chats.setdefault(
            id,
            {"rows": [], "keys": {}, "title": None, "agent": None, "settings": {}, "fork": None},
        )

    def known(self, id: str) -> dict[str, Any]:
        if id not in self.chats:
            raise cw.errors.NotFound("unknown")
        return self.chats[id]

    def rows(self, id: str) -> list[Any]:
        """The messages of a conversation; one that was never written to has none."""
        return self.known(id)["rows"] if id in self.chats else []

    def add(self, id: str, turn: list[cw.Message], key: str | None) -> list[int]:
        if not turn:
            raise cw.UsageError("empty")
        chat = self.chat(id)
        if key in chat["keys"]:
            numbers = chat["keys"][key]
            there = [chat["rows"][seq - 1][2] for seq in numbers]
            if len(there) != len(turn) or not all(map(Written.is_like, there, turn)):
                raise cw.errors.Conflict("other")
            return numbers
        numbers = list(range(len(chat["rows"]) + 1, len(chat["rows"]) + len(turn) + 1))
        for seq, one in zip(numbers, turn, strict=True):
            marks = {"visibility": one.visibility, "pinned": one.pinned}
            chat["rows"].append((seq, key, Written(one), marks))
        if key is not None:
            chat["keys"][key] = numbers
        return numbers

    def row(self, rows: list[Any], seq: int) -> Any:
        if not 1 <= seq <= len(rows):
            raise cw.errors.NotFound("no message")
        return rows[seq - 1]

    def changeable(self, id: str, seq: int) -> Any:
        row = self.row(self.known(id)["rows"], seq)
        if row[2].is_erased:
            raise cw.UsageError("erased")
        return row

    def mark(self, id: str, seq: int, **change: Any) -> None:
        self.changeable(id, seq)[3].update(change)

    def edit(self, id: str, seq: int, words: str) -> None:
        written = self.changeable(id, seq)[2]
        old = written.message
        others = [part for part in old.parts if not isinstance(part, cw.Text)]
        written.earlier.append(old)
        written.message = msgspec.structs.replace(
            old, parts=(cw.Text(words), *others), meta={"edited": "now"}
        )

    def versions(self, id: str, seq: int) -> list[cw.Message]:
        return list(self.row(self.rows(id), seq)[2].earlier)

    def erase(self, id: str, *seqs: int, scrub: bool, dry_run: bool) -> int:
        rows = self.known(id)["rows"]
        gone = {self.row(rows, seq)[2] for seq in seqs}
        gone = {written for written in gone if not written.is_erased}
        for written in () if dry_run else gone:
            for chat in self.chats.values():
                shown = any(row[2] is written for row in chat["rows"])
                begins = " ".join(written.message.text.split())[:40]
                if shown and begins and begins in (chat["title"] or ""):
                    chat["title"] = None
            written.message = cw.Message(written.message.role, visibility="erased")
            written.earlier = []
        return len(gone)

    def hide(self, id: str, seq: int) -> None:
        self.mark(id, seq, visibility="hidden")

    def show(self, id: str, seq: int) -> None:
        self.mark(id, seq, visibility="public")

    def delete(self, id: str, seq: int) -> bool:
        deleted = [row[0] for row in self.rows(id) if row[3]["visibility"] == "deleted"]
        self.mark(id, seq, visibility="deleted")
        return seq not in deleted

    def pin(self, id: str, seq: int) -> None:
        self.mark(id, seq, pinned=True)

    def unpin(self, id: str, seq: int) -> None:
        self.mark(id, seq, pinned=False)

    def update(self, id: str, **fields: Any) -> None:
        self.chat(id).update(fields)

    def fork(self, id: str, new_id: str, at: int | None) -> None:
        chat = self.known(id)
        at = len(chat["rows"]) if at is None else at
        if not 0 <= at <= len(chat["rows"]):
            raise cw.errors.NotFound("no message")
        if new_id in self.chats:
            if self.chats[new_id]["fork"] != (id, at):
                raise cw.errors.Conflict("taken")
            return
        rows = [(*row, {**marks}) for *row, marks in chat["rows"][:at]]
        self.chats[new_id] = {**chat, "rows": rows, "keys": {}, "fork": (id, at)}

    def forget(self, id: str) -> None:
        if any(chat["fork"] and chat["fork"][0] == id for chat in self.chats.values()):
            raise cw.errors.Conflict("forked")
        self.chats.pop(id, None)

    def rename(self, id: str, new_id: str) -> None:
        self.known(id)
        if new_id != id and new_id in self.chats:
            raise cw.errors.Conflict("taken")
        self.chats = {new_id if name == id else name: chat for name, chat in self.chats.items()}
        for chat in self.chats.values():
            if chat["fork"] and chat["fork"][0] == id:
                chat["fork"] = (new_id, chat["fork"][1])

    def read(
        self, id: str, start: int, stop: int | None, *, hidden: bool = False
    ) -> list[tuple[int, Any, cw.Message]]:
        rows = self.rows(id)
        last = len(rows) if stop is None else min(stop - 1, len(rows))
        return [told(row, hidden) for row in rows if start <= row[0] <= last]

    def tail(self, id: str, count: int) -> list[tuple[int, Any, cw.Message]]:
        rows = self.rows(id)
        return [told(row) for row in rows[max(len(rows) - count, 0) :]]

    def length(self, id: str) -> int:
        return len(self.rows(id))

    def details(self, id: str) -> tuple[Any, ...]:
        chat = self.known(id)
        fork = chat["fork"] or (None, None)
        return id, len(chat["rows"]), chat["title"], chat["agent"], chat["settings"], *fork

    def list(self) -> list[tuple[Any, ...]]:
        return [self.details(id) for id in self.chats]


def told(row: Any, hidden: bool = False) -> tuple[Any, ...]:
    """A row as readers see it: of a message that is hidden or deleted, not what it says."""
    seq, key, written, marks = row
    message = written.message
    if not written.is_erased:
        message = msgspec.structs.replace(message, **marks)
    if message.visibility in ("hidden", "deleted") and not hidden:
        message = msgspec.structs.replace(message, parts=(), reply_to=None, meta={}, extra={})
    return seq, key, message


def plain(answer: Any) -> Any:
    """An answer as the model gives it."""
    if isinstance(answer, cw.StoredMessage):
        return answer.seq, answer.key, timeless(answer.message)
    if isinstance(answer, Version):
        return timeless(answer.message)
    if isinstance(answer, Erasure):
        assert (answer.quotes, answer.memories, answer.conversations) == (0, 0, 0)
        return answer.messages
    if isinstance(answer, cw.store.ConversationInfo):
        return msgspec.structs.astuple(answer)[:-1]
    return None if isinstance(answer, cw.Chat | cw.AsyncChat) else answer


def timeless(message: cw.Message) -> cw.Message:
    """A message without the time at which it was edited."""
    if "edited" not in message.meta:
        return message
    return msgspec.structs.replace(message, meta={**message.meta, "edited": "now"})


class Subject:
    """One store under test, called by the names of its methods."""

    def __init__(self, store: Any, runner: asyncio.Runner) -> None:
        self.store, self.runner = store, runner

    def call(self, method: str, id: str | None, *arguments: Any, **named: Any) -> Any:
        owner = self.store
        if id is not None and method not in ("forget", "rename"):
            owner = self.store.conversation(id)
        elif id is not None:
            arguments = (id, *arguments)
        answer = getattr(owner, method)(*arguments, **named)
        if inspect.isasyncgen(answer):
            answer = self.runner.run(listed(answer))
        elif inspect.iscoroutine(answer):
            answer = self.runner.run(answer)
        elif inspect.isgenerator(answer):
            answer = list(answer)
        return [plain(one) for one in answer] if isinstance(answer, list) else plain(answer)


async def listed(items: Any) -> list[Any]:
    return [item async for item in items]


class Stores(RuleBasedStateMachine):
    """All stores take the same steps as the model, each in a tenant of its own."""

    subjects: list[Any]
    runner: asyncio.Runner
    tenants = itertools.count()

    @initialize()
    def begin(self) -> None:
        self.model = Model()
        self.stores = [
            Subject(store.for_tenant(f"tenant {next(self.tenants)}"), self.runner)
            for store in self.subjects
        ]

    def same(self, method: str, id: str | None, *arguments: Any, **named: Any) -> None:
        """One call everywhere: the same answer, or the same kind of error."""
        self.touched = id
        expected = outcome(
            lambda: getattr(self.model, method)(*[id] * (id is not None), *arguments, **named)
        )
        for subject in self.stores:
            got = outcome(lambda it=subject: it.call(method, id, *arguments, **named))
            assert got == expected, (subject.store, method)

    @rule(id=ids, turn=st.lists(messages, max_size=4), key=keys)
    def add(self, id: str, turn: list[cw.Message], key: str | None) -> None:
        self.same("add", id, turn, key)

    @rule(id=ids, seq=places, method=st.sampled_from(("hide", "show", "delete", "pin", "unpin")))
    def mark(self, id: str, seq: int, method: str) -> None:
        self.same(method, id, seq)

    @rule(id=ids, new_id=ids, at=st.none() | places)
    def fork(self, id: str, new_id: str, at: int | None) -> None:
        self.same("fork", id, new_id, at)

    @rule(id=ids, seq=places, words=st.sampled_from(("other words", "", "T")))
    def edit(self, id: str, seq: int, words: str) -> None:
        self.same("edit", id, seq, words)
        self.same("versions", id, seq)

    @rule(id=ids, seqs=st.lists(places, max_size=3), dry_run=st.booleans())
    def erase(self, id: str, seqs: list[int], dry_run: bool) -> None:
        self.same("erase", id, *seqs, scrub=False, dry_run=dry_run)

    @rule(id=ids)
    def forget(self, id: str) -> None:
        self.same("forget", id)

    @rule(id=ids, new_id=ids)
    def rename(self, id: str, new_id: str) -> None:
        self.same("rename", id, new_id)

    @rule(id=ids, title=st.none() | st.just("T"), settings=st.just({"a": [1, None]}))
    def update(self, id: str, title: str | None, settings: dict[str, Any]) -> None:
        self.same("update", id, title=title, settings=settings)

    @rule(id=ids, start=places, stop=st.none() | places)
    def read(self, id: str, start: int, stop: int | None) -> None:
        self.same("read", id, start, stop)
        self.same("tail", id, start)
        self.same("details", id)

    @invariant()
    def what_was_written_is_there(self) -> None:
        if getattr(self, "touched", None) is not None:
            self.same("read", self.touched, 0, None)

    def teardown(self) -> None:
        self.same("list", None)
        for subject in self.stores[:2]:
            assert findings_of(subject.store) == []
        for id in self.model.chats:
            self.same("read", id, 0, None, hidden=True)
            self.same("length", id)
        sqlite, postgres = self.stores[:2]
        for source, target in ((sqlite, postgres), (postgres, sqlite)):
            self.copies(source.store, target.store.for_tenant(source.store.tenant))

    def copies(self, source: cw.Store, target: cw.Store) -> None:
        """A copy in the other database is the same, sound, and nothing new the second time."""
        done = copy(source.engine, target.engine, tenant=source.tenant)
        again = copy(source.engine, target.engine, tenant=source.tenant)
        assert (again.messages, again.digest) == (0, done.digest)
        assert findings_of(target) == []
        copied = Subject(target, self.runner)
        for id, chat in self.model.chats.items():
            assert copied.call("details", id) == self.model.details(id)
            assert copied.call("read", id, hidden=True) == self.model.read(id, 0, None, hidden=True)
            for seq, *_ in chat["rows"]:
                assert copied.call("versions", id, seq) == self.model.versions(id, seq)


def findings_of(store: cw.Store) -> list[Any]:
    """What the doctor has to say about the conversations of one tenant."""
    sql = "SELECT number FROM conversations WHERE tenant = ?"

    def work(connection: Any) -> list[Any]:
        numbers = [number for (number,) in connection.rows(sql, store.tenant)]
        return [one for number in numbers for one in look(connection, number)[0]]

    return store.engine.read(work)


def outcome(call: Any) -> Any:
    try:
        return call()
    except cw.ContextwrightError as error:
        return type(error)


@pytest.fixture(scope="module")
def subjects(shared_postgres: str) -> Any:
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        file = str(Path(folder) / "model.db")
        sync = [cw.Store(file, sync="fast"), cw.Store(shared_postgres, sync="fast")]
        later = [cw.AsyncStore(file, sync="fast"), cw.AsyncStore(shared_postgres, sync="fast")]
        for store in later:
            runner.run(store.store())
        yield sync + later, runner
        for store in sync:
            store.close()
        for store in later:
            runner.run(store.close())


def test_all_stores_answer_alike(subjects: Any) -> None:
    stores, runner = subjects

    class Machine(Stores):
        pass

    Machine.subjects, Machine.runner = stores, runner
    run_state_machine_as_test(
        Machine,
        settings=settings(examples(STORE), stateful_step_count=30),
    )
