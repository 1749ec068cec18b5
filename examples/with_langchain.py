"""LangChain: a chat history in a store, trimmed for a model."""

import tempfile

from langchain_core.messages import AIMessage, HumanMessage

import contextwright as cw
from contextwright.integrations.langchain import StoreChatMessageHistory, trim_messages

with tempfile.TemporaryDirectory() as folder, cw.Store(f"{folder}/chat.db") as store:
    history = StoreChatMessageHistory("lunch", store)
    for number in range(50):
        question = HumanMessage(f"Lunch for {number}?")
        history.add_messages([question, AIMessage(f"Table {number} is free.")])
    trimmed = trim_messages(history.messages, max_tokens=500, model="gpt-5.6-sol")
    print(f"{len(trimmed)} of {len(history.messages)} messages are sent")
    print(trimmed[-1].content)
