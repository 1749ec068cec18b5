"""A conversation that outgrows its window, and what is sent in place of the rest."""

import contextwright as cw

TALK = [
    "I am allergic to hazelnuts.",
    "Noted: no hazelnuts.",
    "My train to Lviv leaves at 7:40 on Friday.",
    "Then be at the station at 7:20.",
    "Remind me to buy a ticket for Olena.",
    "I will remind you.",
    "What is the weather like?",
    "It is sunny.",
]


def talk(turns: int = 1) -> list[cw.Message]:
    """People and a model in turn, on two days, and a question."""
    messages: list[cw.Message] = []
    for number in range(turns * len(TALK)):
        text = TALK[number % len(TALK)]
        if number % 2:
            messages.append(cw.assistant(text))
        else:
            day = f"2024-05-{1 + number // 4:02}T10:00:00Z" if number < 40 else None
            messages.append(cw.user(text, author=cw.Author("1", "Alice"), sent_at=day))
    return [*messages, cw.user("And now?")]


def said_of_gap(context: cw.Context) -> list[str]:
    """The texts of the summary and of the note."""
    kinds = ("summary", "note")
    return [one.text for one in context.conversation.messages if one.kind in kinds]


SECTIONS = (
    (),
    ("You are Ada.",),
    ("You are Ada.", cw.sections.Text("Be brief. " * 40, priority=10)),
    (
        cw.sections.Text("Be brief. " * 20, priority=10),
        cw.sections.Text("Or not. " * 200, priority=5),
    ),
)

MODEL = "gpt-4o"
SPECIAL = [
    cw.Message("user", (cw.Text("The zebra was compacted."),), kind="summary"),
    cw.Message("user", (cw.Text("The zebra is a reminder."),), kind="note"),
    cw.user("The zebra is hidden.", visibility="hidden"),
    cw.system("The zebra is an instruction."),
    cw.assistant(cw.ToolCall("zebra", {}, "c1")),
    cw.tool_result("c1", "The zebra is a result."),
    cw.assistant(cw.Thinking("The zebra is a thought.")),
]
