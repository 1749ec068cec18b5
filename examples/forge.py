"""Forge, an agent with a text protocol: thinking in brackets, calls in tags, a memory of tokens.

A Forge message is a role and a text. Format `forge` finds the thinking and the calls in it by one
scan of what the assistant wrote, so that other providers get them as what they are, and writes
them as the text they were.
"""

import tempfile
from pathlib import Path

import contextwright as cw
from contextwright.context import recipe_files as recipes
from contextwright.systems.forge import (
    Assistant,
    System,
    Tool,
    User,
    validate_message,
    validate_tool_call,
)
from outline import build_for_all, take_words_back

CALL = """[I'll calculate this using the calculator tool]

<tool>
{
  "server_name": "local",
  "tool_name": "calculator",
  "arguments": {"operation": "add", "a": 15, "b": 27}
}
</tool>"""

# Forge's own constructors, under their own names.
FLOW = [
    System("You are a helpful math tutor"),
    User("What is 15 + 27?"),
    Assistant(CALL),
    Tool("calculator", "Result: 42"),
    Assistant("[Great, the calculator confirmed the result]\n\n15 + 27 = 42"),
    User("Thanks! Now what's 42 divided by 6?"),
]

with tempfile.TemporaryDirectory() as folder, cw.Store(Path(folder) / "forge.db") as store:
    # Reading: text becomes parts, and the result finds its call by name.
    talk = cw.parse(FLOW, "forge")
    for message in talk.messages:
        print(message.role, "=", ", ".join(type(part).__name__ for part in message.parts))
    print("and back as it was:", cw.render(talk, "forge").payload == FLOW)

    # Thinking off, as `WithThinkingEnabled(false)`: no brackets are left.
    quiet = cw.render(talk, "forge", thinking="drop").payload
    print("without thinking:", [entry["content"].split("\n")[0] for entry in quiet[2:5:2]])

    # Forge's memory: its estimate of tokens; system messages never go, an exchange goes whole.
    memory = cw.systems.ConversationMemory(105)
    for entry in FLOW:
        for forgotten in memory.add(entry):
            print("forgotten:", forgotten.role)
    print(f"remembered: {[entry['role'] for entry in memory.entries]}, {memory.tokens} tokens")

    # Its validators say what Forge says.
    print("message:", validate_message({"role": "robot", "content": ""}))
    for text in (CALL, '<tool>{"tool_name": "x"}</tool>', '<tool>{"tool_name": "x"}'):
        print("tool call:", validate_tool_call(text) or "fine")

    # Kept in a store, built for every provider: calls are calls there, and thinking of another
    # program is no thinking that they signed.
    chat = store.conversation("tutor")
    chat.add(talk)
    build_for_all(chat, recipes.find("forge"), own="openai-chat")

    # Words that people take back.
    take_words_back(chat, recipes.find("forge"), edited=2, deleted=6)
