"""What is found in a long talk: all that search, recall, memories and episodes give."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright.recall.memories import Ranking
from contextwright.store.recall.recall import MAX_CONVERSATIONS
from doubles import bag
from fuzzing.readers import result_of
from golden_files import compare_digests
from samples.stores.long_talk import MEMORIES, NOW, PEOPLE, TOPICS, long_talk

QUESTIONS = (
    "What did Ada say about nuts?",
    "nuts",
    "Чи є яблука в замовленні 7?",
    "今日は電車に乗りますか",
    "What did we talk about last week?",
    "What happened on 5 April, and on 2026-03-12?",
    "When did my sister move, and which street?",
    "and of the",
    'harbour -bread "white boat"',
    "zzz",
)
OPTIONS: list[dict[str, Any]] = [
    {},
    {"budget": 90},
    {"about": "U1", "limit": 3},
    {"min_score": 0.3, "excerpts": True},
    {"min_confidence": 0.9},
    {"ranking": Ranking(recency=1.0, half_life=5.0, senders=1.0, addressed=1.0), "limit": 5},
]


def test_the_best_conversations_are_searched_closely(tmp_path: Path) -> None:
    with cw.Store(tmp_path / "talk.db", embedder=None) as store:
        for number, topic in enumerate([*TOPICS, *TOPICS]):
            said = topic.format(n=number * 1_000)
            store.conversation(f"c{number}").add(cw.user(f"Lamp {number}: {said}"))
        found = store.recall("lamp", budget=10_000)
        assert len({hit.conversation for hit in found}) == MAX_CONVERSATIONS


def test_work_between_the_words_makes_no_talk_longer(tmp_path: Path) -> None:
    """Calls and results are never recalled: of few messages each is likelier needed."""
    said = (
        cw.user("Set up the project; the base is https://api.acme.test/v3."),
        cw.assistant("I renamed parse_invoice to load_invoice."),
        cw.user("The release branch is release/2026."),
        cw.assistant("The flaky test is the one of uploads; it needs a clock."),
    )
    with cw.Store(tmp_path / "talk.db", embedder=None) as store:
        plain, agent = store.conversation("plain"), store.conversation("agent")
        plain.add(said)
        for number, message in enumerate(said):
            agent.add(message)
            for step in range(40):
                id = f"{number}-{step}"
                call = cw.assistant(cw.ToolCall("read", {}, id=id))
                agent.add([call, cw.tool_result(id, "done")])
        found, alone = (
            chat.recall("Why does the upload test fail sometimes?") for chat in (agent, plain)
        )
        assert max(found, key=lambda hit: hit.score).message == said[3]
        assert found.confidence >= alone.confidence > 0


@pytest.mark.parametrize("name", ["words", "meanings"])
def test_what_is_found_in_a_long_talk(name: str, tmp_path: Path) -> None:
    embedder = bag() if name == "meanings" else None
    with cw.Store(tmp_path / "talk.db", embedder=embedder) as store:
        chat, other = store.conversation("talk"), store.conversation("other")
        other.add([cw.user("Nuts are cheap here.", author=PEOPLE[0]), cw.assistant("They are.")])
        chat.add(long_talk())
        long = "\n\n".join(topic.format(n=n) for n in range(30) for topic in TOPICS)
        other.add([cw.user(long, author=PEOPLE[2], sent_at="2026-04-05T10:00:00Z")])
        chat.update(title="Friends")
        for memory in MEMORIES:
            store.remember(memory)
        store.index()

        def outcomes() -> Iterator[tuple[object, object]]:
            for question in QUESTIONS:
                yield ("search", question), result_of(store.search, question, limit=5)
                for options in OPTIONS:
                    given = {"now": NOW, **options}
                    found = [result_of(one.recall, question, **given) for one in (chat, store)]
                    yield (question, options), [found, [getattr(one, "text", "") for one in found]]
            yield "episodes", chat.episodes()

        compare_digests(f"found-by-{name}", outcomes(), digits=3)
