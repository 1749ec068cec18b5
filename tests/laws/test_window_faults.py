"""What windows once did wrong, with the figures it was found by; the laws are in test_windows."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

import contextwright as cw
from contextwright.context.recipe import Recipe
from contextwright.context.simulation.simulate import simulate
from contextwright.sections import CurrentTime
from contextwright.store.store import Store
from contextwright.windows.clearing import Clearing
from contextwright.windows.policies import (
    FirstAndRecent,
    KeepAll,
    KeepRecent,
    Layers,
    Stepped,
    Window,
)
from strategies.messages import PNG
from strategies.runs import PHOTO, STICKER

MODEL = "gpt-4o"
WORDS = "The train to Lviv leaves at seven forty and nobody has bought the tickets yet. "


def agent(steps: int, seed: int = 1, *, pictures: bool = False) -> list[cw.Message]:
    """A task and the steps of an agent; some results are a hundred times as long as most."""
    random = Random(seed)
    messages = [cw.user("Find out why the build fails, and mend it.")]
    for number in range(steps):
        length = random.choice((40, 80, 80, 200, 800, 8_000))
        text = cw.Text((f"{number} {WORDS}" * (length // 80 + 1))[:length])
        content = (text, PHOTO) if pictures else text.text
        messages += [
            cw.assistant(cw.ToolCall("run", {"step": number}, f"c{number}")),
            cw.Message("tool", (cw.ToolResult(f"c{number}", content),)),
        ]
    return messages


def chat(turns: int) -> list[cw.Message]:
    return [
        each
        for number in range(turns)
        for each in (cw.user(f"question {number}? {WORDS}"), cw.assistant(f"{number}: yes."))
    ]


def history_of(messages: list[cw.Message], budget: int, **recipe: Any) -> int:
    return Recipe(**recipe).build(messages, model=MODEL, budget=budget).ledger.history


def kept(messages: list[cw.Message], window: Window, budget: int) -> int:
    context = Recipe(window=window).build(messages, model=MODEL, budget=budget)
    return sum(1 for _ in context.decisions.kept())


def test_1_large_results_do_not_empty_the_window() -> None:
    """Once 45 tokens were sent where keeping the newest sends 19,667."""
    messages = agent(60)
    for count in range(3, len(messages) + 1, 4):
        newest = history_of(messages[:count], 6_000, window=KeepRecent())
        assert history_of(messages[:count], 6_000) >= 0.4 * newest - 20


def test_2_twenty_photos_do_not_empty_the_window() -> None:
    """Once 24 tokens of 12,000 were sent, where keeping the newest sends 10,158."""
    photos = [
        each
        for number in range(20)
        for each in (cw.user([cw.Text(f"photo {number}"), PHOTO]), cw.assistant("Nice."))
    ]
    newest = history_of([*photos, cw.user("Which?")], 12_000, window=KeepRecent())
    assert history_of([*photos, cw.user("Which?")], 12_000) >= 0.4 * newest > 4_000


@pytest.mark.parametrize("window", [Stepped(), KeepRecent(), Layers(1, 99)])
def test_1_the_room_for_a_summary_does_not_empty_the_window(window: Window) -> None:
    """Once 113 tokens of 9,474 were sent, where a result of 9,000 fits beside a short summary."""
    messages = [*chat(20), cw.user("Go on."), *agent(1)[1:-1]]
    messages += [cw.tool_result("c0", WORDS * 100), cw.assistant("Well."), cw.user("And now?")]
    recipe, brief = (Recipe(window=window, summary=one) for one in (cw.SummaryPolicy(), None))
    sizes: list[int] = []
    for budget in range(1_500, 3_000, 25):
        context = recipe.build(messages, model=MODEL, budget=budget)
        assert (
            2 * context.ledger.history
            >= 0.4 * brief.build(messages, model=MODEL, budget=budget).ledger.history
        )
        sizes.append(sum(1 for _ in context.decisions.kept()))
    assert isinstance(window, Stepped) or sizes == sorted(sizes)


@pytest.mark.parametrize("clearing", [Clearing(), Clearing(results=20), Clearing(media=10)])
@pytest.mark.parametrize("pictures", [False, True], ids=["results", "screenshots"])
def test_2_sixty_steps_with_and_without_screenshots(clearing: Clearing, pictures: bool) -> None:
    """Once 2 to 13 % of what fits were sent."""
    messages = agent(60, pictures=pictures)
    newest = history_of(messages, 20_000, window=KeepRecent(), clearing=clearing)
    assert history_of(messages, 20_000, clearing=clearing) >= 0.4 * newest


BUDGETS = (2_000, 4_000, 8_000)


def test_3_a_store_builds_the_same_whatever_was_asked_before(tmp_path: Path) -> None:
    """Once 8,000 tokens kept 66 messages after 2,000 and 4,000, and 107 when asked first."""
    messages = agent(60)
    told = {
        budget: Recipe().build(cw.Conversation(tuple(messages), id="a"), model=MODEL, budget=budget)
        for budget in BUDGETS
    }
    with Store(tmp_path / "chat.db", sync="fast") as store:
        parent = store.conversation("a")
        parent.add(messages)
        fork = parent.fork("b", 61)
        for budget in (*BUDGETS, *reversed(BUDGETS)):
            context = parent.context(Recipe(), model=MODEL, budget=budget)
            assert context.payload == told[budget].payload
            then = parent.context(Recipe(), model=MODEL, budget=budget, at=61)
            branch = fork.context(Recipe(), model=MODEL, budget=budget)
            alone = Recipe().build(messages[:61], model=MODEL, budget=budget)
            assert branch.payload["messages"] == alone.payload["messages"]
            assert then.payload["messages"] == alone.payload["messages"]


@pytest.mark.parametrize("window", [KeepRecent(1), Stepped(messages=1, task=False)])
def test_4_an_omission_before_a_final_result_is_said(window: Window) -> None:
    """Once 40 messages were dropped without a word."""
    messages = [*chat(19), *agent(2)[1:]]
    assert len(messages) == 42
    for summary, word in ((None, "[40 earlier messages are left out"), (True, "[Digest of")):
        policy = cw.SummaryPolicy() if summary else None
        recipe = Recipe(window=window, summary=policy, note=cw.OmissionNote())
        context = recipe.build([*messages[:38], *messages[38:]], model=MODEL)
        if summary is None:
            assert context.decisions.omitted == 39
            word = "[39 earlier messages are left out"
        assert str(context.payload).count(word) == 1


def test_4_in_a_tool_loop_the_note_does_not_come_and_go() -> None:
    messages = agent(60)
    told = [
        bool(re.search(r"\[\d+ earlier message", str(context.payload)))
        for count in range(1, len(messages) + 1)
        if (context := Recipe().build(messages[:count], model=MODEL, budget=6_000))
    ]
    assert told == sorted(told)
    assert told[-1]


def test_5_what_is_kept_is_not_told() -> None:
    """Once 24 of 76 digests told the newest question, which stays."""
    messages = agent(40)
    messages[11:11] = [cw.assistant("It is the linker.")]
    recipe = Recipe(summary=cw.SummaryPolicy(), window=Stepped(task=False))
    context = recipe.build(messages, model=MODEL, budget=4_000)
    digest = next(one.text for one in context.conversation.messages if one.kind == "summary")
    assert "why the build fails" not in digest
    assert str(context.payload).count("why the build fails") == 1


@pytest.mark.parametrize("window", [Stepped(), KeepRecent(), FirstAndRecent(200)])
@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-5-5", "gemini-3.8-flash"])
def test_6_a_budget_of_the_whole_keeps_the_whole(window: Window, model: str) -> None:
    """Once a third of such builds dropped messages."""
    for messages in (chat(40), agent(30), [cw.user("?") for _ in range(90)]):
        recipe = Recipe(window=window)
        most = recipe.build(messages, model=model).ledger.most
        for budget in (most, int(most * 1.01)):
            assert not recipe.build(messages, model=model, budget=budget).decisions.omitted


def test_7_a_larger_budget_keeps_no_fewer_messages() -> None:
    """Once FirstAndRecent kept 44 messages with 900 tokens and 3 with 950."""
    messages = chat(60)
    for window in (KeepRecent(), FirstAndRecent(50)):
        counts = [kept(messages, window, budget) for budget in range(300, 2_400, 70)]
        assert counts == sorted(counts)
    counts = [kept(messages, Stepped(), budget) for budget in range(300, 2_400, 70)]
    assert all(larger >= 0.4 * smaller - 2 for smaller, larger in pairwise(counts))


@pytest.mark.parametrize("summary", [None, cw.SummaryPolicy()])
def test_7_the_first_messages_never_replace_more_of_the_newest(
    summary: cw.SummaryPolicy | None,
) -> None:
    """Once 74 tokens kept the newest 9 messages, and 75 the first 4 and the newest 4: messages that
    make one turn cost less than foreseen, and only one of both ways was tried."""
    messages = [*(cw.assistant(f"line {number}") for number in range(18)), cw.user("And now?")]
    recipe = Recipe(window=FirstAndRecent(14, 4), summary=summary)
    counts = [
        len(messages)
        - recipe.build(messages, model="gemini-3.8-flash", budget=budget).decisions.omitted
        for budget in range(45, 140)
    ]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] == 13


@pytest.mark.parametrize(
    "late",
    [
        cw.system("From now on, answer in Ukrainian. " * 4),
        cw.user("Remember this. " * 20, pinned=True),
        cw.user("nobody sees this", visibility="hidden"),
    ],
    ids=["system", "pinned", "hidden"],
)
def test_8_the_cut_does_not_move_back(late: cw.Message) -> None:
    """Once it did in 241 of 1,260 builds, after such a message."""
    messages = chat(60)
    messages[80:80] = [late, late, late]
    history = Recipe().history(model=MODEL)
    cuts: list[int] = []
    for message in messages:
        history.append(message)
        cuts.append(Recipe().build(history, model=MODEL, budget=900).decisions.cut)
    assert cuts == sorted(cuts)
    assert cuts[-1] > 60


@pytest.mark.parametrize("budget", [10_100, 10_400, 10_700])
def test_8_the_cut_does_not_move_back_for_room_that_nothing_fits_into(budget: int) -> None:
    """Once it did when a long question was answered: a third of the room was free, but with two
    steps more only a fifth more could be sent."""
    messages = [cw.user("word " * 2_900)]
    sizes = (894, 860, 67, 1_613, 55, 871, 58, 1_463, 75, 679, 392, 115, 632, 3_569, 2_616, 54, 36)
    for number, size in enumerate((*sizes, 46), 1):
        words, is_call = "word " * size, number % 2
        call = cw.ToolCall("run", {"command": words}, f"c{number}")
        messages.append(cw.assistant(call) if is_call else cw.tool_result(f"c{number - 1}", words))
    recipe = Recipe(window=Stepped(0.3))
    before = recipe.build(messages, model=MODEL, budget=budget).decisions.cut
    messages.append(cw.user("And now?"))
    assert recipe.build(messages, model=MODEL, budget=budget).decisions.cut == before == 13


def test_9_stickers_are_capped_too() -> None:
    """Once 150 of them went to a model that takes 100: a sticker is cheaper than its marker."""
    model = "claude-sonnet-4-5"
    stickers = [each for _ in range(150) for each in (cw.user(STICKER), cw.assistant("ha"))]
    context = Recipe().build([*stickers, cw.user("?")], model=model)
    assert 75 <= str(context.payload).count(PNG) <= 100
    assert cw.check(context.payload, "anthropic", model=model) == []
    literal = cw.render(stickers, "anthropic", model=model).payload
    for name, level in {model: "error", f"{model}-nightly": "warning"}.items():
        problems = cw.check(literal, "anthropic", model=name)
        assert ("X-media", level) in [(one.code, one.level) for one in problems]


def test_9_a_question_with_three_pictures_under_a_cap_of_two() -> None:
    recipe = Recipe(clearing=Clearing(most_media=2))
    context = recipe.build([cw.user([cw.Text("which?"), *[STICKER] * 3])], model=MODEL)
    assert str(context.payload).count(PNG) == 2
    assert [change.code for change in context.changes] == ["loss.media"]


def test_10_a_step_of_clearing_keeps_the_prefix_before_it_marked() -> None:
    """Once 34 of 45 breaks had no mark within reach of what the requests had in common."""
    messages = agent(60)
    recipe = Recipe(clearing=Clearing(results=6, step=3), system=("Be brief.",))
    model = "claude-sonnet-5-5"
    reached = broken = 0
    before: cw.Context | None = None
    for count in range(3, len(messages) + 1, 2):
        context = recipe.build(messages[:count], model=model, budget=200_000)
        if before is not None and context.compared_with(before).first_difference is not None:
            broken += 1
            shared = context.compared_with(before).shared
            reached += shared - marked_tokens(before, shared) < 100
        before = context
    assert 3 <= broken <= 20
    assert reached == broken


@pytest.mark.parametrize("budget", [None, 3_000])
@pytest.mark.parametrize(("steps", "most"), [(30, 1.0), (90, 1.1)])
def test_13_clearing_is_hardly_dearer_than_not_clearing(
    steps: int, most: float, budget: int | None
) -> None:
    """Once a short run cost 1.48 times as much with clearing, and a longer one 1.71."""
    messages = [cw.user("Find out why the build fails, and mend it.")]
    for number in range(steps):
        call = cw.ToolCall("run", {"step": number}, f"c{number}")
        messages += [cw.assistant([WORDS * 2, call]), cw.tool_result(f"c{number}", WORDS * 3)]
    recipes = [Recipe(), Recipe(clearing=Clearing(results=4))]
    rows = simulate(messages, recipes, model="claude-sonnet-5-5", budget=budget)
    without, cleared = [row.dollars or 0 for row in rows]
    assert 0 < cleared <= most * without


def marked_tokens(context: cw.Context, shared: int) -> int:
    """The tokens up to the last mark of a request that lies within what another shares with it."""
    reached = best = 0
    turns = context.payload["messages"]
    for unit in context.prefix:
        reached += unit.tokens
        place = re.fullmatch(r"messages\[(\d+)\]", unit.place)
        is_marked = "cache_control" in str(
            turns[int(place[1])] if place else context.payload.get(unit.place)
        )
        if is_marked and reached <= shared:
            best = reached
    return best


def test_11_the_task_of_an_agent_stays() -> None:
    messages = [*agent(60), cw.assistant("It is mended."), cw.user("Thank you. What was it?")]
    for count in range(1, len(messages) + 1, 3):
        context = Recipe().build(messages[:count], model=MODEL, budget=6_000)
        assert context.decisions[0].action == "kept"


def test_12_one_message_is_one() -> None:
    context = Recipe(window=KeepRecent(4)).build(chat(3)[1:], model=MODEL)
    assert "[1 earlier message is left out here]" in str(context.payload)


@pytest.mark.parametrize("format", ["openai-chat", "openai-responses"])
def test_12_an_older_question_keeps_its_bytes_as_marks_move(format: str) -> None:
    recipe = Recipe(system=("Be brief.", CurrentTime()))
    field = "messages" if format == "openai-chat" else "input"
    before: list[Any] = []
    for turns in range(1, 6):
        now = datetime(2026, 11, 16, tzinfo=UTC) + timedelta(minutes=turns)
        context = recipe.build(
            [*chat(turns), cw.user("?")], model="gpt-5.6-sol", format=format, now=now
        )
        sent = [unmarked(turn) for turn in context.payload[field]]
        assert sent[: len(before)] == before
        before = sent[:-1]


def unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: unmarked(item) for key, item in value.items() if key != "prompt_cache_breakpoint"
        }  # pyright: ignore
    return [unmarked(item) for item in value] if isinstance(value, list) else value  # pyright: ignore


@pytest.mark.parametrize("budget", [5_000, 5_200, 5_360])
def test_a_picture_that_takes_the_place_of_a_pinned_one_costs_no_room(budget: int) -> None:
    """Pinned pictures that fill the cap leave one to the newest: nothing that fits is dropped."""
    messages = [
        cw.user(["The plan.", PHOTO, PHOTO, PHOTO], pinned=True),
        *(cw.assistant(f"Line {number} of a few.") for number in range(40)),
        cw.user(["And this?", PHOTO]),
        cw.assistant("Seen. " * 60),
        cw.user("So?"),
    ]
    recipe = Recipe(window=KeepRecent(), clearing=Clearing(most_media=3))
    context = recipe.build(messages, model="gpt-4o", budget=budget)
    assert budget - context.ledger.most < 12, "less than one more line takes"


@pytest.mark.parametrize(
    "model", ["claude-sonnet-5-5", "gemini-3.8-flash", "gpt-4o", "gpt-5.6-sol"]
)
def test_a_long_answer_that_just_fits_does_not_empty_the_window(model: str) -> None:
    """Foreseen a little dearer than it was, it went: 22 tokens were sent where 1,030 fit."""
    messages = [
        cw.user("Hello."),
        cw.assistant("Good morning."),
        cw.user("Read the log."),
        cw.assistant("It says: " + "the build has failed. " * 200),
        cw.user("Why?"),
        cw.assistant("I do not know."),
        cw.user("Look again."),
    ]
    whole = Recipe(window=KeepAll()).build(messages, model=model, budget=10_000).ledger.most
    for budget in range(whole - 30, whole):
        stepped, newest = (
            Recipe(window=window).build(messages, model=model, budget=budget).ledger.history
            for window in (Stepped(), KeepRecent())
        )
        assert stepped >= 0.4 * newest
