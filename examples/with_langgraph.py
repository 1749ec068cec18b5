"""LangGraph: the model sees what fits, the checkpoints keep all messages."""

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from contextwright.integrations.langgraph import trim_node


class State(MessagesState):
    llm_input_messages: list[AnyMessage]


def answer(state: State) -> dict[str, list[AIMessage]]:
    return {"messages": [AIMessage(f"I see {len(state['llm_input_messages'])} messages.")]}


graph = StateGraph(State)
graph.add_node("trim", trim_node("gpt-5.6-sol", max_tokens=200))
graph.add_node("model", answer)
graph.add_edge(START, "trim")
graph.add_edge("trim", "model")
chat = graph.compile(checkpointer=InMemorySaver())
thread = {"configurable": {"thread_id": "lunch"}}
for number in range(30):
    state = chat.invoke({"messages": [HumanMessage(f"Lunch for {number}?")]}, thread)
print(f"{len(state['messages'])} messages in the checkpoint. {state['messages'][-1].content}")
