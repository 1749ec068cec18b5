"""Turns and chats of a store."""

from __future__ import annotations

import contextwright as cw

TURN = [
    cw.user("What is 6 × 7?"),
    cw.assistant([cw.Text("Let me see."), cw.ToolCall("times", {"a": 6, "b": 7}, "c1")]),
    cw.tool_result("c1", "42"),
    cw.assistant("It is 42."),
]
