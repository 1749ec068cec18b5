"""What counts once got wrong, by number; the laws are in tokens/test_laws."""

from __future__ import annotations

from typing import Any

import pytest

import contextwright as cw
from contextwright.tokens.count import Count, count_pieces
from contextwright.tokens.pieces import pieces

HELLO: dict[str, Any] = {"messages": [{"role": "user", "content": "hello"}]}
ASKED: dict[str, Any] = {"input": "hello"}
USER = {"role": "user", "content": "hello"}


def count(payload: Any, format: str, model: str) -> Count:
    return count_pieces(pieces(payload, format), model, format=format)


def test_2_count_reads_a_body_in_its_own_format() -> None:
    body = {"input": "hello " * 50, "instructions": "Be brief."}
    counted = cw.count(body, model="gpt-5")
    assert counted == cw.count(body, model="gpt-5", format="openai-responses")
    assert counted.exact
    assert counted.tokens > 50
    chat = cw.count(HELLO, model="google/gemini-2.5-flash")
    assert chat == cw.count(HELLO, model="google/gemini-2.5-flash", format="openai-chat")
    assert chat.tokens > 0
    assert not chat.exact


@pytest.mark.parametrize(
    ("payload", "format", "exact"),
    [
        (HELLO, "openai-chat", True),
        ({**HELLO, "temperature": 0, "stream": True, "user": "u"}, "openai-chat", True),
        ({**HELLO, "prediction": {"type": "content", "content": "x"}}, "openai-chat", False),
        ({**HELLO, "prediction": None, "future": []}, "openai-chat", True),
        ({"messages": [{**USER, "mood": "x"}]}, "openai-chat", False),
        (ASKED, "openai-chat", False),
        (ASKED, "openai-responses", True),
        ({**ASKED, "reasoning": {"effort": "low", "summary": "auto"}}, "openai-responses", True),
        ({**ASKED, "reasoning": {"mode": "pro"}}, "openai-responses", False),
        ({**ASKED, "text": {"verbosity": "low"}}, "openai-responses", False),
        ({**ASKED, "budget": {"tokens": 9}}, "openai-responses", False),
        ({"input": [{**USER, "cost": 3}]}, "openai-responses", False),
        (
            {**ASKED, "context_management": [{"type": "compaction", "compact_threshold": 9_000}]},
            "openai-responses",
            False,
        ),
    ],
)
def test_13_no_count_is_exact_with_a_field_of_unknown_price(
    payload: Any, format: str, exact: bool
) -> None:
    counted = count(payload, format, "gpt-5")
    assert counted.exact is exact
    assert (counted.bound > 0) is not exact
    assert not counted.at_least


@pytest.mark.parametrize(
    ("payload", "format", "place"),
    [
        ({**ASKED, "tools": [{"type": "web_search"}]}, "openai-responses", "tools"),
        ({**ASKED, "previous_response_id": "r"}, "openai-responses", "previous_response_id"),
        ({"input": [{"type": "web_search_call", "id": "w"}]}, "openai-responses", "input[0]"),
        ({**HELLO, "container": "c"}, "anthropic", "container"),
        ({**HELLO, "mcp_servers": [{"url": "x"}]}, "anthropic", "mcp_servers"),
        ({**HELLO, "tools": [{"type": "bash_20250124", "name": "bash"}]}, "anthropic", "tools"),
        ({**HELLO, "output_config": {"task_budget": {"total": 9}}}, "anthropic", "task_budget"),
        (
            {"messages": [{"role": "user", "content": [{"type": "server_tool_use", "id": "s"}]}]},
            "anthropic",
            "messages[0]",
        ),
        ({"contents": [], "tools": [{"google_search": {}}]}, "gemini", "tools"),
    ],
)
def test_13_where_the_provider_adds_tokens_a_count_says_at_least(
    payload: Any, format: str, place: str
) -> None:
    model = {"anthropic": "claude-sonnet-4-5", "gemini": "gemini-2.5-flash"}.get(format, "gpt-5")
    counted = count(payload, format, model)
    assert counted.at_least
    assert counted.unseen == (place,)
    assert not counted.exact
    assert str(counted).startswith("at least ")
    assert str(counted).endswith(f"plus what the provider adds for {place}")


SONNET = "claude-sonnet-4-5"
FOUND = {
    "type": "search_result",
    "source": "https://example.org",
    "title": "Lunch",
    "content": [{"type": "text", "text": "Soup is served at noon."}],
}


def claude(*blocks: Any) -> Any:
    return {"messages": [{"role": "user", "content": list(blocks)}]}


def test_14_citations_on_search_results_are_explained_to_claude() -> None:
    """Once 167 tokens were counted of 682."""
    cited = {**FOUND, "citations": {"enabled": True}}
    plain = count(claude(FOUND), "anthropic", SONNET)
    assert plain.tokens < 80
    assert count(claude(cited), "anthropic", SONNET).tokens == plain.tokens + 504
    result = {"type": "tool_result", "tool_use_id": "t", "content": [cited]}
    inside = count(claude(result), "anthropic", SONNET)
    assert inside.tokens == plain.tokens + 504 + 22


@pytest.mark.parametrize(
    ("edit", "cleared"),
    [
        ({"type": "clear_tool_uses_20250919"}, False),
        ({"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": 3}}, True),
        (
            {"type": "clear_tool_uses_20250919", "trigger": {"type": "input_tokens", "value": 5}},
            True,
        ),
        ({"type": "compact_20260112"}, False),
    ],
)
def test_14_edits_lower_the_bound_once_they_start(edit: Any, cleared: bool) -> None:
    body = {"messages": [{"role": "user", "content": "Tell me about soup. " * 50}]}
    counted = count({**body, "context_management": {"edits": [edit]}}, "anthropic", SONNET)
    assert (counted.least == 0) is cleared
    assert not counted.exact


def test_14_gemini_s_schemas_with_definitions_cost_what_they_expand_to() -> None:
    """Once 360 tokens were counted of 776."""
    address = {"type": "object", "properties": {"city": {"type": "string"}}}
    reference = {"$ref": "#/$defs/Address"}
    flat = {"type": "object", "properties": {"from": address, "to": address}}
    named = {**flat, "properties": {"from": reference, "to": reference}}
    for model in ("gemini-2.0-flash", "gemini-2.5-flash", "gemini-3.8-flash"):
        costs: set[int] = set()
        for schema in (flat, {**named, "$defs": {"Address": address}}):
            declared = {"name": "f", "parameters": schema}
            body = {"contents": [], "tools": [{"functionDeclarations": [declared]}]}
            costs.add(count(body, "gemini", model).tokens)
        assert len(costs) == 1


def test_14_claude_is_told_a_thinking_budget_and_nothing_of_adaptive_thinking() -> None:
    plain, adaptive, budget = (
        count({**HELLO, **thinking}, "anthropic", SONNET).tokens
        for thinking in (
            {},
            {"thinking": {"type": "adaptive"}},
            {"thinking": {"type": "enabled", "budget_tokens": 2_000}},
        )
    )
    assert adaptive == plain
    assert budget == plain + 29


def test_14_what_claude_is_told_of_a_task_budget_is_not_seen() -> None:
    body = {**HELLO, "output_config": {"task_budget": {"type": "tokens", "total": 20_000}}}
    counted = count(body, "anthropic", "claude-opus-5")
    assert (counted.at_least, counted.unseen) == (True, ("task_budget",))
