"""Episodes from plain messages: where they begin and end, what they say, what never changes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

import contextwright as cw
from contextwright.recall.episodes.boundaries import BoundarySignals
from contextwright.recall.episodes.episode import importance_of, is_tag_word
from contextwright.recall.episodes.phrases import announces_topic
from contextwright.recall.episodes.refine import refine
from samples.episodes import ALICE, BOB, START, cuts, talk
from samples.talks import GARDEN, TRAIN


def every(seconds: float, texts: tuple[str, ...], begin: float = 0) -> list[tuple[str, float]]:
    return [(text, begin + place * seconds) for place, text in enumerate(texts)]


# --- where they end ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("signals", "score"),
    [
        (BoundarySignals(), 0),
        (BoundarySignals(topic=1), 0.4),
        (BoundarySignals(gap=1), 0.35),
        (BoundarySignals(marker=1), 0.25),
        (BoundarySignals(topic=1, gap=0.4), (0.4 + 0.14) * 1.2),
        (BoundarySignals(gap=1, marker=1), 0.6 * 1.2),
        (BoundarySignals(topic=0.5, gap=0.4, marker=1), (0.2 + 0.14 + 0.25) * 1.32),
        (BoundarySignals(1, 1, 1), 1),
    ],
)
def test_gry_50_signs_add_up(signals: BoundarySignals, score: float) -> None:
    """A long silence alone (0.35) never reaches 0.6: the limit of 1,800 seconds is a rule apart."""
    assert signals.score == pytest.approx(score)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param(
            every(30, GARDEN) + every(30, TRAIN, 160 + 1_799), [(1, 6, True), (7, 12, False)],
            id="another subject after 15 minutes",
        ),
        pytest.param(
            every(30, GARDEN) + every(30, GARDEN, 160 + 900), [(1, 12, False)],
            id="the same subject after 15 minutes",
        ),
        pytest.param(
            every(30, GARDEN) + every(30, GARDEN, 150 + 1_800), [(1, 6, True), (7, 12, False)],
            id="the same subject after 30 minutes",
        ),
        pytest.param(
            every(30, GARDEN) + every(30, TRAIN, 180), [(1, 12, False)],
            id="another subject at once",
        ),
        pytest.param(
            every(30, GARDEN) + every(30, ("By the way, which train?", *TRAIN), 180),
            [(1, 6, True), (7, 13, False)],
            id="another subject at once, announced",
        ),
        pytest.param(
            every(30, GARDEN) + every(30, ("До речі…", *TRAIN), 180),
            [(1, 6, True), (7, 13, False)],
            id="another subject, announced by a message without words of its own",
        ),
        pytest.param(
            [*every(30, GARDEN), (f"By the way: {TRAIN[0]}", 180), *every(30, GARDEN, 180 + 1_800)],
            [(1, 6, True), (7, 7, True), (8, 13, False)],
            id="another subject, announced, and the old one after a silence",
        ),
        pytest.param(
            every(30, GARDEN[:3]) + every(30, ("By the way, which train?", *TRAIN), 600),
            [(1, 10, False)],
            id="too short to end by signs",
        ),
        pytest.param(
            every(30, GARDEN[:3]) + every(30, TRAIN, 4_000), [(1, 3, True), (4, 9, False)],
            id="short between silences",
        ),
        pytest.param(
            [(text, None) for text in (*GARDEN, *TRAIN)], [(1, 12, False)], id="without times"
        ),
        pytest.param(
            [(text, None) for text in (*GARDEN, "До речі, which train?", *TRAIN)],
            [(1, 6, True), (7, 13, False)],
            id="without times, announced",
        ),
        pytest.param(
            [*every(30, GARDEN), ("A clock gone wrong", -1e9), *every(30, TRAIN, 180)],
            [(1, 13, False)],
            id="one time far in the past",
        ),
        pytest.param(
            [*every(30, GARDEN), ("A clock gone wrong", 1e9), *every(30, TRAIN, 180)],
            [(1, 13, False)],
            id="one time far in the future",
        ),
        pytest.param(
            [*every(30, GARDEN), *every(1, ("Wrong twice", "Wrong"), 1e9), *every(30, TRAIN, 180)],
            [(1, 14, False)],
            id="two times far in the future",
        ),
        pytest.param(
            [*every(30, GARDEN[:3]), ("An hour fast", 3_690), *every(30, GARDEN[3:], 110)],
            [(1, 7, False)],
            id="one time an hour ahead",
        ),
        pytest.param(
            [*every(30, GARDEN), ("Wrong", 1e9), *every(30, TRAIN, 4_000)],
            [(1, 7, True), (8, 13, False)],
            id="a silence behind a wrong time",
        ),
        pytest.param(
            [*every(30, GARDEN), ("First", 4_009), *every(-3, TRAIN[:3], 4_008), ("End", 4_030)],
            [(1, 6, True), (7, 11, False)],
            id="a silence before messages out of order",
        ),
        pytest.param(
            [*every(30, GARDEN), ("New", 4_000), ("Sent late", 170), *every(30, TRAIN, 4_030)],
            [(1, 6, True), (7, 14, False)],
            id="a silence before one that came late",
        ),
        pytest.param(
            [*every(30, GARDEN), *every(30, TRAIN[:3], 4_000)],
            [(1, 9, False)],
            id="a silence that nothing bears out yet",
        ),
        pytest.param(
            [*every(30, GARDEN), *every(30, TRAIN[:4], 4_000)],
            [(1, 6, True), (7, 10, False)],
            id="a silence that three messages bear out",
        ),
        pytest.param(
            [*every(30, GARDEN), *every(1, TRAIN[:3], -1e9), *every(30, TRAIN, 180)],
            [(1, 9, True), (10, 15, False)],
            id="a silence behind three that agree on their time",
        ),
    ],
)  # fmt: skip
def test_gry_50_where_a_stretch_ends(
    said: list[tuple[str, float | None]], expected: list[tuple[int, int, bool]]
) -> None:
    assert cuts(talk(*said)) == expected


def test_gry_50_at_most_200_messages() -> None:
    messages = talk(*[("The same old story", None)] * 450)
    assert cuts(messages) == [(1, 200, True), (201, 400, True), (401, 450, False)]
    few = cw.recall.EpisodeRules(max_messages=7, min_messages=7)
    assert len(cw.recall.find_episodes(messages, few)) == 64


def test_silence_up_to_now_ends_the_last_one() -> None:
    messages = talk(*every(30, GARDEN))
    last = START + timedelta(seconds=150)
    for seconds, closed in ((0, False), (1_799, False), (1_800, True)):
        now = last + timedelta(seconds=seconds)
        assert cuts(messages, now=now) == [(1, 6, closed)]
        assert cuts(messages, now=now.replace(tzinfo=None)) == [(1, 6, closed)]
    assert cuts(talk(*[(text, None) for text in GARDEN]), now=START) == [(1, 6, False)]


@pytest.mark.parametrize("wrong", [-3e7, 1e9])
def test_a_wrong_clock_is_no_silence_up_to_now(wrong: float) -> None:
    """Neither does it end a talk that goes on, nor keep one open that is over."""
    messages = talk(*every(30, GARDEN), ("A clock gone wrong", wrong))
    for seconds, closed in ((180, False), (150 + 1_799, False), (150 + 1_800, True)):
        assert cuts(messages, now=START + timedelta(seconds=seconds)) == [(1, 7, closed)]


def test_those_that_came_late_outnumber_the_present() -> None:
    messages = talk(*every(30, GARDEN), ("An hour fast", 4_000), *every(10, TRAIN[:2], 170))
    assert cuts(messages, now=START + timedelta(seconds=5_000)) == [(1, 9, False)]


def test_a_clock_that_is_a_little_fast_ends_nothing() -> None:
    now = START + timedelta(seconds=4_000)
    for ahead in (0, 60, 1_000):
        messages = talk(*every(30, GARDEN), ("Back again", 4_000 + ahead))
        assert cuts(messages, now=now) == [(1, 6, True), (7, 7, False)]


def test_zones_are_one_time() -> None:
    zones = ("2026-11-15T09:00:00+02:00", "2026-11-15T07:01:00", "1794726120", "no time at all")
    said = [cw.user("Tomatoes", author=ALICE, sent_at=zones[place % 4]) for place in range(8)]
    assert cuts(list(enumerate(said, 1))) == [(1, 8, False)]


def test_subjects_are_compared_by_vectors_if_there_are_any() -> None:
    def embed(text: str) -> list[float]:
        return [float("train" in text), float("tomatoes" in text)]

    later = every(30, TRAIN, 150 + 900)
    same = every(30, tuple(f"{text} tomatoes" for text in GARDEN), 150 + 900)
    assert cuts(talk(*every(30, GARDEN), *later), embed=embed) == [(1, 6, True), (7, 12, False)]
    assert cuts(talk(*every(30, GARDEN), *same), embed=embed) == [(1, 12, False)]
    for nothing in ([0.0, 0.0], [float("inf"), 1.0]):
        alike = cuts(talk(*every(30, GARDEN), *later), embed=lambda text, nothing=nothing: nothing)
        assert alike == [(1, 12, False)], "where nothing can be told, nothing changes"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("By the way, the train?", True),
        ("Yes. Oh, by the way: the train?", True),
        ("BTW", True),
        ("Anyway, good night", True),
        ("I would do it anyway", False),
        ("Walk by the wayside", False),
        ("bypass the way", False),
        ("Let's talk about trains", True),
        ("Let’s talk about trains", True),
        ("Let's change the subject", True),
        ("Oh, let's change the subject", True),
        ("Oh well, let's change the subject", False),
        ("What about trains?", False),
        ("До речі, потяг", True),
        ("А до речі?", True),
        ("до речіння", False),
        ("Змінимо тему", True),
        ("", False),
        ("...", False),
    ],
)
def test_words_that_turn_the_subject(text: str, expected: bool) -> None:
    assert announces_topic(text) is expected


@pytest.mark.parametrize(
    "fields",
    [
        {"score": 0},
        {"score": float("nan")},
        {"silence": 0},
        {"min_messages": 0},
        {"min_messages": 9, "max_messages": 8},
    ],
)
def test_boundaries_that_are_none(fields: dict[str, Any]) -> None:
    with pytest.raises(cw.UsageError, match="invalid episode rules"):
        cw.recall.EpisodeRules(**fields)


# --- what they say -------------------------------------------------------------------------------


def test_gry_48_an_episode_whole() -> None:
    silent = cw.assistant("", sent_at=START)
    hidden = cw.user("My secret is beans", author=BOB, sent_at=START, visibility="hidden")
    told = cw.system("Tomatoes are a fruit")
    messages = [(1, told), (2, hidden), *talk(*every(100, GARDEN), first=3), (9, silent)]
    (episode,) = cw.recall.find_episodes(messages, now=START + timedelta(days=1))
    assert episode == cw.recall.Episode(
        first=3,
        last=8,
        messages=(3, 4, 5, 6, 7, 8),
        participants=("1", "2"),
        names=("Alice", "Bob"),
        began="2026-11-15T09:00:00+00:00",
        ended="2026-11-15T09:08:20+00:00",
        tags=("garden", "tomatoes", "Sunday", "water", "beans", "evening"),
        valence=None,
        digest=True,
        topic="garden, tomatoes, Sunday",
        summary="Excerpts: Alice: “The garden needs water, the tomatoes are dry.” "
        "Bob: “I can water the tomatoes in the evening.” "
        "Alice: “Are the tomatoes in the garden ripe?” "
        "Bob: “Some tomatoes are, the beans are not.” "
        "Alice: “Then we pick tomatoes from the garden on Sunday.” "
        "Bob: “The garden on Sunday, good.”",
        importance=0.5,
    )
    memory = episode.memory("lunch")
    assert (memory.kind, memory.key, memory.text) == ("episode", episode.topic, episode.summary)
    assert (memory.scope, memory.weight, memory.at) == ("lunch", 0.5, episode.ended)
    assert memory.meta["participants"] == ["1", "2"]
    assert cw.recall.Episode.of(memory) == episode
    assert cw.recall.Episode.of(cw.Memory("episode", "By hand", meta={"first": "x"})) is None


@pytest.mark.parametrize(
    ("messages", "people", "minutes", "importance"),
    [
        (4, 1, 0, 0.0), (5, 1, 4.9, 0.2), (9, 2, 5, 0.5), (10, 2, 10, 0.7),
        (20, 3, 30, 1.0), (200, 9, 600, 1.0), (5, 0, 0, 0.2),
    ],
)  # fmt: skip
def test_gry_50_importance(messages: int, people: int, minutes: float, importance: float) -> None:
    assert importance_of(messages, people, minutes) == importance


def test_gry_50_what_one_person_needs() -> None:
    """Talk of one person weighs 0.6 from 20 messages in 10 minutes on, or from 10 in 30."""
    for messages in range(1, 60):
        for minutes in range(60):
            enough = (messages >= 20 and minutes >= 10) or (messages >= 10 and minutes >= 30)
            assert (importance_of(messages, 1, minutes) >= 0.6) is enough


@pytest.mark.parametrize(
    ("word", "expected"),
    [("tea", False), ("soup", True), ("with", False), ("2026", False), ("file_1", False)],
)
def test_words_that_may_be_tags(word: str, expected: bool) -> None:
    assert is_tag_word(word) is expected


def test_words_of_scripts_without_blanks_are_tags_too() -> None:
    said = [
        "我们明天去东京看樱花",
        "东京的樱花很美",
        "东京的酒店贵吗",
        "东京的酒店不贵",
        "好的东京见",
    ]
    messages = [(place, cw.user(text, author=ALICE)) for place, text in enumerate(said, 1)]
    assert cw.recall.find_episodes(messages, cw.recall.EpisodeRules(max_messages=5)) == (), (
        "nothing says that it is over"
    )
    more = [*messages, (6, cw.user("再见", author=ALICE))]
    (episode,) = cw.recall.find_episodes(more, cw.recall.EpisodeRules(max_messages=5))
    assert {"东京", "樱花", "酒店"} <= {*episode.tags}
    assert "Alice" not in episode.topic


def test_a_model_without_a_name_is_nobody() -> None:
    said = [(1, cw.user("a")), (2, cw.assistant("b")), (3, cw.user("c", author=BOB))] * 2
    (episode,) = cw.recall.find_episodes(
        [*said, (9, cw.user("x"))], cw.recall.EpisodeRules(max_messages=6)
    )
    assert (episode.participants, episode.names) == (("2",), ("user", "Bob"))


# --- better words --------------------------------------------------------------------------------

EPISODE = cw.recall.Episode(first=1, last=9, messages=(1, 9), topic="a", summary="Excerpts: b")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            {"topic": "A garden\nparty", "summary": "They met.", "tags": ["garden"],
             "valence": "positive", "importance": 0.9},
            {"topic": "A garden party", "summary": "They met.", "tags": ("garden",),
             "valence": "positive", "importance": 0.9, "digest": False},
        ),
        (cw.recall.EpisodeDetails(valence="mixed"), {"valence": "mixed", "digest": True}),
        (cw.recall.EpisodeDetails(topic="x" * 500), {"topic": "x" * 80, "digest": True}),
    ],
)  # fmt: skip
def test_better_words(answer: Any, expected: dict[str, Any]) -> None:
    episode, change = refine(EPISODE, [], lambda episode, messages: answer)
    assert change is None
    assert {name: getattr(episode, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({}, "the answer is empty"),
        (None, "Expected `object`, got `null`"),
        ("A garden party", "got `str`"),
        ({"topic": " \n"}, "blank text"),
        ({"topic": 7}, "Expected `str | null`"),
        ({"tags": "garden"}, "Expected `array | null`"),
        ({"tags": [""]}, "blank text"),
        ({"valence": "great"}, "Invalid enum value"),
        ({"importance": 1.5}, "from 0 to 1"),
        ({"importance": float("nan")}, "from 0 to 1"),
        ({"importance": "0.5"}, "got `str`"),
        ({"summary": "fine", "participants": []}, "unknown field"),
        (object(), "Encoding objects of type object is unsupported"),
        (ZeroDivisionError("a model\nthat fails"), "ZeroDivisionError: 'a model'"),
        (TimeoutError(), "TimeoutError"),
    ],
)
def test_without_better_words_the_digest_stays_and_it_is_said(answer: Any, reason: str) -> None:
    def writer(episode: cw.recall.Episode, messages: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    episode, change = refine(EPISODE, [], writer)
    assert episode is EPISODE
    assert change is not None
    assert str(change).startswith("loss.refinement messages 1 to 9: the digest stays: ")
    assert reason in str(change)


def test_talk_without_words_is_cut_to_half_a_summary() -> None:
    said = [(1, cw.user("!" * 5_000)), *[(number, cw.user("?")) for number in range(2, 7)]]
    (episode,) = cw.recall.find_episodes(said, cw.recall.EpisodeRules(max_messages=5))
    assert episode.summary == f"Excerpts: “{'!' * 225}…”"
