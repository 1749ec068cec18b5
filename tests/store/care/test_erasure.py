"""Erasing and editing: bytes leave the files, numbers stay, and derived data is updated."""

import gc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

import contextwright as cw
from contextwright.context.fitting.meter import meter_of
from contextwright.context.fitting.recent import RECENT
from contextwright.store.care.doctor import examine
from contextwright.store.engines.base import Connection
from contextwright.store.records import Turn
from contextwright.store.turns import add_work
from samples.stores.secrets import BOB, DAY, MODEL, RECIPE, SECRET, filled


@pytest.fixture
def store(place: str) -> Iterator[cw.Store]:
    with cw.Store(place, embedder=None) as store:
        yield store


def bytes_held(folder: Path, word: str) -> int:
    """How often a word stands in the files of a folder, in any case."""
    files = [path.read_bytes().lower() for path in folder.iterdir()]
    return sum(content.count(word.lower().encode()) for content in files)


ERASE: dict[str, Callable[[cw.Store], object]] = {
    "message": lambda store: store.conversation("lunch").erase(3),
    "from a fork": lambda store: store.conversation("lunch-fork").erase(3),
    "person": lambda store: store.erase_person("7"),
    "tenant": lambda store: store.erase_tenant(""),
    "old": lambda store: store.erase_before(DAY),
    "edit": lambda store: (
        store.conversation("lunch").edit(3, "Nothing", keep=False)
        or store.forget_memory(next(store.memories()).id)
        or store.conversation("lunch").update(title=None)
        or store.scrub()
    ),
    "forget and scrub": lambda store: (
        store.forget("lunch-fork") or store.forget("lunch") or store.scrub()
    ),
}


@pytest.mark.parametrize("way", ERASE)
def test_no_byte_is_left(tmp_path: Path, way: str) -> None:
    with cw.Store(tmp_path / "chat.db", embedder="wordllama") as store:
        filled(store)
        assert bytes_held(tmp_path, "xylophon")
        ERASE[way](store)
        assert bytes_held(tmp_path, "xylophon") == bytes_held(tmp_path, "secret") == 0
        assert examine(store.engine).findings == []
        assert store.search("xylophone") == []


@pytest.mark.parametrize("way", [way for way in ERASE if way != "forget and scrub"])
def test_texts_of_lists_are_forgotten(store: cw.Store, way: str) -> None:
    said = [stored.message for stored in filled(store).read()]
    RECIPE.build(said, model=MODEL)
    assert RECENT._histories
    assert meter_of.cache_info().currsize
    ERASE[way](store)
    assert not RECENT._histories
    assert not meter_of.cache_info().currsize


@pytest.mark.parametrize("way", [way for way in ERASE if way != "forget and scrub"])
def test_no_message_is_left_in_memory(store: cw.Store, way: str) -> None:
    filled(store).context(RECIPE, model=MODEL)
    assert messages_held("xylophon")
    assert meter_of.cache_info().currsize
    ERASE[way](store)
    assert not messages_held("xylophon")
    assert not meter_of.cache_info().currsize


def messages_held(word: str) -> int:
    """How many messages in memory have a word."""
    gc.collect()
    held = [one for one in gc.get_objects() if isinstance(one, cw.Message)]
    return sum(word in message.text.lower() for message in held)


def bytes_on_server(place: str, word: str) -> int:
    """How often a word stands in the files of the tables of a Postgres database."""
    with psycopg.connect(place, autocommit=True) as session:
        session.execute("CHECKPOINT")
        files = session.execute(
            "SELECT current_setting('data_directory') || '/' || pg_relation_filepath(c.oid) "
            "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname IN ('contextwright', 'pg_toast') AND c.relkind IN ('r', 'i', 't')"
        ).fetchall()
    held = [Path(file).read_bytes().lower() for (file,) in files if Path(file).exists()]
    return sum(content.count(word.encode()) for content in held)


@pytest.mark.parametrize("way", ERASE)
def test_no_byte_is_left_in_the_tables_of_a_server(postgres: str, way: str) -> None:
    with cw.Store(postgres, embedder=None) as store:
        filled(store)
        assert bytes_on_server(postgres, "xylophon")
        ERASE[way](store)
        assert bytes_on_server(postgres, "xylophon") == bytes_on_server(postgres, "secret") == 0


@pytest.fixture(params=["reads here", "writes elsewhere"])
def transaction(
    postgres: str, request: pytest.FixtureRequest
) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """A transaction that began before anything was erased, and is open."""
    elsewhere = make_conninfo(postgres, dbname="postgres")
    with psycopg.connect(postgres if request.param == "reads here" else elsewhere) as session:
        session.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        with cw.Store(postgres, embedder=None) as store:
            filled(store)
        if request.param == "reads here":
            session.execute("SELECT count(*) FROM pg_class")
        else:
            session.execute("SELECT pg_current_xact_id()")
        yield session


def test_a_scrub_waits_for_transactions_that_see_what_was_removed(
    postgres: str, transaction: psycopg.Connection[tuple[object, ...]]
) -> None:
    with cw.Store(postgres, embedder=None) as store, ThreadPoolExecutor() as others:
        scrubbing = others.submit(ERASE["message"], store)
        with pytest.raises(TimeoutError):
            scrubbing.result(timeout=0.5)
        transaction.rollback()
        scrubbing.result()
        assert bytes_on_server(postgres, "xylophon") == 0


def test_a_transaction_that_stays_open_is_named(
    postgres: str,
    transaction: psycopg.Connection[tuple[object, ...]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = "what a transaction that is still open may see: scrub again"
    with cw.Store(postgres, embedder=None) as store:
        with monkeypatch.context() as impatient:
            impatient.setattr("contextwright.store.engines.postgres.SCRUBBING", 0.1)
            assert said in store.conversation("lunch").erase(3).remains
        assert bytes_on_server(postgres, "xylophon")
        transaction.rollback()
        assert said not in store.scrub()
        assert bytes_on_server(postgres, "xylophon") == 0


def test_a_stone_keeps_the_number(store: cw.Store) -> None:
    chat = filled(store)
    done = chat.erase(3)
    assert (done.messages, done.quotes, done.memories) == (1, 1, 1)
    stones = [one for one in chat.read(hidden=True) if one.message.visibility == "erased"]
    assert [(one.seq, one.key, one.message) for one in stones] == [
        (3, "k3", cw.Message("user", visibility="erased"))
    ]
    assert chat.length() == 7
    assert chat.details().title is None
    context = chat.context(RECIPE, model=MODEL)
    assert (context.decisions[2].action, context.decisions[2].reason) == ("dropped", "erased")
    assert "erased" in context.explain()
    # Its turn came once: a retry is known, not another message.
    assert chat.add(cw.user(SECRET, author=BOB), "k3") == [3]
    for change in (chat.show, chat.hide, lambda seq: chat.edit(seq, "New")):
        with pytest.raises(cw.UsageError, match="message 3 of 'lunch' was erased"):
            change(3)
    assert chat.erase(3).messages == 0
    with pytest.raises(cw.errors.NotFound, match="there is no message 9"):
        chat.erase(1, 9)
    assert store.conversation("lunch-fork").tail(6)[0].message.visibility == "erased"


def test_a_call_is_erased_with_words_before_it(store: cw.Store) -> None:
    """Its result answers nothing from then on, though the other message had no call."""
    chat = store.conversation("lunch")
    chat.add([cw.user("How is it?"), cw.assistant(cw.ToolCall("look", {}, "c1"))])
    chat.add(cw.tool_result("c1", "sunny"))
    chat.erase(1, 2, scrub=False)
    assert examine(store.engine).findings == []


def test_an_erased_question_is_no_question(store: cw.Store) -> None:
    """A context of the store is the build from all its messages, whatever was erased."""
    chat = store.conversation("lunch")
    chat.add([cw.user("Why?")] + [cw.assistant(f"Answer {n} " * 30) for n in range(40)])
    chat.add([cw.user("How?"), *(cw.assistant(f"More {n} " * 30) for n in range(40))])
    chat.erase(42)
    stored = chat.context(cw.Recipe(), model=MODEL, budget=900)
    built = cw.Recipe().build([one.message for one in chat.read()], model=MODEL, budget=900)
    assert stored.receipt()["decisions"] == built.receipt()["decisions"]
    assert stored.payload["messages"] == built.payload["messages"]
    assert examine(store.engine).findings == []


def test_a_dry_run_changes_nothing(store: cw.Store) -> None:
    chat = filled(store)
    before = [*chat.read(hidden=True)]
    assert chat.erase(3, dry_run=True).messages == 1
    assert store.erase_person("7", dry_run=True).messages == 1
    assert store.erase_tenant("", dry_run=True).conversations == 2
    assert store.erase_before(DAY, dry_run=True).messages == 1
    assert [*chat.read(hidden=True)] == before
    assert len([*store.memories()]) == 2


def test_an_option_that_is_misspelt_erases_nothing(store: cw.Store) -> None:
    chat = filled(store)
    before = [*chat.read(hidden=True)]
    options: Any = {"dryrun": True}
    for erase in (lambda: chat.erase(3, **options), lambda: store.erase_tenant("", **options)):
        with pytest.raises(TypeError, match="dryrun"):
            erase()
    assert [*chat.read(hidden=True)] == before


def test_a_person_is_erased_in_one_tenant(store: cw.Store) -> None:
    chat, other = filled(store), filled(store.for_tenant("acme"))
    store.remember("Likes tea", about="8", author="7")
    store.remember("Likes tea", about="8", author="9")
    done = store.erase_person("7")
    assert (done.messages, done.quotes, done.memories) == (1, 1, 2)
    assert [one.memory.author for one in store.memories()] == ["9"]
    reply = chat.tail(4)[0].message.reply_to
    assert reply == cw.Reply("3")
    assert SECRET in str([*other.read()])


def test_a_memory_that_cannot_be_read_may_be_about_anybody(store: cw.Store) -> None:
    for text in ("Likes tea with Olena", "Likes tea"):
        store.remember(text)
    spoil = "UPDATE memories SET body = replace(body, '{', '[')"
    store.engine.write_alone(lambda connection: connection.run(spoil))
    assert store.erase_person("Olena").memories == 1
    left = store.engine.read(lambda connection: connection.rows("SELECT body FROM memories"))
    assert ["Olena" in body for (body,) in left] == [False]


def test_what_is_old_goes(store: cw.Store) -> None:
    chat = store.conversation("old")
    chat.add([cw.user("Then", sent_at="2025-12-31T10:00:00Z")])
    store.conversation("mixed").add([cw.user("Then", sent_at="2025-12-31"), cw.user("Now")])
    store.remember("Then", at="2025-12-31T10:00:00Z")
    done = store.erase_before("2026-01-01T00:00:00Z")
    assert (done.messages, done.conversations, done.memories) == (2, 1, 1)
    assert [info.id for info in store.list()] == ["mixed"]
    assert [one.message.visibility for one in store.conversation("mixed").read()] == [
        "erased",
        "public",
    ]
    with pytest.raises(cw.UsageError, match="not an ISO 8601 time"):
        store.erase_before("yesterday")


def test_tenants_are_listed(store: cw.Store) -> None:
    filled(store)
    store.for_tenant("acme").remember("Likes tea")
    store.for_tenant("zeta").conversation("a").add(cw.user("Hi"))
    found = [(one.name, one.conversations, one.messages, one.memories) for one in store.tenants()]
    assert found == [("", 2, 8, 2), ("acme", 0, 0, 1), ("zeta", 1, 1, 0)]
    store.erase_tenant("zeta")
    assert [one.name for one in store.tenants()] == ["", "acme"]


def test_backups_are_named(tmp_path: Path) -> None:
    """Also what a crash left of one."""
    names = ["chat.db.version-4.backup", "chat.db.version-5.backup.321.part"]
    with cw.Store(tmp_path / "chat.db") as store:
        chat = filled(store)
        for name in names:
            (tmp_path / name).write_text("")
        remains = [f"the backup {tmp_path}/{name}" for name in names]
        assert chat.erase(3, scrub=False).remains == (
            "free space of the database: store.scrub() rewrites it",
            *remains,
        )
        assert store.scrub() == remains


# --- editing -------------------------------------------------------------------------------------


def test_an_edit_is_what_everybody_sees(store: cw.Store) -> None:
    chat = filled(store)
    chat.edit(3, "The word is zebra.")
    assert [hit.seq for hit in chat.search("zebra")] == [3]
    assert chat.search("xylophone") == []
    reply = chat.tail(4)[0].message.reply_to
    assert reply == cw.Reply("3", BOB, "The word is zebra.")
    context = chat.context(RECIPE, model=MODEL)
    assert "zebra" in str(context.payload)
    assert "xylophone" not in str(context.payload)
    assert context.decisions[2].reason == "recent, edited"
    assert [one.message.text for one in chat.versions(3)] == [SECRET]
    chat.edit(3, cw.user("Again", author=BOB))
    assert [one.message.text for one in chat.versions(3)] == [SECRET, "The word is zebra."]
    assert chat.add(cw.user(SECRET, author=BOB), "k3") == [3]
    chat.edit(3, "At last", keep=False)
    assert chat.versions(3) == []
    assert examine(store.engine).findings == []


def test_an_edit_keeps_calls_and_results(store: cw.Store) -> None:
    chat = store.conversation("agent")
    call = cw.assistant(["Looking.", cw.ToolCall("clock", {}, "c1")])
    chat.add([cw.user("Time?"), call, cw.tool_result("c1", "13:05")])
    chat.edit(2, "Let me see.")
    assert chat.tail(2)[0].message.calls == call.calls
    chat.edit(3, cw.tool_result("c1", "13:06"))
    for seq, message in ((2, cw.assistant("No call")), (1, cw.assistant("Time?"))):
        with pytest.raises(cw.UsageError, match="is of another shape"):
            chat.edit(seq, message)
    with pytest.raises(cw.errors.NotFound):
        chat.edit(9, "Nothing")


@pytest.mark.parametrize(("grows", "way"), [("lunch", "tea"), ("tea", "lunch")])
def test_a_turn_is_added_while_an_earlier_message_is_edited(
    store: cw.Store, grows: str, way: str
) -> None:
    """Through a fork, or in what a fork shows: both wait for each other, on every engine."""
    store.conversation("lunch").add([cw.user("Soup?"), cw.assistant("Yes.")])
    store.conversation("lunch").fork("tea", 1)
    _, adding = add_work(store.conversation(grows).state, Turn(grows, [cw.user("When?")]))
    is_added, may_end = Event(), Event()

    def add(connection: Connection) -> None:
        adding(connection)
        is_added.set()
        may_end.wait(10)

    with ThreadPoolExecutor() as others:
        added = others.submit(store.engine.write_alone, add)
        is_added.wait()
        edited = others.submit(store.conversation(way).edit, 1, "Soup, or a salad?")
        with pytest.raises(TimeoutError):
            edited.result(timeout=0.3)
        may_end.set()
        added.result()
        edited.result()
    assert examine(store.engine).findings == []


def test_a_message_is_erased_from_a_long_line_of_forks(tmp_path: Path) -> None:
    """A client that goes back with every request forks the last fork each time."""
    with cw.Store(tmp_path / "store.db", sync="fast", embedder=None) as store:
        last = store.conversation("0")
        last.add([cw.user("secret"), cw.assistant("Noted.")])
        for number in range(1, 1_100):
            last = last.fork(str(number))
        store.conversation("0").edit(2, "Forgotten.")
        store.conversation("0").erase(1, scrub=False)
        assert [one.message.text for one in last.read()] == ["", "Forgotten."]
