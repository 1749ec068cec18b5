"""LlamaIndex: what stays is the same messages and valid; a memory keeps what it was given."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import (
    ChatMessage,
    DocumentBlock,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)

import contextwright as cw
from contextwright.integrations.llama_index import StoreMemory, message_of

MODEL = "gpt-5.6-sol"
RICH = [
    ChatMessage(role="system", content="Be brief."),
    ChatMessage(
        role="user",
        blocks=[
            TextBlock(text="What is this?"),
            ImageBlock(url="https://example.org/cat.png"),
            ImageBlock(image=b"\x89PNG\r\n\x1a\n", image_mimetype="image/png"),
            DocumentBlock(data=b"paper", document_mimetype="text/plain", title="paper"),
        ],
    ),
    ChatMessage(
        role="assistant",
        blocks=[
            ThinkingBlock(content="A cat?"),
            ToolCallBlock(tool_call_id="c1", tool_name="look", tool_kwargs={"at": 1}),
        ],
        additional_kwargs={"room": 7},
    ),
    ChatMessage(role="tool", content="a cat", additional_kwargs={"tool_call_id": "c1"}),
    ChatMessage(role="assistant", content=""),
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[cw.Store]:
    with cw.Store(tmp_path / "chat.db", sync="fast") as store:
        yield store


def test_messages_come_back_as_they_went_in(store: cw.Store) -> None:
    memory = StoreMemory.from_defaults("lunch", store)
    assert memory.get() == []
    memory.put_messages(RICH)
    memory.put_messages([])
    assert StoreMemory.from_defaults("lunch", store).get_all() == RICH
    assert asyncio.run(memory.aget("a cat?")) == RICH
    assert 4 in {hit.seq for hit in store.search("cat")}
    memory.set(RICH[:1])
    assert memory.get() == RICH[:1]
    memory.reset()
    assert memory.get() == []


def test_what_cannot_be_set_leaves_what_was_there(store: cw.Store) -> None:
    bad = ChatMessage(additional_kwargs={"f": object()})
    memory = StoreMemory.from_defaults("lunch", store)
    memory.put_messages(RICH)
    store.remember("Eats no meat", about="alice", scope="lunch")
    with pytest.raises(Exception, match="."):
        memory.set([RICH[0], bad])
    assert memory.get() == RICH
    memory.set(RICH[:2])
    assert memory.get() == RICH[:2]
    assert [hit.seq for hit in store.search("brief")] == [1]
    assert store.search("cat", "lunch") == []
    assert [stored.memory.text for stored in store.memories(scope="lunch")] == ["Eats no meat"]


@pytest.mark.parametrize("budget", [150, 400, 1_000])
def test_what_stays_is_valid_and_within_the_limit(store: cw.Store, budget: int) -> None:
    memory = StoreMemory.from_defaults("lunch", store, model=MODEL, token_limit=budget)
    memory.put(RICH[0])
    for number in range(30):
        call = ToolCallBlock(tool_call_id=f"c{number}", tool_name="look", tool_kwargs="{}")
        extra = {"tool_call_id": f"c{number}"}
        memory.put(ChatMessage(role="user", content=f"Lunch for {number}?"))
        memory.put(ChatMessage(role="assistant", blocks=[call]))
        memory.put(ChatMessage(role="tool", content="Table 7.", additional_kwargs=extra))
    memory.put(ChatMessage(role="user", content="And now?"))
    kept = memory.get()
    assert len(kept) < 92
    assert kept[0] == RICH[0]
    assert kept[-1].content == "And now?"
    payload = cw.render([message_of(message) for message in kept], "openai-chat", model=MODEL)
    assert payload.changes == ()
    assert cw.count(payload.payload, model=MODEL).tokens <= budget


def test_calls_beside_the_blocks_are_calls() -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]
    message = ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": calls})
    assert [call.id for call in message_of(message).calls] == ["c1"]


@pytest.mark.parametrize(
    "call",
    [
        {"function": {"name": "look", "arguments": {"at": 1}}},  # as of Ollama
        {"id": "c1", "name": "look", "input": {"at": 1}, "type": "tool_use"},  # as of Anthropic
        {"id": "c1", "function": {"name": "look", "arguments": '{"at":1}'}},
    ],
)
def test_calls_beside_the_blocks_are_read_in_every_shape(call: dict[str, Any]) -> None:
    message = ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": [call]})
    (read,) = message_of(message).calls
    assert (read.name, read.arguments, read.id) == ("look", {"at": 1}, call.get("id"))


def test_pictures_of_tools_count(store: cw.Store) -> None:
    memory = StoreMemory.from_defaults("lunch", store, model=MODEL, token_limit=4_000)
    for number in range(5):
        call = ToolCallBlock(tool_call_id=f"c{number}", tool_name="look", tool_kwargs={})
        picture = ImageBlock(image=b"\x89PNG\r\n\x1a\n", image_mimetype="image/png")
        named = {"tool_call_id": f"c{number}"}
        memory.put_messages(
            [
                ChatMessage("Look!"),
                ChatMessage(role="assistant", blocks=[call]),
                ChatMessage(role="tool", blocks=[picture], additional_kwargs=named),
            ]
        )
    assert len(memory.get_all()) == 15
    assert len(memory.get()) < 15
    (result,) = message_of(memory.get_all()[2]).results
    assert isinstance(result.content, tuple)


@pytest.mark.parametrize("value", [object(), float("nan")])
def test_a_value_that_is_not_json_is_refused(store: cw.Store, value: object) -> None:
    memory = StoreMemory.from_defaults("lunch", store)
    message = ChatMessage(role="assistant", content="x", additional_kwargs={"a": value})
    with pytest.raises(cw.UsageError, match="is not JSON"):
        memory.put_messages([ChatMessage("Hi"), message])
    assert memory.get_all() == []


def test_what_others_add_is_seen(store: cw.Store) -> None:
    memory = StoreMemory.from_defaults("lunch", store)
    picture = cw.Media("image", "image/png", "iVBORw0KGgo=")
    chat = store.conversation("lunch")
    chat.add(cw.user(["See", picture, cw.Media("audio", "audio/wav", "UklGRg==")]))
    chat.add([cw.assistant(cw.ToolCall("look", {}, "c1")), cw.tool_result("c1", "found")])
    memory.put(ChatMessage(role="user", content="typo"))
    chat.edit(4, "no typo")
    found = memory.get()
    assert [message.role.value for message in found] == ["user", "assistant", "tool", "user"]
    assert found[0].content == "See\n[audio]"
    assert found[2].additional_kwargs["tool_call_id"] == "c1"
    assert found[3].content == "no typo"


def test_a_limit_needs_a_model(store: cw.Store) -> None:
    with pytest.raises(cw.UsageError, match="model"):
        StoreMemory.from_defaults("lunch", store, token_limit=100)
