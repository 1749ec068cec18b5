"""Two hundred tool-using histories, each within several budgets, for every provider.

0 invalid, 0 over budget, 0 lost questions.
"""

from random import Random

import pytest

import contextwright as cw
from contextwright.context.recipe import Recipe
from contextwright.errors import BudgetError
from contextwright.windows.policies import FirstAndRecent, KeepRecent, Layers, Stepped

MODELS = {
    "openai-chat": "gpt-4o",
    "openai-responses": "gpt-5.6-sol",
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-2.5-flash",
}
WINDOWS = (Stepped(), KeepRecent(), FirstAndRecent(), Layers())
BUDGETS = (400, 1_000, 1_600)
TOOLS = [
    cw.Tool(name, f"Use {name}.", {"type": "object", "properties": {"q": {"type": "string"}}})
    for name in ("search", "read_file")
]


def words(random: Random, most: int) -> str:
    return "word " * random.randint(1, most)


def history(seed: int) -> list[cw.Message]:
    """Turns with loops of parallel calls, some with late, missing, doubled or orphaned results."""
    random = Random(seed)
    messages: list[cw.Message] = []
    for turn in range(random.randint(2, 7)):
        messages.append(cw.user(f"question {turn}: {words(random, 30)}"))
        for loop in range(random.randint(0, 3)):
            messages.extend(exchange(random, f"{turn}_{loop}"))
        if random.random() < 0.8:
            messages.append(cw.assistant(words(random, 40)))
    messages.append(cw.user(f"the question: {words(random, 10)}"))
    if random.random() < 0.4:  # in the middle of a loop
        messages.extend(exchange(random, "last")[: random.randint(1, 3)])
    return messages


def exchange(random: Random, prefix: str) -> list[cw.Message]:
    ids = [f"call_{prefix}_{number}" for number in range(random.randint(1, 3))]
    calls = [cw.ToolCall(random.choice(TOOLS).name, {"q": words(random, 5)}, id) for id in ids]
    said = [cw.Text(words(random, 8))] if random.random() < 0.5 else []
    results = [cw.tool_result(id, words(random, 60)) for id in ids]
    random.shuffle(results)
    mishap = random.random()
    if mishap < 0.05:
        results.pop()
    elif mishap < 0.1:
        results.append(cw.tool_result("call_of_nobody", "lost"))
    elif mishap < 0.15:
        results.insert(random.randint(0, len(results)), cw.user("hurry up"))
    elif mishap < 0.2:
        results.append(results[0])
    elif mishap < 0.3:
        parts = [part for result in results for part in result.parts]
        results = [cw.user([*parts, cw.Text("and go on")])]
    return [cw.assistant([*said, *calls]), *results]


HISTORIES = [history(seed) for seed in range(200)]


@pytest.mark.slow
@pytest.mark.parametrize("format", MODELS)
def test_nothing_invalid_nothing_over_budget_no_question_lost(format: str) -> None:
    model = MODELS[format]
    built = refused = 0
    for seed, messages in enumerate(HISTORIES):
        window = WINDOWS[seed % len(WINDOWS)]
        recipe = Recipe(system=("You are a careful assistant.",), window=window)
        priced = recipe.history(messages, model=model, format=format)
        question = next(one for one in reversed(messages) if one.role == "user" and not one.results)
        for budget in BUDGETS:
            try:
                context = recipe.build(
                    priced, model=model, format=format, tools=TOOLS, budget=budget
                )
                built += 1
            except BudgetError as error:
                refused += 1
                budget = error.minimum
                context = recipe.build(
                    priced, model=model, format=format, tools=TOOLS, budget=budget
                )
                with pytest.raises(BudgetError):
                    recipe.build(priced, model=model, format=format, tools=TOOLS, budget=budget - 1)
            problems = cw.check(context.payload, format, model=model)
            assert [str(one) for one in problems if one.level == "error"] == []
            assert cw.count(context.payload, model=model, format=format).most <= budget
            assert question.text.strip() in str(context.payload)
            last = messages[-1]
            asked = [call.id for call in last.calls] + [one.call_id for one in last.results]
            assert all(id == "call_of_nobody" or str(id) in str(context.payload) for id in asked)
    assert built > refused


HUGE = {
    "text": [cw.user("Summarise: " + "слово 👩‍👩‍👧‍👦 " * 2_000)],
    "result": [
        cw.user("look"),
        cw.assistant(cw.ToolCall("search", {}, "a")),
        cw.tool_result("a", "line\n" * 20_000),
    ],
    "json": [
        cw.user("look"),
        cw.assistant(cw.ToolCall("search", {}, "a")),
        cw.tool_result("a", {"rows": [{"id": number} for number in range(9_000)]}),
    ],
}


@pytest.mark.parametrize("format", MODELS)
@pytest.mark.parametrize("kind", HUGE)
def test_one_message_larger_than_the_budget_is_cut_by_policy(kind: str, format: str) -> None:
    model = MODELS[format]
    messages = [cw.user("before"), cw.assistant("yes"), *HUGE[kind]]
    with pytest.raises(BudgetError) as refused:
        Recipe().build(messages, model=model, format=format, budget=2_000)
    assert Recipe().build(messages, model=model, format=format, budget=refused.value.minimum)
    recipe = Recipe(oversize="cut")
    context = recipe.build(messages, model=model, format=format, budget=2_000)
    assert cw.count(context.payload, model=model, format=format).most <= 2_000
    assert not [
        one for one in cw.check(context.payload, format, model=model) if one.level == "error"
    ]
    assert "loss.cut" in [change.code for change in context.changes]
    assert ("more …" if kind == "json" else "characters left out") in str(context.payload)
    with pytest.raises(BudgetError) as caught:
        recipe.build(messages, model=model, format=format, budget=20)
    minimum = caught.value.minimum
    assert recipe.build(messages, model=model, format=format, budget=minimum)
    with pytest.raises(BudgetError):
        recipe.build(messages, model=model, format=format, budget=minimum - 1)
