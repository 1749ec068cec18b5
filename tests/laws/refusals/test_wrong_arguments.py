"""Whatever is passed to a public function, the error is a `ContextwrightError` that names it."""

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

import daft
import pytest
from msgspec import NODEFAULT, structs

import contextwright as cw
import reference
from contextwright import (
    ask,
    batch,
    formats,
    importers,
    messages,
    providers,
    recall,
    sections,
    store,
    streams,
    summaries,
    windows,
)
from contextwright.models import Prices
from contextwright.systems import ContextBuilder, aya, forge, gryag, port42
from paths import EXAMPLES
from strategies.wrong_values import HELLO, NOW, compare_refusals, used_up

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


CHAT_FILE = EXAMPLES / "chat.json"
SESSION = cw.Conversation(tuple(HELLO))
EVENTS = list(streams.events_of(cw.parse_reply(REPLY)))
ROWS = daft.from_pydict({"document": ['{"messages": [{"role": "user", "content": "Hello"}]}']})
COUNTING = batch.operation_of("count", model="gpt-4o")
NOWHERE = batch.Place("/dev/null/x")
"""A place where nothing can be written."""


def shout(text: str) -> str:
    """Say it louder."""
    return text.upper()


def price(message: cw.Message) -> int:
    """Return the price of a message."""
    return 9


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
    aya.parse: {"entries": [ENTRY], "strict": False},
    aya.render: {"conversation": SESSION},
    aya.check: {"entries": [ENTRY]},
    aya.show: {"conversation": HELLO},
    forge.User: {"content": "x"},
    forge.Assistant: {"content": "x"},
    forge.System: {"content": "x"},
    forge.parse_reply: {"reply": "x"},
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
    port42.instructed: {"conversation": SESSION, "agents": port42.parse_agents(AGENTS)},
    port42.log_lines: {"session": SESSION, "context": cw.Recipe().build(HELLO, model="gpt-4o")},
    port42.Sessions: {"folder": "x"},
    cw.simulate: {"conversation": HELLO, "recipes": ["default"], "model": "gpt-4o"},
    ask.price_of: {"usage": streams.Usage(), "prices": Prices(input=1.0, output=2.0)},
    ask.record_of: {"message": HELLO[0]},
    ask.tool_from: {"function": shout},
    batch.operation_of: {"kind": "count", "model": "gpt-4o", "budget": None, "options": {}},
    batch.build: {"dataframe": ROWS, "column": "document", "model": "gpt-4o"},
    batch.check: {"dataframe": ROWS, "column": "document"},
    batch.convert: {"dataframe": ROWS, "column": "document", "target": "gemini"},
    batch.count: {"dataframe": ROWS, "column": "document", "model": "gpt-4o"},
    batch.transform: {"batch": ROWS.to_arrow().to_batches()[0], "operation": COUNTING},
    batch.Job: {"operation": COUNTING, "output": NOWHERE},
    batch.Columns: {},
    batch.run: {"job": batch.Job(operation=COUNTING, output=NOWHERE), "inputs": []},
    importers.detect: {"files": importers.open_files(CHAT_FILE)},
    importers.find: {"name": "aya"},
    importers.open_files: {"source": CHAT_FILE},
    importers.read: {
        "source": CHAT_FILE, "format": "openai-chat", "branches": False, "replace": False,
        "me": None, "threads": False,
    },
    messages.as_author: {"author": "x"},
    messages.as_parts: {"content": "x"},
    messages.as_result: {"content": "x"},
    messages.as_time: {"moment": NOW},
    messages.read_time: {"spelling": "2025-01-15T12:30:00Z"},
    messages.with_zone: {"moment": NOW},
    providers.connect: {"target": "echo"},
    providers.connect_sync: {"target": "echo"},
    providers.host_for: {"target": "openai"},
    providers.Provider: {"host": providers.host_for("openai")},
    providers.Script: {"answers": [cw.assistant("x")]},
    providers.SyncProvider: {"provider": providers.Echo()},
    providers.TracedProvider: {"provider": providers.Echo()},
    recall.find_episodes: {"messages": [(1, HELLO[0])]},
    recall.gemini_embedder: {"client": object(), "model": "x"},
    recall.openai_embedder: {"client": object(), "model": "x"},
    recall.Embedder: {"name": "x", "function": shout},
    recall.MemoryList: {},
    sections.one_line: {"text": "x"},
    sections.quoted: {"text": "x"},
    sections.reply_media: {"messages": HELLO, "question": HELLO[0]},
    store.replace_invalid: {"messages": HELLO},
    streams.events_of: {"reply": cw.parse_reply(REPLY)},
    streams.gather: {"events": EVENTS, "format": "openai-chat"},
    streams.read_error: {"status": 400, "headers": {}, "body": b"{}"},
    streams.read_stream: {"source": [b"data: {}\n\n"], "format": "openai-chat"},
    streams.read_stream_async: {"source": [], "format": "openai-chat"},
    streams.restore_calls: {"reply": cw.parse_reply(REPLY), "request": cw.Conversation(())},
    streams.stream_reader: {"format": "anthropic"},
    streams.stream_writer: {"format": "anthropic"},
    streams.write_error: {"error": streams.ReplyError("server", "x"), "format": "gemini"},
    streams.write_reply: {"reply": cw.assistant("x"), "format": "anthropic"},
    streams.write_stream: {"events": EVENTS, "format": "openai-responses"},
    summaries.by_anthropic: {"client": object()},
    summaries.by_gemini: {"client": object()},
    summaries.by_openai: {"client": object()},
    windows.decide: {
        "window": cw.windows.KeepAll(), "view": windows.History(HELLO, price=price).view(),
        "limit": 9,
    },
    windows.History: {"price": price},
    windows.Log: {},
}  # fmt: skip
"""What may be called, with arguments that are right; those with a default are tried too."""


def defaults_of(call: Callable[..., Any]) -> dict[str, Any]:
    """Its arguments that may be left out, except functions of the caller's own."""
    found = inspect.signature(call).parameters.values()
    return {
        one.name: one.default
        for one in found
        if one.default is not one.empty and one.name not in ("progress", "sleep")
    }


def test_errors_are_ours() -> None:
    calls = {call: {**defaults_of(call), **usual} for call, usual in CALLS.items()}
    for call, usual in calls.items():
        if call is not batch.run:  # it would need files
            used_up(call(**usual))
    compare_refusals("calls", ((call.__qualname__, call, calls[call]) for call in calls))


def test_every_public_function_is_tried() -> None:
    modules = ["contextwright", *(f"contextwright.{name}" for name in reference.MODULES)]
    modules += [f"contextwright.systems.{name}" for name in reference.SYSTEMS]
    found = [
        getattr(import_module(module), name)
        for module in modules
        for name in reference.public_names(module)
    ]
    functions = filter(inspect.isfunction, found)
    assert {one for one in functions if inspect.signature(one).parameters} <= CALLS.keys()


def asked(**fields: Any) -> cw.Conversation:
    """A conversation of one question with these fields."""
    return cw.Conversation((structs.replace(HELLO[0], **fields),))


def said(*parts: Any) -> cw.Conversation:
    """A conversation that the assistant ends with these parts."""
    return cw.Conversation((HELLO[0], cw.Message("assistant", parts)))


VALUES: dict[type[Any], tuple[dict[str, Any], Callable[[Any], cw.Conversation]]] = {
    cw.Settings: ({}, lambda value: cw.Conversation(tuple(HELLO), settings=value)),
    cw.ToolChoice: ({"mode": "auto"}, lambda value: chosen(tool_choice=value)),
    messages.OutputFormat: ({}, lambda value: chosen(output=value)),
    cw.Tool: ({"name": "f"}, lambda value: cw.Conversation(tuple(HELLO), tools=(value,))),
    cw.Author: ({}, lambda value: asked(author=value)),
    cw.Reply: ({}, lambda value: asked(reply_to=value)),
    cw.Text: ({"text": "x"}, lambda value: asked(parts=(value,))),
    cw.Thinking: ({"text": "x"}, said),
    cw.ToolCall: ({"name": "f"}, said),
    cw.Opaque: ({"format": "gemini", "data": {}}, said),
}
"""Parts of a conversation, with the fields they need, and a conversation that holds one."""


def chosen(**settings: Any) -> cw.Conversation:
    """A conversation with settings, and a tool."""
    return cw.Conversation(tuple(HELLO), (cw.Tool("f"),), settings=cw.Settings(**settings))


@pytest.mark.parametrize("format", formats.NAMES)
def test_errors_of_the_parts_of_a_conversation_are_ours(format: str) -> None:
    def calls() -> Iterator[tuple[str, Any, dict[str, Any]]]:
        for kind, (required, held) in VALUES.items():
            yield kind.__name__, partial(rendered, kind, held), fields_of(kind) | required

    def rendered(kind: type[Any], held: Callable[[Any], cw.Conversation], **fields: Any) -> None:
        cw.render(held(kind(**fields)), format)

    compare_refusals(f"parts-{format}", calls())


def fields_of(kind: type[Any]) -> dict[str, Any]:
    """The fields of a value that may be left out."""
    defaults = {one.name: one for one in structs.fields(kind)}
    return {name: one.default for name, one in defaults.items() if one.default is not NODEFAULT} | {
        name: one.default_factory()
        for name, one in defaults.items()
        if one.default_factory is not NODEFAULT
    }
