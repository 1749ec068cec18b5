"""What can be added as a turn: our messages, and those of providers where nothing changes."""

from pathlib import Path
from typing import Any

import pytest

import contextwright as cw

CALL = {"id": "a", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
ASKED = cw.user("Котра година?")
ANSWERED = cw.assistant("П'ять по першій.")


@pytest.mark.parametrize(
    ("turn", "stored"),
    [
        (ASKED, [ASKED]),
        (iter([ASKED, ANSWERED]), [ASKED, ANSWERED]),
        (cw.Conversation((ASKED,)), [ASKED]),
        ({"role": "user", "content": "Котра година?"}, [ASKED]),
        ([{"role": "user", "content": "Котра година?"}, ANSWERED], [ASKED, ANSWERED]),
        (
            [
                {"role": "assistant", "content": None, "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "a", "content": "13:05"},
            ],
            [cw.assistant(cw.ToolCall("clock", {}, id="a")), cw.tool_result("a", "13:05")],
        ),
        (
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]},
            [cw.tool_result("a", "")],
        ),
        ({"role": "user", "parts": [{"text": "Котра година?"}]}, [ASKED]),
        (
            {"choices": [{"message": {"role": "assistant", "content": "П'ять по першій."}}]},
            [ANSWERED],
        ),
    ],
)
def test_a_turn_in_any_spelling(tmp_path: Path, turn: Any, stored: list[cw.Message]) -> None:
    with cw.Store(tmp_path / "chat.db") as store:
        chat = store.conversation("lunch")
        assert chat.add(turn) == list(range(1, len(stored) + 1))
        found = [entry.message for entry in chat.read()]
    assert [(one.role, one.text, one.calls) for one in found] == [
        (one.role, one.text, one.calls) for one in stored
    ]


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        ("Hello", "a conversation cannot be 'Hello' (user(…) makes a message of a text; "),
        ([ASKED, "Hello"], "messages[1] is 'Hello', not a message (user(…) makes a message of "),
        (
            {"role": "user", "content": None},
            "a turn is stored as it is, and this one would change: repair.content "
            "messages[0].content: content is missing; read as empty (parse() or parse_reply() ",
        ),
        (
            {"output": [], "status": "failed", "error": {"message": "busy", "code": "x"}},
            "a turn is stored as it is, and this one would change: repair.interrupted: ",
        ),
    ],
)
def test_a_turn_that_would_change_is_refused(tmp_path: Path, turn: Any, reason: str) -> None:
    with cw.Store(tmp_path / "chat.db") as store:
        chat = store.conversation("lunch")
        with pytest.raises(cw.UsageError) as caught:
            chat.add(turn)
        assert (str(caught.value)[: len(reason)], len(chat)) == (reason, 0)


def test_what_a_store_keeps_is_no_list_of_messages(tmp_path: Path) -> None:
    """The error says how to get one, or a request."""
    with cw.Store(tmp_path / "chat.db") as store:
        chat: Any = store.conversation("lunch")
        chat.add(ASKED)
        stored: Any = list(chat.read())
        for call in (
            lambda given: cw.build(given, model="gpt-4o"),
            lambda given: cw.render(given, "anthropic"),
            lambda given: cw.simulate(given, cw.Recipe(), model="gpt-4o"),
        ):
            with pytest.raises(cw.UsageError, match=r"\(pass its \.message\)"):
                call(stored)
            with pytest.raises(cw.UsageError, match=r"\(chat\.context\(recipe, model=…\) builds"):
                call(chat)


def test_a_context_uses_the_default_recipe(tmp_path: Path) -> None:
    with cw.Store(tmp_path / "chat.db") as store:
        chat = store.conversation("lunch")
        chat.add(ASKED)
        built = chat.context(model="gpt-4o")
    assert built.payload["messages"] == cw.build([ASKED], model="gpt-4o").payload["messages"]
