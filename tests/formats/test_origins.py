"""Every turn of a payload says which message it begins with."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.context.receipt import TURNS, bare

FORMATS = (
    "anthropic",
    "aya",
    "chatml",
    "contextwright",
    "forge",
    "gemini",
    "gryag",
    "openai-chat",
    "openai-responses",
    "port42",
)


def exchange(kind: str, number: int) -> list[cw.Message]:
    """Messages of a kind, with words that no other message has."""
    word = f"<{number}>"
    match kind:
        case "question":
            return [cw.user(word)]
        case "answer":
            return [cw.assistant(word)]
        case _:
            calls = [cw.ToolCall("look", {"at": f"{word} {id}"}, f"{word} {id}") for id in "ab"]
            results = [cw.ToolResult(call.id or "", f"{word} found") for call in calls]
            return [cw.assistant([cw.Text(word), *calls]), cw.Message("tool", tuple(results))]


@given(
    kinds=st.lists(st.sampled_from(["question", "answer", "calls"]), min_size=1, max_size=12),
    format=st.sampled_from(FORMATS),
    system=st.booleans(),
)
def test_a_turn_begins_with_its_origin(kinds: list[str], format: str, system: bool) -> None:
    messages = [cw.system("Be brief.")] if system else []
    for number, kind in enumerate(kinds):
        messages += exchange(kind, number)
    rendered = cw.render(messages, format)
    body = rendered.payload if isinstance(rendered.payload, dict) else bare(rendered.payload)
    turns = next(body[field] for field in TURNS if field in body)
    assert len(rendered.origins) == len(turns)
    assert list(rendered.origins) == sorted(rendered.origins)
    assert_words_at_home(messages, turns, rendered.origins)


def assert_words_at_home(
    messages: Sequence[cw.Message], turns: Sequence[object], origins: Sequence[int]
) -> None:
    """Assert that a turn holds the words of its origin, unless a rule invented it."""
    for turn, origin in zip(turns, origins, strict=True):
        text = json.dumps(turn, ensure_ascii=False)
        word = messages[origin].text[:3] or (messages[origin].results[0].call_id or "")[:3]
        others = {f"<{number}>" for number in range(12)} - {word}
        assert word in text or not any(other in text for other in others)


@pytest.mark.parametrize("format", FORMATS)
def test_the_prefix_of_a_context_names_messages(format: str) -> None:
    messages = [one for n in range(8) for one in (cw.user(f"Q{n} " * 40), cw.assistant(f"A{n}"))]
    recipe = cw.Recipe(system=["Be brief."], budget=400)
    context = recipe.build([*messages, cw.user("Last?")], model="gpt-4o", format=format)
    kept = {index + 1 for index in context.decisions.kept()}
    named = [unit.seq for unit in context.prefix if unit.seq is not None]
    assert kept.issuperset(named)
    assert named[-1] == len(messages) + 1
    assert len(kept) < len(messages)
    assert all(unit.seq is None for unit in context.prefix if not unit.place.endswith("]"))
