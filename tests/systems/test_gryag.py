"""gryag's recipe on a real store: what its sections find, and what they leave out."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import contextwright as cw
from contextwright.systems import gryag

BEGUN = datetime(2025, 1, 1, tzinfo=UTC)
ALICE = cw.Author("1", "Alice")
TALK = ("The match was boring", "My cat sleeps", "The review took long", "Pizza for dinner")
ANNIVERSARY = "Our wedding anniversary is on the 14th of June"


@pytest.mark.parametrize("days", [3, 90, 365])
def test_a_clear_hit_has_a_clear_relevance_however_old_it_is(tmp_path: Path, days: int) -> None:
    with cw.Store(tmp_path / "s.db") as store:
        chat = store.conversation("g")
        for place in range(120):
            words = ANNIVERSARY if place == 20 else f"{TALK[place % 4]} {place}"
            at = BEGUN + timedelta(minutes=10 * place)
            chat.add(cw.user(words, author=ALICE, sent_at=at))
        chat.add(cw.user("When is our wedding anniversary?", author=ALICE))
        now = BEGUN + timedelta(days=days)
        context = chat.context(gryag.recipe(), model="gemini-3.8-flash", now=now)
    lines = context.sections["PastExcerpts[7]"].splitlines()
    assert lines[0] == "## Relevant Past Context"
    relevance, _, words = lines[1].removeprefix("- [Relevance: ").partition("] ")
    assert words == f"2025-01-01, Alice: {ANNIVERSARY}"
    assert float(relevance) > 0.7
    assert all(float(line[14:18]) >= 0.05 for line in lines[1:])


@pytest.mark.parametrize(
    ("reply", "line"),
    [
        (
            cw.Reply("777", cw.Author("9", "Zed")),
            'user [meta] message_id=777 user_id=9 name="Zed": (no content)',
        ),
        (
            cw.Reply("777", cw.Author("9", "Zed"), "Old words", (cw.Media("image", url="u"),)),
            'user [meta] message_id=777 user_id=9 name="Zed": Old words [Image]',
        ),
    ],
)
def test_a_reply_target_that_is_not_stored_has_a_line(reply: cw.Reply, line: str) -> None:
    recipe = gryag.recipe(settings={"ENABLE_SYSTEM_CONTEXT_BLOCK": True})
    messages = [cw.user("One"), cw.assistant("Two"), cw.user("Three", reply_to=reply)]
    context = recipe.build(messages, model="gemini-3.8-flash")
    lines = context.sections["Transcript[9]"].splitlines()
    assert lines[3:6] == ["user: One", "bot: Two", line]
    assert lines[6].endswith(": Three [REPLY TO THIS]")


def test_memories_and_facts_are_about_the_person_who_asks() -> None:
    """Once Bob's stood below "Memories about Alice" where she replied to him, or named him."""
    bob = cw.Author("2", "Bob")
    known = cw.recall.MemoryList(
        [
            memory
            for who in (ALICE, bob)
            for memory in (
                cw.Memory("memory", f"{who.name} likes coffee", who.id),
                cw.Memory("fact", f"{who.name}'s town", who.id, "home"),
            )
        ]
    )
    reply = cw.Reply("777", bob, "Hello")
    messages = [cw.user("Hello", author=bob), cw.user("Bob, why?", author=ALICE, reply_to=reply)]
    context = gryag.recipe().build(messages, model="gemini-3.8-flash", memories=known)
    assert context.sections["Memories[4]"].splitlines()[1:] == ["- Alice likes coffee"]
    assert context.sections["KeyFacts[6]"].splitlines()[1:] == ["- Home: Alice's town"]


def test_what_stands_in_the_block_is_not_recalled_beside_it(tmp_path: Path) -> None:
    """The history is empty then, so every line of the block was recalled as the past."""
    settings = {"ENABLE_SYSTEM_CONTEXT_BLOCK": True, "SYSTEM_CONTEXT_BLOCK_MAX_MESSAGES": 40}
    with cw.Store(tmp_path / "s.db") as store:
        chat = store.conversation("g")
        for place in range(60):
            near = {10: "The old risotto recipe", 45: "The new risotto recipe"}
            words = near.get(place, f"{TALK[place % 4]} {place}")
            chat.add(cw.user(words, author=ALICE, sent_at=BEGUN + timedelta(minutes=place)))
        chat.add(cw.user("Which risotto recipe?", author=ALICE))
        context = chat.context(gryag.recipe(settings=settings), model="gemini-3.8-flash", now=BEGUN)
    block = context.sections["Transcript[9]"].splitlines()[3:-3]
    assert len(block) == 40
    assert "The new risotto recipe" in "".join(block)
    recalled = context.sections["PastExcerpts[7]"]
    assert "The old risotto recipe" in recalled
    assert "The new risotto recipe" not in recalled


def test_settings_are_names_and_values() -> None:
    with pytest.raises(cw.errors.UsageError, match="settings cannot be"):
        gryag.recipe(settings=["ENABLE_SYSTEM_CONTEXT_BLOCK"])  # pyright: ignore[reportArgumentType]
