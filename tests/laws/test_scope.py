"""No way to read a store returns what belongs to another: see `benchmarks/storage/scope.py`."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import settings

import contextwright as cw
from paths import benchmark

SOME = 60
"""At most so many tenants are asked with vectors and through an event loop too."""


SCOPE = benchmark("storage/scope")

OTHER = {
    "Store": "add_all add_each calibration close conversation drop_unused_vectors embedder engine "
    "erase_before erase_person erase_tenant for_tenant forget forget_memory index remember rename "
    "request request_bodies scrub state tenant tenants update_memory",
    "Chat": "add ask ask_stream calibration delete edit erase fork hide id make_episodes pin show "
    "state unpin update versions",
    "AsyncStore": "add_all add_each close conversation drop_unused_vectors each erase_before "
    "erase_person erase_tenant for_tenant forget forget_memory index remember rename request "
    "request_bodies run scrub store tenants update_memory",
    "AsyncChat": "add ask ask_stream calibration delete edit erase fork hide id make_episodes pin "
    "show store unpin update versions",
}
"""What else these have: they write, lead to others, are how the store works inside, give figures
alone, or read by a number that only one tenant has."""


@pytest.mark.parametrize("name", OTHER)
def test_every_way_to_read_is_asked(name: str) -> None:
    """Whoever adds a method that reads adds a line to the table, or says here that it is none."""
    owner = "chat" if name.endswith("Chat") else "store"
    methods = {method for method in dir(getattr(cw, name)) if not method.startswith("_")}
    asked = {way.method.partition(".")[2] for way in SCOPE.WAYS if way.method.startswith(owner)}
    assert methods - set(OTHER[name].split()) == asked


@pytest.mark.parametrize(
    "place", ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)], indirect=True
)
def test_nobody_is_given_what_is_anothers(place: str) -> None:
    nobody_is_given_what_is_anothers(place, min(24, settings().max_examples // 3))


@pytest.mark.slow
def test_nobody_among_two_hundred(tmp_path: Path) -> None:
    nobody_is_given_what_is_anothers(str(tmp_path / "store.db"), 200)


def nobody_is_given_what_is_anothers(place: str, many: int) -> None:
    tenants = SCOPE.names(many)
    with cw.Store(place, sync="fast", embedder=None) as base:
        SCOPE.fill(base, tenants)
        by_words = SCOPE.ask_all(base, tenants)
    with cw.Store(place, sync="fast", embedder="wordllama") as base:
        by_meaning = SCOPE.ask_all(base, tenants[:SOME])
    in_loop = asyncio.run(SCOPE.ask_all_async(place, tenants[:SOME]))
    for tallies in (by_words, by_meaning, in_loop):
        assert {name: tally.example for name, tally in tallies.items() if tally.foreign} == {}
        # Whoever is given nothing at all is given nothing foreign either.
        assert {name for name, tally in tallies.items() if not tally.own} == {
            name for name in tallies if name.endswith("chat.length")
        }


def test_what_is_foreign_is_found(tmp_path: Path) -> None:
    """The measure itself notices tenants, chats and people that see too much."""
    tenants = SCOPE.names(3)
    with cw.Store(tmp_path / "store.db", sync="fast") as base:
        SCOPE.fill(base, tenants)
        swapped = SCOPE.ask_all(base, [*tenants[1:], tenants[0]])
    assert all(tally.foreign for name, tally in swapped.items() if not name.endswith("length"))
    mark, place = SCOPE.Mark, SCOPE.Place
    assert SCOPE.told(mark(1, "a", "x"), place(1, "a"))
    assert SCOPE.told(mark(1, "e", "x", SCOPE.NOTED), place(1, "a"))
    for foreign in (
        mark(2, "a", "x"),
        mark(11, "a", "x"),
        mark(1, "b", "x"),
        mark(1, "a", "x", SCOPE.HIDDEN),
        mark(1, "a", "x", SCOPE.GONE),
        mark(1, "e", "y", SCOPE.NOTED),
        mark(1, "b", "x", SCOPE.NOTED),
        mark(1, "b", "x", SCOPE.EVENT),
    ):
        assert not SCOPE.told(foreign, place(1, "a"))
        assert SCOPE.marks_in(f"common {foreign},") == {foreign}
    assert not SCOPE.of_chat(mark(1, "a", "x", SCOPE.LATER), place(1, "c"))


def test_names_are_different() -> None:
    names = SCOPE.names(1_000)
    assert len(names) == len(set(names)) == 1_000
