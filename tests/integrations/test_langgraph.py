"""LangGraph: the model sees what fits, and every checkpoint keeps all messages."""

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

import contextwright as cw
from contextwright.integrations.langgraph import trim_node

MODEL = "gpt-5.6-sol"


class State(MessagesState):
    llm_input_messages: list[AnyMessage]


def answer(state: State) -> dict[str, list[AIMessage]]:
    return {"messages": [AIMessage(f"The model sees {len(state['llm_input_messages'])}.")]}


def test_a_checkpoint_keeps_what_the_model_does_not_see() -> None:
    graph = StateGraph(State)
    graph.add_node("trim", trim_node(MODEL, max_tokens=120))
    graph.add_node("model", answer)
    graph.add_edge(START, "trim")
    graph.add_edge("trim", "model")
    chat = graph.compile(checkpointer=InMemorySaver())
    config: RunnableConfig = {"configurable": {"thread_id": "lunch"}}
    for number in range(12):
        question = HumanMessage(f"Lunch for {number}?")
        chat.invoke(State(messages=[question], llm_input_messages=[]), config)
    values = chat.get_state(config).values
    assert len(values["messages"]) == 24
    seen = values["llm_input_messages"]
    assert len(seen) < 12
    assert seen[-1].content == "Lunch for 11?"


def test_keys_have_names_of_your_own() -> None:
    node = trim_node(MODEL, messages_key="history", output_key="seen")
    assert node.invoke({"history": [HumanMessage("Hi")]}) == {"seen": [HumanMessage("Hi")]}
    with pytest.raises(cw.UsageError, match="history"):
        node.invoke({"messages": []})
