"""A recorded conversation played request by request: its figures, its cache, what broke it."""

from __future__ import annotations

import datetime
from itertools import pairwise

import msgspec
import pytest

import contextwright as cw
from contextwright.context import recipe_files as recipes
from contextwright.context.recipe import Recipe
from contextwright.context.simulation.prompt_cache import Charge, PromptCache, dollars
from contextwright.context.simulation.simulate import (
    Request,
    Row,
    requests_of,
    sent_again,
    simulate,
    total,
)
from contextwright.models import Model, find
from contextwright.sections import CurrentTime
from contextwright.windows.decisions import Run
from contextwright.windows.policies import FirstAndRecent, KeepAll, KeepRecent
from paths import BENCHMARKS
from strategies.messages import MODELS

replace = msgspec.structs.replace
NOW = datetime.datetime(2026, 11, 15, 12, 0, tzinfo=datetime.UTC)

CHAT = [
    cw.system("Be brief."),
    cw.user("What is two plus two?"),
    cw.assistant("Four."),
    cw.user("And three plus three?"),
    cw.assistant("Six."),
    cw.user("And four plus four?"),
]
CALL = [
    cw.assistant(cw.ToolCall("add", {"a": 1}, id="c1")),
    cw.tool_result("c1", "2"),
]


# Requests


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([], []),
        ([cw.user("a")], [1]),
        ([cw.user("a"), cw.assistant("b")], [1]),
        (CHAT, [2, 4, 6]),
        ([cw.user("a"), *CALL, cw.assistant("b")], [1, 3]),
        ([cw.user("a"), *CALL], [1, 3]),
        ([cw.user("a"), cw.assistant("b"), cw.assistant("c"), cw.user("d")], [1, 4]),
        ([cw.assistant("welcome"), cw.user("a"), cw.assistant("b")], [2]),
        ([cw.system("s"), cw.assistant("welcome")], []),
        ([cw.user("a", visibility="hidden"), cw.assistant("b")], []),
        ([cw.user("a"), cw.assistant("b", visibility="internal"), cw.assistant("c")], [2]),
        ([cw.user("a"), cw.system("s"), cw.assistant("b"), cw.system("s")], [2]),
    ],
)
def test_every_reply_answered_what_stands_before_it(
    messages: list[cw.Message], expected: list[int]
) -> None:
    assert requests_of(messages) == expected


# Rows


def all_of(messages: int) -> tuple[Run, ...]:
    return (Run(0, messages, "kept", "recent"),)


def test_a_row_in_full() -> None:
    [row] = simulate(CHAT, [Recipe()], model="gpt-4o", budget=200)
    assert row == Row(
        "default",
        (
            Request(2, 20, 200, 0, Charge(0, 0, 20), 20 * 2.5 / 1e6, runs=all_of(2)),
            Request(
                4,
                35,
                200,
                17,
                Charge(0, 0, 35),
                35 * 2.5 / 1e6,
                again=17,
                waste=17 * (2.5 - 1.25) / 1e6,
                unread="a prefix of fewer than 1,024 tokens is not cached",
                runs=all_of(4),
            ),
            Request(
                6,
                50,
                200,
                32,
                Charge(0, 0, 50),
                50 * 2.5 / 1e6,
                again=32,
                waste=32 * (2.5 - 1.25) / 1e6,
                unread="a prefix of fewer than 1,024 tokens is not cached",
                runs=all_of(6),
            ),
        ),
    )
    assert row.summary() == {
        "recipe": "default",
        "requests": 3,
        "refused": 0,
        "invalid": 0,
        "over_budget": 0,
        "lost_questions": 0,
        "sent": 105,
        "shared": 49,
        "uncached": 56,
        "share": 0.4667,
        "fill": 0.175,
        "breaks": 0,
        "dollars": 0.000262,
    }
    assert row.sound


def test_recipes_side_by_side() -> None:
    sliding = Recipe(name="sliding", window=KeepRecent(1), note=None)
    rows = simulate(CHAT, [Recipe(), sliding], model="gpt-4o", budget=200)
    assert [(row.recipe, row.sent, row.shared, row.breaks) for row in rows] == [
        ("default", 105, 49, 0),
        ("sliding", 58, 14, 2),
    ]
    assert [request.cause for request in rows[1].requests] == [
        "",
        "the window moved",
        "the window moved",
    ]


def test_what_does_not_fit_is_refused_and_said() -> None:
    [row] = simulate(CHAT, [Recipe(window=KeepAll())], model="gpt-4o", budget=40)
    assert [request.messages for request in row.requests] == [2, 4]
    assert row.refused == 1
    assert row.summary()["requests"] == 3
    assert not row.sound


@pytest.mark.parametrize(
    "flaw",
    [{"errors": ("error X: wrong",)}, {"over_budget": True}, {"lost_question": True}],
)
def test_a_row_with_a_flaw_is_not_sound(flaw: dict[str, object]) -> None:
    request = Request(1, 10, 100, 0, Charge(0, 0, 10), None, **flaw)  # pyright: ignore
    row = Row("mine", (request, Request(2, 10, 100, 5, Charge(0, 0, 10), 0.5)))
    assert not row.sound
    assert row.invalid + row.over_budget + row.lost_questions == 1
    assert row.dollars is None, "an unknown price makes the sum unknown"
    assert row.summary()["dollars"] is None


def test_rows_of_several_conversations_are_one() -> None:
    rows = [simulate(CHAT, [Recipe()], model="gpt-4o", budget=budget)[0] for budget in (200, 15)]
    assert total(rows).summary() == {**rows[0].summary(), "requests": 6, "refused": 3}


def test_an_empty_conversation_has_no_requests() -> None:
    [row] = simulate([], [Recipe()], model="gpt-4o")
    assert (row.requests, row.share, row.dollars, row.sound) == ((), 1.0, 0, True)


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    simulate(CHAT, [Recipe(), Recipe()], model="gpt-4o", progress=lambda *done: told.append(done))
    assert told == [(done, 6) for done in range(1, 7)]


def test_every_message_is_priced_once() -> None:
    """A long run costs what its messages cost, not their square: no request counts them again."""
    messages = [message for _ in range(150) for message in (cw.user("a b c"), cw.assistant("d"))]
    [row] = simulate(messages, [Recipe()], model="gpt-4o", budget=300)
    assert len(row.requests) == 150
    assert row.sound


def test_tools_and_reply_tools_of_the_conversation_count() -> None:
    tool = cw.Tool("add", "Adds.", {"type": "object", "properties": {"a": {"type": "integer"}}})
    bare, tooled = (
        simulate(cw.Conversation(tuple(CHAT), tools), [Recipe()], model="gpt-4o")[0]
        for tools in ((), (tool,))
    )
    assert all(
        more.tokens > less.tokens for less, more in zip(bare.requests, tooled.requests, strict=True)
    )


# Clocks


def test_a_clock_in_the_system_text_breaks_every_turn() -> None:
    clock = Recipe(system=("Be kind.", CurrentTime()), placement="system")
    [row] = simulate(CHAT[1:], [clock], model="gpt-4o")
    assert [request.cause for request in row.requests] == [
        "",
        *["the system text changed: CurrentTime[1]"] * 2,
    ]


def test_the_clock_stands_while_tools_are_called() -> None:
    clock = Recipe(system=(CurrentTime(),), placement="system")
    [row] = simulate([cw.user("a"), *CALL, cw.assistant("b")], [clock], model="gpt-4o")
    assert [request.cause for request in row.requests] == ["", ""]


def test_questions_without_times_follow_a_minute_apart() -> None:
    seen: list[datetime.datetime | None] = []

    class Clock(cw.Section):
        def write(self, moment: cw.sections.SectionInput) -> str | None:
            seen.append(moment.now)
            return None

    simulate(
        [cw.user("a"), cw.assistant("b"), cw.user("c")], [Recipe(system=(Clock(),))], model="gpt-4o"
    )
    start = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)
    assert seen == [start + datetime.timedelta(minutes=minute) for minute in (1, 2)]


def test_recorded_times_are_told() -> None:
    times = [f"2026-11-15T12:0{minute}:00+00:00" for minute in (5, 5)]
    said = [cw.user("a", sent_at=times[0]), cw.assistant("b"), cw.user("c", sent_at=times[1])]
    clock = Recipe(system=(CurrentTime(),), placement="system")
    [row] = simulate(said, [clock], model="gpt-4o")
    assert [request.cause for request in row.requests] == ["", ""]


# What a provider's cache keeps


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-sonnet-5-5", 1_000 * 0.1 + 100 * 2.5 + 10 * 2),
        ("gpt-5.6-sol", 1_000 * 0.4 + 100 * 5 + 10 * 4),
        ("gpt-4o", 1_000 * 1.25 + 110 * 2.5),  # writing is free
        ("deepseek-chat", 1_110 * 0.28),  # no price for reading is known
    ],
)
def test_prices(model: str, expected: float) -> None:
    assert dollars(Charge(1_000, 100, 10), find(model)) == pytest.approx(expected / 1e6)


def test_one_request_without_a_price_leaves_the_sum_unknown() -> None:
    request = Request(1, 10, 100, 0, Charge(0, 0, 10), 0.5)
    known = Row("a", (request, request))
    assert known.dollars == 1.0
    assert Row("a", (request, replace(request, dollars=None))).dollars is None


def test_no_price_without_prices() -> None:
    assert dollars(Charge(1, 1, 1), find("nobody-knows")) is None


def small(name: str) -> Model:
    """A model whose cache takes the smallest prefixes."""
    return replace(find(name), cache_minimum=1)


def charges(messages: list[cw.Message], model: Model, recipe: Recipe | None = None) -> list[Charge]:
    return [
        request.charge
        for request in simulate(messages, [recipe or Recipe()], model=model)[0].requests
    ]


@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-5-5", "gemini-3.8-flash"])
def test_all_of_the_previous_request_is_read_again(model: str) -> None:
    [row] = simulate(CHAT, [Recipe()], model=small(model))
    assert [request.charge.read for request in row.requests] == [
        request.shared for request in row.requests
    ]
    assert row.requests[0].charge.read == 0
    for before, now in pairwise(row.requests):
        assert now.charge.read == before.charge.read + before.charge.written > 0
    for request in row.requests:
        assert request.charge.read + request.charge.written + request.charge.plain == request.tokens


@pytest.mark.parametrize("format", MODELS)
def test_short_prefixes_are_not_kept(format: str) -> None:
    model = replace(find(MODELS[format][-1]), cache_minimum=1_000)
    assert all(charge.read == charge.written == 0 for charge in charges(CHAT, model))


def test_anthropic_keeps_nothing_without_marks() -> None:
    model = small("claude-sonnet-5-5")
    assert all(charge.read == 0 for charge in charges(CHAT, model, Recipe(cache=False)))


def test_anthropic_reads_only_up_to_a_mark_others_any_prefix() -> None:
    """The first two messages stay, the rest moves: no mark stands behind the two."""
    said = [cw.system("Be brief."), cw.user("question")]
    for number in range(5):
        said += [cw.assistant(f"answer {number}"), cw.user(f"again {number}")]
    window = Recipe(window=FirstAndRecent(messages=6, first=2), note=None)
    [marked] = simulate(said, [window], model=small("claude-sonnet-5-5"))
    [automatic] = simulate(said, [window], model=small("gpt-4o"))
    last = marked.requests[-1]
    assert last.cause == "the window moved"
    assert 0 < last.charge.read < last.shared
    assert automatic.requests[-1].charge.read == automatic.requests[-1].shared > 0


def test_anthropic_looks_back_twenty_blocks() -> None:
    def read(calls: int, *, marked: bool) -> int:
        """What the second request reads, with or without a mark where the first one ended."""
        asked = [cw.ToolCall("add", {"a": number}, id=f"c{number}") for number in range(calls)]
        said = [cw.user("add them"), cw.assistant(asked)]
        said.extend(cw.tool_result(call.id or "", "1") for call in asked)
        model = small("claude-sonnet-5-5")
        cache = PromptCache("anthropic", model)
        cache.charge(Recipe().build(said[:1], model=model))
        context = Recipe().build(said, model=model)
        if not marked:
            context.payload["messages"][0]["content"][0].pop("cache_control", None)
        return cache.charge(context).read

    assert read(9, marked=False) > 0
    assert read(12, marked=False) == 0, (
        "12 calls and 12 results stand between this mark and the last"
    )
    assert read(12, marked=True) > 0


def test_a_mark_before_volatile_text_counts_as_the_end_of_the_message_before() -> None:
    clock = Recipe(system=("Be kind.", CurrentTime()))
    model = small("claude-sonnet-5-5")
    first, second, third = charges(CHAT[1:], model, clock)
    assert first.written > 0
    assert 0 < second.read < third.read, "all but the last question, whose clock has gone"


def test_the_cache_is_that_of_the_format_asked_for() -> None:
    model = small("claude-sonnet-5-5")
    assert PromptCache("anthropic", model).marked
    assert not PromptCache("openai-chat", model).marked


# What is promised


def test_figures_of_the_generated_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """On 200 turns with a budget of a twelfth, 92 % of all tokens lie in the last prefix."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    import caching  # pyright: ignore

    run = caching.agent_run(caching.TURNS)
    model = "claude-sonnet-5-5"
    budget = caching.tokens_of(run, model) // 12
    [row] = simulate(run, [recipes.find("default")], model=model, budget=budget)
    assert row.sound
    assert 400 <= len(row.requests) <= 460
    assert row.share >= 0.92


def test_what_is_sent_again_is_neither_new_nor_read() -> None:
    first = cw.Recipe(system=("Be brief.",), budget=500).build(cw.user("One?"), model="gpt-4o")
    said = [cw.user("One?"), cw.assistant("One."), cw.user("And two, and three?")]
    other = cw.Recipe(system=("Be kind.",), budget=500).build(said, model="gpt-4o")
    ledger = other.ledger
    new = sum(tokens for index, tokens in other.decisions.tokens.items() if index > 0)
    assert min(ledger.wrappers, new) > 0
    for read in (0, 3):
        again = sent_again(other, first, Charge(read, 0, 0))
        assert again + read + new + ledger.wrappers == ledger.tokens
    assert sent_again(other, first, Charge(ledger.tokens, 0, 0)) == 0
    assert sent_again(other, None, Charge(0, 0, 0)) == 0


@pytest.mark.parametrize(
    ("format", "model", "shared", "reason"),
    [
        ("anthropic", "claude-sonnet-5-5", 5_000, ""),
        ("anthropic", "claude-sonnet-5-5", 5_001, "no cache mark is within reach of its end"),
        ("openai-chat", "gpt-4o", 5_001, ""),
        ("openai-chat", "nobody-knows", 5_001, "this model has no prompt cache"),
    ],
)
def test_why_a_shared_prefix_was_not_read(
    format: str, model: str, shared: int, reason: str
) -> None:
    cache = PromptCache(format, find(model))
    assert cache.why_unread(shared, Charge(5_000, 0, 0)) == reason
