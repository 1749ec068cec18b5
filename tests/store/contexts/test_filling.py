"""Recall in a request: it fills what the window leaves, and returns what it does not use."""

import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.messages.speech import spoken_text
from contextwright.recall.lines import day_of, format_line
from contextwright.sections import PastMessages, SectionInput
from contextwright.store.recall.source import StoreMemorySource
from profiles import STORE, examples
from strategies.windows import histories, windows

TOPICS = ("the garden", "a night train", "Olena's choir", "the old harbour", "bread and salt")
QUESTION = "For how many minutes did we talk about the night train?"
RECALL = cw.Recipe(system=["Be kind.", PastMessages()])
PLAIN = cw.Recipe(system=["Be kind."])


@pytest.fixture(name="chat", scope="module")
def long_chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[cw.Chat]:
    with cw.Store(tmp_path_factory.mktemp("store") / "chat.db", embedder=None) as store:
        chat = store.conversation("talk")
        for number in range(400):
            topic = TOPICS[number // 8 % 5]
            chat.add(cw.user(f"Note {number}: we talked about {topic} for {number % 50} minutes."))
        chat.add(cw.user(QUESTION))
        yield chat


def recalled(context: cw.Context) -> set[int]:
    text = context.sections.get("PastMessages[1]", "")
    return {int(number) for number in re.findall(r"^user: Note (\d+): ", text, re.MULTILINE)}


def spoken_line(message: cw.Message) -> tuple[str, str]:
    name = message.author.label if message.author else message.role
    return day_of(message.sent_at), format_line(None, name, spoken_text(message))


def told_in(context: cw.Context) -> Iterator[tuple[str, str]]:
    """Each line of the section, with the day that stands above it."""
    day = ""
    for line in context.sections.get("PastMessages[1]", "").split("\n")[1:]:
        if line.startswith("undated, "):
            yield "", line.removeprefix("undated, ")
        elif ":" in line:
            yield day, line
        else:
            day = line


def kept(context: cw.Context) -> set[int]:
    return {*context.decisions.kept()}


@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-5-5"])
def test_recall_grows_with_the_budget_and_the_newest_six_stay(chat: cw.Chat, model: str) -> None:
    tokens: list[int] = []
    for budget in (1_000, 2_000, 4_000):
        context = chat.context(RECALL, model=model, budget=budget)
        assert 0.9 * budget < context.ledger.most <= budget
        assert kept(context) >= {*range(394, 401)}
        assert not recalled(context) & kept(context)
        tokens.append(context.ledger.sections["PastMessages[1]"])
    assert tokens[1] > 1.8 * tokens[0]
    assert tokens[2] > 1.8 * tokens[1]


@pytest.mark.parametrize(
    ("answer", "stay"), [("word " * 150, 6), ("word " * 400, 2), ("word " * 1_200, 0)]
)
def test_newest_messages_stay_while_they_take_half(chat: cw.Chat, answer: str, stay: int) -> None:
    other = chat.fork(f"{len(answer)} characters")
    other.add([cw.user("Go on."), cw.assistant(answer)] * 3)
    other.add(cw.user(QUESTION))
    context = other.context(RECALL, model="gpt-4o", budget=2_000)
    assert kept(context) >= {*range(407 - stay, 408)}
    assert len(kept(context)) == 1 if stay == 0 else context.ledger.history <= 1_000
    assert context.ledger.sections["PastMessages[1]"] > 900


def test_a_window_of_fewer_messages_keeps_no_more(chat: cw.Chat) -> None:
    recipe = cw.Recipe(
        system=["Be kind.", PastMessages()], window=cw.windows.KeepRecent(messages=3)
    )
    assert kept(chat.context(recipe, model="gpt-4o", budget=2_000)) == {398, 399, 400}


def test_the_cut_moves_only_forward_and_names_the_day_once(tmp_path: Path) -> None:
    with cw.Store(tmp_path / "a.db", embedder=None) as store:
        chat, cut = store.conversation("a"), 0
        days: list[str] = []
        for number in range(120):
            day = f"2026-05-{1 + number // 10:02}T12:00:00Z"
            said = f"Note {number}: the night train took {number % 50} minutes."
            chat.add([cw.user(said, sent_at=day), cw.assistant("Noted. " * (number % 7))])
            if number % 4:
                continue
            context = chat.context(RECALL, model="gpt-4o", budget=700)
            assert min(kept(context)) >= cut
            cut = min(kept(context))
            text = context.sections.get("PastMessages[1]", "")
            days = re.findall(r"^2026-05-\d\d$", text, re.MULTILINE)
            assert days == sorted({*days})
    assert len(days) > 3


@pytest.mark.parametrize(
    ("model", "system", "moves"),
    [
        ("gpt-4o", "Be kind.", 12),  # too small for the prompt cache, wherever it is cut
        ("gpt-4o", "Be kind. " * 250, 4),
        ("mistral-large", "Be kind.", 6),  # its cache has no known minimum
    ],
)
def test_a_cut_moves_in_steps_only_if_a_prompt_cache_would_notice(
    tmp_path: Path, model: str, system: str, moves: int
) -> None:
    recipe = cw.Recipe(system=[system, PastMessages()])
    with cw.Store(tmp_path / "a.db", embedder=None) as store:
        chat, cuts = store.conversation("a"), list[int]()
        for number in range(52):
            chat.add(cw.user(f"Note {number}: the night train took {number} minutes. " * 7))
            if number >= 40:
                context = chat.context(recipe, model=model, budget=2_000 + len(system) // 3)
                newest = kept(context)
                assert newest == {*range(min(newest), number + 1)}
                assert len(newest) == 7 if moves == 12 else len(newest) >= 7
                cuts.append(min(newest))
    assert len({*cuts}) == moves


def test_what_is_recalled_is_the_best_and_not_the_first(chat: cw.Chat) -> None:
    """Cut from the end, it would lose the newest of what was picked."""
    context = chat.context(RECALL, model="gpt-4o", budget=1_500)
    trains = {number for number in range(380) if number // 8 % 5 == 1}
    found = recalled(context)
    assert found & trains & {*range(300, 380)}
    assert found & trains & {*range(80)}
    assert not [change for change in context.changes if change.code == "loss.section"]


@pytest.mark.parametrize("budget", [700, 1_500, 5_000])
@pytest.mark.parametrize("question", ["Xyzzy plugh?", "..."])
def test_what_recall_does_not_use_flows_back_to_the_window(
    chat: cw.Chat, budget: int, question: str
) -> None:
    other = chat.fork(f"other {question}")
    other.add(cw.user(question), key="question")
    context = other.context(RECALL, model="gpt-4o", budget=budget)
    assert not recalled(context)
    assert kept(context) == kept(other.context(PLAIN, model="gpt-4o", budget=budget))
    assert "PastMessages[1]" in context.absent


def test_what_the_window_does_not_need_flows_to_recall(chat: cw.Chat) -> None:
    narrow = cw.Recipe(
        system=["Be kind.", PastMessages(budget=0.2)], window=cw.windows.KeepRecent(messages=7)
    )
    context = chat.context(narrow, model="gpt-4o", budget=3_000)
    assert kept(context) == {*range(394, 401)}
    assert context.ledger.sections["PastMessages[1]"] > 2_000


@pytest.mark.parametrize("share", [0, 0.0001])
def test_a_share_of_no_tokens_recalls_nothing_and_is_reported(chat: cw.Chat, share: float) -> None:
    off = cw.Recipe(system=["Be kind.", PastMessages(budget=share)])
    context = chat.context(off, model="gpt-4o", budget=3_000)
    assert not recalled(context)
    assert kept(context) == kept(chat.context(PLAIN, model="gpt-4o", budget=3_000))
    [change] = [one for one in context.changes if one.code == "loss.section"]
    assert (change.path, change.reason) == ("PastMessages[1]", "its share is too small")


def test_a_conversation_that_fits_is_sent_whole(chat: cw.Chat) -> None:
    context = chat.context(RECALL, model="gpt-4o", budget=40_000)
    assert len(kept(context)) == 401
    assert list(context.sections) == ["Instructions[0]"]


def test_passages_from_elsewhere_have_their_share() -> None:
    """A list has all messages in the window: what a source knows besides them is told too."""
    talk = [cw.user(f"Note {number}: nothing new about the weather.") for number in range(60)]
    talk.append(cw.user(QUESTION))
    passages = [cw.Memory("passage", f"The night train leaves from gate {n}.") for n in range(40)]
    notes = cw.recall.MemoryList(passages)
    whole = sum(cw.count(message.text, model="gpt-4o").tokens + 6 for message in talk)
    for budget in range(whole - 300, whole + 900, 150):
        context = RECALL.build(talk, model="gpt-4o", budget=budget, memories=notes)
        assert "The night train leaves from gate" in context.sections["PastMessages[1]"], budget
        assert context.ledger.most <= budget


def test_a_summary_keeps_its_room(chat: cw.Chat) -> None:
    recipe = cw.Recipe(system=["Be kind.", PastMessages()], summary=cw.SummaryPolicy(100))
    context = chat.context(recipe, model="gpt-4o", budget=2_000)
    assert context.ledger.most <= 2_000
    assert recalled(context)
    assert any(change.code == "invent.summary" for change in context.changes)


def test_sections_that_fill_share_what_is_left(chat: cw.Chat) -> None:
    class Other(cw.Section):
        heading = "# Other"
        budget = 0.2
        fills = True

        def write(self, moment: SectionInput) -> str | None:
            assert moment.tokens is not None
            return "word " * moment.tokens

    recipe = cw.Recipe(system=["Be kind.", PastMessages(budget=0.6), Other()])
    context = chat.context(recipe, model="gpt-4o", budget=2_000)
    sections = context.ledger.sections
    assert context.ledger.most <= 2_000
    assert sections["PastMessages[1]"] > 900
    assert sections["Other[2]"] > 300


def test_a_section_that_fills_is_asked_again_only_for_less_than_it_used(chat: cw.Chat) -> None:
    """Among others it costs a few tokens more than alone, though it leaves some of its room."""
    rooms: list[int] = []

    class Steps(cw.Section):
        heading = "# Steps"
        budget = 0.6
        fills = True

        def write(self, moment: SectionInput) -> str | None:
            assert moment.tokens is not None
            rooms.append(moment.tokens)
            return " word" * (moment.tokens // 16 * 16)

    asked = set[int]()
    for budget in range(1_500, 1_532):
        rooms.clear()
        context = chat.context(
            cw.Recipe(system=["Be kind.", Steps()]), model="gpt-4o", budget=budget
        )
        assert context.ledger.most <= budget
        asked.add(len(rooms))
    assert asked == {1, 2}


@examples(STORE)
@given(histories, windows, st.sampled_from((120, 300, 600, 2_000)))
def test_any_history_within_the_budget_nothing_twice_and_the_same_again(
    messages: list[cw.Message], window: cw.windows.Window, budget: int
) -> None:
    recipe = cw.Recipe(system=["Be kind.", PastMessages(confidence=0)], window=window)
    messages = [*messages, cw.user("what about tea and the answer to the question 1 2 3?")]
    lines = [spoken_line(message) for message in messages]
    with TemporaryDirectory() as folder, cw.Store(Path(folder) / "a.db", embedder=None) as store:
        chat = store.conversation("a")
        chat.add(messages)
        try:
            context = chat.context(recipe, model="gpt-4o", budget=budget)
        except cw.errors.BudgetError:
            return
        assert context.ledger.most <= budget
        told = [*told_in(context)]
        assert not {lines[index] for index in kept(context) if lines.count(lines[index]) == 1} & {
            *told
        }
        assert chat.context(recipe, model="gpt-4o", budget=budget).payload == context.payload
    with TemporaryDirectory() as folder, cw.Store(Path(folder) / "a.db", embedder=None) as store:
        chat = store.conversation("a")
        chat.add(messages)
        again = chat.context(recipe, model="gpt-4o", budget=budget)
        assert again.payload == context.payload, "whatever was built before"


def test_the_store_is_asked_again_only_if_the_window_is_another(place: str) -> None:
    with cw.Store(place, embedder=None) as store:
        for cut, again in ((4, False), (5, False), (6, True)):
            source = StoreMemorySource(store.state, "a", last=5)
            assert source.show(cut, set()) is again
            assert source.show(cut + 1, set()) is False, "that is looked at once"
        source = StoreMemorySource(store.state, "a", last=5)
        source.recalled.add(3)
        assert source.show(5, {2}) is False
        assert source.show(5, {3}) is True, "it was recalled, and the window has it"
        assert source.show(5, {3}) is False
