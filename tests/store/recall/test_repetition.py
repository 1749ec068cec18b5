"""What is recalled once: the same words by the same speaker, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import contextwright as cw


@pytest.fixture
def store(place: str) -> Iterator[cw.Store]:
    with cw.Store(place, embedder=None) as store:
        yield store


def test_the_same_words_come_once(store: cw.Store) -> None:
    chat = store.conversation("a")
    chat.add([cw.user("The keys are under the blue pot")] * 50)
    for text in ("👍", "Where are the keys?"):
        chat.add([cw.user(text)] * 50)
    said = [item.message.text for item in chat.recall("Where are the keys?", budget=10**5)]
    assert sorted(said) == ["The keys are under the blue pot", "Where are the keys?"]


def test_the_same_short_words_of_another_are_told_too(store: cw.Store) -> None:
    chat = store.conversation("a")
    chat.add([cw.user("I can't eat nuts.", author=name) for name in ("Ada", "Bo", "Ada")])
    store.remember("Is vegetarian", about="U1")
    store.remember("Is vegetarian", about="U2")
    for key in ("home town", "birth town"):
        store.remember("Kyiv", about="U1", kind="fact", key=key)
    assert {item.speaker for item in chat.recall("Who can't eat nuts?")} == {"Ada", "Bo"}
    assert len(chat.recall("Who can't eat nuts?")) == 2
    assert chat.recall("who is vegetarian").text.count("Is vegetarian") == 2
    assert chat.recall("home town, birth town").text.count("Kyiv") == 2


def test_an_update_comes_with_what_it_replaces(store: cw.Store) -> None:
    chat = store.conversation("a")
    plan = "Our weekly meeting with the whole marketing team takes place in the large room on {}"
    texts = [plan.format(day) for day in ("Mondays", "Tuesdays")]
    for text in texts:
        chat.add(cw.user(text, author=cw.Author("1", "Ada")))
        store.remember(text, about="2")
    chat.add(cw.user(texts[0], author=cw.Author("2", "Bo")))
    chat.add([cw.user(f"noise {number}") for number in range(40)])
    question = "When does the whole marketing team meet weekly?"
    told = [("Ada", texts[0]), ("Ada", texts[1]), ("Bo", texts[0])]
    found = [item for item in chat.recall(question) if item.memory is None]
    assert [(item.speaker, item.text) for item in found][:3] == told
    chat.add(cw.user(question, author=cw.Author("2", "Bo")))
    recipe = cw.Recipe(
        system=[cw.Memories(), cw.sections.PastExcerpts(), cw.sections.PastMessages()],
        window=cw.windows.KeepRecent(messages=1),
    )
    memories, excerpts, messages = chat.context(recipe, model="gpt-4o").sections.values()
    assert [text in memories for text in texts] == [True, True]
    assert [f"{name}: {text}" in messages for name, text in told] == [True, True, True]
    assert [f"{name}: {text}" in excerpts for name, text in told] == [False, True, True]
