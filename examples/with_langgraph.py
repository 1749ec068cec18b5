"""LangGraph: the model sees what fits, the checkpoints keep all messages."""

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
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
thread: RunnableConfig = {"configurable": {"thread_id": "lunch"}}
for number in range(30):
    question = HumanMessage(f"Lunch for {number}?")
    chat.invoke(State(messages=[question], llm_input_messages=[]), thread)
messages = chat.get_state(thread).values["messages"]
print(f"{len(messages)} messages in the checkpoint. {messages[-1].content}")
