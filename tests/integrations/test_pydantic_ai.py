"""A history processor of Pydantic AI: the question stays, and calls stay with their returns."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

import contextwright as cw
from contextwright.integrations.pydantic_ai import history_processor
from profiles import FAULT, examples

MODEL = "gpt-5.6-sol"
words = st.integers(0, 60).map(lambda count: "word " * count + ".")


@st.composite
def histories(draw: st.DrawFn) -> list[ModelMessage]:
    """Turns with calls, some of whose returns come together with the next prompt."""
    asked: list[Any] = [SystemPromptPart("Be brief.")] if draw(st.booleans()) else []
    history: list[ModelMessage] = []
    for number in range(draw(st.integers(0, 6))):
        history.append(ModelRequest([*asked, UserPromptPart(draw(words))]))
        ids = [f"call_{number}_{call}" for call in range(draw(st.integers(0, 3)))]
        calls = [ToolCallPart("look", {"at": id}, id) for id in ids]
        history.append(ModelResponse([ThinkingPart("hm"), TextPart(draw(words)), *calls]))
        asked = [ToolReturnPart("look", draw(words), id) for id in ids]
        if asked and draw(st.booleans()):
            history += [ModelRequest(asked), ModelResponse([TextPart("done")])]
            asked = []
    return [*history, ModelRequest([*asked, UserPromptPart("And now?")])]


def ids_of(messages: list[ModelMessage], kind: type) -> list[str]:
    parts: list[Any] = [part for message in messages for part in message.parts]
    return [part.tool_call_id for part in parts if isinstance(part, kind)]


@given(histories(), st.integers(40, 1_500))
@examples(FAULT)
def test_calls_stay_with_their_returns(history: list[ModelMessage], budget: int) -> None:
    before = list(history)
    try:
        kept = history_processor(MODEL, budget=budget)(history)
    except cw.BudgetError as error:
        kept = history_processor(MODEL, budget=error.minimum)(history)
    assert history == before
    assert sorted(ids_of(kept, ToolCallPart)) == sorted(ids_of(kept, ToolReturnPart))
    assert kept[-1].parts[-1] is history[-1].parts[-1]
    system = [part for part in history[0].parts if isinstance(part, SystemPromptPart)]
    assert [part for part in kept[0].parts if isinstance(part, SystemPromptPart)] == system
    assert history_processor(MODEL)(history) == history


def test_what_stays_whole_is_the_same_object() -> None:
    history: list[ModelMessage] = [
        ModelRequest([UserPromptPart(["See", ImageUrl("https://example.org/a.png")])]),
        ModelResponse([]),
        ModelRequest([UserPromptPart([BinaryContent(b"%PDF", media_type="application/pdf")])]),
        ModelRequest([], instructions="Be brief."),
    ]
    kept = history_processor(MODEL)(history)
    assert [id(message) for message in kept] == [id(message) for message in history]


def test_an_agent_takes_it() -> None:
    seen: list[list[ModelMessage]] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(messages)
        if isinstance(messages[-1].parts[-1], UserPromptPart):
            return ModelResponse([ToolCallPart("look", {})])
        return ModelResponse([TextPart("Done.")])

    trim = history_processor(MODEL, budget=600)
    agent = Agent(FunctionModel(answer), capabilities=[ProcessHistory(trim)])

    @agent.tool_plain
    def look() -> str:
        return "word " * 60

    # `run_sync` would leave its event loop open.
    async def talk() -> None:
        history: list[ModelMessage] = []
        for number in range(12):
            result = await agent.run(f"Look {number}", message_history=history)
            history = result.all_messages()

    asyncio.run(talk())
    assert len(seen) == 24
    assert max(len(messages) for messages in seen) < 30
    for messages in seen:
        assert ids_of(messages, ToolCallPart) == ids_of(messages, ToolReturnPart)
    assert seen[-1][-3].parts[-1].content == "Look 11"  # pyright: ignore


def test_a_question_too_long_is_an_error() -> None:
    with pytest.raises(cw.BudgetError):
        history_processor(MODEL, budget=20)([ModelRequest([UserPromptPart("word " * 100)])])
