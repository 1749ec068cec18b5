"""Passages of long messages, recalled from a store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import contextwright as cw
from contextwright.recall.passages import passages_of
from samples.recall import LONG


@pytest.fixture
def store(place: str) -> Iterator[cw.Store]:
    with cw.Store(place, embedder=None) as store:
        yield store


def test_a_long_message_is_recalled_by_its_passage(store: cw.Store) -> None:
    chat = store.conversation("a")
    chat.add([cw.user("Hello"), cw.assistant(LONG), *map(cw.user, ("Fine", "Good", "Bye"))])
    question = "Where does the spare key of the greenhouse hang?"
    found = chat.recall(question, budget=120, limit=1)
    (item,) = found
    assert item.message.text == LONG
    start, end = passages_of(LONG)[1]
    assert item.excerpt is not None
    assert item.excerpt.spans == ((start, end),)
    words = " ".join(LONG[start:end].split())
    assert found.text == f"assistant, part 2 of 3: […] {words} […]"
    assert found.tokens <= 120
    assert 2 not in {one.seq for one in chat.recall(question, budget=120, excerpts=False)}
    for excerpts in (True, False):
        (whole,) = chat.recall(question, budget=2_000, excerpts=excerpts, limit=1)
        assert (whole.seq, whole.excerpt) == (2, None)
    with pytest.raises(cw.UsageError, match="^excerpts cannot be 1"):
        chat.recall(question, excerpts=1)  # pyright: ignore[reportArgumentType]
    (priced,) = chat.recall(
        question, budget=100, limit=1, price=lambda one: len(one.text) // 4, excerpts=True
    )
    assert priced.tokens == len(priced.shown.text) // 4 <= 100


def test_sections_show_the_passages_of_long_messages(store: cw.Store) -> None:
    chat = store.conversation("a")
    said = [cw.assistant(LONG, sent_at="2026-05-04T12:00:00Z")]
    chat.add([*said, *[cw.user(f"Line {number} about nothing") for number in range(60)]])
    chat.add(cw.user("Where does the spare key of the greenhouse hang?"))
    recipe = cw.Recipe(
        system=["Be kind.", cw.sections.PastMessages(tokens=130)],
    )
    context = chat.context(recipe, model="gpt-4o", budget=400)
    lines = context.sections["PastMessages[1]"].split("\n")
    assert lines[1] == "2026-05-04"
    assert lines[2].startswith("assistant, part 2 of 3: […] Also, the spare key")
    assert "barrel" in lines[2]


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("Олександр тримає запасний ключ", "What has Oleksandr?"),
        ("we call load_config for it", "Where is loadConfig called?"),
        ("we saw it on youtube", "What is on YouTube?"),
    ],
)
def test_a_passage_may_have_a_word_in_another_spelling(
    store: cw.Store, told: str, question: str
) -> None:
    paragraphs = [f"Of plan {number} there is nothing to tell. " * 12 for number in range(6)]
    paragraphs[4] = f"{told}. {paragraphs[4]}"
    chat = store.conversation("a")
    chat.add([cw.user("Hello"), cw.user("\n\n".join(paragraphs)), cw.user("Bye")])
    assert told in chat.recall(question, budget=200).text
