"""Laws of counting: sums, bounds, and what may be called exact."""

from __future__ import annotations

import json
import random
import statistics
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwright.tokens.count import Calibration, Count, count_pieces, count_text
from contextwright.tokens.pieces import message_pieces, pieces
from contextwright.tokens.pieces.piece import compact
from paths import BENCHMARKS, benchmark
from samples.counts import FORMATS, SIMPLE, WEATHER, count, request_of


def list_of(payload: Any) -> list[Any]:
    return payload.get("messages") or payload.get("contents") or payload.get("input")


@pytest.mark.parametrize("format", FORMATS)
@given(texts=st.lists(st.text(max_size=60), min_size=1, max_size=5))
def test_a_request_costs_the_sum_of_its_places(format: str, texts: list[str]) -> None:
    payload = request_of(format, texts)
    whole = count(payload, format)
    assert whole.tokens == sum(whole.places.values())
    alone = [
        count_pieces(message_pieces(message, format), FORMATS[format], format=format).tokens
        for message in list_of(payload)
    ]
    others = {place: cost for place, cost in whole.places.items() if "[" not in place}
    assert whole.tokens == sum(alone) + sum(others.values())


@given(st.text(max_size=200))
def test_bounds_make_sense(text: str) -> None:
    for model in ("gpt-4o", "claude-sonnet-4-5", "claude-opus-5", "gemini-2.5-flash", "house-1"):
        counted = count_text(text, model)
        assert counted.exact == (counted.bound == 0)
        assert counted.most >= counted.tokens >= 0


def test_exact_only_where_the_model_is_known() -> None:
    assert count_text("Hello", "gpt-4o").exact
    assert count_text("Hello", "gpt-4o-2024-08-06").exact
    assert not count_text("Hello", "gpt-4o-unheard-of").exact
    assert not count_text("Hello", "gpt-9").exact
    assert not count_text("Hello", "claude-sonnet-4-5").exact
    assert not count_text("Hello", "gemini-2.5-flash").exact


TEXT = {"type": "text", "text": "hello"}

TALK = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "hello"},
    {"role": "assistant", "content": "Hello!"},
    {"role": "user", "content": "bye"},
]

CALLED = {"id": "c", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}

EXCHANGE = [
    TALK[1],
    {"role": "assistant", "content": None, "tool_calls": [CALLED]},
    {"role": "tool", "tool_call_id": "c", "content": "found"},
]


@pytest.mark.parametrize(
    ("payload", "format", "model", "exact"),
    [
        ({"messages": TALK}, "openai-chat", "gpt-4o", True),
        ({"messages": TALK}, "openai-chat", "o3-mini", True),
        ({"messages": TALK[:2]}, "openai-chat", "gpt-5", True),
        ({"input": TALK, "instructions": "Be brief."}, "openai-responses", "gpt-4.1", True),
        ({"input": TALK}, "openai-responses", "gpt-5", True),
        ({"messages": EXCHANGE, "tools": [SIMPLE]}, "openai-chat", "gpt-4o", True),
        ({"messages": EXCHANGE, "tools": [SIMPLE]}, "openai-chat", "gpt-5", True),
        # Through another host, who may frame it otherwise.
        ({"messages": TALK}, "openai-chat", "openai/gpt-4o", False),
        ({"input": TALK}, "openai-responses", "openai.gpt-5.5", False),
        # What no recording shows, or not often enough.
        ({"messages": [*EXCHANGE, {**EXCHANGE[1], "content": "So:"}]}, "openai-chat", None, False),
        ({"messages": [{"role": "user", "content": [TEXT, TEXT]}]}, "openai-chat", None, False),
        ({"messages": TALK, "tools": [WEATHER]}, "openai-chat", None, False),
        ({"messages": [TALK[1]], "tools": [SIMPLE]}, "openai-chat", "gpt-4", False),
        ({"input": "hi", "tools": [SIMPLE["function"]]}, "openai-responses", "gpt-4o", False),
        # What the provider adds.
        ({"messages": TALK, "web_search_options": {"x": 1}}, "openai-chat", None, False),
        ({"messages": TALK}, "openai-chat", "gpt-4o-search-preview", False),
        ({"messages": TALK}, "openai-chat", "o1-mini", False),
        ({"input": "hi", "context_management": [{}]}, "openai-responses", None, False),
    ],
)
def test_exact_is_claimed_only_with_reason(
    payload: Any, format: str, model: str | None, exact: bool
) -> None:
    counted = count(payload, format, model)
    assert counted.exact is exact
    assert (counted.bound > 0) is not exact


def test_what_gpt_5_said_is_marked_with_a_channel() -> None:
    said, asked = ({"role": role, "content": "hello"} for role in ("assistant", "user"))
    for format in ("openai-chat", "openai-responses"):
        for model, more in (("gpt-5", 2), ("gpt-4.1", 0), ("o3-mini", 0)):
            costs = [
                count_pieces(message_pieces(message, format), model, format=format).tokens
                for message in (said, asked)
            ]
            assert costs[0] - costs[1] == more


@given(
    arguments=st.dictionaries(st.text(max_size=9), st.lists(st.integers() | st.text(max_size=9)))
)
def test_spaces_in_arguments_cost_nothing_at_openai(arguments: dict[str, Any]) -> None:
    costs = set()
    for separators in ((",", ":"), (", ", ": ")):
        spelled = json.dumps(arguments, ensure_ascii=False, separators=separators)
        call = {**CALLED, "function": {"name": "f", "arguments": spelled}}
        costs.add(count([{"role": "assistant", "tool_calls": [call]}], "openai-chat").tokens)
    assert len(costs) == 1


def test_arguments_that_are_no_json_stay_as_they_are() -> None:
    for text in ("{a: 1", "[" * 5_000 + "1, 2", '"\ud83d": ', "x, y"):
        assert compact(text) == text
    assert compact('{"a": [1, 2], "b": "c: d"}') == '{"a":[1,2],"b":"c: d"}'


def test_claude_s_bound_is_wider_where_nothing_was_recorded() -> None:
    latin = count_text("The committee will publish its findings. " * 20, "claude-sonnet-4-5")
    cyrillic = count_text("Комітет оприлюднить свої висновки. " * 20, "claude-sonnet-4-5")
    assert latin.bound < 0.16 < 0.25 < cyrillic.bound
    both = [{"role": "user", "content": "Комітет оприлюднить свої висновки. " * 20}]
    assert count({"messages": both}, "anthropic").bound > 0.25


def test_recorded_requests(data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)
    from counting import counted, recordings

    path = recordings(data_folder)
    if path is None:
        pytest.skip("no recorded requests in the data folder")
    every = [row for row in counted(path) if row.provider != "elsewhere"]
    every = [row for row in every if "by hand" not in row.content]
    assert [row for row in every if row.count.exact and not row.right] == []
    assert sum(row.under or row.over for row in every) <= 0.01 * len(every)
    visible = [row for row in every if row.content in ("plain", "tools", "schema", "reasoning")]
    for provider, most in (("anthropic", 0.02), ("google", 0.04), ("openai", 0.0)):
        errors = [abs(row.error) for row in visible if row.provider == provider]
        assert statistics.median(errors) <= most
    rows = [row for row in counted(path) if row.content in ("plain", "tools")]
    ours = [row for row in rows if row.provider == "openai"]
    assert len(ours) > 50
    assert sum(row.right for row in ours) >= 0.95 * len(ours)
    assert [row for row in rows if row.count.exact and not row.right] == []
    assert sum(row.under for row in rows if row.provider != "elsewhere") <= 0.01 * len(rows)


def test_constants_are_found_again() -> None:
    fitting = benchmark("counts/fitting")
    Sample, cross_validated, fitted = fitting.Sample, fitting.cross_validated, fitting.fitted
    dice = random.Random(20261115)
    constants = {"request": 5.0, "message": 3.0, "gpt-5 tools": 96.0, "factor": 1.25}
    samples: list[Any] = []
    for number in range(40):
        messages, words = float(dice.randint(1, 9)), float(dice.randint(50, 900))
        charged = {"request": 1.0, "message": messages, "factor": words}
        if number % 2:
            charged["gpt-5 tools"] = 1.0
        sample = Sample("group", charged, constants, 0.0, 0)
        sample.actual = round(sample.cost(constants)) + (500 if number == 7 else 0)
        samples.append(sample)
    assert fitted(samples) == pytest.approx(constants, abs=0.5)
    assert sorted(cross_validated(samples)[0].unseen)[:-1] == pytest.approx([0.0] * 39, abs=0.01)


def test_how_a_count_reads() -> None:
    assert str(Count(1234, exact=True)) == "1,234 tokens (exact)"
    assert str(Count(1234, bound=0.117)) == "1,234 tokens (±12 %)"
    stored = count({"input": "hello", "previous_response_id": "resp_1"}, "openai-responses")
    assert stored.unseen == ("previous_response_id",)
    assert not stored.exact
    assert str(stored).endswith("plus what the provider adds for previous_response_id")


@pytest.mark.parametrize(
    ("payload", "format", "place"),
    [
        ({"input": [{"type": "item_reference", "id": "x"}]}, "openai-responses", "input[0]"),
        ({"input": "x", "tools": [{"type": "web_search"}]}, "openai-responses", "tools"),
        ({"messages": [], "web_search_options": {"x": 1}}, "openai-chat", "web_search_options"),
        (
            {"messages": [{"content": [{"type": "file", "file": {"file_id": "f"}}]}]},
            "openai-chat",
            "messages[0]",
        ),
        (
            {"messages": [{"content": [{"type": "document", "source": {"type": "file"}}]}]},
            "anthropic",
            "messages[0]",
        ),
        (
            {"contents": [{"parts": [{"file_data": {"file_uri": "gs://x/y.mp4"}}]}]},
            "gemini",
            "contents[0]",
        ),
        ({"contents": [], "cached_content": "c"}, "gemini", "cachedContent"),
    ],
)
def test_what_only_the_provider_can_see_is_said(payload: Any, format: str, place: str) -> None:
    assert count(payload, format).unseen == (place,)


def test_gemini_in_both_spellings() -> None:
    camel = {
        "systemInstruction": {"parts": [{"text": "Be kind."}]},
        "contents": [
            {"parts": [{"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "x"}]},
            {"parts": [{"functionResponse": {"name": "f", "response": {"ok": True}}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": {"a": 1}}]}],
    }
    snake = {
        "system_instruction": {"parts": [{"text": "Be kind."}]},
        "contents": [
            {
                "parts": [
                    {"function_call": {"name": "f", "args": {"a": 1}}, "thought_signature": "x"}
                ]
            },
            {"parts": [{"function_response": {"name": "f", "response": {"ok": True}}}]},
        ],
        "tools": [{"function_declarations": [{"name": "f", "parameters_json_schema": {"a": 1}}]}],
    }
    assert pieces(camel, "gemini") == pieces(snake, "gemini")
    assert count(camel, "gemini") == count(snake, "gemini")


# Calibration.


def test_calibration_learns_a_steady_error() -> None:
    calibration = Calibration()
    text = "The quick brown fox jumps over the lazy dog. " * 30
    plain = count_text(text, "claude-sonnet-4-5")
    actual = round(plain.tokens * 1.2)
    for _ in range(40):
        counted = count_text(text, "claude-sonnet-4-5", calibration=calibration)
        calibration = calibration.learn(counted.tokens, actual)
    counted = count_text(text, "claude-sonnet-4-5", calibration=calibration)
    assert abs(counted.tokens - actual) <= 0.03 * actual
    assert counted.bound < plain.bound / 2
    assert counted.tokens * (1 - counted.bound) <= actual <= counted.most


def test_calibration_stays_careful_when_errors_scatter() -> None:
    steady = scattered = Calibration()
    for step in range(30):
        steady = steady.learn(1000, 1000)
        scattered = scattered.learn(1000, 800 if step % 2 else 1200)
    assert scattered.bound(0.15) > 2 * steady.bound(0.15)


def test_calibration_is_a_value_and_leaves_exact_counts_alone() -> None:
    start = Calibration()
    assert start.learn(100, 150) != start == Calibration()
    assert start.learn(0, 10) is start
    learned = start.learn(100, 200)
    assert count_text("Hello", "gpt-4o", calibration=learned) == count_text("Hello", "gpt-4o")
    found = pieces({"messages": [{"role": "user", "content": "Hi there"}]}, "anthropic")
    counted = count_pieces(found, "claude-sonnet-4-5", calibration=learned)
    assert counted.tokens == sum(counted.places.values())
