"""What becomes of one long talk with every window, section and system, from a list and a store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright import sections, windows
from contextwright.context import recipe_files
from contextwright.recall.memory_list import MemoryList
from fuzzing.readers import result_of
from golden_files import compare_digests
from samples.stores.long_talk import MEMORIES, NOW, TOOL, long_talk

TALK = cw.Conversation(tuple(long_talk()), (TOOL,))
WINDOWS: dict[str, dict[str, Any]] = {
    "all": {"window": windows.KeepAll()},
    "recent": {"window": windows.KeepRecent(), "oversize": "cut"},
    "recent 7": {"window": windows.KeepRecent(7, whole_turns=True), "cache": False},
    "stepped": {"window": windows.Stepped(), "summary": cw.SummaryPolicy(120)},
    "stepped 0.2": {"window": windows.Stepped(0.2, messages=30, task=False), "answer": 64},
    "first": {"window": windows.FirstAndRecent(9, 3), "note": None},
    "layers": {"window": windows.Layers(3, 12), "stored_system": "skip"},
    "cleared": {"window": windows.Stepped(), "clearing": cw.Clearing(results=2, media=1, step=1.0)},
    "capped": {
        "window": windows.KeepRecent(),
        "clearing": cw.Clearing(most_media=2, spare=("find",)),
    },
}
SECTIONS = [
    "Answer in one sentence.",
    cw.CurrentTime("Europe/Kyiv"),
    sections.CurrentUser(),
    sections.ReplyTo(),
    cw.Memories(budget=0.1),
    sections.UserProfile(),
    sections.KeyFacts(most=2),
    sections.Episodes(least=0.1),
    sections.PastExcerpts(budget=200),
    sections.Events(),
    sections.Transcript(budget=0.2),
]
RECIPES = {
    **{name: cw.Recipe(name=name, **fields) for name, fields in WINDOWS.items()},
    "sections": cw.Recipe(name="sections", system=SECTIONS),
    "at the front": cw.Recipe(name="front", system=SECTIONS, placement="system"),
    "past": cw.Recipe(name="past", system=[sections.PastMessages(budget=0.5)]),
    **{name: recipe_files.find(name) for name in recipe_files.SHIPPED},
}
ASKED = [
    *(("gpt-4o", budget) for budget in (260, 700, 1_900, 20_000)),
    *(
        (model, budget)
        for model in ("claude-opus-5", "gemini-3.8-flash")
        for budget in (800, 2_000)
    ),
]


@pytest.mark.parametrize("name", RECIPES)
def test_what_becomes_of_a_long_talk(name: str, tmp_path: Path) -> None:
    recipe = RECIPES[name]
    with cw.Store(tmp_path / "talk.db", embedder=None) as store:
        chat = store.conversation("talk")
        chat.add(list(TALK.messages))
        for memory in MEMORIES:
            store.remember(memory)

        def outcomes() -> Iterator[tuple[object, object]]:
            memories = MemoryList(MEMORIES)
            for model, budget in ASKED:
                given: dict[str, Any] = {"model": model, "budget": budget, "now": NOW}
                built = result_of(cw.build, TALK, recipe, **given, memories=memories)
                stored = result_of(chat.context, recipe, **given, tools=[TOOL])
                yield (name, model, budget), [*map(receipt, (built, stored))]

        compare_digests(f"long-talk-{name}".replace(" ", "-"), outcomes())


def receipt(context: object) -> object:
    """All that a context says of itself, or its error."""
    if not isinstance(context, cw.Context):
        return context
    return context.payload, context.receipt(), context.explain()
