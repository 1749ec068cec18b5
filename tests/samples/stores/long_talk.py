"""One long talk with nearly everything in it, the same on every machine and in every run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import contextwright as cw
from strategies.messages import PNG

BEGIN = datetime(2026, 3, 1, 9, tzinfo=UTC)
NOW = BEGIN + timedelta(days=60)
PEOPLE = (cw.Author("U1", "Ada"), cw.Author("U2", "Olena", "olena_k"), cw.Author(name="Гриць"))
TOPICS = (
    "The boat leaves the harbour at nine; we need {n} tickets and a basket with bread.",
    "Перевір, будь ласка, замовлення {n}: там були яблука, груші та сир.",
    "Ada is allergic to nuts, so table {n} gets the risotto. She told me on Monday.",
    "今日は何曜日ですか。{n}番の電車に乗ります。",
    "# Plan {n}\n\n- paint the fence\n- call the bank\n\n```python\nprint({n})\n```",
    "My sister moved to Lisbon in 2019, not in 2020. Her street is number {n}.",
)
TOOL = cw.Tool(
    "find",
    "Find a thing",
    {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]},
)


def long_talk(turns: int = 40) -> list[cw.Message]:
    """Questions and answers; every third with calls, every fifth with a picture."""
    messages = [cw.system("You help a few friends. Be brief.")]
    for n in range(turns):
        messages += turn(n, BEGIN + timedelta(days=n, hours=n % 7))
    reply = cw.Reply("m8", PEOPLE[2], "Ada is allergic")
    question = "What did Ada say about nuts?"
    asked = cw.user(question, author=PEOPLE[1], sent_at=stamp(NOW), reply_to=reply)
    return [*messages, asked]


def turn(n: int, time: datetime) -> list[cw.Message]:
    text = TOPICS[n % len(TOPICS)].format(n=n)
    question: list[cw.Text | cw.Media] = [cw.Text(text)]
    if n % 5 == 0:
        question.append(cw.Media("image", "image/png", PNG))
    asked = cw.user(
        question, author=PEOPLE[n % 3], sent_at=stamp(time), pinned=n == 3, meta={"id": f"m{n}"}
    )
    said: list[cw.Message] = []
    if n % 3 == 0:
        said.append(
            cw.assistant(
                [
                    cw.Thinking(f"Look for {n}.", signature="c2ln", origin="anthropic"),
                    cw.ToolCall("find", {"what": f"thing {n}"}, id=f"c{n}a"),
                    cw.ToolCall("find", {"what": text}, id=f"c{n}b"),
                ]
            )
        )
        said.append(cw.tool_result(f"c{n}a", f"Line of a long result {n}.\n" * (n % 4 * 8 + 1)))
        said.append(cw.tool_result(f"c{n}b", "There is no such thing.", is_error=True))
    said.append(cw.assistant(f"Noted, number {n}. " + "It is in the list. " * (n % 4)))
    return [asked, *said]


def stamp(time: datetime) -> str:
    return time.isoformat().replace("+00:00", "Z")


DAYS = [stamp(BEGIN + timedelta(days=day)) for day in range(8)]
MEMORIES = [
    cw.Memory("memory", "Ada eats no nuts", "U1", at=DAYS[0]),
    cw.Memory("memory", "Olena paints fences", "U2", at=DAYS[1], weight=0.5),
    cw.Memory("memory", "The boat is white", at=DAYS[2]),
    cw.Memory("fact", "Lisbon", "U2", "Location", at=DAYS[3], weight=0.9),
    cw.Memory("fact", "Nuts", "U1", "Allergy", at=DAYS[4], weight=0.2),
    cw.Memory("profile", "Olena is a painter from Kyiv.", "U2", at=DAYS[5]),
    cw.Memory("episode", "All went to the harbour and bought bread.", key="harbour", at=DAYS[6]),
    cw.Memory("episode", "Ada was ill after a cake with nuts.", "U1", "nuts", at=DAYS[7]),
]
"""What is known of them, one of each kind at least."""
