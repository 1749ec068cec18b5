"""What is recalled once: the same words by the same speaker, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

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
    assert sorted(said) == ["The keys are under the blue pot", "Where are the keys?", "👍"]


BOT, ANNA = cw.Author("9", "Bot"), cw.Author("1", "Anna")
REMINDER = cw.user("Reminder: which brand of water do you drink today?", author=BOT)
ANSWER = cw.user("From the Alps I only drink the spring water in bottles.", author=ANNA)
QUESTION = "Which brand of water does Anna drink at work?"


@pytest.mark.parametrize("embedder", [None, "wordllama"])
@pytest.mark.parametrize("times", [0, 30, 150, 300])
def test_what_is_said_again_and_again_hides_nothing(
    place: str, times: int, embedder: Literal["wordllama"] | None
) -> None:
    """Neither as candidates, nor as rivals, nor as all that a question seems to need."""
    with cw.Store(place, embedder=embedder) as store:
        chat = store.conversation("a")
        days = [cw.user(f"Nothing on day {day}, just rain.", author=ANNA) for day in range(150)]
        chat.add([*days, ANSWER, *days, *[REMINDER] * times])
        found = chat.recall("Which water do you drink?", budget=2_000)
    assert [item.text for item in found].count(REMINDER.text) == min(times, 1)
    assert ANSWER.text in [item.text for item in found]


def test_what_many_in_one_conversation_say_hides_no_other(store: cw.Store) -> None:
    store.conversation("bot").add([REMINDER] * 1_200)
    for number in range(20):
        other = store.conversation(f"{number}")
        other.add([cw.user(f"We drink tea {number} at home."), cw.user("Fine.")])
    store.conversation("alps").add([ANSWER, cw.user("Nice.")])
    found = store.recall(QUESTION)
    assert {"bot", "alps"} < {item.conversation for item in found}


def places(found: cw.recall.RecallResult) -> list[tuple[str, int]]:
    return [(item.conversation, item.seq) for item in found]


@pytest.mark.parametrize("behind", [0, 100])
@pytest.mark.parametrize("few", [0, 64])
def test_a_question_that_is_stored_is_not_its_own_answer(
    store: cw.Store, few: int, behind: int
) -> None:
    chat = store.conversation("a")
    days = [cw.user(f"Nothing on day {day}, just rain.", author=ANNA) for day in range(behind)]
    chat.add([*days, ANSWER, cw.assistant("From which lake is it?")])
    store.index(few=few)
    before, everywhere = chat.recall(QUESTION), places(store.recall(QUESTION))
    assert ANSWER.text in [item.text for item in before]
    chat.add(cw.user(f"{QUESTION}\n", author=BOT))
    store.index(few=few)
    assert chat.recall(QUESTION) == before
    assert places(store.recall(QUESTION)) == everywhere
    chat.add([cw.assistant("Let me look it up."), cw.assistant(cw.ToolCall("recall", {}))])
    assert chat.recall(QUESTION) == before, "what follows is of the same turn"
    assert REMINDER.text not in [item.text for item in chat.recall(REMINDER.text)]
    chat.add(cw.user("the tea"))
    assert "the tea" in [item.text for item in chat.recall("the tea")], "which asks nothing"


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
