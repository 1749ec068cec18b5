"""What a plan takes as a history."""

from typing import Any

import pytest

import contextwright as cw


@pytest.mark.parametrize("given", [cw.Conversation, list[Any]], ids=["conversation", "list"])
def test_what_is_not_a_message_is_named(given: Any) -> None:
    with pytest.raises(cw.UsageError, match=r"messages\[1\] is 'Hi', not a [Mm]essage"):
        cw.build(given((cw.user("Hello"), "Hi")), "default", model="gpt-4o")
