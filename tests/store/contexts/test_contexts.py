"""Contexts from a store: the same as from all messages, at a cost that does not grow."""

import asyncio
import inspect
import itertools
import threading
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
import contextwright.summaries.digest
from contextwright.context.recipe import Recipe
from contextwright.errors import BudgetError
from contextwright.messages.exchanges import match_results
from contextwright.store.contexts import loader as reach
from contextwright.store.contexts.build import replay
from contextwright.store.rows import summaries as store_summaries
from contextwright.store.store import Store
from contextwright.text.json import encode_json
from contextwright.windows.clearing import Clearing
from profiles import FAULT, STORE, examples
from strategies.windows import histories, windows


class Newest(cw.Section):
    """A section that looks at the last five messages, whatever the window keeps."""

    def write(self, moment: cw.sections.SectionInput) -> str | None:
        return "\n".join(f"{one.role}: {one.text}" for one in moment.messages[-5:])

    def reach(self) -> int:
        return 5


recipes = st.builds(
    Recipe,
    system=st.sampled_from(
        ((), ("You are Ada.",), (cw.sections.Transcript(messages=10),), (Newest(),))
    ),
    window=windows,
    clearing=st.sampled_from(
        (Clearing(), Clearing(results=1, media=1, step=0), Clearing(results=2, step=1))
    ),
    budget=st.sampled_from((200, 400, 900, 4_000)),
    stored_system=st.sampled_from(("keep", "skip")),
    summary=st.sampled_from((None, None, cw.SummaryPolicy(), cw.SummaryPolicy(60))),
)
MODELS = ("gpt-4o", "claude-sonnet-5-5", "gemini-3.5-flash")


@pytest.fixture(autouse=True, scope="module")
def small_steps() -> Iterator[None]:
    """Short conversations are read in pieces too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reach, "CHUNK", 3)
        settled = store_summaries.SETTLED.replace(
            str(contextwright.summaries.digest.BLOCK_MESSAGES), "3"
        )
        patch.setattr(store_summaries, "SETTLED", settled)
        patch.setattr(contextwright.summaries.digest, "BLOCK_MESSAGES", 3)
        yield


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "chat.db")


def outcome(build: object) -> object:
    """A payload with its decisions, or the error in its place."""
    try:
        context = build()  # pyright: ignore
    except cw.BudgetError as error:
        return error.minimum
    decided = [(one.index, one.action) for one in context.decisions]
    return context.payload, decided, context.ledger


@examples(FAULT)
@given(histories, recipes, st.sampled_from(MODELS), st.data())
def test_a_build_from_the_store_is_the_build_from_all_messages(
    messages: list[cw.Message], recipe: Recipe, model: str, data: st.DataObject
) -> None:
    public = [one for one in messages if one.visibility == "public"]
    if match_results(public).orphans or not messages:
        return
    with TemporaryDirectory() as folder, Store(Path(folder) / "chat.db", sync="fast") as store:
        chat = store.conversation("a")
        added: list[cw.Message] = []
        while messages:
            count = data.draw(st.integers(1, len(messages)))
            chat.add(messages[:count])
            added, messages = added + messages[:count], messages[count:]
            # Whatever was asked for before, in whichever order.
            for budget in data.draw(st.lists(st.sampled_from((200, 400, 900, 4_000)), max_size=2)):
                whole = cw.Conversation(tuple(added), id="a")
                told = outcome(lambda: recipe.build(whole, model=model, budget=budget))  # noqa: B023
                assert (
                    outcome(lambda: chat.context(recipe, model=model, budget=budget))  # noqa: B023
                    == told
                )
        whole = cw.Conversation(tuple(added), id="a")
        assert outcome(lambda: chat.context(recipe, model=model)) == outcome(
            lambda: recipe.build(whole, model=model)
        )


def test_memories_reach_a_build_from_the_store(store: Store) -> None:
    """Each build asks for its own: nothing is remembered of the last one's."""
    recipe = Recipe(system=("You are Ada.", cw.Memories()))
    chat = store.conversation("a")
    chat.add(cw.user("hello", author=cw.Author("1", "Alice")))
    for text in ("Likes coffee", "Likes tea"):
        notes = cw.recall.MemoryList([cw.Memory("memory", text, about="1")])
        context = chat.context(recipe, model="gpt-4o", memories=notes)
        assert context.sections["Memories[1]"] == f"# Memories about Alice (ID: 1)\n- {text}"
    assert "Memories[1]" not in chat.context(recipe, model="gpt-4o").sections


MARKS = {
    "hide": {"visibility": "hidden"},
    "delete": {"visibility": "deleted"},
    "show": {"visibility": "public"},
    "pin": {"pinned": True},
    "unpin": {"pinned": False},
}


class Talk:
    """A conversation of a store, and the same messages in a list."""

    def __init__(self, store: Store, id: str) -> None:
        self.store, self.chat = store, store.conversation(id)
        self.said: list[cw.Message] = []

    def add(self, messages: list[cw.Message]) -> None:
        self.chat.add(messages)
        self.said += messages

    def mark(self, seq: int, method: str) -> None:
        getattr(self.chat, method)(seq)
        changed = msgspec.structs.replace(self.said[seq - 1], **MARKS[method])
        self.said[seq - 1] = changed

    def fork(self, at: int) -> None:
        self.chat = self.chat.fork(f"{self.chat.id}'", at)
        self.said = self.said[:at]

    def check(self, others: Store, recipe: Recipe, model: str) -> None:
        """All that build it agree: from the store, from another store object, from the list."""
        whole = cw.Conversation(tuple(self.said), id=self.chat.id)
        told = outcome(lambda: recipe.build(whole, model=model))
        assert outcome(lambda: self.chat.context(recipe, model=model)) == told
        other = others.conversation(self.chat.id)
        assert outcome(lambda: other.context(recipe, model=model)) == told


def play(talk: Talk, others: Store, messages: list[cw.Message], data: st.DataObject) -> None:
    """Add messages turn by turn; between them marks and forks; and compare."""
    recipe, model = data.draw(recipes), data.draw(st.sampled_from(MODELS))
    while messages:
        count = data.draw(st.integers(1, len(messages))) if talk.said else 1
        talk.add(messages[:count])
        messages = messages[count:]
        if len(talk.said) == 1:
            talk.check(others, recipe, model)
        step = data.draw(st.sampled_from(("mark", "mark", "fork", "check", "nothing")))
        seq = data.draw(st.integers(1, len(talk.said)))
        if step == "fork":
            talk.fork(seq)
            talk.check(others, recipe, model)
            talk.add([cw.user("and then?")])
            break
        one = talk.said[seq - 1]
        # Who hides a call leaves its result without one, and the law speaks of whole exchanges.
        if step == "mark" and not one.calls and not one.results:
            talk.mark(seq, data.draw(st.sampled_from(tuple(MARKS))))
        if step != "nothing":
            talk.check(others, recipe, model)
    talk.check(others, recipe, model)


def public(messages: list[cw.Message]) -> list[cw.Message]:
    return [one for one in messages if one.visibility == "public"]


@given(histories, st.data())
def test_forks_and_marks_build_as_their_messages_do(
    messages: list[cw.Message], data: st.DataObject
) -> None:
    if match_results(public(messages)).orphans or not messages:
        return
    with TemporaryDirectory() as folder:
        file = Path(folder) / "chat.db"
        with Store(file, sync="fast") as store, Store(file, sync="fast") as others:
            play(Talk(store, "a"), others, messages, data)


@pytest.fixture(scope="module")
def servers(shared_postgres: str) -> Iterator[tuple[Store, Store]]:
    with Store(shared_postgres, sync="fast") as one, Store(shared_postgres, sync="fast") as other:
        yield one, other


TENANTS = itertools.count()


@examples(STORE)
@given(histories, st.data())
def test_the_same_on_postgres(
    servers: tuple[Store, Store], messages: list[cw.Message], data: st.DataObject
) -> None:
    if match_results(public(messages)).orphans or not messages:
        return
    tenant = f"contexts {next(TENANTS)}"
    store, others = (one.for_tenant(tenant) for one in servers)
    play(Talk(store, "a"), others, messages, data)


def or_raise(found: cw.Context | BudgetError) -> cw.Context:
    if isinstance(found, BudgetError):
        raise found
    return found


@given(histories, recipes, st.data())
def test_the_request_of_an_earlier_moment(
    messages: list[cw.Message], recipe: Recipe, data: st.DataObject
) -> None:
    """It is the one that was built then, and building it again changes nothing."""
    if match_results(public(messages)).orphans or not messages:
        return
    with TemporaryDirectory() as folder, Store(Path(folder) / "chat.db", sync="fast") as store:
        chat = store.conversation("a")
        then: list[object] = []
        for message in messages:
            chat.add(message)
            then.append(outcome(lambda: chat.context(recipe, model="gpt-4o")))
        at = data.draw(st.integers(1, len(messages)))
        assert outcome(lambda: chat.context(recipe, model="gpt-4o", at=at)) == then[at - 1]
        assert outcome(lambda: chat.context(recipe, model="gpt-4o")) == then[-1]
        moments = [(place, None) for place in range(at, len(messages) + 1)]
        again = replay(chat.state, "a", recipe, moments, model="gpt-4o")
        assert [outcome(lambda: or_raise(found)) for found in again] == then[at - 1 :]  # noqa: B023
        for wrong in (0, len(messages) + 1):
            with pytest.raises(cw.errors.NotFound):
                chat.context(recipe, model="gpt-4o", at=wrong)


class Waiting(cw.Section):
    """Waits until the loop goes on."""

    def __init__(self) -> None:
        self.go, self.heard = threading.Event(), list[bool]()

    def write(self, moment: object) -> str:
        self.heard.append(self.go.wait(20))
        return "You are Ada."


def test_tasks_build_while_the_loop_goes_on(place: str) -> None:
    waiting = Waiting()
    recipe = Recipe(system=(waiting,), budget=2_000)

    async def talk() -> None:
        async with cw.AsyncStore(place, sync="fast") as store:
            chat = store.conversation("a")
            await chat.add([cw.user(f"What about {number}?") for number in range(300)])

            async def go_on() -> None:
                await asyncio.sleep(0)  # the builds have begun
                waiting.go.set()

            other = asyncio.create_task(go_on())
            built = await asyncio.gather(
                *(chat.context(recipe, model=model) for model in MODELS),
                chat.context(recipe, model="gpt-4o", at=7, budget=1_000),
            )
            await other
            assert waiting.heard
            assert all(waiting.heard)
        with Store(place) as store:
            again = [store.conversation("a").context(recipe, model=model) for model in MODELS]
        assert [one.payload for one in built[:3]] == [one.payload for one in again]
        assert len(built[3].decisions) == 7

    asyncio.run(talk())


def test_both_contexts_take_the_same_words() -> None:
    both = [inspect.signature(one.context) for one in (cw.Chat, cw.AsyncChat)]
    assert both[0] == both[1]


def test_few_results_at_the_end_are_cleared_as_in_a_list(tmp_path: Path) -> None:
    """The line of clearing depends on how many results there are before the loaded end."""
    said = [cw.user("hm " * 20), cw.assistant("well " * 20)] * 5
    messages: list[cw.Message] = []
    for number in range(60):
        call = cw.ToolCall("look", {"at": number}, id=f"c{number}")
        result = cw.tool_result(f"c{number}", "result text " * 30)
        messages += [cw.user("word " * 30), cw.assistant(call), result, cw.assistant("ok"), *said]
    messages.append(cw.user("And?"))
    recipe = Recipe(
        budget=4_000, clearing=Clearing(results=4), window=cw.windows.KeepRecent(), answer=100
    )
    with Store(tmp_path / "store.db", sync="fast") as store:
        chat = store.conversation("long")
        chat.add(messages)
        context = chat.context(recipe, model="gpt-4o")
    assert list(context.decisions) == list(cw.build(messages, recipe, model="gpt-4o").decisions)


@pytest.mark.parametrize("budget", [6_000, 7_000])
def test_pinned_pictures_lose_as_many_as_in_a_list(tmp_path: Path, budget: int) -> None:
    """They leave one to others, also where the newest other one is before the loaded end."""
    photo = cw.Media("image", "image/jpeg", url="https://example.com/photo.jpg")
    said = [cw.user("hm " * 20), cw.assistant("well " * 20)] * 500
    messages = [
        cw.user(["And this?", photo]),
        *said,
        cw.user(["The plan.", photo, photo, photo], pinned=True),
        cw.user("So?"),
    ]
    recipe = Recipe(clearing=Clearing(most_media=3), budget=budget)
    with Store(tmp_path / "store.db", sync="fast") as store:
        chat = store.conversation("long")
        chat.add(messages)
        context = outcome(lambda: chat.context(recipe, model="gpt-4o"))
    whole = cw.Conversation(tuple(messages), id="long")
    assert context == outcome(lambda: recipe.build(whole, model="gpt-4o"))


def test_what_is_erased_or_hidden_is_said_of_each(place: str) -> None:
    """As of a history in memory, also where the window never comes."""
    with cw.Store(place, embedder=None) as store:
        chat = store.conversation("a")
        chat.add([cw.user(text * 2_000) for text in "abcdefgh" * 20])
        chat.add([cw.Message("user", (cw.Text("i"),), visibility="internal"), cw.user("j")])
        chat.erase(2, 5)
        recipe = cw.Recipe(window=cw.windows.KeepRecent(messages=1), budget=1_000)
        context = chat.context(recipe, model="gpt-4o")
        whole = recipe.build([one.message for one in chat.read()], model="gpt-4o")
    assert list(context.decisions) == list(whole.decisions)
    erased = [index for index, one in enumerate(context.decisions) if one.reason == "erased"]
    assert erased == [1, 4]


def test_a_pinned_message_is_written_as_from_a_list(tmp_path: Path) -> None:
    told = [cw.user("Hello", pinned=True), cw.assistant("Hi"), cw.user("How are you?")]
    with cw.Store(tmp_path / "s.db", sync="fast") as store:
        chat = store.conversation("c")
        chat.add(told)
        kept = chat.context(model="gpt-4o", format="contextwright").payload
    built = cw.build(told, model="gpt-4o", format="contextwright").payload
    assert encode_json(kept["messages"]) == encode_json(built["messages"])
