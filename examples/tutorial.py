"""From an agent loop to one that is cached, explained and recorded."""

import tempfile
from typing import Any

import contextwright as cw
from contextwright.providers import Script

MODEL = "claude-sonnet-5-5"


def menu(day: str) -> str:
    """Return what is on the menu on a day."""
    return f"{day}: borscht, dumplings."


# 1. A loop, as everybody starts: a list of messages, a request, a reply.
history = [cw.system("You are a waiter."), cw.user("What is there today?")]
request = cw.render(history, "anthropic", model=MODEL)
print("1.", request.payload["messages"])

# 2. The list becomes a conversation in a store: durable, and every turn once.
folder = tempfile.TemporaryDirectory()
store = cw.Store(f"{folder.name}/chat.db")
chat = store.conversation("lunch")
print("2.", chat.add(cw.user("What is there today?"), key="event-1"))

# 3. A recipe says what the model sees, and how much of it.
recipe = cw.Recipe(system=("You are a waiter.", cw.CurrentTime("Europe/Kyiv")), budget=2_000)

# 4. The model is asked, the tool runs, every step is stored with its price.
call = cw.ToolCall("menu", {"day": "today"}, "call_1")
script = Script([cw.assistant(call), cw.assistant("Borscht, or dumplings.")])
settings: dict[str, Any] = {"model": MODEL, "recipe": recipe, "tools": [menu], "provider": script}
answer = chat.ask("And for a vegetarian?", key="event-2", **settings)
print("4.", answer.text)

# 5. Why does the request look like that?
context = chat.context(recipe, model=MODEL)
print("5.", [f"{decision.action}: {decision.reason}" for decision in context.decisions])

# 6. What stays in the provider's cache as the conversation grows?
for number in range(60):
    chat.add([cw.user(f"A table for {number}?"), cw.assistant("It is yours. " * 20)])
messages = [stored.message for stored in chat.read()]
sliding = cw.Recipe(name="sliding", window=cw.windows.KeepRecent())
for row in cw.simulate(messages, [cw.Recipe(name="default"), sliding], model=MODEL, budget=2_000):
    print(f"6. {row.recipe}: {row.share:.0%} in the prefix, ${row.dollars:.4f}")

store.close()
folder.cleanup()
