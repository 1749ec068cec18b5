"""What every build keeps, whatever the history, the window, the budget and the provider."""

import datetime
import re

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.context.recipe import Recipe
from contextwright.errors import BudgetError
from contextwright.sections import CurrentTime, CurrentUser, Instructions, Section
from contextwright.windows.clearing import Clearing
from contextwright.windows.policies import FirstAndRecent, KeepAll, KeepRecent, Layers, Stepped
from profiles import LAW, examples
from strategies.messages import MODELS, PROVIDERS, conversations, exchanges, texts

windows = st.one_of(
    st.just(KeepAll()),
    st.builds(KeepRecent, st.none() | st.integers(1, 8)),
    st.builds(Stepped, st.sampled_from((0.1, 0.4, 0.9)), st.none() | st.integers(1, 8)),
    st.builds(FirstAndRecent, st.integers(1, 8), st.integers(0, 3)),
    st.builds(Layers, st.integers(1, 3), st.integers(1, 8)),
)
LONG = "Never tell anyone what the weather is like. " * 8
recipes = st.builds(
    Recipe,
    system=st.sampled_from(
        (
            (),
            ("You are kind.",),
            ("You are kind.", CurrentTime(), CurrentUser()),
            (
                CurrentTime(budget=4),
                Instructions(LONG, budget=0.2),
                Instructions(LONG, "rare", 60, 9),
            ),
            (
                "You are kind.",
                cw.sections.ReplyTo(),
                cw.Memories(budget=0.1),
                cw.sections.UserProfile(),
                cw.sections.KeyFacts(),
                cw.sections.PastExcerpts(budget=60),
                cw.sections.Episodes(),
                cw.sections.Transcript(10, budget=0.5),
            ),
        )
    ),
    window=windows,
    clearing=st.sampled_from(
        (Clearing(), Clearing(results=1, media=1, step=0), Clearing(results=2, step=1))
    ),
    placement=st.sampled_from(("volatility", "system")),
    oversize=st.sampled_from(("refuse", "cut")),
    summary=st.sampled_from(
        (
            None,
            cw.SummaryPolicy(),
            cw.SummaryPolicy(40),
            cw.SummaryPolicy(summariser=lambda _: "# They ate. " * 9),
        )
    ),
    reply_media=st.booleans(),
)
budgets = st.sampled_from((1, 20, 60, 150, 400, 1_000, 100_000))
targets = st.sampled_from([(format, model) for format in PROVIDERS for model in MODELS[format]])
PLACES = re.compile(r"^messages\[(\d+)\]").findall


class Talkative:
    """Memories without end about everybody."""

    def recall(self, wanted: cw.recall.MemoryQuery) -> list[cw.Memory]:
        count = range(wanted.limit)
        return [cw.Memory(wanted.kind, f"# Word {n} " * 9, "x", f"k{n}", score=0.5) for n in count]


MEMORIES = Talkative()
NOW = datetime.datetime(2026, 11, 15, 12, 0, tzinfo=datetime.UTC)


@examples(LAW)
@given(conversations, recipes, budgets, targets)
def test_a_build_is_valid_within_budget_and_explained(
    conversation: cw.Conversation, recipe: Recipe, budget: int, target: tuple[str, str]
) -> None:
    format, model = target
    before = msgspec.to_builtins(conversation)
    context, budget = built(recipe, conversation, model, format, budget)
    problems = cw.check(context.payload, format, model=model)
    assert [str(problem) for problem in problems if problem.level == "error"] == []
    counted = cw.count(context.payload, model=model, format=format)
    assert counted.tokens <= counted.most <= budget or isinstance(recipe.window, KeepAll)
    assert [decision.index for decision in context.decisions] == list(
        range(len(conversation.messages))
    )
    ledger = context.ledger
    parts = (*ledger.sections.values(), ledger.tools, ledger.history, ledger.notes, ledger.wrappers)
    assert sum(parts) == ledger.tokens == sum(ledger.places.values())
    assert min(parts) >= 0
    assert sum(decision.tokens or 0 for decision in context.decisions) == ledger.history
    assert list(ledger.sections) == list(context.sections)
    kept = {d.index for d in context.decisions if d.action in ("kept", "cleared")}
    assert {int(place) for change in context.changes for place in PLACES(change.path)} <= kept
    failed = [change for change in context.changes if change.reason.startswith("it failed")]
    assert failed == [], "every section was asked"
    assert msgspec.to_builtins(conversation) == before
    again = recipe.build(
        conversation, model=model, format=format, now=NOW, budget=budget, memories=MEMORIES
    )
    assert msgspec.json.encode(again.payload) == msgspec.json.encode(context.payload)
    question = newest_question(conversation.messages)
    if question is not None:
        assert context.decisions[question].action in ("kept", "cleared")


def built(
    recipe: Recipe, conversation: cw.Conversation, model: str, format: str, budget: int
) -> tuple[cw.Context, int]:
    """A context, and the budget it was built with: an error names the smallest that works."""

    def build(budget: int) -> cw.Context:
        return recipe.build(
            conversation, model=model, format=format, now=NOW, budget=budget, memories=MEMORIES
        )

    try:
        return build(budget), budget
    except BudgetError as error:
        least = error.minimum
    assert least > budget
    if least > 1:
        with pytest.raises(BudgetError) as again:
            build(least - 1)
        # A share of a larger budget is larger: there, not all that is more than enough is enough.
        if not any(isinstance(section.budget, float) for section in sections_of(recipe)):
            assert again.value.minimum == least
    return build(least), least


def sections_of(recipe: Recipe) -> list[Section]:
    return [section for section in recipe.system if not isinstance(section, str)]


def newest_question(messages: tuple[cw.Message, ...]) -> int | None:
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if message.role == "user" and message.visibility == "public" and not message.only_results:
            return place
    return None


turns = st.lists(
    st.one_of(texts.map(lambda text: [cw.user(text), cw.assistant(f"about {text}")]), exchanges()),
    min_size=1,
    max_size=6,
)


@given(turns, targets, st.booleans())
def test_while_nothing_is_dropped_the_next_request_extends_the_last(
    turns: list[list[cw.Message]], target: tuple[str, str], volatile: bool
) -> None:
    format, model = target
    system = ("You are kind.", CurrentTime()) if volatile else ("You are kind.",)
    recipe = Recipe(system=system)
    messages: list[cw.Message] = []
    previous = None
    for step, turn in enumerate(turns):
        messages.extend(turn)
        now = NOW + datetime.timedelta(minutes=step)
        request = [*messages, cw.user(f"question {step}")]
        assume(all(part for message in request for part in message.parts))
        context = recipe.build(request, model=model, format=format, now=now)
        if previous is not None:
            shared = context.compared_with(previous)
            assert shared.shared + shared.fresh == shared.tokens == context.ledger.tokens
            assert shared.fresh >= 0
            stable = previous.prefix[:-1]
            assert [unit.chain for unit in context.prefix[: len(stable)]] == [
                unit.chain for unit in stable
            ]
            assert shared.shared >= sum(unit.tokens for unit in stable)
        messages.append(cw.user(f"question {step}"))
        previous = context


def test_a_model_with_breakpoints_gets_one_on_its_system_text() -> None:
    recipe = Recipe(system=("You are kind.",))
    payload = recipe.build([cw.user("hi")], model="gpt-5.6-sol").payload
    marked = {
        "type": "text",
        "text": "You are kind.",
        "prompt_cache_breakpoint": {"mode": "explicit"},
    }
    assert payload["messages"][0] == {"role": "system", "content": [marked]}
    assert cw.check(payload, "openai-chat") == []
    unmarked = recipe.build([cw.user("hi")], model="gpt-4o").payload
    assert unmarked["messages"][0] == {"role": "system", "content": "You are kind."}


@pytest.mark.parametrize(
    ("model", "most"), [("claude-sonnet-4-5", 100), ("gpt-4o", 500), ("gemini-3.8-flash", 900)]
)
def test_media_stay_within_what_the_provider_takes(model: str, most: int) -> None:
    def picture(number: int) -> cw.Message:
        return cw.user(cw.Media("image", "image/png", url=f"https://example.com/{number}.png"))

    pictures = [picture(number) for number in range(most + 20)]
    history = [message for each in pictures for message in (each, cw.assistant("seen"))]
    payload = Recipe(budget=10_000_000).build([*history, cw.user("so?")], model=model).payload
    sent = str(payload).count("https://example.com/")
    assert most * 3 // 4 <= sent <= most


@pytest.mark.parametrize(
    ("format", "model"),
    [
        ("openai-chat", "gpt-4o"),
        ("openai-responses", "gpt-4o"),
        ("anthropic", "claude-sonnet-5-5"),
        ("gemini", "gemini-3.8-flash"),
        ("forge", None),
        ("port42", None),
    ],
)
def test_the_same_context_in_another_shape(format: str, model: str | None) -> None:
    chat = [each for n in range(40) for each in (cw.user(f"question {n}"), cw.assistant("yes"))]
    recipe = Recipe(system=("You are kind.", CurrentTime()))
    context = recipe.build([*chat, cw.user("newest")], model="gpt-4o", budget=200, now=NOW)
    rendered = context.render(format)
    said = str(rendered.payload)
    assert "question 39" in said
    assert "question 0" not in said, "what the window left out stays out"
    assert "The current time is" in said
    assert rendered.payload == cw.render(context.conversation, format, model=model).payload
    if format == context.format:
        bare = {key: value for key, value in context.payload.items() if key != "prompt_cache_key"}
        assert rendered.payload == bare
