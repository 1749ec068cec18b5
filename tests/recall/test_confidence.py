"""Recall says how sure it is that there is an answer, and leaves out what nobody needs."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.recall.confidence import (
    KEPT_SHARE,
    MAX_MISSING,
    REMARK_CONFIDENCE,
    confidence_of,
    without_filler,
)
from contextwright.recall.memories import MIN_CONFIDENCE
from contextwright.recall.outline import Entry
from contextwright.recall.questions import parse_question
from contextwright.recall.ranking import RankedMessage
from contextwright.recall.signals import Signals, TermMatches

TALK = [
    ("Ann", "I sold my old bicycle and bought a canoe in Lisbon."),
    ("Ben", "A canoe! Where will you keep it?"),
    ("Ann", "In the shed behind the bakery."),
    ("Ben", "My sister plays the cello in an orchestra."),
    ("Ann", "Does she travel a lot?"),
    ("Ben", "Every summer, mostly by train."),
] + [("Ann" if n % 2 else "Ben", f"Nothing new about the weather, day {n}.") for n in range(60)]


@pytest.fixture(name="chat", scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[cw.Chat]:
    with cw.Store(tmp_path_factory.mktemp("store") / "a.db", embedder=None) as store:
        chat = store.conversation("a")
        chat.add([cw.user(text, author=cw.Author(name, name)) for name, text in TALK])
        yield chat


@pytest.mark.parametrize(
    ("question", "unanswered"),
    [
        ("What did Ann buy in Lisbon?", "What did Ben buy in Lisbon?"),  # somebody else did
        ("Whose sister plays the cello?", "Whose uncle repairs the submarine?"),
        ("Where does Ann keep the canoe?", "Where does Ann keep the passports and the parrot?"),
    ],
)
def test_a_question_with_an_answer_is_surer_than_one_without(
    chat: cw.Chat, question: str, unanswered: str
) -> None:
    sure, unsure = (chat.recall(one).confidence for one in (question, unanswered))
    assert sure > unsure
    assert sure > MIN_CONFIDENCE


def test_what_a_model_says_to_a_person_does_not_speak_against_them(tmp_path: Path) -> None:
    """The answer to a question about one's user is often a message of the model."""
    told = "Your refund of 1850 was sent on Wednesday."
    with cw.Store(tmp_path / "a.db", embedder=None) as store:
        by_model, by_friend = store.conversation("a"), store.conversation("b")
        for chat, answer in (
            (by_model, cw.assistant(told)),
            (by_friend, cw.user(told, author=cw.Author("Ben", "Ben"))),
        ):
            chat.add(cw.user("Hello, it is me again.", author=cw.Author("Ann", "Ann")))
            chat.add(answer)
        asked = "When was the refund sent to Ann?"
        assert by_model.recall(asked).confidence > by_friend.recall(asked).confidence


@pytest.mark.parametrize(("often", "is_surer"), [(0, True), (20, False)])
def test_what_others_say_about_somebody_counts_for_them(
    tmp_path: Path, often: int, is_surer: bool
) -> None:
    """Unless they say the name again and again, as people do who address each other."""
    ann, ben = cw.Author("Ann", "Ann"), cw.Author("Ben", "Ben")
    filler = [
        cw.user(f"Ann, look at the weather of day {n}!" if n < often else f"Day {n}.", author=ben)
        for n in range(60)
    ]
    found: list[float] = []
    with cw.Store(tmp_path / "a.db", embedder=None) as store:
        for told in ("Ann's canoe is in the shed.", "My canoe is in the shed."):
            chat = store.conversation(told)
            chat.add([cw.user("Hello, how are you?", author=ann), cw.user(told, author=ben)])
            chat.add(filler)
            found.append(chat.recall("Where is the canoe of Ann?").confidence)
    about_ann, about_ben = found
    assert (about_ann > about_ben + 0.1) == is_surer


def test_below_the_wanted_confidence_no_message_is_recalled(chat: cw.Chat) -> None:
    asked = "Whose uncle repairs the submarine?"
    found = chat.recall(asked)
    assert not chat.recall(asked, min_confidence=min(found.confidence + 0.01, 1)).items
    with pytest.raises(cw.UsageError, match="min_confidence cannot be 2"):
        chat.recall(asked, min_confidence=2)


@pytest.mark.parametrize(
    ("query", "is_remark"),
    [
        ("I ended up volunteering for that project, and now I'm overwhelmed.", True),
        ("Учора ми нарешті переїхали до нової квартири біля bakery; великий парк поруч.", True),
        ("I ended up volunteering for that project. Why did I ever do it?", False),
        ("هل تتذكر اسم المطعم الصغير الذي زرناه معا في الصيف؟", False),
        ("spare key greenhouse", False),  # keywords
    ],
)
def test_nobody_knows_whether_a_remark_has_an_answer(
    chat: cw.Chat, query: str, is_remark: bool
) -> None:
    assert parse_question(query).is_remark == is_remark
    if is_remark:
        assert chat.recall(query).confidence == REMARK_CONFIDENCE


def test_a_budget_is_a_limit_and_not_a_target(chat: cw.Chat) -> None:
    found = chat.recall("What did Ann buy in Lisbon?", budget=100_000)
    assert 1 in [item.seq for item in found]
    assert len(found) < len(TALK)


ASKED = parse_question("What is in the shed?")
odds = st.lists(st.floats(-12, 5), min_size=1, max_size=40)


def ranked(odds: list[float], named: int = 0) -> list[RankedMessage]:
    entry = Entry(None, 10, "Ann", "Ann", 0, 1, 0)
    signals = [Signals(speaker=float(number < named)) for number in range(len(odds))]
    rows = zip(range(1, len(odds) + 1), odds, signals, strict=True)
    return [RankedMessage(n, o, entry, s, Signals(), ()) for n, o, s in rows]


@given(odds, st.integers(0, 5), st.booleans())
def test_confidence_is_a_probability_and_grows_with_what_is_found(
    found: list[float], named: int, is_said: bool
) -> None:
    terms = [TermMatches("a", 1.0, frozenset((1,) if is_said else ()))]
    before = confidence_of(ranked(found, named), terms, ASKED)
    assert 0 < before < 1
    more = ranked([one + 1 for one in found], named)
    assert confidence_of(more, terms, ASKED) > before
    assert confidence_of([], terms, ASKED) == 0


@given(odds, st.lists(st.integers(0, 10), min_size=2, max_size=2, unique=True).map(sorted))
def test_words_that_nobody_said_speak_against_an_answer_up_to_a_share(
    found: list[float], unsaid: list[int]
) -> None:
    fewer, more = (
        confidence_of(
            ranked(found),
            [TermMatches(str(n), 1.0, frozenset((1,) if n >= count else ())) for n in range(10)],
            ASKED,
        )
        for count in unsaid
    )
    assert fewer == more if unsaid[0] >= 10 * MAX_MISSING else fewer > more


@given(odds)
def test_filler_is_the_least_likely_and_little(found: list[float]) -> None:
    kept = without_filler(ranked(found))
    rest = [one for one in ranked(found) if one.number not in {one.number for one in kept}]
    assert kept
    assert all(one.log_odds >= other.log_odds for one in kept for other in rest)
    total = sum(one.score for one in ranked(found))
    assert sum(one.score for one in rest) <= (1 - KEPT_SHARE) * total + 1e-9
