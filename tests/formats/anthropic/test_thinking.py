"""The thinking that a request asks for, and what else depends on it."""

from typing import Any

import pytest

import contextwright as cw

CLEARING = {"type": "clear_thinking_20251015", "keep": "all"}
OTHER = {"type": "clear_tool_uses_20250919"}
ENABLED = {"type": "enabled", "budget_tokens": 1_024}


@pytest.mark.parametrize(
    ("model", "thinking", "edits", "kept"),
    [
        ("claude-sonnet-4-5", ENABLED, [CLEARING], [CLEARING]),
        ("claude-sonnet-4-5", None, [CLEARING, OTHER], [OTHER]),
        ("claude-sonnet-4-5", None, [CLEARING], None),
        ("claude-sonnet-4-5", None, [OTHER, "odd", {}], [OTHER, "odd", {}]),
        ("claude-opus-4-6", {"type": "disabled"}, [CLEARING], None),
        ("claude-opus-4-6", {"type": "adaptive"}, [CLEARING], [CLEARING]),
        ("claude-sonnet-5-5", None, [CLEARING], [CLEARING]),
        ("claude-sonnet-5", None, [CLEARING], [CLEARING]),
        ("claude-sonnet-5", {"type": "disabled"}, [CLEARING], None),
    ],
)
def test_a_model_that_does_not_think_is_not_asked_to_clear_thinking(
    model: str, thinking: dict[str, Any] | None, edits: list[Any], kept: list[Any] | None
) -> None:
    """Anthropic refuses that; a model that thinks by itself needs no setting."""
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": 2_000,
        "messages": [{"role": "user", "content": "Hi"}],
        "context_management": {"edits": edits},
    }
    body |= {} if thinking is None else {"thinking": thinking}
    found = [problem.code for problem in cw.check(body, "anthropic")]
    assert found == ([] if kept == edits else ["A-edits"])
    made = cw.convert(body, "anthropic", "anthropic", model=model)
    assert made.payload.get("context_management") == (None if kept is None else {"edits": kept})
    assert [one.path for one in made.changes] == (
        [] if kept == edits else ["context_management.edits"]
    )
