"""The output limit of a built request: the recipe's, the conversation's own, or 1,024."""

from typing import Any

import pytest

import contextwright as cw

REPLACED = "repair.setting max_tokens: the recipe's answer of 2,000 instead of 8,000"


@pytest.mark.parametrize("model", ["claude-sonnet-5-5", "gpt-4o", "gemini-3.8-flash"])
@pytest.mark.parametrize(
    ("own", "answer", "limit", "changes"),
    [
        (None, None, 1_024, []),
        (None, 2_000, 2_000, []),
        (8_000, None, 8_000, []),
        (8_000, 8_000, 8_000, []),
        (8_000, 2_000, 2_000, [REPLACED]),
    ],
)
def test_a_limit_is_kept_or_its_change_is_said(
    model: str, own: int | None, answer: int | None, limit: int, changes: list[str]
) -> None:
    chat = cw.Conversation((cw.user("Hello"),), settings=cw.Settings(max_tokens=own))
    context = cw.build(chat, cw.Recipe(answer=answer), model=model)
    payload = context.payload
    fields: dict[str, Any] = payload.get("generationConfig", payload)
    assert [value for field, value in fields.items() if field.startswith("max")] == [limit]
    assert [str(change) for change in context.changes] == changes
    assert context.ledger.budget == context.model.max_input - limit


@pytest.mark.parametrize(
    ("model", "own", "reserved"),
    [
        ("gpt-4o", 128_000, 16_384),  # all that it can write
        ("gpt-4", 8_192, 4_096),  # half of what it can read
        ("llama-9", 1_000_000, 64_000),
    ],
)
def test_the_highest_limit_leaves_room_for_a_request(model: str, own: int, reserved: int) -> None:
    chat = cw.Conversation((cw.user("Hello"),), settings=cw.Settings(max_tokens=own))
    context = cw.build(chat, cw.Recipe(), model=model)
    assert context.ledger.budget == context.model.max_input - reserved


def test_an_answer_that_leaves_no_room_is_refused() -> None:
    with pytest.raises(cw.UsageError, match="answer 128,000 leaves nothing of the 128,000 tokens"):
        cw.build([cw.user("Hello")], cw.Recipe(answer=128_000), model="gpt-4o")
