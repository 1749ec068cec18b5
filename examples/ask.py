"""A question with tools, offline: the script answers as a model would."""

import tempfile

import contextwright as cw
from contextwright.ask import StepEnd, ToolEnd
from contextwright.providers import Script
from contextwright.streams import TextDelta


def book_table(people: int, at: str) -> dict[str, object]:
    """Book a table.

    Args:
        people: How many guests.
        at: When, as 13:00.
    """
    return {"table": 7, "people": people, "at": at}


script = Script(
    [
        cw.assistant(cw.ToolCall("book_table", {"people": 3, "at": "13:00"}, "call_1")),
        cw.assistant("Table 7 is yours."),
    ]
)
with tempfile.TemporaryDirectory() as folder, cw.Store(f"{folder}/chat.db") as store:
    chat = store.conversation("lunch")
    question = "A table for three at one?"
    model = "gpt-5.6-sol"
    for event in chat.ask_stream(question, model=model, tools=[book_table], provider=script):
        if isinstance(event, TextDelta):
            print(event.text, end="")
        elif isinstance(event, ToolEnd):
            print(f"{event.call.name} {event.call.json} → {event.result.text}")
        elif isinstance(event, StepEnd):
            print(f" [step {event.record.step}: {event.record.counted} tokens]")
    for stored in chat.read():
        print(stored.seq, stored.message.role, stored.message.text)
