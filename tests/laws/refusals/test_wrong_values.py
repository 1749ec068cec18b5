"""Whatever a caller passes, the error is a `ContextwrightError` that names what is wrong."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, get_args

import pytest
from msgspec import structs

import contextwright as cw
from contextwright import sections
from contextwright.systems import port42
from contextwright.windows import policies
from strategies.wrong_values import HELLO, NOW, compare_refusals, refusal, wrong_values

CHATS: dict[str, dict[str, Any]] = {
    "add": {"turn": HELLO, "key": None},
    "ask": {
        "content": "x", "model": "echo", "key": None, "provider": None, "tools": (),
        "max_steps": 1, "max_price": None, "tool_timeout": None,
    },
    "calibration": {"model": "gpt-4o", "format": None},
    "context": {
        "recipe": cw.Recipe(), "model": "gpt-4o", "format": None, "budget": None, "now": None,
        "at": None,
    },
    "delete": {"seq": 1},
    "edit": {"seq": 1, "message": "x", "keep": True},
    "episodes": {"participant": None, "min_weight": 0.0},
    "fork": {"new_id": "f", "at": 1},
    "hide": {"seq": 1},
    "make_episodes": {"boundaries": None, "now": None},
    "pin": {"seq": 1},
    "read": {"start": 0, "stop": None},
    "recall": {"query": "x", "limit": 1},
    "search": {"query": "x", "limit": 1},
    "summarise": {"recipe": cw.Recipe(summary=cw.SummaryPolicy()), "model": "gpt-4o"},
    "tail": {"count": 1},
    "undo_summary": {"recipe": cw.Recipe(summary=cw.SummaryPolicy())},
    "update": {"title": "x", "agent": "x", "settings": {}},
    "versions": {"seq": 1},
}  # fmt: skip


def test_errors_of_a_chat_are_ours(tmp_path: Path) -> None:
    with cw.Store(tmp_path / "s.db", sync="fast") as store:

        def calls() -> Iterator[tuple[str, Any, dict[str, Any]]]:
            for method, usual in CHATS.items():
                chat = store.conversation(method)
                chat.add(HELLO)
                yield method, getattr(chat, method), usual

        compare_refusals("chats", calls())


STORES: dict[str, dict[str, Any]] = {
    "add_all": {"turns": []},
    "add_each": {"turns": []},
    "calibration": {"model": "gpt-4o", "format": None},
    "conversation": {"id": "c"},
    "erase_before": {"time": NOW},
    "erase_person": {"id": "U1"},
    "for_tenant": {"tenant": "t"},
    "forget": {"id": "x"},
    "forget_memory": {"id": "x"},
    "index": {"conversation": None, "few": None},
    "memories": {"about": None, "kind": None, "scope": None},
    "recall": {"query": "x", "limit": 1},
    "remember": {"memory": "x", "about": None, "at": None, "made_from": ()},
    "rename": {"id": "x", "new_id": "y"},
    "request": {"number": 1},
    "request_bodies": {"number": 1},
    "requests": {"conversation": None, "limit": 100, "before": None},
    "search": {"query": "x", "conversation": None, "limit": 20},
    "update_memory": {"id": "x", "text": "Tea"},
}


def test_errors_of_a_store_are_ours(tmp_path: Path) -> None:
    with cw.Store(tmp_path / "s.db", sync="fast") as store:

        def calls() -> Iterator[tuple[str, Any, dict[str, Any]]]:
            for method, usual in STORES.items():
                mine = store.for_tenant(method)
                mine.conversation("c").add(HELLO)
                yield method, getattr(mine, method), usual

        compare_refusals("stores", calls())


PARTS: tuple[tuple[str, type[Any]], ...] = (
    *(("window", kind) for kind in get_args(policies.BuiltIn)),
    *(("system", kind) for kind in get_args(sections.BuiltIn)),
    ("clearing", cw.Clearing),
    ("note", cw.OmissionNote),
    ("summary", cw.SummaryPolicy),
)
REQUIRED: dict[str, Any] = {"text": "x", "path": "x.md"}


def test_errors_of_the_parts_of_a_recipe_are_ours() -> None:
    """A part with a wrong value is refused when it is made, or what it makes is a request."""
    compare_refusals("parts", map(building, *zip(*PARTS, strict=True)))


def building(field: str, kind: type[Any]) -> tuple[str, Any, dict[str, Any]]:
    required = {name: REQUIRED[name] for name in kind.__struct_fields__ if name in REQUIRED}

    def build(**fields: Any) -> None:
        part = kind(**{**required, **fields})
        cw.Recipe(**{field: part}, budget=200).build(HELLO * 60, model="gpt-4o")

    defaults = {one.name: one.default for one in structs.fields(kind)}
    return kind.__name__, build, {**defaults, **required}


@pytest.mark.parametrize(
    ("name", "value"), [("heading", 3), ("volatility", "x"), ("priority", "x"), ("budget", -1)]
)
def test_attributes_of_ones_own_section_are_checked(name: str, value: Any) -> None:
    section = type("Own", (cw.Section,), {name: value, "write": lambda self, moment: "x"})()
    with pytest.raises(cw.UsageError, match=rf"system\[1\]: {name} cannot be"):
        cw.Recipe(system=["x", section])


def test_errors_of_sessions_are_ours(tmp_path: Path) -> None:
    sessions = port42.Sessions(tmp_path)
    for value in wrong_values():
        refusal(sessions.open, {"id": value})
        refusal(partial(sessions.added, sessions.open("s"), value), {})
        refusal(sessions.save, {"session": sessions.open("s"), "now": value})
        refusal(sessions.save, {"session": value, "now": NOW})
        refusal(partial(sessions.added, value), {})
        refusal(sessions.cleared, {"session": value, "id": None})
        refusal(sessions.cleared, {"session": sessions.open("s"), "id": value})
    with pytest.raises(cw.UsageError, match="^cannot write '/dev/null/.*': Not a directory$"):
        port42.Sessions("/dev/null").save(sessions.added(sessions.open("s"), HELLO[0]), now=NOW)
