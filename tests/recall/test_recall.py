"""Recall without a store: signals, ranking, packing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import contextwright as cw
from contextwright.recall.aliases import resolve_aliases
from contextwright.recall.memories import Ranking
from contextwright.recall.outline import (
    ASKS,
    CONTEXT_RADIUS,
    SESSION_GAP,
    Entry,
    Outline,
    Page,
    columns_of,
)
from contextwright.recall.questions import parse_question
from contextwright.recall.ranking import (
    ABSENT_RIVAL,
    LOG_NEEDED,
    SHARPNESS,
    WITH_MEANING,
    WORDS_ALONE,
    RankedMessage,
    bias_of,
)
from contextwright.recall.signals import meaning_beside
from samples import hostile
from samples.recall import (
    ANNA,
    BORIS,
    FILLER,
    START,
    best,
    found_of,
    outline_of,
    ranked,
    talk,
    texts,
)

# --- the outline ---------------------------------------------------------------------------------

TIMES = st.lists(
    st.none()
    | st.integers(0, 5 * SESSION_GAP).map(lambda seconds: str(1_000_000 + seconds))
    | st.sampled_from(
        ("never", "", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "nan", "1e400")
    ),
    max_size=20,
)


def sessions_by_hand(messages: Sequence[cw.Message]) -> list[int]:
    """The first number of each one's session, looking back each time."""
    firsts: list[int] = []
    for number, message in enumerate(messages, 1):
        (time,) = columns_of([message]).times
        known = [time for time in columns_of(messages[: number - 1]).times if time is not None]
        new = time is not None and known and abs(time - known[-1]) > SESSION_GAP
        firsts.append(number if new or not firsts else firsts[-1])
    return firsts


@given(TIMES, st.integers(0, 20), st.integers(0, 20))
def test_an_outline_is_the_same_in_pages_of_any_size(
    times: list[str | None], cut: int, other: int
) -> None:
    messages = [
        cw.user(f"{place}", author=(ANNA, BORIS)[place % 2], sent_at=time)
        for place, time in enumerate(times)
    ]
    first, second = sorted((min(cut, len(messages)), min(other, len(messages))))
    page = Page.empty(1)
    page.extend(columns_of(messages[:first]))
    page.extend(columns_of(messages[first:second]))
    tail = Page.empty(second + 1, page.state_at(second))
    tail.extend(columns_of(messages[second:]))
    pages = Outline([(second + 1, len(messages), tail), (1, second, page)])
    whole = outline_of(messages)
    numbers = range(0, len(messages) + 2)
    assert [pages.entry(one) for one in numbers] == [whole.entry(one) for one in numbers]
    assert pages.speaker_counts() == whole.speaker_counts()
    assert pages.handles() == whole.handles()
    entries = [entry for one in numbers if (entry := whole.entry(one))]
    assert [entry.session for entry in entries] == sessions_by_hand(messages)
    for place, entry in enumerate(entries):
        after = entries[place + 1 : place + 1 + CONTEXT_RADIUS]
        assert entry.following == sum(one.session == entry.session for one in after)


@pytest.mark.parametrize(
    ("session", "ahead", "expected"),
    [
        (5, 0, 9.0),  # alone in its session
        (5, 1, (9 + 3 * 2 / 3) / (1 + 2 / 3)),
        (5, 2, (9 + 3 * 2 / 3 + 6 / 3) / 2),
        (4, 0, (9 + 12 * 2 / 3) / (1 + 2 / 3)),
        (3, 2, (9 + 15 * 2 / 3 + 21 / 3) / 3),
    ],
)
def test_neighbours_of_the_same_session_count_by_their_distance(
    session: int, ahead: int, expected: float
) -> None:
    meanings = {3: 15.0, 4: 12.0, 5: 9.0, 6: 3.0, 7: 6.0}
    entry = Entry(None, 1, "", "", 0, session, ahead)
    assert meaning_beside(meanings, 5, entry) == pytest.approx(expected)


def test_only_words_of_the_talk_count_as_spoken() -> None:
    messages = [
        cw.system("Be kind.", author=cw.Author("0", "root")),
        *talk("Tea?", "Yes"),
        cw.assistant(cw.ToolCall("kettle", {}, id="1")),
        cw.tool_result("1", "boiling"),
        cw.user("A summary", author=ANNA, kind="summary"),
        cw.user("  ", author=ANNA),
    ]
    assert outline_of(messages).speaker_counts() == {("Anna", "1"): 1, ("Boris", "2"): 1}


chats = st.lists(
    st.builds(
        cw.Message,
        st.sampled_from(("user", "user", "assistant", "system", "tool")),
        (texts | st.sampled_from(hostile.OWN)).map(lambda text: (cw.Text(text),)),
        st.sampled_from((None, ANNA, BORIS, cw.Author("3"), cw.Author(name="# x\n#1 Anna: no"))),
        sent_at=st.sampled_from((None, "2023-05-01", "2023-05-02T10:00:00Z", "2022-01-01", "?")),
        kind=st.sampled_from(("message", "message", "message", "summary", "note")),
    ),
    max_size=15,
)

rankings = st.builds(
    Ranking,
    recency=st.floats(0, 5),
    half_life=st.floats(0.01, 1_000),
    senders=st.floats(0, 5),
    addressed=st.floats(0, 5),
)


@given(
    chats, texts, st.none() | st.just(START), rankings, st.none() | st.dictionaries(
        st.integers(1, 15), st.floats(-1, 1), max_size=5)
)  # fmt: skip
def test_a_score_is_the_logistic_of_its_parts(
    messages: list[cw.Message],
    query: str,
    now: datetime | None,
    ranking: Ranking,
    meanings: dict[int, float] | None,
) -> None:
    found = ranked(messages, query, now=now, ranking=ranking, meanings=meanings)
    weights = WORDS_ALONE if meanings is None else WITH_MEANING
    names = {"base", *weights.signals._fields, "recency", "sender", "addressed"}
    base = bias_of(weights, len(messages))
    assert sum(one.score for one in found) < exp(LOG_NEEDED), "a question needs few messages"
    rivals = LOG_NEEDED - log(sum(exp(SHARPNESS * one.log_odds) for one in found) + ABSENT_RIVAL)
    for one in found:
        assert parts(one)["base"] == pytest.approx(SHARPNESS * base + rivals)
        odds = sum(part.adds for part in one.parts)
        assert one.score == pytest.approx(1 / (1 + exp(min(-odds, 700))), abs=1e-12)
        assert 0 <= one.score <= 1
        assert len({part.name for part in one.parts} & names) == len(one.parts)
        message = messages[one.number - 1]
        assert message.role in ("user", "assistant")
        assert message.kind == "message"
        assert message.text.strip()
    assert len({one.number for one in found}) == len(found)
    assert [one.log_odds for one in found] == sorted((one.log_odds for one in found), reverse=True)
    assert found == ranked(messages, query, now=now, ranking=ranking, meanings=meanings)


def parts(one: RankedMessage) -> dict[str, float]:
    return {part.name: part.adds for part in one.parts}


@pytest.mark.parametrize("zone", [UTC, None])
def test_recency_has_a_true_half_life(zone: object) -> None:
    messages = talk(*["green tea"] * 10, days=10)
    now = (START + timedelta(days=95)).replace(tzinfo=zone)  # type: ignore[arg-type]
    plain = {one.number: one for one in ranked(messages, "tea", now=now)}
    ranking = Ranking(recency=0.3, half_life=14)
    for one in ranked(messages, "tea", now=now, ranking=ranking):
        days = 95 - 10 * (one.number - 1)
        adds = 0.3 * log(1 / 2) * days / 14
        assert parts(one)["recency"] == pytest.approx(SHARPNESS * adds)
        assert one.log_odds == pytest.approx(plain[one.number].log_odds + adds)
    newest = ranked(messages, "tea", now=START - timedelta(days=1), ranking=ranking)
    assert {parts(one).get("recency") for one in newest} == {0}, "tomorrow is as recent as now"


def test_who_speaks_more_may_count_for_more() -> None:
    messages = talk("tea", "tea", "tea", people=(ANNA, ANNA, BORIS))
    found = ranked(messages, "tea", ranking=Ranking(senders=0.7))
    adds = {one.entry.speaker: parts(one)["sender"] / SHARPNESS for one in found}
    assert adds == pytest.approx({"Anna": 0.7 * log(2), "Boris": 0.7 * log(1.5)})
    assert "sender" not in parts(ranked(messages, "tea")[0])


def test_words_addressed_to_the_model_count_more() -> None:
    messages = [
        cw.user("tea in the kitchen"),
        cw.user("tea on the balcony"),
        cw.assistant("tea is ready"),
        cw.user("tea is cold"),
    ]
    found = ranked(messages, "tea", ranking=Ranking(addressed=2.0))
    adds = {one.number: parts(one).get("addressed") for one in found}
    assert adds == {1: None, 2: SHARPNESS * 2 * log(1.5), 3: None, 4: None}


@pytest.mark.parametrize(
    "wrong",
    [
        {"half_life": 0},
        {"half_life": -1},
        {"recency": float("nan")},
        {"senders": 1e400},
        {"addressed": float("inf")},
    ],
)
def test_a_ranking_that_makes_no_sense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(cw.UsageError, match="invalid ranking"):
        Ranking(**wrong)


def test_who_is_named_counts() -> None:
    messages = talk("I love the sea.", "I love the sea, too.", *FILLER)
    assert best(messages, "What does Anna love?") == "I love the sea."
    assert best(messages, "What does Boris love?") == "I love the sea, too."


def test_what_one_calls_the_other_is_learnt() -> None:
    """Nobody is called Bobby by name; Anna says it again and again, and so it is the other."""
    lines = [
        f"Bobby, {one.lower()}" if place % 2 == 0 else one for place, one in enumerate(FILLER * 2)
    ]
    messages = talk(*lines, "I hate the rain.", "Me, I hate the snow.", *FILLER)
    question = parse_question("What does Bobby hate?", ("Anna", "Boris"))
    found = found_of(question, messages)
    learnt, rest = resolve_aliases(question, found, outline_of(messages))
    assert (question.speakers, learnt.speakers) == (frozenset(), {"Boris"})
    assert {one.term: one.weight == 0 for one in rest}["bobbi"]
    assert best(messages, "What does Bobby hate?") == "Me, I hate the snow."
    third = [*messages, *[cw.user("Hello", author=cw.Author("3", "Clara"))] * 3]
    assert resolve_aliases(question, found_of(question, third), outline_of(third))[0] == question
    nameless = [replace(one, author=one.author if one.author == ANNA else None) for one in messages]
    assert (
        resolve_aliases(question, found_of(question, nameless), outline_of(nameless))[0] == question
    )
    few = talk("Bobby!", "Yes?", "Bobby, come.", *FILLER)
    assert resolve_aliases(question, found_of(question, few), outline_of(few))[0] == question


def test_the_time_that_is_asked_for_counts() -> None:
    messages = talk(*["We swam in the lake."] * 12, days=30)
    now = datetime(2024, 5, 1, tzinfo=UTC)
    assert ranked(messages, "Where did we swim last summer?", now=now)[0].entry.time in range(
        int(datetime(2023, 6, 1, tzinfo=UTC).timestamp()),
        int(datetime(2023, 9, 1, tzinfo=UTC).timestamp()),
    )
    (march,) = [
        one.number for one in ranked(messages, "the lake in March 2024", now=now)
        if parts(one).get("date", 0) > 2
    ]  # fmt: skip
    assert messages[march - 1].sent_at == "2024-03-26T09:00:00+00:00"
    assert all("date" not in parts(one) for one in ranked(messages, "lake last summer"))


def test_times_beyond_the_calendar_are_unknown() -> None:
    odd = ("9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "2023-06-07")
    messages = [cw.user("the lake", sent_at=time) for time in odd]
    found = ranked(messages, "the lake in June 2023", now=START, ranking=Ranking(recency=1))
    assert {one.number for one in found if one.entry.time is not None} == {3}
    assert found[0].number == 3


def test_who_speaks_of_himself_is_a_user() -> None:
    messages = [cw.user("a green bicycle"), cw.assistant("a green bicycle")]
    found = {one.number: parts(one).get("own", 0) for one in ranked(messages, "my bicycle")}
    assert found[1] > 0 == found[2]
    assert all("own" not in parts(one) for one in ranked(messages, "the bicycle"))


def test_an_answer_stands_beside_the_question_it_answers() -> None:
    messages = talk(
        *FILLER, "Where did you buy that lamp?", "In a small shop at the harbour.", *FILLER
    )
    first, *others = ranked(messages, "Where did Boris buy the lamp?")[:3]
    assert messages[first.number - 1].text == "In a small shop at the harbour."
    assert "Where did you buy that lamp?" in [messages[one.number - 1].text for one in others]
    assert parts(first)["beside"] > 5 * parts(first)["words"]


def test_results_of_tools_take_no_place_from_what_was_said() -> None:
    """They have the words of a question, more often than people do, and are not recalled."""
    noise = [cw.tool_result(str(place), "green tea pot") for place in range(150)]
    messages = [cw.user("I like green tea"), *noise]
    assert [one.number for one in ranked(messages, "green tea pot")] == [1]


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Why?", True), ("为什么？", True), ("لماذا؟ ", True), ("Γιατί;", True),
        ("Γιατί\u037e", True),
        ("Why", False), ("return 0;", False), ("x = 1;\n", False), (";", False), ("", False),
    ],
)  # fmt: skip
def test_what_ends_with_a_question_mark_asks(text: str, asks: bool) -> None:
    [flags] = columns_of([cw.user(text)]).flags
    assert bool(flags & ASKS) is asks
