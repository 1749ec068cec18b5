"""A question that is longer than the budget is cut as far as the budget asks."""

import pytest

import contextwright as cw
from contextwright import windows

NO_NOTE = "no room in the budget"
TALK = [cw.user("Hello"), cw.assistant("Hi"), cw.user("a soup with beans, " * 60)]
RECIPE = cw.Recipe(system=["Be kind."], oversize="cut", window=windows.KeepRecent())


@pytest.mark.parametrize(
    ("budget", "sent", "longest", "has_note"),
    [
        (69, [8, 198], 200, False),
        (92, [8, 288], 290, False),
        (140, [8, 453], 455, False),
        (236, [8, 5, 2, 766], 768, True),
        (284, [8, 5, 2, 921], 923, True),
        (400, [8, 5, 2, 1140], None, True),
    ],
)
def test_only_what_is_too_long_is_cut(
    budget: int, sent: list[int], longest: int | None, has_note: bool
) -> None:
    context = cw.build(TALK, RECIPE, model="gpt-4o", budget=budget)
    changes = [] if has_note else [cw.Change("loss.note", "note", NO_NOTE)]
    if longest is not None:
        reason = f"texts are cut to {longest} characters"
        changes.append(cw.Change("loss.cut", "messages[2]", reason))
    assert [len(message["content"]) for message in context.payload["messages"]] == sent
    assert context.changes == tuple(changes)
