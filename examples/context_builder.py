"""013, a context builder: the message array for a Chat Completions API, straight from a store.

`ContextBuilder` puts one system prompt first and then the conversation in its order, calls and
results as the API wants them. It takes database rows as 013 stores them, messages of ours, or a
conversation of a store, of which it reads no more than fits.
"""

import tempfile
from pathlib import Path

import contextwright as cw
from outline import build_for_all, print_line, take_words_back

# Rows as 013's database has them: a call has no `type`, one tool row may hold several results.
ROWS = [
    {"role": "user", "content": "How warm is it in Kyiv and in Lviv?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "function": {"name": "weather", "arguments": {"city": "Kyiv"}}},
            {"id": "c2", "function": {"name": "weather", "arguments": {"city": "Lviv"}}},
        ],
    },
    {
        "role": "tool",
        "content": None,
        "tool_results": [
            {"tool_call_id": "c1", "content": "21 °C"},
            {"tool_call_id": "c2", "content": "18 °C"},
        ],
    },
    {"role": "assistant", "content": "21 °C in Kyiv, 18 °C in Lviv."},
    {"role": "user", "content": "And tomorrow?"},
]


def print_messages(title: str, messages: list[dict]) -> None:
    """A message array."""
    print(f"\n{title}")
    for message in messages:
        print_line(" ", message)


with tempfile.TemporaryDirectory() as folder, cw.Store(Path(folder) / "chats.db") as store:
    # A conversation without messages: the system prompt alone, the default or your own.
    chat = store.conversation("weather")
    chat.update(title="Weather")
    print_messages("Empty, default prompt:", cw.systems.ContextBuilder().build(chat))
    builder = cw.systems.ContextBuilder("You know the weather.")
    print_messages("Empty, your prompt:", builder.build(chat))

    # All messages in their order, roles mapped, tools formatted.
    chat.add(cw.parse(ROWS, "openai-chat"))
    print_messages("With messages:", builder.build(chat))

    # Too long: the oldest exchange goes, whole; the prompt and the question stay.
    short = cw.systems.ContextBuilder("You know the weather.", budget=40).context(chat)
    print_messages("In 40 tokens:", short.payload["messages"])
    print(f"  {short.decisions.omitted} messages left out")

    # A result that never came: every provider would refuse the request, so one is made, and said.
    chat.add(cw.assistant(cw.ToolCall("weather", {"city": "Kyiv", "day": 1}, id="c3")))
    chat.add(cw.user("Hello?"))
    print_messages("A missing result:", builder.build(chat)[-3:])
    literal = cw.systems.ContextBuilder("You know the weather.", repair=False)
    print_messages("The same, literally:", literal.build(chat)[-2:])

    # The builder's recipe works for the other providers too.
    build_for_all(chat, builder.recipe, own="openai-chat")

    # Words that people take back.
    take_words_back(chat, builder.recipe, edited=1, deleted=7)
