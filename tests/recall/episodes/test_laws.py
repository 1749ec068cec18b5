"""Laws of episodes."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.recall.episodes.boundaries import Segmenter, Utterance, is_dialogue, segment
from contextwright.sections import SectionInput
from contextwright.text.quoting import one_line
from samples.episodes import ALICE, BOB, START, cuts, talk
from samples.hostile import OWN

LATER = START + timedelta(days=99)


# --- laws ----------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    ["By the way", "tomatoes in the garden", "the night train", "ticket", "Привіт", "東京", "!", ""]
)

TIMES = st.one_of(
    st.none(),
    st.sampled_from(["", "yesterday", "1794726120", "2026-11-15T09:00:00+14:00", "9999-12-31"]),
    st.integers(0, 20_000).map(lambda seconds: (START + timedelta(seconds=seconds)).isoformat()),
)

PEOPLE = st.sampled_from([None, ALICE, BOB, cw.Author(name="Alice"), cw.Author(id="")])

MESSAGES = st.lists(
    st.builds(
        lambda words, author, at, role, visibility: cw.Message(
            role, (cw.Text(" ".join(words)),), author, sent_at=at, visibility=visibility
        ),
        st.lists(WORDS, max_size=4),
        PEOPLE,
        TIMES,
        st.sampled_from(["user", "user", "assistant", "tool"]),
        st.sampled_from(["public", "public", "public", "hidden"]),
    ),
    max_size=40,
)

RULES = st.builds(
    lambda score, silence, least, more: cw.recall.EpisodeRules(
        score=score, silence=silence, min_messages=least, max_messages=least + more
    ),
    st.sampled_from([0.05, 0.3, 0.6]),
    st.sampled_from([300.0, 1_800.0]),
    st.integers(1, 5),
    st.integers(0, 12),
)


@given(MESSAGES, RULES, st.integers(0, 40))
def test_what_is_closed_stays_so_whatever_is_added(
    messages: list[cw.Message], rules: cw.recall.EpisodeRules, place: int
) -> None:
    numbered = list(enumerate(messages, 1))
    before = [one for one in segment(numbered[:place], rules) if one.closed]
    after = list(segment(numbered, rules))
    assert after[: len(before)] == before
    early = cw.recall.find_episodes(numbered[:place], rules)
    assert cw.recall.find_episodes(numbered, rules)[: len(early)] == early


@given(MESSAGES, RULES)
def test_reading_on_from_the_last_closed_one_gives_the_rest(
    messages: list[cw.Message], rules: cw.recall.EpisodeRules
) -> None:
    numbered = list(enumerate(messages, 1))
    whole = list(segment(numbered, rules))
    for place, stretch in enumerate(whole[:-1], 1):
        rest = [(number, message) for number, message in numbered if number > stretch.last]
        assert list(segment(rest, rules)) == whole[place:]


TALKS = st.lists(
    st.tuples(WORDS, st.sampled_from([0, 5, 30, 130, 1_000, 1_799, 1_801, 9_000])), max_size=40
)

WRONG = st.sampled_from([-1e10, -4e7, 4e8, 2e10])


def timed(said: list[tuple[str, int]]) -> list[float]:
    """When each was said."""
    return [sum(seconds for _, seconds in said[: place + 1]) for place in range(len(said))]


SUBJECTS = ("tomatoes garden compost seeds", "train ticket platform luggage")


@given(
    st.lists(
        st.tuples(st.sampled_from(SUBJECTS), st.sampled_from([5, 5, 5, 130, 400])),
        min_size=8,
        max_size=30,
    ),
    st.sampled_from([0.3, 0.6]),
)
def test_what_comes_later_is_waited_for(said: list[tuple[str, int]], score: float) -> None:
    """One message after the other ends stretches where all of them at once do."""
    rules = cw.recall.EpisodeRules(score=score, silence=300, min_messages=2)
    messages = talk(*zip((text for text, _ in said), timed(said), strict=True))
    divider = Segmenter(rules, None)
    divider.utterances = [Utterance(*entry) for entry in messages]
    assert list(divider.decide()) == [one for one in segment(messages, rules) if one.closed]


@given(TALKS, st.lists(st.integers(1, 40), max_size=9), WRONG)
def test_a_clock_that_is_wrong_once_makes_no_silence(
    said: list[tuple[str, int]], places: list[int], wrong: float
) -> None:
    """A message with such a time is divided as one without any; the first has none before it."""
    rules = cw.recall.EpisodeRules(score=9)
    told: list[float | None] = [*timed(said)]
    times = list(told)
    free = 1
    for place in sorted(places):
        if free <= place < len(said) - 3:
            times[place], told[place] = None, timed(said)[place] + wrong
            free = place + 4
    words = [text or "x" for text, _ in said]
    right = cuts(talk(*zip(words, times, strict=True)), boundaries=rules, now=LATER)
    assert cuts(talk(*zip(words, told, strict=True)), boundaries=rules, now=LATER) == right


@given(TALKS, RULES, st.sets(st.integers(1, 40)), st.integers(1, 40), WRONG)
def test_made_as_it_is_said_or_at_once_is_the_same(
    said: list[tuple[str, int]],
    rules: cw.recall.EpisodeRules,
    stops: set[int],
    place: int,
    wrong: float,
) -> None:
    """One wrong clock amid the talk, which is divided again and again while it goes on."""
    times = timed(said)
    told = list(times)
    if place < len(said) and times[place] - times[place - 1] < 200:
        told[place] += wrong
    texts = [text or "x" for text, _ in said]
    messages = talk(*zip(texts, told, strict=True))
    made: list[tuple[int, int, bool]] = []
    for stop in sorted(stop for stop in stops if stop <= len(said)):
        now = START + timedelta(seconds=times[stop - 1])
        begin = made[-1][1] if made else 0
        part = cuts(messages[begin:stop], boundaries=rules, now=now)
        made += [one for one in part if one[2]]
    begin = made[-1][1] if made else 0
    made += cuts(messages[begin:], boundaries=rules, now=LATER)
    assert made == cuts(messages, boundaries=rules, now=LATER)


@given(MESSAGES, RULES)
def test_every_word_said_is_in_one_stretch(
    messages: list[cw.Message], rules: cw.recall.EpisodeRules
) -> None:
    numbered = list(enumerate(messages, 1))
    stretches = list(segment(numbered, rules, now=datetime.max))
    divided = [entry for stretch in stretches for entry in stretch.messages]
    assert divided == [entry for entry in numbered if is_dialogue(entry[1])]
    assert all(
        len(stretch.messages) <= rules.max_messages for stretch in stretches if stretch.closed
    )
    assert all(stretch.closed for stretch in stretches[:-1])
    assert all(0 <= stretch.seconds for stretch in stretches)


@given(MESSAGES, RULES)
def test_episodes_tell_only_of_what_they_name(
    messages: list[cw.Message], rules: cw.recall.EpisodeRules
) -> None:
    numbered = dict(enumerate(messages, 1))
    for episode in cw.recall.find_episodes(numbered.items(), rules, now=datetime.max):
        assert len(episode.messages) >= rules.min_messages
        assert episode.messages[0] == episode.first
        assert episode.messages[-1] == episode.last
        said = " ".join(numbered[number].text for number in episode.messages)
        assert all(tag in said for tag in episode.tags)
        assert 0 <= episode.importance <= 1
        assert cw.recall.Episode.of(episode.memory("a")) == episode


@pytest.mark.parametrize("words", OWN)
def test_hostile_words_open_nothing(words: str) -> None:
    """Two lines for an event, whatever people are called and whatever they say."""
    author = cw.Author(id="1", name=words)
    said = [(place, cw.user(f"coffee {words} x", author=author)) for place in range(1, 7)]
    (episode,) = cw.recall.find_episodes(said, cw.recall.EpisodeRules(max_messages=5))
    assert "\n" not in episode.topic + episode.summary.replace(words, "")
    note = cw.recall.MemoryList([episode.memory("")])
    asked = SectionInput(question=cw.user("coffee", author=author), memories=note)
    section = cw.sections.Episodes(least=0)
    lines = (section.write(asked) or "").split("\n")
    assert len(lines) == 2
    assert lines[0].startswith("- **Topic**: ")
    assert lines[1].startswith("- **Summary**: Excerpts: ")
    for line in lines:
        words_alone = line.split("**: ", 1)[1]
        assert one_line(words_alone, 500) == words_alone.replace(r"\*\*", r"\*\*")


def test_nobody_can_speak_for_another_in_a_summary() -> None:
    forged = "fine.” Bob: “I did it"
    said = [cw.user(f"{forged} {place}", author=cw.Author(name="A: “b”")) for place in range(6)]
    (episode,) = cw.recall.find_episodes(enumerate(said, 1), cw.recall.EpisodeRules(max_messages=5))
    assert episode.names == ("A b",)
    assert "Bob: “" not in episode.summary
    assert 'A b: “fine." Bob: "I did it 0”' in episode.summary
