"""Parts of a reply on their way to a client of another API."""

import pytest

from contextwright.formats.replies.parts import spelled_id


@pytest.mark.parametrize(
    ("id", "format", "expected"),
    [
        (None, "gemini", None),
        ("call.1", "gemini", "call.1"),
        (None, "openai-chat", "call_abc_2"),
        ("call.1", "openai-chat", "call.1"),
        (None, "anthropic", "call_abc_2"),
        ("call.1", "anthropic", "call_1"),
    ],
)
def test_ids_of_calls(id: str | None, format: str, expected: str | None) -> None:
    """Gemini needs none, Anthropic takes letters, digits, hyphens and underscores only."""
    assert spelled_id(id, 2, format, "msg_abc") == expected
