"""Memories as plain records: who sees them, and how they are found."""

from datetime import UTC, datetime, timedelta

import pytest

import contextwright as cw
from contextwright.recall.memories import current_facts, is_newer
from contextwright.recall.memory_list import event_scores
from contextwright.recall.memory_ranking import rank_memories
from contextwright.recall.questions import parse_question

NOW = datetime(2026, 11, 15, tzinfo=UTC)


def passage(text: str, days: float | None = None, scope: str = "") -> cw.Memory:
    at = None if days is None else (NOW - timedelta(days=days)).isoformat()
    return cw.Memory("passage", text, at=at, scope=scope)


def found(query: str, *memories: cw.Memory, scope: str | None = None, most: int = 5) -> list[str]:
    notes = cw.recall.MemoryList(memories, scope=scope)
    wanted = cw.recall.MemoryQuery(kind="passage", query=query, now=NOW, limit=most)
    return [memory.text for memory in notes.recall(wanted)]


def test_gry_42_a_half_life_halves() -> None:
    notes = cw.recall.MemoryList(half_life=7)
    ages = (0, 7, 14, 70)
    recency = [notes.recency(passage("x", days), NOW) for days in ages]
    assert recency == pytest.approx([1, 0.5, 0.25, 1 / 1024])
    assert notes.recency(passage("x"), NOW) == notes.recency(passage("x", -1), NOW) == 1


def test_a_time_without_a_zone_counts_as_utc() -> None:
    notes, naive = cw.recall.MemoryList(half_life=7), NOW.replace(tzinfo=None)
    assert notes.recency(passage("x", 7), naive) == notes.recency(passage("x", 7), NOW) == 0.5
    asked = cw.sections.SectionInput(
        question=cw.user("tea"), now=naive, memories=cw.recall.MemoryList([passage("red tea", 1)])
    )
    assert "red tea" in (cw.sections.PastExcerpts().write(asked) or "")


def test_gry_43_words_of_any_script_are_found() -> None:
    memories = [passage("Вона любить каву"), passage("東京 が好き"), passage("Il boit du café")]
    assert found("яка кава?", *memories) == ["Вона любить каву"]
    assert found("東京", *memories) == ["東京 が好き"]
    assert found("CAFÉ", *memories) == ["Il boit du café"]
    assert found("?!", *memories) == []


def test_a_memory_of_a_few_words_is_found_in_its_language() -> None:
    assert found("Was sind seine Katzen?", passage("mag Katzen")) == ["mag Katzen"]
    assert found("Katzen", passage("Er mag die Katzen nicht.")) == ["Er mag die Katzen nicht."]


def test_gry_36_words_are_whole_words() -> None:
    assert found("що", passage("щось інше")) == []
    assert found("що", passage("хто і що")) == ["хто і що"]


def test_gry_44_the_whole_past_is_searched() -> None:
    old = passage("the password hint is risotto", 4_000)
    newer = [passage(f"small talk {number}", 1) for number in range(1_000)]
    assert found("risotto", old, *newer) == [old.text]


def test_gry_45_relevance_lies_between_0_and_1_and_newer_is_better() -> None:
    old, new, half = passage("red tea", 90), passage("tea red", 1), passage("red wine", 0)
    notes = cw.recall.MemoryList([old, new, half])
    recalled = notes.recall(cw.recall.MemoryQuery(kind="passage", query="red tea", now=NOW))
    assert [memory.text for memory in recalled] == ["tea red", "red tea", "red wine"]
    assert all(0 < (memory.score or 0) <= 1 for memory in recalled)


@pytest.mark.parametrize("query", ["tea", ""])
def test_gry_46_one_rule_for_scopes(query: str) -> None:
    """With a query and without: a chat sees its own memories and those told everywhere."""
    memories = [passage("tea a", scope="a"), passage("tea b", scope="b"), passage("tea")]
    assert set(found(query, *memories, scope="a")) == {"tea a", "tea"}
    assert set(found(query, *memories, scope="")) == {"tea"}
    assert set(found(query, *memories)) == {"tea a", "tea b", "tea"}


def test_without_a_query_the_newest_come_oldest_first() -> None:
    memories = [passage(str(number)) for number in range(9)]
    assert found("", *memories, most=3) == ["6", "7", "8"]
    assert found("", *memories, most=0) == []


@pytest.mark.parametrize(
    ("participants", "told"),
    [([], "1 12 None"), (["1"], "1"), (["12", 1], "12"), ("12", ""), (None, ""), ({"1": 1}, "")],
)
def test_gry_49_events_are_told_to_participants(participants: object, told: str) -> None:
    event = cw.Memory("episode", "They drank tea.", meta={"participants": participants})
    notes = cw.recall.MemoryList([event, cw.Memory("episode", "Tea for all.", weight=0.5)])
    for asker in ("1", "12", None):
        for query in ("tea", ""):
            wanted = cw.recall.MemoryQuery(kind="episode", query=query, asker=asker, min_weight=0.6)
            recalled = [memory.text for memory in notes.recall(wanted)]
            assert recalled == [event.text] * (str(asker) in told.split())


@pytest.mark.parametrize(
    ("facts", "current"),
    [
        ([("Location", "Kyiv", "2024-01-01"), ("location", "Lviv", "2025-01-01")], ["Lviv"]),
        ([("location", "Lviv", "2025-01-01"), ("Location", "Kyiv", "2024-01-01")], ["Lviv"]),
        ([("Location", "Kyiv", None), ("Location", "Lviv", None)], ["Lviv"]),
        ([("home_town", "Kyiv", None), ("Home Town", "Kyiv", None)], ["Kyiv"]),
        ([("Location", "Kyiv", None), ("Pet", "a cat", None)], ["Kyiv", "a cat"]),
        ([("", "Likes tea", None), ("", "likes  tea", None), ("", "Runs", None)], None),
    ],
)
def test_the_newest_fact_of_a_label_wins(
    facts: list[tuple[str, str, str | None]], current: list[str] | None
) -> None:
    known = [cw.Memory("fact", text, "1", key, at=at) for key, text, at in facts]
    found = [fact.text for fact in current_facts(known)]
    assert found == (current or ["likes  tea", "Runs"])


def test_facts_of_others_are_their_own() -> None:
    known = [cw.Memory("fact", "Kyiv", "1", "Location"), cw.Memory("fact", "Lviv", "2", "Location")]
    assert current_facts(known) == known


def test_equal_facts_are_as_sure_as_the_surest() -> None:
    sure, doubtful = (cw.Memory("fact", "Kyiv", "1", "City", weight=one) for one in (0.9, 0.2))
    assert [fact.weight for fact in current_facts([sure, doubtful])] == [0.9]


def test_a_score_of_ones_own_search_stays() -> None:
    found = [
        cw.Memory("passage", "Mentioned that…", score=0.75),
        cw.Memory("passage", "Previous conversation about…", score=0.82),
        cw.Memory("passage", "Nothing of the kind", score=0.0),
        cw.Memory("passage", "Tea in the garden"),
    ]
    recipe = cw.Recipe(system=[cw.sections.PastExcerpts(most=2)])
    memories = cw.recall.MemoryList(found)
    context = recipe.build([cw.user("What is going on here?")], model="gpt-4o", memories=memories)
    (section,) = context.sections.values()
    assert section.splitlines()[1:] == [
        "- [Relevance: 0.82] Previous conversation about…",
        "- [Relevance: 0.75] Mentioned that…",
    ]


OLD, NEW = NOW - timedelta(days=1), NOW


@pytest.mark.parametrize(
    ("age", "other", "expected"),
    [
        ((NEW, 1), (OLD, 2), True),
        ((OLD, 2), (NEW, 1), False),
        ((NEW, 2), (NEW, 1), True),
        ((NEW, 1), (NEW, 2), False),
        ((NEW, 1), (NEW, 1), False),
        ((None, 2), (NEW, 1), True),
        ((None, 1), (NEW, 2), False),
        ((OLD, 2), (None, 1), True),
        ((None, 2), (None, 1), True),
    ],
)
def test_a_fact_is_newer_by_its_time_else_by_its_place(
    age: tuple[datetime | None, int], other: tuple[datetime | None, int], expected: bool
) -> None:
    assert is_newer(age, other) is expected


def test_a_question_without_words_fits_no_event() -> None:
    event = cw.Memory("episode", "They drank coffee.", key="First meeting", weight=1.0)
    assert event_scores([event], "", [None]) == [0.0]
    assert event_scores([], "tea", []) == []


def test_a_memory_has_to_share_enough_of_a_question() -> None:
    """One word of three is enough, one of eight is not."""
    tea = cw.Memory("fact", "She drinks tea.")
    three = "tea violin harbour"
    for words, expected in ((three, [tea]), (f"{three} pencil garden winter lantern saddle", [])):
        hits = rank_memories([tea], parse_question(words))
        assert [hit.memory for hit in hits] == expected
