"""A store pairs results with calls as a list of its messages does, whatever was changed before."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.store.care import copying
from contextwright.store.care.doctor import examine, look, mend
from contextwright.store.contexts import loader
from contextwright.store.contexts.loader import EVERYTHING, Needs
from contextwright.store.engines.base import Connection
from contextwright.store.records import ConversationInfo
from contextwright.store.rows import conversations
from contextwright.store.rows import turns as turns_of
from contextwright.store.rows.importing import Importing
from contextwright.store.rows.pairing import pairing_of
from contextwright.store.store import Store
from contextwright.windows.log import Log
from contextwright.windows.policies import FirstAndRecent, KeepRecent, Stepped
from profiles import STORE, examples

ids = st.sampled_from((None, None, None, "a", "b"))
names = st.sampled_from(("look", "read"))
calls = st.builds(cw.ToolCall, names, st.just({}), ids)
results = st.builds(cw.ToolResult, ids, st.sampled_from(("sunny", "warm " * 40)), st.none() | names)
texts = st.sampled_from((cw.Text("And then?"), cw.Text("Well. " * 60)))


def said(role: str, part: st.SearchStrategy[Any], most: int) -> st.SearchStrategy[cw.Message]:
    return st.builds(
        cw.Message,
        st.just(role),
        st.lists(part, min_size=1, max_size=most).map(tuple),
        pinned=st.sampled_from((False, False, False, True)),
        visibility=st.sampled_from(("public", "public", "public", "public", "hidden")),
    )


turns = st.lists(
    st.one_of(
        said("assistant", calls, 3),
        said("assistant", st.one_of(calls, calls, results, texts), 3),
        said("tool", results, 3),
        said("tool", results, 1),
        said("user", st.one_of(results, texts), 2),
        said("user", texts, 1),
    ),
    min_size=1,
    max_size=6,
)
needs = st.builds(
    Needs, st.sampled_from((0, 0, 300, EVERYTHING)), st.integers(0, 6), st.integers(0, 3)
)
recipes = st.builds(
    cw.Recipe,
    window=st.sampled_from((KeepRecent(), KeepRecent(3), Stepped(), FirstAndRecent(4, 2))),
    clearing=st.sampled_from((cw.Clearing(), cw.Clearing(results=1, spare=("look",)))),
)
summarised = cw.Recipe(window=KeepRecent(2), summary=cw.SummaryPolicy())
CHANGES = ("add", "add", "mark", "mark", "mark", "erase", "edit", "fork", "undo", "other")


class Talks:
    """The conversations of a store, and what changes the call that a result answers."""

    def __init__(self, stores: list[Store], data: st.DataObject) -> None:
        self.store, self.stores, self.data = stores[0], stores, data
        self.ids = ["a"]

    def take_in(self) -> None:
        """Store the beginning as an import does."""
        info, messages = ConversationInfo("a", 0), self.data.draw(turns)

        def work(connection: Connection) -> None:
            importing = Importing(connection, self.store.tenant)
            list(importing.add(info, messages))
            importing.flush()

        self.store.engine.write_alone(work)

    def chat(self) -> cw.Chat:
        return self.store.conversation(self.data.draw(st.sampled_from(self.ids)))

    def change(self) -> None:
        chat, data = self.chat(), self.data
        places = st.integers(1, chat.length())
        match data.draw(st.sampled_from(CHANGES)):
            case "add":
                chat.add(data.draw(turns))
            case "mark":
                self.mark(chat, data.draw(places))
            case "erase":
                chat.erase(*data.draw(st.sets(places, max_size=2)), scrub=False)
            case "edit":
                self.edit(chat, data.draw(places))
            case "fork":
                self.ids.append(f"{chat.id}{len(self.ids)}")
                chat.fork(self.ids[-1], data.draw(st.none() | places))
            case "undo":
                with suppress(cw.errors.BudgetError):
                    chat.context(summarised, model="gpt-4o")
                chat.undo_summary(summarised)
            case _:
                self.store = data.draw(st.sampled_from(self.stores))

    def mark(self, chat: cw.Chat, seq: int) -> None:
        """Hide or show a message; what is erased stays so."""
        (stored,) = chat.read(seq, seq + 1, hidden=True)
        if stored.message.visibility != "erased":
            way = self.data.draw(st.sampled_from(("hide", "hide", "show", "delete", "pin")))
            getattr(chat, way)(seq)

    def edit(self, chat: cw.Chat, seq: int) -> None:
        """Say something else, or call other tools."""
        (stored,) = chat.read(seq, seq + 1, hidden=True)
        if stored.message.visibility != "erased" and self.data.draw(st.booleans()):
            chat.edit(seq, "Something else.")
        elif stored.message.visibility == "public":
            renamed = [
                msgspec.structs.replace(part, name=self.data.draw(names))
                if isinstance(part, cw.ToolCall | cw.ToolResult)
                else part
                for part in stored.message.parts
            ]
            chat.edit(seq, stored.message.with_parts(renamed))

    def compare(self) -> None:
        """What is loaded is paired as in the list, and what is built is the same."""
        chat, data = self.chat(), self.data
        at = data.draw(st.integers(1, chat.length()))
        messages = [one.message for one in chat.read(stop=at + 1, hidden=True)]
        require_same_pairs(loaded(chat, at, data.draw(needs)), Log(messages))
        budget, recipe = data.draw(st.sampled_from((150, 300, 1_000))), data.draw(recipes)
        whole = cw.Conversation(tuple(messages), id=chat.id)
        assert outcome(lambda: chat.context(recipe, model="gpt-4o", budget=budget, at=at)) == (
            outcome(lambda: recipe.build(whole, model="gpt-4o", budget=budget))
        )


def loaded(chat: cw.Chat, at: int, needs: Needs) -> Log:
    """What is loaded of the first messages of a conversation."""

    def read(connection: Connection) -> Log:
        head = conversations.require(connection, chat.state.tenant, chat.id)
        return loader.load(connection, head, at, needs)[0]

    return chat.state.engine.read(read)


def require_same_pairs(some: Log, whole: Log) -> None:
    """Compare what is loaded with the same messages of the whole."""
    for index in range(len(whole)):
        if index in some and not whole.is_hidden(index):
            assert some.exchanges.members(index) == whole.exchanges.members(index)
            assert some.exchanges.tool_names(index) == whole.exchanges.tool_names(index)
    assert some.exchanges.late(some.start) == whole.exchanges.late(some.start)
    assert some.task == whole.task


def outcome(build: Callable[[], cw.Context]) -> object:
    try:
        context = build()
    except cw.errors.BudgetError as error:
        return error.minimum
    return context.payload, context.decisions.runs, context.changes, context.ledger


def findings_of(store: Store) -> list[Any]:
    """What the doctor has to say about the conversations of one tenant."""
    sql = "SELECT number FROM conversations WHERE tenant = ?"

    def work(connection: Connection) -> list[Any]:
        numbers = [number for (number,) in connection.rows(sql, store.tenant)]
        return [one for number in numbers for one in look(connection, number)[0]]

    return store.engine.read(work)


def play(stores: list[Store], data: st.DataObject) -> None:
    talks = Talks(stores, data)
    talks.take_in()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loader, "CHUNK", 1)
        for _ in range(data.draw(st.integers(1, 8))):
            talks.change()
            talks.compare()
    assert findings_of(stores[0]) == []
    with TemporaryDirectory() as folder, Store(Path(folder) / "copy.db", sync="fast") as copy:
        copying.copy(stores[0].engine, copy.engine, tenant=stores[0].tenant)
        talks.store = copy.for_tenant(stores[0].tenant)
        assert findings_of(talks.store) == []
        talks.compare()


@examples(STORE)
@given(st.data())
def test_whatever_was_changed_on_sqlite(data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "chat.db"
        with Store(file, sync="fast") as store, Store(file, sync="fast") as other:
            play([store, other], data)


@pytest.fixture(scope="module")
def servers(shared_postgres: str) -> Iterator[tuple[Store, Store]]:
    with Store(shared_postgres, sync="fast") as one, Store(shared_postgres, sync="fast") as other:
        yield one, other


TENANTS = itertools.count()


@examples(STORE)
@given(data=st.data())
def test_whatever_was_changed_on_postgres(
    servers: tuple[Store, Store], data: st.DataObject
) -> None:
    tenant = f"pairs {next(TENANTS)}"
    play([one.for_tenant(tenant) for one in servers], data)


def call(*names: str, id: str | None = None, **fields: Any) -> cw.Message:
    return cw.assistant([cw.ToolCall(name, {}, id) for name in names], **fields)


def result(text: str, name: str | None = None, id: str | None = None) -> cw.Message:
    return cw.Message("tool", (cw.ToolResult(id, text, name),))


BOTH = cw.Message("tool", (cw.ToolResult("a", "sunny"), cw.ToolResult("b", "warm")))
SELF = cw.assistant([cw.ToolCall("look", {}), cw.ToolResult(None, "sunny")])
NAMELESS = [call("look"), call("look"), result("1"), result("2")]
CASES: dict[str, tuple[list[cw.Message], Callable[[cw.Chat], object]]] = {
    "a hidden call": (NAMELESS, lambda chat: chat.hide(1)),
    "an erased call": (NAMELESS, lambda chat: chat.erase(1, scrub=False)),
    "an erased result": (NAMELESS, lambda chat: chat.erase(3, scrub=False)),
    "a call of another tool": (
        [call("look"), call("look"), call("read"), result("1", "look"), result("2", "read")],
        lambda chat: chat.edit(1, call("read")),
    ),
    "words before a call": (
        [cw.assistant([*call("look", "look", "look").parts, cw.Text("Well.")]), call("read")],
        lambda chat: chat.edit(1, "Let me see."),
    ),
    "a call that is shown again": (
        [call("look", visibility="hidden"), call("look"), result("1")],
        lambda chat: chat.show(1),
    ),
    "a second result of one id": (
        [call("look", id="a"), result("1", id="a"), result("2", id="a")],
        lambda chat: chat.delete(2),
    ),
    "an id that came again": (
        [call("look", id="a"), call("read", id="a"), result("1", id="a")],
        lambda chat: chat.hide(2),
    ),
    "results of two messages in one": (
        [call("look", id="a"), call("look", id="b"), BOTH],
        lambda chat: chat.pin(2),
    ),
    "a result beside its call": ([SELF, result("late")], lambda chat: chat.pin(1)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("fork", ["none", "before", "after"])
def test_each_change_alone(
    case: str, fork: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in a fork, which has marks of its own, and whose parent may be erased or edited."""
    monkeypatch.setattr(loader, "CHUNK", 1)
    messages, change = CASES[case]
    with Store(tmp_path / "chat.db", sync="fast") as store:
        chat = store.conversation("a")
        chat.add(messages)
        chats = [chat]
        if fork == "before":
            chats.append(chat.fork("b", len(messages) - 1))
        change(chat)
        if fork == "after":
            chats.append(chat.fork("b", len(messages) - 1))
        for one in chats:
            one.add([result("3"), result("4", "look"), cw.user("And now?")])
            whole = [each.message for each in one.read(hidden=True)]
            for newest in range(len(whole) + 1):
                require_same_pairs(loaded(one, len(whole), Needs(0, newest)), Log(whole))
        assert findings_of(store) == []


def test_a_message_is_hidden_while_a_fork_looks_for_open_calls(tmp_path: Path) -> None:
    with Store(tmp_path / "chat.db") as store:
        chat = store.conversation("a")
        chat.add(NAMELESS)

        def look(connection: Connection) -> turns_of.KnownCalls:
            head = conversations.require(connection, "", "a")
            return turns_of.open_calls_at(connection, head, 3)

        known = store.engine.read(look)
        chat.hide(1)
        store.engine.write_alone(lambda it: turns_of.fork(it, "", "a", "b", 3, known))
        assert findings_of(store) == []


@pytest.mark.parametrize("seq", [1, 3])
def test_a_damaged_message_is_left_out(seq: int, tmp_path: Path) -> None:
    """In a copy, and after a repair; also by forks."""
    spoil = f"UPDATE messages SET body = '[]' WHERE conversation = 1 AND seq = {seq}"
    with Store(tmp_path / "chat.db") as store, Store(tmp_path / "copy.db") as copy:
        chat = store.conversation("a")
        chat.add([*NAMELESS, call("read")])
        fork = chat.fork("b", 4)
        fork.hide(3)
        fork.fork("c").add([result("3"), call("look")])
        store.engine.write_alone(lambda connection: connection.run(spoil))
        copying.copy(store.engine, copy.engine)
        assert findings_of(copy) == []
        mend(store.engine, examine(store.engine))
        assert findings_of(store) == []


@pytest.mark.parametrize("case", ["an erased call", "results of two messages in one"])
def test_an_older_store_is_paired_again_when_it_is_opened(case: str, tmp_path: Path) -> None:
    """It knows the first message that each answered when it was stored, and no other."""
    file, (messages, change) = tmp_path / "chat.db", CASES[case]
    with Store(file) as store:
        chat = store.conversation("a")
        chat.add(messages)
        change(chat)
        chat.fork("b")
        before = "DROP TABLE answers; PRAGMA user_version = 16"
        store.engine.write_alone(lambda connection: connection.run(before))
    with Store(file) as store:
        assert findings_of(store) == []
        for id in ("a", "b"):
            chat = store.conversation(id)
            whole = Log([one.message for one in chat.read(hidden=True)])
            require_same_pairs(loaded(chat, len(messages), Needs(0, 1)), whole)


def test_pairing_keeps_no_texts() -> None:
    def messages() -> Iterator[tuple[int, None, cw.Message]]:
        for number in range(1, 200, 2):
            text = f"{number} " * 20_000
            yield number, None, cw.assistant(cw.ToolCall("write", {"text": text}, f"c{number}"))
            yield number + 1, None, result(text, id=f"c{number}")

    tracemalloc.start()
    try:
        assert len(pairing_of(messages()).answers) == 100
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()
