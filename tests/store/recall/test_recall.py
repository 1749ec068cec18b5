"""Recall from a store: the same on every engine, however far the index is, and nothing foreign."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Sequence
from datetime import timedelta
from math import exp
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.recall.memories import Ranking
from contextwright.recall.packing import RecallResult
from contextwright.recall.ranking import LOG_NEEDED
from contextwright.store.recall.options import RecallRequest, price_of
from contextwright.store.recall.recall import recall_conversation
from contextwright.store.rows import conversations
from contextwright.tokens.count import count_text
from contextwright.tokens.tokenizers import vocabulary
from profiles import STORE, examples
from samples.stores.recall import START, texts, told, words

NUMBERS = itertools.count()
NAMES = ("Anna", "anna", "Bob: yes #3 Anna", "x\n#4 Eve: no", "2023-05-01, a:", "", "Олена", "小明")

queries = st.one_of(
    words,
    words,
    st.sampled_from(
        ("", "?!", "when my", '" OR NEAR(x) & !a:* <-> b', "\0", "\ud800 tea", "'; --")
    ),
    st.text(max_size=30),
    words.map(lambda text: f"{text} " * 4_000),
)

authors = st.none() | st.builds(
    cw.Author, st.sampled_from((None, "1", "2", "Anna")), st.none() | st.sampled_from(NAMES)
)

times = st.sampled_from(
    (None, "2023-05-01T09:00:00Z", "2023-05-01T09:30:00+03:00", "2023-05-03", "2022-12-24",
     "1683000000.5", "yesterday", "9999-12-31T23:59:59-14:00", "")
)  # fmt: skip


@st.composite
def exchanges(draw: st.DrawFn) -> list[cw.Message]:
    id = str(next(NUMBERS))
    return [
        cw.assistant([cw.Text(draw(texts)), cw.ToolCall("search", {"q": draw(words)}, id=id)]),
        cw.tool_result(id, draw(words)),
    ]


PICTURE = cw.Media("image", url="https://example.org/tea.png")

messages = st.builds(
    cw.Message,
    st.sampled_from(("user", "user", "user", "assistant", "assistant", "system")),
    st.lists(texts.map(cw.Text) | st.just(PICTURE), max_size=2).map(tuple),
    authors,
    sent_at=times,
    kind=st.sampled_from(("message",) * 5 + ("summary", "note")),
    visibility=st.sampled_from(("public",) * 6 + ("hidden", "internal")),
)  # fmt: skip

turns = st.lists(messages.map(lambda message: [message]) | exchanges(), max_size=12)

marks = st.lists(
    st.tuples(st.sampled_from(("hide", "delete", "show", "show")), st.integers(1, 40)), max_size=6
)


# --- both engines --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def both(
    tmp_path_factory: pytest.TempPathFactory, shared_postgres: str
) -> Iterator[tuple[cw.Store, cw.Store]]:
    """A file and a server for many examples, each with a tenant of its own."""
    file = tmp_path_factory.mktemp("recall") / "store.db"
    with (
        cw.Store(file, sync="fast", embedder=None) as sqlite,
        cw.Store(shared_postgres, sync="fast", embedder=None) as postgres,
    ):
        yield sqlite, postgres


def tenants(stores: Sequence[cw.Store]) -> list[cw.Store]:
    name = f"t{next(NUMBERS)}"
    return [store.for_tenant(name) for store in stores]


def require_lawful(recall: RecallResult, chats: dict[str, cw.Chat], asked: dict[str, Any]) -> None:
    budget, model = asked["budget"], asked.get("model")
    assert recall.tokens == sum(item.tokens for item in recall) <= budget
    assert asked["limit"] is None or len(recall) <= asked["limit"]
    count = (
        vocabulary("o200k_base")(recall.text)
        if model is None
        else count_text(recall.text, model).most
    )
    assert count <= budget
    places = [(item.conversation, item.seq) for item in recall]
    assert places == sorted(set(places))
    read = {id: {one.seq: one.message for one in chat.read()} for id, chat in chats.items()}
    for item in recall:
        message = read[item.conversation][item.seq]
        assert item.message == message
        assert (message.visibility, message.kind) == ("public", "message")
        assert message.role in ("user", "assistant")
        assert asked["min_score"] <= item.score <= 1
        about = asked["about"]
        if about is not None:
            assert message.author is not None
            assert about.casefold() in (
                (message.author.id or "").casefold(),
                message.author.label.casefold(),
            )
    lines = recall.text.split("\n") if recall.items else []
    assert lines == recall.text.splitlines() == [item.line for item in recall]


wishes = st.fixed_dictionaries(
    {
        "budget": st.sampled_from((0, 1, 7, 20, 60, 300, 5_000)),
        "about": st.sampled_from((None, None, None, "Anna", "1", "nobody", "Олена")),
        "now": st.none() | st.just(START + timedelta(days=1)),
        "limit": st.none() | st.integers(0, 5),
        "min_score": st.sampled_from((0.0, 0.0, 0.001, 0.01, 0.5, 1.0)),
        "model": st.sampled_from((None, "gpt-4o", "claude-sonnet-4-5")),
        "ranking": st.builds(Ranking, recency=st.integers(0, 1), senders=st.integers(0, 1)),
    }
)  # fmt: skip


def fill(
    store: cw.Store,
    parts: Sequence[Sequence[Sequence[cw.Message]]],
    at: Sequence[int],
    indexed: Sequence[int],
) -> list[cw.Chat]:
    """A conversation, a fork of it, and a fork of that; some are indexed as far as they are."""
    chats = [store.conversation("a")]
    chats[0].update(title="a")
    for depth, part in enumerate(parts):
        if depth:
            length = len(chats[-1])
            chats.append(chats[-1].fork("abc"[depth], at=min(at[depth], length)))
        for place, turn in enumerate(part):
            chats[-1].add(turn)
            if place == indexed[depth]:
                store.index(chats[-1].id, few=0)
    return chats  # fmt: skip


def mark(chat: cw.Chat, marks: Sequence[tuple[str, int]]) -> None:
    for change, seq in marks:
        if seq <= len(chat):
            getattr(chat, change)(seq)


@examples(STORE)
@given(
    st.tuples(turns, turns, turns),
    st.tuples(*[st.integers(0, 15)] * 3),
    st.tuples(*[st.integers(0, 15)] * 3),
    marks,
    queries,
    wishes,
)
def test_laws_of_recall(
    both: tuple[cw.Store, cw.Store],
    parts: tuple[list[list[cw.Message]], ...],
    at: tuple[int, ...],
    indexed: tuple[int, ...],
    marks: list[tuple[str, int]],
    query: str,
    asked: dict[str, Any],
) -> None:
    results: list[list[Any]] = []
    for store in tenants(both):
        chats = fill(store, parts, at, indexed)
        said = [stored.message for stored in chats[-1].read()]
        for chat in chats:
            mark(chat, marks)
        before = [chat.recall(query, **asked) for chat in chats]
        for chat, recall in zip(chats, before, strict=True):
            require_lawful(recall, {chat.id: chat}, asked)
            assert recall.query == query
            assert not recall.has_meaning
        assert before == [chat.recall(query, **asked) for chat in chats], "the same twice"
        store.index(few=0)
        assert before == [chat.recall(query, **asked) for chat in chats], "indexed, and the same"
        store.index(again=True)
        assert before == [chat.recall(query, **asked) for chat in chats], "indexed anew"
        everywhere = store.recall(query, **asked)
        require_lawful(everywhere, {chat.id: chat for chat in chats}, asked)
        seqs = {chat.id: owners(store, chat) for chat in chats}
        places = [(seqs[item.conversation][item.seq], item.seq) for item in everywhere]
        assert len(set(places)) == len(places), "no message of a fork and its parent twice"
        whole = store.for_tenant(f"{store.tenant} whole").conversation("c")
        whole.update(title="c")
        for message in said:
            whole.add(message)
        mark(whole, marks)
        assert whole.recall(query, **asked) == before[-1], "a fork is a conversation like others"
        results.append([*before, told(everywhere)])
    assert results[0] == results[1], "on both engines"


def owners(store: cw.Store, chat: cw.Chat) -> dict[int, int]:
    """The conversation in which each message was written."""

    def work(connection: Any) -> dict[int, int]:
        head = conversations.require(connection, store.tenant, chat.id)
        length = conversations.length_of(connection, head, chat.id)
        return {seq: head.owner(seq) for seq in range(1, length + 1)}

    return store.engine.read(work)


@pytest.fixture
def store(place: str) -> Iterator[cw.Store]:
    with cw.Store(place, embedder=None) as store:
        yield store


@pytest.mark.parametrize("behind", [0, 1, 63, 64, 65, 130])
def test_any_number_of_messages_may_not_be_indexed_yet(store: cw.Store, behind: int) -> None:
    chat = store.conversation("a")
    chat.add([cw.user(f"number {number} of the list") for number in range(40)])
    store.index("a", few=0)
    if behind:
        chat.add([cw.user(f"the lamp is number {number}") for number in range(behind)])
    recall = chat.recall("Which number has the lamp?", budget=100_000)
    store.index("a", few=0)
    assert chat.recall("Which number has the lamp?", budget=100_000) == recall
    lamps = [item.seq for item in recall if "lamp" in item.message.text]
    assert lamps == list(range(41, 41 + behind))


def test_an_index_that_others_made_anew_is_read_from_where_it_was(place: str) -> None:
    """Another process cut it elsewhere: what is in memory goes on all the same."""
    with cw.Store(place, embedder=None) as store, cw.Store(place, embedder=None) as other:
        chat = store.conversation("a")
        people = [cw.Author(str(number % 7), f"P{number % 7}") for number in range(300)]
        said = [cw.user(f"word {number}", author=author) for number, author in enumerate(people)]
        chat.add(said[:90])
        store.index("a", few=0)
        chat.add(said[90:180])
        store.index("a", few=0)
        assert chat.recall("word 42", limit=1).items[0].seq == 43
        chat.add(said[180:240])
        other.index(again=True)
        assert chat.recall("word 200", limit=1).items[0].seq == 201
        chat.add(said[240:])
        other.index("a", few=0)
        for number in (0, 100, 200, 250, 299):
            (item,) = chat.recall(f"word {number}", about=f"P{number % 7}", limit=1)
            assert item.seq == number + 1
        assert chat.recall("word", budget=10**6) == other.conversation("a").recall(
            "word", budget=10**6
        )


def test_threads_recall_while_others_write(place: str) -> None:
    """Nobody is given a message under another's number, and nothing breaks."""
    failures: list[BaseException] = []
    with cw.Store(place, sync="fast", embedder=None) as store:
        chat = store.conversation("a")
        chat.add(cw.user("lamp 0", author=cw.Author("0", "P0")))

        def write() -> None:
            for number in range(1, 200):
                author = cw.Author(str(number), f"P{number}")
                chat.add(cw.user(f"lamp {number}", author=author))
                if number % 10 == 0:
                    store.index("a", few=0)

        def read() -> None:
            try:
                while writer.is_alive():
                    for item in chat.recall("lamp", ranking=Ranking(senders=1)):
                        assert item.message.text == f"lamp {item.seq - 1}"
            except BaseException as error:
                failures.append(error)

        writer = threading.Thread(target=write)
        readers = [threading.Thread(target=read) for _ in range(3)]
        for thread in (writer, *readers):
            thread.start()
        for thread in (writer, *readers):
            thread.join()
    assert failures == []


# --- what is asked for ---------------------------------------------------------------------------


def test_last_and_without_hold(store: cw.Store) -> None:
    chat = store.conversation("a")
    chat.add([cw.user(f"lamp {number}") for number in range(20)])
    for index in (False, True):
        if index:
            store.index("a", few=0)
        for last, without in ((5, ()), (0, ()), (30, {1, 2}), (8, {8, 7})):
            wish = RecallRequest(
                query="lamp", budget=10_000, price=price_of(None, None), last=last, without=without
            )
            seqs = [item.seq for item in recall_conversation(store.state, "a", wish)]
            assert seqs == [seq for seq in range(1, min(last, 20) + 1) if seq not in without]


def test_one_person_is_found_among_many_words_of_others(store: cw.Store) -> None:
    """Others say more that fits, and what they say takes no place from whom one asks about."""
    anna, others = cw.Author("1", "Anna"), [cw.Author(f"{n}", f"P{n}") for n in range(2, 300)]
    chat = store.conversation("a")
    chat.add(cw.user("green, I think", author=anna))
    chat.add([cw.user(f"green tea pot {author.id}", author=author) for author in others])
    for about in ("1", "Anna", "ANNA"):
        assert [item.seq for item in chat.recall("green tea pot", about=about)] == [1]
        assert [item.seq for item in store.recall("green tea pot", about=about)] == [1]
    assert len(chat.recall("green tea pot", about="nobody")) == 0


def test_what_is_hidden_takes_no_place_and_says_nothing(store: cw.Store) -> None:
    chat = store.conversation("a")
    chat.add([cw.user(text) for text in ("green, I think", *["good night"] * 60, "a blue sky")])
    chat.add([cw.user(f"green tea pot {number}") for number in range(130)])
    few = store.conversation("b")
    few.add([cw.user(text) for text in (*["good night"] * 60, "a blue sky", "green tea pot")])
    assert "a blue sky" in texts_of(few.recall("green tea pot", budget=10**6)), "it is beside it"
    for seq in range(63, 193):
        chat.hide(seq)
    found = chat.recall("green tea pot", budget=10**6)
    assert "green, I think" in texts_of(found)
    assert "a blue sky" not in texts_of(found), "words of its hidden neighbours speak for nobody"
    for seq in range(63, 193):
        chat.show(seq)
    assert len(chat.recall("green tea pot", budget=10**6)) > 100


def texts_of(recall: RecallResult) -> list[str]:
    return [item.message.text for item in recall]


@pytest.mark.parametrize("few", [0, 64])
def test_a_fork_recalls_as_if_its_origin_had_ended(store: cw.Store, few: int) -> None:
    before = [cw.user("The zebra is in the garden."), cw.user("I like tea.")]
    after = [cw.user("The coffee is cold."), cw.user("What now?")]
    origin = store.conversation("origin")
    origin.add(before)
    fork = origin.fork("fork", 2)
    origin.add([cw.user("The zebra eats roses."), cw.user("The zebra sleeps.")])
    fork.add(after)
    alone = store.conversation("alone")
    alone.add([*before, *after])
    store.index(few=few)
    found, expected = (
        chat.recall("Where is the zebra?", min_score=0.0, min_confidence=0.0)
        for chat in (fork, alone)
    )
    assert [(hit.seq, hit.score) for hit in found] == [(hit.seq, hit.score) for hit in expected]
    assert found.items


def test_messages_of_all_conversations_are_rivals(store: cw.Store) -> None:
    """A question needs few messages, wherever they are, and `min_score` holds among all of them."""
    chats = [store.conversation(f"rivals-{number}") for number in range(4)]
    for number, chat in enumerate(chats):
        chat.add([cw.user(f"The zebra of cage {number}"), cw.user("It eats hay")])
    alone = [max(hit.score for hit in chat.recall("Which zebra?")) for chat in chats]
    among = store.recall("Which zebra?")
    assert max(hit.score for hit in among) < min(alone)
    assert sum(hit.score for hit in among) < exp(LOG_NEEDED)
    least = max(hit.score for hit in among)
    assert all(hit.score >= least for hit in store.recall("Which zebra?", min_score=least))
