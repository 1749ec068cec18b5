"""Whatever a caller passes, the error is a `ContextwrightError` that names what is wrong."""

import asyncio
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, get_args

import pytest
from msgspec import structs

import contextwright as cw
from contextwright import sections
from contextwright.systems import ContextBuilder, aya, context_builder, forge, gryag, port42
from contextwright.windows import policies
from golden_files import compare_digests

NOW = datetime(2025, 1, 15, 12, 30, tzinfo=UTC)
HELLO = [cw.user("Hello")]
CHAT = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello"}]}
REPLY = {"choices": [{"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}
AGENTS = {"agents": {"engineer": {"prompt": "Be brief."}}}
ENTRY = {
    "index": 0,
    "turn": 0,
    "timestamp": "2023-04-04T12:33:00Z",
    "role": "user",
    "content": {"userid": "<@U1>", "text": "Hello"},
}


class Odd:
    """Something that nothing takes."""


MESSAGE: Any = cw.Message
CONVERSATION: Any = cw.Conversation
TEXT: Any = cw.Text
CALL: Any = cw.ToolCall
MEDIA: Any = cw.Media
TOOL: Any = cw.Tool


def wrong_values() -> list[Any]:
    """Values of every kind, each new, because iterators are used up."""
    return [
        None, True, 0, -1, 3, 10**30, 1.5, float("nan"), "", "x", "a\0b", "\ud800", b"x", (), [],
        [3], [None], ["x"], [[]], [{}], {}, {"a": 1}, {"role": 3}, {"messages": 3},
        [{"role": "user"}], [{"role": []}], {1, 2}, object(), Odd(), Odd, iter([3]), len, NOW,
        cw.user("x"), MESSAGE("user", "x"), MESSAGE(3, (3,)), MESSAGE("user", (TEXT(3),)),
        CONVERSATION(3), CONVERSATION((), tools=(3,)), TOOL(3),
        MESSAGE("assistant", (CALL(3, 3, 3),)), MESSAGE("user", (MEDIA(3, 3, 3),)),
    ]  # fmt: skip


CALLS: dict[Callable[..., Any], dict[str, Any]] = {
    cw.user: {
        "content": "x", "author": "U1", "sent_at": NOW, "reply_to": None, "kind": "message",
        "turn": 1, "pinned": False, "visibility": "public", "meta": {}, "extra": {},
    },
    cw.assistant: {"content": "x", "sent_at": None, "meta": {}},
    cw.system: {"content": "x", "sent_at": None},
    cw.tool_result: {"call_id": "c", "content": "x", "name": None, "is_error": False},
    cw.parse: {"data": CHAT, "format": "openai-chat", "strict": False},
    cw.render: {
        "conversation": HELLO, "format": "anthropic", "model": None, "repair": True,
        "thinking": "keep",
    },
    cw.convert: {"data": CHAT, "source": "openai-chat", "target": "gemini", "model": None},
    cw.check: {"payload": CHAT, "format": "openai-chat", "model": None},
    cw.count: {"value": "x", "model": "gpt-4o", "format": None},
    cw.parse_reply: {"reply": REPLY, "format": "openai-chat"},
    cw.parse_stream: {"events": [], "format": "openai-chat"},
    cw.build: {
        "conversation": HELLO, "recipe": cw.Recipe(), "model": "gpt-4o", "format": None,
        "tools": None, "now": None, "budget": None, "memories": None,
    },
    cw.Recipe: {
        "system": "x", "window": cw.windows.KeepAll(), "clearing": cw.Clearing(), "budget": None,
        "answer": 9, "note": None, "summary": None, "cache": True, "reply_tools": {}, "options": {},
    },
    ContextBuilder: {"system_prompt": "x", "recipe": "013", "model": "gpt-4o", "budget": None},
    ContextBuilder().build: {"conversation": HELLO},
    context_builder.recipe: {},
    aya.parse: {"entries": [ENTRY], "strict": False},
    aya.render: {"conversation": cw.Conversation(tuple(HELLO))},
    aya.check: {"entries": [ENTRY]},
    aya.show: {"conversation": HELLO},
    forge.User: {"content": "x"},
    forge.Tool: {"name": "f", "result": "x"},
    forge.EstimateTokens: {"message": "x"},
    forge.validate_message: {"message": {"role": "user", "content": "x"}},
    forge.validate_tool_call: {"content": "x"},
    forge.ConversationMemory: {"limit": 8000, "estimator": "forge"},
    forge.ConversationMemory(8000).add: {"message": {"role": "user", "content": "x"}},
    forge.on_wire: {"messages": [{"role": "user", "content": "x"}]},
    forge.from_wire: {"messages": [{"role": "user", "content": "x"}]},
    gryag.recipe: {"persona": "x", "settings": {"ENABLE_SYSTEM_CONTEXT_BLOCK": True}},
    gryag.clean_reply: {"text": "x"},
    gryag.format_metadata: {"meta": {}},
    gryag.read_metadata: {"text": "x"},
    gryag.limit_media: {"messages": HELLO, "total": 3},
    port42.parse_agents: {"data": AGENTS, "guidance": ""},
    port42.recipe: {"agents": port42.parse_agents(AGENTS), "name": "engineer"},
}  # fmt: skip


def refusal(call: Callable[..., Any], given: dict[str, Any]) -> str:
    """Call it, and return the words of an error of ours; nothing if it takes what is given."""
    try:
        found = call(**given)
        if inspect.iscoroutine(found):
            asyncio.run(found)
        elif isinstance(found, Iterator):
            list(found)
    except cw.ContextwrightError as error:
        return re.sub(r"0x[0-9a-f]+", "ADDRESS", str(error))
    return ""


def refusals(call: Callable[..., Any], usual: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """What it says to every wrong value in the place of every argument."""
    for name in usual:
        said: list[str] = []
        for place, value in enumerate(wrong_values()):
            try:
                said.append(refusal(call, {**usual, name: value}))
            except Exception as error:
                shown = repr(wrong_values()[place])
                raise AssertionError(f"{name} = {shown}: {error!r}") from error
        yield name, said


def compare_refusals(name: str, calls: Iterable[tuple[str, Any, dict[str, Any]]]) -> None:
    """Every call refuses as its digests say, and with no error but ours."""
    outcomes = (
        ((title, argument), said)
        for title, call, usual in calls
        for argument, said in refusals(call, usual)
    )
    compare_digests(f"refused-{name}", outcomes)


def test_errors_are_ours() -> None:
    for call, usual in CALLS.items():
        found = call(**usual)
        if isinstance(found, Iterator):
            list(found)
    compare_refusals("calls", ((call.__qualname__, call, CALLS[call]) for call in CALLS))


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
    "memories": {"about": None, "kind": None, "scope": None},
    "recall": {"query": "x", "limit": 1},
    "remember": {"memory": "x", "about": None, "at": None, "made_from": ()},
    "rename": {"id": "x", "new_id": "y"},
    "request": {"number": 1},
    "request_bodies": {"number": 1},
    "requests": {"conversation": None, "limit": 100, "before": None},
    "search": {"query": "x", "conversation": None, "limit": 20},
    "update_memory": {"id": "x"},
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
