"""No way to read a store shows hidden, deleted or erased text."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

import contextwright as cw
from contextwright import sections
from contextwright.cli.app import app
from contextwright.context import recipe_files

WORD = "xylophone"
BOB, AL = cw.Author("7", "Bob", "bob"), cw.Author("8", "Al", "al")
NOW = datetime(2026, 1, 5, tzinfo=UTC)
MODEL = "gemini-3.8-flash"
ALL = cw.Recipe(
    system=[
        sections.ReplyTo(),
        sections.Memories(),
        sections.UserProfile(),
        sections.KeyFacts(),
        sections.PastMessages(),
        sections.PastExcerpts(),
        sections.Episodes(least=0.0),
        sections.Events(),
        sections.Transcript(),
    ],
    summary=cw.SummaryPolicy(tokens=300),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[cw.Store]:
    with cw.Store(tmp_path / "chat.db", sync="fast", embedder=None) as store:
        yield store


def fill(store: cw.Store) -> None:
    """Message 3 has the word; the others have it from there."""
    chat = store.conversation("lunch")

    def said(number: int, text: str, author: cw.Author, reply: cw.Reply | None = None) -> None:
        at = f"2026-01-01T10:{number:02}:00Z"
        meta = {"message_id": number, "chat_id": 1}
        chat.add(cw.user(text, author=author, sent_at=at, reply_to=reply, meta=meta))

    said(1, "Good morning, who plays music?", AL)
    said(2, "I would like to hear a concert.", AL)
    said(3, f"I play the {WORD}, nobody must know.", BOB)
    picture = cw.Media("image", "image/png", name=f"{WORD}.png", url=f"https://x.org/{WORD}.png")
    reply = cw.Reply("3", BOB, f"I play the {WORD}, nobody", (picture,))
    said(4, "Since when do you play music?", AL, reply)
    said(5, "Tell us of the concert.", AL)
    said(6, "Since when do you play music?", AL, reply)
    store.remember(f"Plays the {WORD} in a concert", about="8", scope="lunch", made_from=[3])
    store.remember(f"The {WORD}", about="8", kind="fact", key="music", scope="lunch", made_from=[3])
    store.remember(f"Likes a {WORD}", about="8", kind="profile", scope="lunch", made_from=[3])
    chat.make_episodes(now=NOW)
    chat.fork("fork")
    chat.context(ALL, model=MODEL, now=NOW)


def context(store: cw.Store, recipe: cw.Recipe, id: str = "lunch", **options: Any) -> str:
    built = store.conversation(id).context(recipe, model=MODEL, now=NOW, **options)
    return f"{built.payload} {built.sections} {built.explain()}"


def in_loop(store: cw.Store) -> str:
    async def read() -> str:
        async with cw.AsyncStore(store.engine.where, embedder=None) as other:
            chat = other.conversation("lunch")
            found = [one async for one in chat.read()], await chat.search("play music")
            return f"{found} {[one async for one in other.memories()]}"

    return asyncio.run(read())


def cli(*arguments: str) -> Callable[[cw.Store], str]:
    def run(store: cw.Store) -> str:
        done = CliRunner().invoke(app, [*arguments, "--store", store.engine.where])
        return done.output

    return run


TO_READ: dict[str, Callable[[cw.Store], object]] = {
    "chat.read": lambda store: [*store.conversation("lunch").read()],
    "chat.tail": lambda store: store.conversation("lunch").tail(9),
    "fork.read": lambda store: [*store.conversation("fork").read()],
    "chat.search": lambda store: store.conversation("lunch").search("play music"),
    "store.search": lambda store: store.search("play music"),
    "chat.recall": lambda store: store.conversation("lunch").recall("Who plays music?"),
    "store.recall": lambda store: store.recall("Who plays music?"),
    "chat.episodes": lambda store: store.conversation("lunch").episodes(),
    "store.memories": lambda store: [*store.memories()],
    "chat.context": lambda store: context(store, ALL),
    "fork.context": lambda store: context(store, ALL, "fork"),
    "chat.context at": lambda store: context(store, ALL, at=4),
    "gryag": lambda store: context(store, recipe_files.find("gryag"), format="gryag"),
    "a list": lambda store: str(
        cw.build(
            [one.message for one in store.conversation("lunch").read(hidden=True)],
            ALL,
            model=MODEL,
            now=NOW,
        ).payload
    ),
    "AsyncStore": in_loop,
    "cw read": cli("read", "lunch", "--json"),
    "cw show": cli("show", "lunch"),
    "cw dump": cli("dump", "lunch"),
    "cw export": cli("export", "lunch", "--format", "contextwright"),
    "cw export all": cli("export", "--format", "openai-chat"),
    "cw search": cli("search", "play music"),
    "cw recall": cli("recall", "Who plays music?"),
    "cw memories": cli("memories"),
    "cw episodes": cli("episodes", "lunch", "--json"),
    "cw build": cli("build", "lunch", "--model", MODEL),
}

TO_TAKE_AWAY: dict[str, Callable[[cw.Store], object]] = {
    "hide": lambda store: (
        store.conversation("lunch").hide(3),
        store.conversation("fork").hide(3),
    ),
    "delete": lambda store: (
        store.conversation("lunch").delete(3),
        store.conversation("fork").delete(3),
    ),
    "erase": lambda store: store.conversation("lunch").erase(3),
    "erase in a fork": lambda store: store.conversation("fork").erase(3),
    "erase a person": lambda store: store.erase_person("7"),
    "cw hide": lambda store: [cli("hide", id, "3")(store) for id in ("lunch", "fork")],
    "cw erase": cli("erase", "lunch", "3"),
}


def test_every_way_tells_it_before(store: cw.Store) -> None:
    """Whoever tells nothing at all tells nothing that is gone either."""
    fill(store)
    assert [way for way, read in TO_READ.items() if WORD not in str(read(store))] == []


@pytest.mark.parametrize("way", TO_TAKE_AWAY)
def test_nobody_tells_what_is_gone(store: cw.Store, way: str) -> None:
    fill(store)
    TO_TAKE_AWAY[way](store)
    for _ in range(2):  # the second time after episodes and index were made anew
        assert [way for way, read in TO_READ.items() if WORD in str(read(store))] == []
        store.conversation("lunch").make_episodes(now=NOW)
        store.index(again=True)


def test_a_hidden_message_comes_back_with_all_that_was_made_of_it(store: cw.Store) -> None:
    fill(store)
    TO_TAKE_AWAY["hide"](store)
    hidden = [one.message.text for one in store.conversation("lunch").read(3, 4, hidden=True)]
    assert WORD in hidden[0]
    for id in ("lunch", "fork"):
        store.conversation(id).show(3)
    assert [way for way, read in TO_READ.items() if WORD not in str(read(store))] == []


@pytest.mark.parametrize("recipe", [ALL, cw.Recipe(), cw.Recipe(reply_media=True)])
@pytest.mark.parametrize("visibility", ["public", "hidden", "deleted", "erased"])
def test_a_list_tells_nothing_that_is_gone(recipe: cw.Recipe, visibility: Any) -> None:
    """Also where messages of one's own quote it."""
    picture = cw.Media("image", "image/png", name=f"{WORD}.png", url=f"https://x.org/{WORD}.png")
    reply = cw.Reply("3", BOB, f"I play the {WORD}", (picture,))
    said = cw.user(f"I play the {WORD}.", author=BOB, meta={"message_id": 3})
    asked = cw.user("Since when?", author=AL, reply_to=reply)
    told = [replace(said, visibility=visibility), cw.assistant("Who does?"), asked]
    for given in (told, cw.Conversation(tuple(told))):
        built = cw.build(given, recipe, model=MODEL, now=NOW)
        assert (WORD in f"{built.payload} {built.sections}") == (visibility == "public")
