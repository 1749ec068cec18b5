"""Names of speakers where an API has no field for them."""

import contextwright as cw
from strategies.traffic import PICTURE


def test_a_name_stands_before_what_has_no_words() -> None:
    """Behind results, which come first in a turn."""
    anna, boris = cw.Author(name="Anna"), cw.Author(name="Борис")
    call = cw.ToolCall("f", {}, "a")
    result = cw.Message("user", (cw.ToolResult("a", "1"), PICTURE), author=boris)
    asked = [cw.user([PICTURE], author=anna), cw.assistant(call), result]
    sent = cw.render(asked, "anthropic", model="claude-sonnet-4-5").payload["messages"]
    kinds = [[(block["type"], block.get("text")) for block in one["content"]] for one in sent]
    assert kinds == [
        [("text", "Anna:"), ("image", None)],
        [("tool_use", None)],
        [("tool_result", None), ("text", "Борис:"), ("image", None)],
    ]
