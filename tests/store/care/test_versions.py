"""Earlier versions of messages: they quote nothing, and nobody, that is gone."""

from collections.abc import Callable, Iterator

import msgspec
import pytest

import contextwright as cw
from samples.stores.secrets import AL, BOB, filled


@pytest.fixture
def store(place: str) -> Iterator[cw.Store]:
    with cw.Store(place, embedder=None) as store:
        yield store


QUOTED: dict[str, tuple[Callable[[cw.Chat], object], list[cw.Reply | None]]] = {
    "nothing": (lambda chat: None, [cw.Reply("3", BOB, "The secret word is x")]),
    "edited": (lambda chat: chat.edit(3, "New"), [cw.Reply("3", BOB, "The secret word is x")]),
    "edited and erased": (
        lambda chat: chat.edit(3, "New", keep=False),
        [cw.Reply("3", BOB, "New")],
    ),
    "hidden": (lambda chat: chat.hide(3), [cw.Reply("3", BOB)]),
    "erased": (lambda chat: chat.erase(3, scrub=False), [cw.Reply("3", BOB)]),
}


@pytest.mark.parametrize(("change", "quoted"), QUOTED.values(), ids=QUOTED)
def test_earlier_versions_of_replies_quote_nothing_that_is_gone(
    store: cw.Store, change: Callable[[cw.Chat], object], quoted: list[cw.Reply | None]
) -> None:
    chat = filled(store)
    change(chat)
    assert [version.message.reply_to for version in chat.versions(4)] == quoted
    assert [version.message.text for version in chat.versions(4)] == ["Really?"]


def test_earlier_versions_by_a_person_or_to_them_go_with_the_person(store: cw.Store) -> None:
    chat = filled(store)
    words = cw.user("I said it", author=BOB)
    chat.add([words, cw.user("Filler", author=AL)])
    chat.edit(8, msgspec.structs.replace(words, author=AL))
    chat.edit(9, "Other filler")
    assert store.erase_person("7", scrub=False).messages == 1
    left = {seq: [version.message.reply_to for version in chat.versions(seq)] for seq in (4, 8, 9)}
    assert left == {4: [cw.Reply("3")], 8: [], 9: [None]}
