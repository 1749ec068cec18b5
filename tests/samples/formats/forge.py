"""Parts of Forge's messages."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

import contextwright as cw
from strategies.messages import arguments, texts

ADD = {"a": 5, "b": 3}

CALCULATOR = """<tool>
{
  "server_name": "local",
  "tool_name": "calculator",
  "arguments": {"a": 5, "b": 3}
}
</tool>"""


def call(name: str, **given: Any) -> cw.ToolCall:
    return cw.ToolCall(name, given)


def thought(text: str) -> cw.Thinking:
    return cw.Thinking(text, origin="forge")


def codes(changes: Any) -> list[str]:
    return [change.code for change in changes]


def forge(*messages: cw.Message, **options: Any) -> cw.Rendered:
    return cw.render(messages, "forge", **options)


parts = st.lists(
    st.builds(cw.Text, texts | st.sampled_from(("```", "[", "]", "[a", "b]", "\\[x y]", "~~~\n")))
    | st.builds(thought, texts | st.sampled_from(("a b", "```", "x\n\ny", "[", "1")))
    | st.builds(cw.ToolCall, st.sampled_from(("a", "b")), arguments),
    max_size=4,
)
