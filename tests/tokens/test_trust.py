"""What a count says about itself: exact, a bound, at least."""

from __future__ import annotations

from typing import Any

import pytest

import contextwright as cw
from contextwright import models
from contextwright.tokens.count import Count, count_pieces
from contextwright.tokens.pieces import body_format, pieces

HELLO: dict[str, Any] = {"messages": [{"role": "user", "content": "hello"}]}
ASKED: dict[str, Any] = {"input": "hello"}
USER = {"role": "user", "content": "hello"}


def count(payload: Any, format: str, model: str) -> Count:
    return count_pieces(pieces(payload, format), model, format=format)


def test_a_model_with_tools_of_its_own_adds_tokens() -> None:
    counted = cw.count(HELLO, model="groq/compound-mini")
    assert (counted.at_least, counted.unseen) == (True, ("model",))


def test_a_count_reads_as_what_it_knows() -> None:
    assert str(Count(100, bound=0.5, below=30)) == "100 tokens (−50 % +20 %)"
    assert str(Count(100, bound=1.1, below=100)) == "100 tokens (−100 % +10 %)"
    assert (Count(100, bound=0.5, below=30).least, Count(100, bound=0.5, below=30).most) == (
        50,
        120,
    )
    assert str(Count(9, bound=0.1, unseen=("tools",), at_least=True)) == (
        "at least 9 tokens (±10 %), plus what the provider adds for tools"
    )


SONNET = "claude-sonnet-4-5"


def claude(*blocks: Any) -> Any:
    return {"messages": [{"role": "user", "content": list(blocks)}]}


def thought(question: str | None) -> Any:
    blocks = [
        {"type": "thinking", "thinking": "Soup or salad? " * 50, "signature": "s"},
        {"type": "redacted_thinking", "data": "A" * 2_000},
        {"type": "text", "text": "Soup."},
    ]
    messages = [USER, {"role": "assistant", "content": blocks}]
    if question is not None:
        messages.append({"role": "user", "content": question})
    return {"messages": messages}


def test_reasoning_before_the_newest_question_is_free_where_it_is_dropped() -> None:
    current, past = (count(thought(asked), "anthropic", SONNET) for asked in (None, "Why?"))
    assert current.places["messages[1]"] > 500
    assert past.places["messages[1]"] == 8
    kept = {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}
    told = count({**thought("Why?"), "context_management": kept}, "anthropic", SONNET)
    assert told.places["messages[1]"] == current.places["messages[1]"]
    newer = count(thought("Why?"), "anthropic", "claude-opus-4-6")
    assert newer.places["messages[1]"] == current.places["messages[1]"]
    assert newer.least < past.tokens


def test_a_compaction_stands_for_all_items_before_it() -> None:
    sealed = {"type": "compaction", "encrypted_content": "A" * 2_800}
    after = [sealed, {"role": "user", "content": "And now?"}]
    whole = count({"input": [USER, *after]}, "openai-responses", "gpt-4.1")
    assert whole.tokens == count({"input": after}, "openai-responses", "gpt-4.1").tokens
    assert whole.places.keys() == {"request", "input[1]", "input[2]"}


def test_an_image_of_unknown_size_may_cost_less_but_not_more() -> None:
    part = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    counted = count({"messages": [{"role": "user", "content": [part]}]}, "openai-chat", "gpt-4o")
    assert counted.least < 20
    assert counted.most < counted.tokens * 1.15


# The format of a body, by its own keys.

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("payload", "usual", "format"),
    [
        (HELLO, "openai-chat", "openai-chat"),
        (HELLO, "anthropic", "anthropic"),
        (HELLO, "gemini", "openai-chat"),
        (HELLO, "openai-responses", "openai-chat"),
        (ASKED, "openai-chat", "openai-responses"),
        ({"input": [], "instructions": "x"}, "anthropic", "openai-responses"),
        ({"previous_response_id": "r"}, "openai-chat", "openai-responses"),
        ({"contents": []}, "openai-chat", "gemini"),
        ({"systemInstruction": {"parts": []}}, "anthropic", "gemini"),
        ({**HELLO, "system": "x"}, "openai-chat", "anthropic"),
        ({**HELLO, "thinking": {"type": "adaptive"}}, "openai-chat", "anthropic"),
        ({**HELLO, "thinking": {"type": "enabled"}}, "openai-chat", "openai-chat"),
        ({**HELLO, "thinking": {"type": "enabled"}}, "anthropic", "anthropic"),
        (
            {**HELLO, "thinking": {"type": "enabled", "budget_tokens": 2_048}, "stop": "END"},
            "openai-chat",
            "openai-chat",
        ),
        (claude({"type": "thinking", "thinking": "Hm"}), "openai-chat", "anthropic"),
        (claude({"type": "thinking", "thinking": []}), "openai-chat", "openai-chat"),
        ({**HELLO, "tools": [{"name": "f", "input_schema": {}}]}, "openai-chat", "anthropic"),
        (claude({"type": "tool_result", "tool_use_id": "t"}), "openai-chat", "anthropic"),
        ({**HELLO, "tools": [{"type": "function", "function": {}}]}, "anthropic", "openai-chat"),
        ({**HELLO, "max_completion_tokens": 9}, "anthropic", "openai-chat"),
        ({"messages": [{"role": "assistant", "tool_calls": [CALL]}]}, "anthropic", "openai-chat"),
        (claude({"type": "image_url", "image_url": "x"}), "anthropic", "openai-chat"),
        ([USER], "openai-chat", "openai-chat"),
        ([USER], "openai-responses", "openai-responses"),
        ([USER], "gemini", "openai-chat"),
        ([{"type": "function_call", "name": "f"}], "openai-chat", "openai-responses"),
        ([{"role": "user", "parts": []}], "openai-chat", "gemini"),
        ({}, "gemini", "gemini"),
    ],
)
def test_the_format_of_a_body_is_found_by_its_keys(payload: Any, usual: str, format: str) -> None:
    assert body_format(payload, usual) == format


def test_a_model_whose_rates_nobody_knows_is_counted_with_the_generic_ones() -> None:
    generic, unknown = (
        cw.count(HELLO, model=models.Model(id="house-7b", rates=rates))
        for rates in ("generic", "nobody's")
    )
    assert unknown == generic
    assert unknown.tokens > 1


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({}, "messages"),
        ({"messages": 3}, "messages"),
        ({"messages": "hello there"}, "messages"),
        ({"messages": ["hello there"]}, "messages[0]"),
        ({"messages": [{"content": "hello there"}]}, "messages[0].role"),
        ({**HELLO, "tools": 3}, "tools"),
        ({"input": {"text": "hello there"}}, "input"),
        ({"input": "hello", "instructions": 5}, "instructions"),
    ],
)
def test_no_count_is_exact_of_what_is_no_request(body: Any, place: str) -> None:
    format = "openai-responses" if "input" in body else "openai-chat"
    counted = cw.count(body, model="gpt-4o", format=format)
    assert not counted.exact
    assert counted.at_least
    assert place in counted.unseen


ONE, TWO = {"type": "text", "text": "Hi"}, {"type": "text", "text": " there"}


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("Hi", [("text", "Hi")]),
        ([ONE], [("text", "Hi")]),
        ([ONE, TWO], [("text", "Hi there"), ("untried", "")]),
        ([ONE, {"type": "refusal", "refusal": "No"}], [("text", "HiNo"), ("untried", "")]),
    ],
)
def test_only_texts_side_by_side_were_never_measured(
    content: Any, found: list[tuple[str, str]]
) -> None:
    payload = {"messages": [{"role": "user", "content": content}]}
    said = [(one.kind, one.value) for one in pieces(payload, "openai-chat")]
    assert [one for one in said if one[0] in ("text", "untried")] == found


HI, NO = {"role": "user", "content": "Hi"}, {"type": "refusal", "refusal": "No"}
ASKED_WITH = {"id": "a", "type": "custom", "custom": {"name": "f", "input": "x"}}
UNTRIED: dict[str, list[dict[str, Any]]] = {
    "a refusal": [{"role": "assistant", "content": None, "refusal": "No"}],
    "a refusal as a part": [{"role": "assistant", "content": [NO]}],
    "a call of a custom tool": [
        {"role": "assistant", "content": None, "tool_calls": [ASKED_WITH]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
    ],
    "a call in the old style": [
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "1"},
    ],
}


@pytest.mark.parametrize("name", UNTRIED)
def test_no_count_is_exact_of_what_no_recording_shows(name: str) -> None:
    messages = [HI, *UNTRIED[name], HI]
    counted = cw.count({"model": "gpt-4o", "messages": messages}, model="gpt-4o")
    assert (counted.exact, counted.unseen) == (False, ())
    assert cw.count({"model": "gpt-4o", "messages": [HI]}, model="gpt-4o").exact


@pytest.mark.parametrize("said", [{"content": [NO]}, {"content": "No", "phase": "commentary"}])
def test_no_count_of_a_response_is_exact_of_what_no_recording_shows(said: dict[str, Any]) -> None:
    body = {"model": "gpt-5.6-sol", "input": [HI, {"role": "assistant", **said}, HI]}
    assert not cw.count(body, model="gpt-5.6-sol").exact
    plain = {**body, "input": [HI, {"role": "assistant", "content": "No"}, HI]}
    assert cw.count(plain, model="gpt-5.6-sol").exact


FUNCTION = {"type": "function", "name": "f", "parameters": {"type": "object"}}
GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "start: WORD+ " * 50}
NESTED = {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: WORD+ " * 50}}


@pytest.mark.parametrize(
    ("payload", "format", "bare"),
    [
        (
            {"type": "namespace", "name": "n", "description": "words " * 99, "tools": [FUNCTION]},
            "openai-responses",
            FUNCTION,
        ),
        (
            {"type": "custom", "name": "f", "format": GRAMMAR},
            "openai-responses",
            {"type": "custom", "name": "f"},
        ),
        (
            {"type": "custom", "custom": {"name": "f", "format": NESTED}},
            "openai-chat",
            {"type": "custom", "custom": {"name": "f"}},
        ),
    ],
)
def test_what_is_said_of_tools_beside_their_definition_is_counted(
    payload: Any, format: str, bare: Any
) -> None:
    """A grammar, or the description of a namespace; nobody knows how they are shown."""
    asked = ASKED if format == "openai-responses" else HELLO
    counted = count({**asked, "tools": [payload]}, format, "gpt-5")
    assert counted.tokens >= count({**asked, "tools": [bare]}, format, "gpt-5").tokens + 99
    assert (counted.at_least, counted.unseen) == (True, ("tools",))


def test_a_format_that_nobody_knows_is_refused() -> None:
    for value in ("hello", [cw.user("hello")], HELLO):
        with pytest.raises(cw.UsageError, match="unknown format 'chat'"):
            cw.count(value, model="gpt-5", format="chat")
