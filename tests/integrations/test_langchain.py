"""LangChain: what stays is the same objects and valid; a history comes back as it went in."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    convert_to_openai_messages,
)
from langchain_core.runnables import RunnableLambda

import contextwright as cw
from contextwright.integrations.langchain import (
    StoreChatMessageHistory,
    foreign_part,
    trim_messages,
)
from profiles import FAULT, examples

MODEL = "gpt-5.6-sol"
words = st.integers(0, 60).map(lambda count: "word " * count + ".")


@st.composite
def turns(draw: st.DrawFn, number: int) -> list[BaseMessage]:
    """A question, rounds of calls with their results, an answer."""
    found: list[BaseMessage] = [HumanMessage(draw(words))]
    for step in range(draw(st.integers(0, 2))):
        ids = [f"call_{number}_{step}_{call}" for call in range(draw(st.integers(1, 3)))]
        calls: list[Any] = [{"name": "look", "args": {"at": id}, "id": id} for id in ids]
        found.append(AIMessage(draw(st.sampled_from(("", "Let me look."))), tool_calls=calls))
        found += [ToolMessage(draw(words), tool_call_id=id) for id in draw(st.permutations(ids))]
    return [*found, AIMessage(draw(words))]


@st.composite
def histories(draw: st.DrawFn) -> list[BaseMessage]:
    """Turns after a system message or none, up to a question."""
    opening: list[BaseMessage] = [SystemMessage("Be brief.")] if draw(st.booleans()) else []
    body = [message for number in range(draw(st.integers(0, 6))) for message in draw(turns(number))]
    return [*opening, *body, HumanMessage("And now?")]


@given(histories(), st.integers(40, 1_500))
@examples(FAULT)
def test_what_stays_is_valid_and_within_the_budget(history: list[BaseMessage], budget: int) -> None:
    try:
        kept = trim_messages(history, max_tokens=budget, model=MODEL)
    except cw.BudgetError as error:
        budget = error.minimum
        kept = trim_messages(history, max_tokens=budget, model=MODEL)
    places = [next(at for at, one in enumerate(history) if one is message) for message in kept]
    assert places == sorted(set(places))
    assert kept[-1] is history[-1]
    assert history[0].type != "system" or kept[0] is history[0]
    payload = {"model": MODEL, "messages": convert_to_openai_messages(kept)}
    assert cw.check(payload, "openai-chat") == []
    assert cw.count(payload, model=MODEL, format="openai-chat").tokens <= budget


def test_the_call_has_the_shape_of_langchains() -> None:
    history = [HumanMessage("one"), AIMessage("two"), HumanMessage("three")]
    assert trim_messages(history, max_tokens=100, model=MODEL) == history
    assert trim_messages(max_tokens=100, model=MODEL).invoke(history) == history
    assert trim_messages([("human", "one")], model=MODEL) == [HumanMessage("one")]
    assert trim_messages([], model=MODEL) == []


def test_results_of_invalid_calls_stay_and_those_of_none_do_not() -> None:
    invalid: Any = {"name": "look", "args": "{", "id": "c1", "error": "not JSON"}
    history = [
        ToolMessage("stray", tool_call_id="c0"),
        HumanMessage("one"),
        AIMessage("", invalid_tool_calls=[invalid]),
        ToolMessage("not JSON", tool_call_id="c1"),
        HumanMessage("two"),
    ]
    assert trim_messages(history, model=MODEL) == history[1:]


PDF = {"media_type": "application/pdf", "data": "aGk="}
FOREIGN: dict[str, Any] = {
    "Claude's document": {"type": "document", "source": {"type": "base64", **PDF}},
    "Claude's file": {"type": "document", "source": {"type": "file", "file_id": "file_1"}},
    "Claude's text": {"type": "document", "source": {"type": "text", **PDF, "data": "Hi"}},
    "Gemini's media": {"type": "media", "mime_type": "video/mp4", "data": "aGk="},
    "Gemini's file": {"type": "media", "mime_type": "video/mp4", "file_uri": "gs://a/b"},
    "Bedrock's text": {"text": "Hi"},
    "Bedrock's document": {"document": {"name": "a", "source": {"bytes": "aGk="}}},
    "Claude's call": {"type": "tool_use", "id": "c9", "name": "look", "input": {}},
    "a cache point": {"cachePoint": {"type": "default"}},
    "LangChain's video": {"type": "video", "base64": "aGk=", "mime_type": "video/mp4"},
    "LangChain's text": {"type": "text-plain", "text": "Hi", "mime_type": "text/plain"},
}
ASKED = {"type": "text", "text": "What is this?"}
CALL: Any = {"name": "look", "args": {}, "id": "c1"}


@pytest.mark.parametrize("block", FOREIGN.values(), ids=FOREIGN)
def test_blocks_of_any_provider_are_kept(block: Any, store: cw.Store) -> None:
    history: list[BaseMessage] = [
        HumanMessage([block, ASKED]),
        AIMessage("", tool_calls=[CALL]),
        ToolMessage([ASKED, block], tool_call_id="c1"),
        HumanMessage([block]),
    ]
    assert trim_messages(history, model="claude-sonnet-5-5") == history
    chat = StoreChatMessageHistory("lunch", store)
    chat.add_messages(history)
    assert chat.messages == history
    assert {1, 3} <= {hit.seq for hit in store.search("What is this?")}


def test_what_blocks_of_providers_are_counted_as() -> None:
    media = {
        "Claude's document": cw.Media("document", "application/pdf", "aGk="),
        "Gemini's media": cw.Media("video", "video/mp4", "aGk="),
        "Gemini's file": cw.Media("video", "video/mp4", url="gs://a/b"),
        "LangChain's video": cw.Media("video", "video/mp4", "aGk="),
    }
    texts = {name: cw.Text(json.dumps(block)) for name, block in FOREIGN.items()}
    assert {name: foreign_part(block) for name, block in FOREIGN.items()} == {**texts, **media}


def test_a_role_of_ones_own_counts_as_a_users() -> None:
    history = [ChatMessage(content="Too long.", role="critic"), HumanMessage("And now?")]
    assert trim_messages(history, model=MODEL) == history


def test_a_message_no_model_reads_is_refused() -> None:
    with pytest.raises(cw.UsageError, match="RemoveMessage"):
        trim_messages([RemoveMessage(id="one")], model=MODEL)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[cw.Store]:
    with cw.Store(tmp_path / "chat.db", sync="fast") as store:
        yield store


RICH: list[BaseMessage] = [
    SystemMessage("Be brief.", id="s1"),
    HumanMessage(
        [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}},
        ],
        name="alice",
        additional_kwargs={"room": 7},
    ),
    AIMessage(
        [
            {"type": "thinking", "thinking": "A cat?", "signature": "c2ln"},
            {"type": "tool_use", "name": "look", "id": "c1", "input": {"at": 1}},
        ],
        tool_calls=[{"name": "look", "args": {"at": 1}, "id": "c1"}],
        response_metadata={"model_name": "claude"},
        usage_metadata={"input_tokens": 3, "output_tokens": 5, "total_tokens": 8},
    ),
    ToolMessage("a cat", tool_call_id="c1", status="error", artifact={"raw": [1, None]}),
    AIMessage(""),
]


def test_messages_come_back_as_they_went_in(store: cw.Store) -> None:
    history = StoreChatMessageHistory("lunch", store)
    assert history.messages == []
    history.add_messages(RICH)
    history.add_messages([])
    assert StoreChatMessageHistory("lunch", store).messages == RICH
    found = [(hit.seq, hit.conversation) for hit in store.search("cat")]
    assert (4, "lunch") in found
    history.clear()
    assert history.messages == []


def test_what_no_json_holds_is_refused_and_nothing_is_stored(store: cw.Store) -> None:
    history = StoreChatMessageHistory("lunch", store)
    with pytest.raises(cw.ContextwrightError):
        history.add_messages(
            [HumanMessage("one"), ToolMessage("", tool_call_id="c", artifact=open)]
        )
    assert history.messages == []


def test_what_others_change_in_the_store_is_seen(store: cw.Store) -> None:
    chat, history = store.conversation("lunch"), StoreChatMessageHistory("lunch", store)
    chat.add([cw.user("from elsewhere"), cw.assistant(cw.ToolCall("look", {}, "c1"))])
    chat.add(cw.tool_result("c1", "found"))
    history.add_messages([HumanMessage("secret"), HumanMessage("typo")])
    chat.hide(4)
    chat.edit(5, "no typo")
    assert [message.type for message in history.messages] == ["human", "ai", "tool", "human"]
    assert history.messages[-1].content == "no typo"


def test_a_chain_trims_a_stored_history(store: cw.Store) -> None:
    def answer(messages: list[BaseMessage]) -> AIMessage:
        return AIMessage(f"{len(messages)} messages")

    chain = trim_messages(max_tokens=60, model=MODEL) | RunnableLambda(answer)
    history = StoreChatMessageHistory("lunch", store)
    for number in range(12):
        history.add_user_message(f"Question {number}")
        history.add_messages([chain.invoke(history.messages)])
    assert len(store.conversation("lunch")) == 24
    seen = [int(message.text.split()[0]) for message in history.messages[1::2]]
    assert seen[:3] == [1, 3, 5]
    assert max(seen) < 10
