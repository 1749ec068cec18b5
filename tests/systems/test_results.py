"""013's tool results: CB-7."""

import pytest

from contextwright.systems.context_builder import ContextBuilder
from samples.systems import call, row


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize(
    ("content", "written"),
    [
        ([{"title": "Ada"}, {"title": "Bob"}], '[{"title":"Ada"},{"title":"Bob"}]'),
        ([1, None, [True]], "[1,null,[true]]"),
        ([{"type": "text", "text": "found"}], "found"),
        ({"hits": 2}, '{"hits":2}'),
        (42, "42"),
        (None, ""),
    ],
)
def test_cb_7_a_result_is_text_whatever_the_tool_returned(
    content: object, written: str, listed: bool
) -> None:
    result = {"tool_call_id": "c1", "content": content}
    rows = [
        row(1, "user", "go"),
        row(2, "assistant", tool_calls=[call("c1", {})]),
        row(3, "tool", tool_results=[result]) if listed else {"role": "tool", **result},
    ]
    context = ContextBuilder().context(rows)
    assert context.payload["messages"][3] == {
        "role": "tool",
        "tool_call_id": "c1",
        "content": written,
    }
    changed = not isinstance(content, list) or "type" not in str(content)
    repaired = [change.path for change in context.changes if change.code == "repair.content"]
    assert (
        repaired
        == ["messages[2].tool_results[0].content" if listed else "messages[2].content"] * changed
    )
