"""Whatever the history and the budget: the question stays, and exchanges stay whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.integrations.trimming import Trimming
from contextwright.messages.exchanges import match_results
from profiles import FAULT, examples
from strategies import runs, traffic

MODEL = "gpt-5.6-sol"
histories = st.one_of(
    runs.histories(), traffic.any_traffic.map(lambda conversation: list(conversation.messages))
)


def kept(history: list[cw.Message], share: float) -> list[int]:
    """What stays in this share of the history's tokens, or in the least that works."""
    budget = max(round(cw.count(history, model=MODEL).tokens * share), 1)
    try:
        return Trimming(MODEL, budget=budget).kept(history)
    except cw.BudgetError as error:
        return Trimming(MODEL, budget=error.minimum).kept(history)


@given(histories, runs.shares)
@examples(FAULT)
def test_exchanges_stay_whole_and_the_question_stays(
    history: list[cw.Message], share: float
) -> None:
    indexes = kept(history, share)
    assert indexes == sorted(set(indexes))
    stayed = set(indexes)
    orphans = match_results([history[index] for index in indexes]).orphans
    assert all(len(history[indexes[place]].parts) > 1 for place, _ in orphans)
    for answer in match_results(history).answers:
        if answer.result_at is not None and answer.at[0] in stayed:
            assert answer.result_at[0] in stayed
    questions = [  # what a user sends besides results, be it empty
        index
        for index, message in enumerate(history)
        if message.role == "user"
        and message.visibility == "public"
        and (not message.parts or len(message.results) < len(message.parts))
    ]
    assert not questions or questions[-1] in stayed


@given(runs.histories(), runs.shares)
@examples(FAULT)
def test_what_stays_of_a_clean_history_is_valid(history: list[cw.Message], share: float) -> None:
    before = cw.render(history, "openai-chat", model=MODEL, repair=False).payload
    stayed = [history[index] for index in kept(history, share)]
    after = cw.render(stayed, "openai-chat", model=MODEL, repair=False).payload
    codes = {problem.code for problem in cw.check(before, "openai-chat")}
    if not any(message.parts for message in stayed):
        codes.add("OC-empty")  # a question that says nothing is all that fits
    assert {problem.code for problem in cw.check(after, "openai-chat")} <= codes


def test_reasoning_stays_with_its_call() -> None:
    history = [cw.user("old " * 50), cw.assistant("answer " * 50), cw.user("new")]
    history += [cw.assistant(cw.Thinking("hm")), cw.assistant(cw.ToolCall("look", {}, "c1"))]
    history += [cw.assistant(cw.ToolCall("look", {}, "c2"))]
    history += [cw.tool_result("c1", "one"), cw.tool_result("c2", "two")]
    assert Trimming(MODEL, budget=110).kept(history) in ([0, 2, *range(3, 8)], [*range(2, 8)])


def test_a_budget_too_small_names_one_that_works() -> None:
    with pytest.raises(cw.BudgetError) as caught:
        Trimming(MODEL, budget=10).kept([cw.user("word " * 100)])
    assert Trimming(MODEL, budget=caught.value.minimum).kept([cw.user("word " * 100)]) == [0]


@pytest.mark.parametrize(
    "recipe",
    [
        cw.Recipe(system="Be brief."),
        cw.Recipe(clearing=cw.Clearing(results=3)),
        cw.Recipe(summary=cw.SummaryPolicy()),
        cw.Recipe(oversize="cut"),
    ],
)
def test_a_recipe_that_writes_is_refused(recipe: cw.Recipe) -> None:
    with pytest.raises(cw.UsageError, match="does more than choose messages"):
        Trimming(MODEL, recipe=recipe)


def test_nothing_stays_of_nothing() -> None:
    assert Trimming(MODEL).kept([]) == []
