"""What one turn costs, in operations: the same however long the conversation is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright.context.fitting.plan import Plan
from contextwright.context.fitting.recent import RECENT
from contextwright.store.store import Store
from contextwright.tokens.pricer import Texts
from doubles import Watch

TURN = [
    cw.user("What is six times seven, and why would anybody want to know?"),
    cw.assistant([cw.Text("Let me see."), cw.ToolCall("times", {"a": 6, "b": 7}, "c1")]),
    cw.tool_result("c1", "42"),
    cw.assistant("It is 42."),
]
RECIPE = cw.Recipe(system=("Be brief.",), budget=600)
WARM = 12
"""Turns that are watched one after another."""


def measured(file: Path, watch: Watch) -> tuple[dict[str, int], list[dict[str, int]]]:
    """The first build of a process, and the turns after it."""
    watch.pages = 0  # who closes a file last empties its log
    with Store(file, sync="fast") as store:
        chat = store.conversation("long")
        watch.taken()
        chat.context(RECIPE, model="gpt-4o")
        first = watch.taken()
        turns: list[dict[str, int]] = []
        for _ in range(WARM):
            chat.add(TURN)
            chat.context(RECIPE, model="gpt-4o")
            turns.append(watch.taken())
    return first, turns


@pytest.mark.parametrize(
    "lengths",
    [(100, 10_000), pytest.param((100, 10_000, 100_000), marks=pytest.mark.slow)],
    ids=["10,000", "100,000"],
)
def test_a_turn_takes_the_same_operations_at_any_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lengths: tuple[int, ...]
) -> None:
    file = tmp_path / "chat.db"
    watch = Watch(monkeypatch)
    seen: list[Any] = []
    for length in lengths:
        with Store(file, sync="fast") as store:
            chat = store.conversation("long")
            if not seen:
                chat.add(TURN)
            chat.context(RECIPE, model="gpt-4o")  # from now on what is added is counted
            missing = (length - chat.length()) // len(TURN)
            store.add_all(cw.Turn("long", TURN) for _ in range(missing))
        first, turns = measured(file, watch)
        # Now and then a page is full and another begins; most turns find room in those there are.
        pages = min(turn.pop("pages written") for turn in turns)
        # Each new message, and the note on what is left out when that has changed.
        assert {turn.pop("tokenised") for turn in turns} <= {len(TURN), len(TURN) + 1}
        seen.append((first, turns, pages))
    assert all(one == seen[1] for one in seen[1:]), seen
    first, turns, _ = seen[0]  # a conversation that is loaded whole needs nothing else
    assert all(first[name] <= seen[1][0][name] for name in first), seen
    assert turns == seen[1][1]
    warm = {"statements": 14, "commits": 1, "rows written": 6, "rows read": 7}
    assert turns == [warm] * WARM


def test_a_store_that_is_opened_again_counts_nothing_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    RECENT.forget()  # the prices that all builds share
    counted: list[str] = []
    count = Texts.count

    def watched(texts: Texts, text: str) -> float:
        counted.extend([text] if text not in texts.counted else [])
        return count(texts, text)

    monkeypatch.setattr(Texts, "count", watched)
    file = tmp_path / "chat.db"
    with Store(file) as store:
        store.conversation("long").add(TURN)
        store.conversation("long").context(RECIPE, model="gpt-4o")
    assert "It is 42." in counted
    counted.clear()
    with Store(file) as store:
        store.conversation("long").context(RECIPE, model="gpt-4o")
    assert counted == []


def test_conversations_in_turn_make_one_request_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is counted of one conversation without its messages stays, whoever is next."""
    rendered: list[str | None] = []
    render = Plan.render

    def noted(plan: Plan, conversation: cw.Conversation) -> Any:
        rendered.append(conversation.id)
        return render(plan, conversation)

    with Store(tmp_path / "chat.db", sync="fast") as store:
        chats = [store.conversation(id) for id in ("a", "b")]
        for chat in chats:
            chat.add(TURN)
            chat.context(RECIPE, model="gpt-4o")
        monkeypatch.setattr(Plan, "render", noted)
        for chat in chats:
            chat.add(cw.user("Go on."))
            chat.context(RECIPE, model="gpt-4o")
    assert rendered == ["a", "b"]
