"""LlamaIndex: a memory in a store, within a limit."""

import tempfile

from llama_index.core.llms import ChatMessage

import contextwright as cw
from contextwright.integrations.llama_index import StoreMemory

with tempfile.TemporaryDirectory() as folder, cw.Store(f"{folder}/chat.db") as store:
    memory = StoreMemory.from_defaults("lunch", store, model="gpt-5.6-sol", token_limit=500)
    for number in range(50):  # agent.run(question, memory=memory) does it for you
        memory.put(ChatMessage(role="user", content=f"Lunch for {number}?"))
        memory.put(ChatMessage(role="assistant", content=f"Table {number} is free."))
    print(f"{len(memory.get())} of {len(memory.get_all())} messages are sent")
    print(memory.get()[-1])
