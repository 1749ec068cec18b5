"""Does any way to read a store give a tenant, a chat or a person what belongs to another?

    uv run python -m benchmarks.storage.scope [--tenants 1000] [--place postgresql://…]

Fills one store with many tenants whose names try to be each other's. All of them have chats of the
same names, with the same people in them; every text carries a mark that says whose it is. Then
every way to read is asked for every tenant, and marks that should not be there are counted.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

import contextwright as cw
from contextwright.recall.memories import MemoryKind, MemoryQuery
from contextwright.store.engines.base import Connection
from contextwright.store.recall.source import StoreMemorySource
from contextwright.store.requests import RecordedRequest
from contextwright.store.rows import conversations
from contextwright.store.rows.recorded import requests

MODEL = "gpt-4o"
RECIPE = cw.Recipe(
    system=(
        cw.Memories(),
        cw.sections.UserProfile(),
        cw.sections.KeyFacts(),
        cw.sections.PastExcerpts(),
        cw.sections.Episodes(),
    )
)
BARE = cw.Recipe(
    window=cw.windows.KeepRecent(1), system=(cw.sections.PastExcerpts(), cw.sections.Transcript())
)
"""The newest message alone, and all else by recall."""
DIGEST = cw.Recipe(window=cw.windows.KeepRecent(1), summary=cw.SummaryPolicy(500))
"""The newest message alone, and all else in few words."""
PAIRS = cw.recall.EpisodeRules(min_messages=2)
"""Two messages are an event already."""

# --- whose is it -----------------------------------------------------------------------------

MARK = re.compile(r"own(\d+)q([a-z])q([a-z])q([a-z])q")
EVERYWHERE, NOBODY = "e", "n"
SHOWN, HIDDEN, DELETED, LATER, NOTED, EVENT, GONE = "shdlnvg"
"""What became of a message: shown, hidden, deleted, added after the fork; a memory, an event; or it
was forgotten."""


class Mark(Struct, frozen=True):
    """Whose a text is: the tenant's, the chat's, the person's; and what became of it."""

    tenant: int
    chat: str = EVERYWHERE
    person: str = NOBODY
    state: str = SHOWN

    def __str__(self) -> str:
        return f"own{self.tenant}q{self.chat}q{self.person}q{self.state}q"


def marks_in(text: str) -> set[Mark]:
    """The marks in whatever was given."""
    return {Mark(int(found[1]), *found.groups()[1:]) for found in MARK.finditer(text)}


# --- the store -------------------------------------------------------------------------------

FAMILIES = (
    "a", "aa", "tenant", "Tenant", "TENANT", " tenant", "tenant ", "ten ant", "tеnant", "ｔenant",
    "é", "e\u0301", "ß", "ss", "İ", "i", "ı", "tenant\u200d",
    "' OR 1=1 --", "'; DROP TABLE messages; --", '"', "''", "%", "_", "t%", "\\", "\\%", "$1", "?",
    "?1", ":a", "{tenant}", "*", "NULL", "null", "None", "0", "00", "-1", "1e3", "true", "../a",
    "a/b", "a:b", "a|b", "public", "tenant=a", "тенант", "租户", "🍕", "👩\u200d👧", "x" * 240,
)  # fmt: skip
"""Prefixes of each other, lookalikes, other spellings of the same letters, pieces of SQL."""


def names(count: int) -> list[str]:
    """So many different tenants; the one without a name is among them."""
    endings = [""] + [str(number) for number in range(1, count // len(FAMILIES) + 2)]
    made = ["", *(family + ending for ending in endings for family in FAMILIES)]
    return list(dict.fromkeys(made))[:count]


PEOPLE = {"x": "alice", "y": "alice2"}


def chats(number: int) -> dict[str, str]:
    """A tenant's chats: two with names that all have, and one that it alone has."""
    return {"a": "lunch", "b": f"of {number} ' OR 1=1 --", "c": "fork"}


def said(mark: Mark) -> cw.Message:
    author = cw.Author(id=PEOPLE[mark.person], name=f"Name {mark}")
    return cw.user(f"common words {mark}", author=author, sent_at="2023-05-07T12:00:00Z")


def fill(base: cw.Store, tenants: list[str]) -> None:
    """The same life for every tenant, in an order that mixes them."""
    order = list(range(len(tenants)))
    random.Random(6).shuffle(order)
    for number in order:
        fill_tenant(base.for_tenant(tenants[number]), number)


def fill_tenant(store: cw.Store, number: int) -> None:
    """Two chats and a fork of the first; people with memories; and what was taken away."""
    named = chats(number)
    for chat in "ab":
        talk = store.conversation(named[chat])
        states = (SHOWN, HIDDEN, DELETED, SHOWN)
        turn = [
            said(Mark(number, chat, person, state))
            for person, state in zip("xyxy", states, strict=True)
        ]
        _, hidden, deleted, _ = talk.add(turn, key=f"key {Mark(number, chat)}")
        talk.hide(hidden)
        talk.delete(deleted)
        note = str(Mark(number, chat))
        talk.update(title=f"title {note}", agent=f"agent {note}", settings={"note": note})
    fork = store.conversation(named["a"]).fork(named["c"])
    fork.add(said(Mark(number, "c", "y")))
    for chat in "ab":
        talk = store.conversation(named[chat])
        talk.add(said(Mark(number, chat, "x", LATER)))
        talk.make_episodes(boundaries=PAIRS)
    for chat, id in named.items():
        record(store, id, Mark(number, chat))
    remember(store, number)
    forgotten = store.conversation("forgotten")
    forgotten.add(said(Mark(number, "g", "x", GONE)))
    store.remember(f"common {Mark(number, 'g', 'x', GONE)}", about="alice", scope="forgotten")
    store.forget("forgotten")
    store.forget_memory(store.remember(f"common {Mark(number, EVERYWHERE, 'x', GONE)}"))


def record(store: cw.Store, id: str, mark: Mark) -> None:
    """A request that passed through a gateway, in a chat."""
    passed = RecordedRequest(
        session=str(mark),
        format="anthropic",
        upstream_format="anthropic",
        upstream="anthropic",
        mode="pass-through",
        model=MODEL,
        sent_model=MODEL,
    )

    def work(connection: Connection) -> None:
        number = requests.begin(connection, store.tenant, passed, "here/1")
        head = conversations.require(connection, store.tenant, id)
        requests.finish(connection, replace(passed, number=number, state="answered"), head.number)

    store.engine.write_alone(work)


def remember(store: cw.Store, number: int) -> None:
    """What is known of each person, in each chat and everywhere."""
    scopes = {**chats(number), EVERYWHERE: ""}
    kinds = ("memory", "profile", "fact")
    chance = random.Random(number)
    for person, id in PEOPLE.items():
        for chat, scope in scopes.items():
            mark = Mark(number, chat, person, NOTED)
            store.remember(f"common {mark}", about=id, kind=chance.choice(kinds), scope=scope)
    for chat, scope in scopes.items():
        store.remember(f"common {Mark(number, chat, 'x', EVENT)}", kind="episode", scope=scope)


# --- ways to read ----------------------------------------------------------------------------


class Place(Struct, frozen=True):
    """Who reads where: a tenant, in one of its chats, maybe in one of another's."""

    tenant: int
    chat: str = "a"
    owner: int | None = None
    """Whose chat it is, where it is not the tenant's own."""

    @property
    def person(self) -> str:
        """Who spoke last."""
        return "y" if self.chat == "c" else "x"

    @property
    def id(self) -> str:
        """The chat by the name it is asked for."""
        return chats(self.tenant if self.owner is None else self.owner)[self.chat]


May: TypeAlias = Callable[[Mark, Place], bool]
Arguments: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]


def of_tenant(mark: Mark, place: Place) -> bool:
    """All that the tenant has."""
    return mark.tenant == place.tenant and mark.state != GONE


def of_tenant_shown(mark: Mark, place: Place) -> bool:
    """What the tenant has and nobody hid."""
    return of_tenant(mark, place) and mark.state in (SHOWN, LATER)


def of_chat(mark: Mark, place: Place) -> bool:
    """What was said in the chat, and before it was forked from another."""
    own = mark.chat == place.chat
    before = place.chat == "c" and mark.chat == "a" and mark.state != LATER
    return of_tenant(mark, place) and mark.state not in (NOTED, EVENT) and (own or before)


def of_chat_shown(mark: Mark, place: Place) -> bool:
    """What was said in the chat and nobody hid."""
    return of_chat(mark, place) and mark.state in (SHOWN, LATER)


def recalled_in_chat(mark: Mark, place: Place) -> bool:
    """What was said in the chat and nobody hid, and what is known there."""
    known = mark.state == NOTED and mark.chat in (place.chat, EVERYWHERE)
    return of_chat_shown(mark, place) or (known and of_tenant(mark, place))


def recalled_anywhere(mark: Mark, place: Place) -> bool:
    """What the tenant has and nobody hid, and what is known everywhere."""
    known = mark.state == NOTED and mark.chat == EVERYWHERE
    return of_tenant_shown(mark, place) or (known and of_tenant(mark, place))


def recalled_of_person(mark: Mark, place: Place) -> bool:
    """What the person said in the chat, or is known there of them."""
    is_title = mark == Mark(mark.tenant, mark.chat)
    return recalled_in_chat(mark, place) and (mark.person == place.person or is_title)


def recalled_of_person_anywhere(mark: Mark, place: Place) -> bool:
    """What the person said anywhere, or is known everywhere of them."""
    is_title = mark == Mark(mark.tenant, mark.chat)
    return recalled_anywhere(mark, place) and (mark.person == place.person or is_title)


def of_events(mark: Mark, place: Place) -> bool:
    """What was noted of the chat's events, and what those that were made quote."""
    noted = mark.state == EVENT and mark.chat == place.chat and of_tenant(mark, place)
    return noted or of_chat_shown(mark, place)


def of_person(mark: Mark, place: Place) -> bool:
    """What is known of the person, anywhere."""
    return of_tenant(mark, place) and mark.person == place.person


def of_scope(mark: Mark, place: Place) -> bool:
    """What is known of people in the chat alone."""
    return of_tenant(mark, place) and mark.chat == place.chat


def told(mark: Mark, place: Place) -> bool:
    """What a model may hear: the talk, events of the chat, and what is known of who asks."""
    here = mark.chat in (place.chat, EVERYWHERE) and of_tenant(mark, place)
    known = mark.state == EVENT or (mark.state == NOTED and mark.person == place.person)
    return of_chat_shown(mark, place) or (here and known)


def arguments(*positional: Any, **named: Any) -> Arguments:
    return positional, named


def asked(place: Place, *, about: bool = False) -> Arguments:
    """A question, about everybody or about the person who spoke last."""
    who = PEOPLE[place.person] if about else None
    return arguments("What were the common words?", budget=20_000, about=who)


def recalled(place: Place, kind: MemoryKind, query: str = "") -> Arguments:
    """What a section wants: of the person who asks, or what fits some words."""
    about = None if query else PEOPLE[place.person]
    return arguments(MemoryQuery(kind=kind, about=about, query=query))


class Way(Struct, frozen=True):
    """A way to read: whose method, what it is given, and what it may give."""

    method: str
    may: May
    given: Callable[[Place], Arguments] = lambda place: arguments()
    chatless: bool = False
    """It names no chat, and need not be asked in another's."""

    def fits(self, place: Place) -> bool:
        """Whether it is worth asking there."""
        return place.owner is None or not self.chatless


WAYS = (
    Way("store.list", of_tenant, chatless=True),
    Way("store.search", of_tenant_shown, lambda _: arguments("common words", limit=1_000), True),
    Way("store.search", of_chat_shown, lambda place: arguments("common", place.id)),
    Way("chat.search", of_chat_shown, lambda _: arguments("common")),
    Way("store.recall", recalled_anywhere, asked, True),
    Way("store.recall", recalled_of_person_anywhere, lambda place: asked(place, about=True), True),
    Way("store.requests", of_tenant, lambda _: arguments(limit=1_000), True),
    Way("store.requests", of_chat, lambda place: arguments(place.id)),
    Way("store.memories", of_tenant, chatless=True),
    Way("store.memories", of_person, lambda place: arguments(about=PEOPLE[place.person]), True),
    Way("store.memories", of_scope, lambda place: arguments(scope=place.id)),
    Way("store.memories", of_tenant, lambda _: arguments(kind="fact"), True),
    Way("chat.read", of_chat),
    Way("chat.read", of_chat, lambda place: arguments(2, 4)),
    Way("chat.tail", of_chat, lambda place: arguments(3)),
    Way("chat.details", of_chat),
    Way("chat.length", of_chat),
    Way("chat.context", told, lambda place: arguments(RECIPE, model=MODEL)),
    Way("chat.context", told, lambda place: arguments(BARE, model=MODEL)),
    Way("chat.context", told, lambda place: arguments(DIGEST, model=MODEL)),
    Way("chat.recall", recalled_in_chat, asked),
    Way("chat.recall", recalled_of_person, lambda place: asked(place, about=True)),
    Way("chat.episodes", of_events),
    Way("chat.episodes", of_events, lambda place: arguments(participant=PEOPLE[place.person])),
    Way("chat.summarise", of_chat_shown, lambda place: arguments(DIGEST, model=MODEL)),
    Way("chat.summaries", of_chat_shown),
    Way("chat.undo_summary", of_chat_shown, lambda place: arguments(DIGEST)),
    Way("recollection.recall", told, lambda place: recalled(place, "memory")),
    Way("recollection.recall", told, lambda place: recalled(place, "profile")),
    Way("recollection.recall", told, lambda place: recalled(place, "fact")),
    Way("recollection.recall", told, lambda place: recalled(place, "episode", query="common")),
    Way("recollection.recall", told, lambda place: recalled(place, "passage", query="common")),
)
"""A new way to read is a line here; a test finds those that are missing."""


class Tally(Struct):
    """What was counted of one way."""

    asked: int = 0
    own: int = 0
    foreign: int = 0
    example: str = ""

    def count(self, way: Way, place: Place, value: object) -> None:
        """Look through what was given, in every spelling it has."""
        shown = repr(value)
        if isinstance(value, cw.Context):
            shown = f"{value.payload!r} {value.explain()} {value.changes!r}"
        marks = marks_in(shown)
        foreign = [mark for mark in marks if not way.may(mark, place)]
        self.asked += 1
        self.own += len(marks) - len(foreign)
        self.foreign += len(foreign)
        if foreign and not self.example:
            self.example = f"{way.method}: {place} was given {foreign[0]}"


Tallies: TypeAlias = dict[str, Tally]


def places(count: int) -> Iterator[Place]:
    """Every tenant in one of its chats, and in a chat that only another one has."""
    for number in range(count):
        yield Place(number, "abc"[number % 3])
        yield Place(number, "b", owner=(number + 1) % count)


def ask_all(base: cw.Store, tenants: list[str]) -> Tallies:
    """Every way to read, for every tenant."""
    tallies: Tallies = {}
    for place in places(len(tenants)):
        store = base.for_tenant(tenants[place.tenant])
        chat = store.conversation(place.id)
        owners = {
            "store": store,
            "chat": chat,
            "recollection": StoreMemorySource(chat.state, chat.id),
        }
        for number, way in enumerate(WAYS):
            owner, _, method = way.method.partition(".")
            if not way.fits(place):
                continue
            positional, named = way.given(place)
            try:
                value = getattr(owners[owner], method)(*positional, **named)
                value = list(value) if isinstance(value, Iterator) else value
            except cw.errors.NotFound as error:
                value = error
            tallies.setdefault(f"{number + 1:>2} {way.method}", Tally()).count(way, place, value)
    return tallies


async def ask_all_async(place_: str, tenants: list[str]) -> Tallies:
    """The same through an event loop."""
    tallies: Tallies = {}
    async with cw.AsyncStore(place_) as base:
        for place in places(len(tenants)):
            store = base.for_tenant(tenants[place.tenant])
            owners = {"store": store, "chat": store.conversation(place.id)}
            for number, way in enumerate(WAYS):
                owner, _, method = way.method.partition(".")
                if owner not in owners or not way.fits(place):
                    continue
                positional, named = way.given(place)
                try:
                    value = await settled(getattr(owners[owner], method)(*positional, **named))
                except cw.errors.NotFound as error:
                    value = error
                name = f"{number + 1:>2} async {way.method}"
                tallies.setdefault(name, Tally()).count(way, place, value)
    return tallies


async def settled(value: Awaitable[object] | AsyncIterator[object]) -> object:
    """What an asynchronous call gives in the end."""
    if isinstance(value, AsyncIterator):
        return [item async for item in value]
    return await value


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tenants", type=int, default=1_000)
    parser.add_argument("--place", help="a store that is filled; without one, a new file")
    options = parser.parse_args()
    tenants = names(options.tenants)
    with tempfile.TemporaryDirectory() as folder:
        place = options.place or str(Path(folder) / "scope.db")
        with cw.Store(place, sync="fast") as base:
            fill(base, tenants)
            tallies = ask_all(base, tenants)
        tallies |= asyncio.run(ask_all_async(place, tenants))
    print(f"{'way to read':<32} {'asked':>8} {'own':>10} {'foreign':>8}")
    for name, tally in tallies.items():
        print(f"{name:<32} {tally.asked:>8,} {tally.own:>10,} {tally.foreign:>8,}")
    foreign = sum(tally.foreign for tally in tallies.values())
    print(f"\n{len(tallies)} ways × {len(tenants):,} tenants: {foreign} foreign rows")
    for tally in tallies.values():
        if tally.example:
            print(tally.example)
    return 1 if foreign else 0


if __name__ == "__main__":
    raise SystemExit(main())
