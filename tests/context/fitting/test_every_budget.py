"""One talk at every budget, token by token: where sections, notes and messages come and go."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

import contextwright as cw
from contextwright import sections, windows
from contextwright.recall.memory_list import MemoryList
from fuzzing.readers import result_of
from golden_files import compare_digests

NOW = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)
TALK = [
    cw.user("Which soup did Olena like at the harbour?", author=cw.Author("U1", "Olena")),
    cw.assistant([cw.Text("I look."), cw.ToolCall("find", {"what": "soup"}, "a")]),
    cw.tool_result("a", "Borscht with beans; solyanka; a pumpkin soup with ginger and cream."),
    cw.assistant("Borscht, it seems."),
    cw.user("And to drink?", author=cw.Author("U1", "Olena")),
    cw.assistant("Kvass. It goes with borscht."),
    cw.user("Is the soup vegetarian?", author=cw.Author("U1", "Olena")),
]
MEMORIES = MemoryList(
    [
        cw.Memory("memory", "Likes soup without meat.", about="U1"),
        cw.Memory("memory", "Has a dog.", about="U1"),
        cw.Memory("passage", "The soup at the harbour is vegetarian.", score=0.9, meta={"seq": 1}),
        cw.Memory("passage", "Soup is cooked in the morning.", score=0.4, meta={"seq": 2}),
    ]
)
RECIPES: dict[str, dict[str, Any]] = {
    "sections": {
        "system": [
            "Answer in one sentence.",
            cw.CurrentTime(priority=20),
            cw.Memories(budget=0.2),
            sections.PastMessages(budget=0.5),
            sections.PastExcerpts(budget=30, priority=90),
        ]
    },
    "cut": {"window": windows.KeepRecent(), "oversize": "cut", "system": ["Be kind."]},
    "summary": {"window": windows.Stepped(), "summary": cw.SummaryPolicy(40), "answer": 5},
    "refuse": {"window": windows.FirstAndRecent(4, 1), "oversize": "refuse", "note": None},
}


@pytest.mark.parametrize("name", RECIPES)
def test_what_is_sent_at_every_budget(name: str) -> None:
    recipe = cw.Recipe(name=name, **RECIPES[name])

    def outcomes() -> Iterator[tuple[object, object]]:
        for budget in range(10, 220):
            given: dict[str, Any] = {"budget": budget, "now": NOW, "memories": MEMORIES}
            context = result_of(cw.build, TALK, recipe, model="gpt-4o", **given)
            built = isinstance(context, cw.Context)
            yield budget, [context.payload, context.receipt()] if built else context

    compare_digests(f"budgets-{name}", outcomes())
