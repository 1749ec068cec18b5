"""Aya, a Slack bot: its array of entries, kept in a store and sent to any provider.

Aya keeps its context as a JSON array of numbered, timed entries, and every reply is a tool call:
`postMessage` speaks, `finishRequest` ends a turn. Format `aya` reads and writes that array;
recipe `aya` tells the other providers that those two calls are speech.
"""

import json
import tempfile
from pathlib import Path

import contextwright as cw
from contextwright.context import recipe_files as recipes
from contextwright.display import show
from outline import build_for_all, take_words_back

LUNCH = [
    ("system", "You're a helpful AI assistant named Aya."),
    ("user", {"userid": "<@U1234546>", "text": "Suggest lunch options please."}),
    (
        "assistant",
        {
            "toolCall": "getThreadHistory",
            "ascending": False,
            "reasoning": "Checking for context about dietary preferences",
        },
    ),
    (
        "assistant",
        {
            "toolCall": "postMessage",
            "text": "1) Mushroom risotto, 2) Caesar salad",
            "reasoning": "Providing diverse lunch options",
        },
    ),
]
TURNS = (0, 0, 1, 1)
ENTRIES = [
    {
        "index": index,
        "turn": turn,
        "timestamp": f"2023-04-04T12:33:{index}0Z",
        "role": role,
        "content": content,
    }
    for index, ((role, content), turn) in enumerate(zip(LUNCH, TURNS, strict=True))
]

with tempfile.TemporaryDirectory() as folder, cw.Store(Path(folder) / "aya.db") as store:
    # Reading: a Slack id is a person's id, `toolCall` and its neighbours are a call with arguments.
    lunch = cw.parse(ENTRIES, "aya")
    chat = store.conversation("lunch")
    chat.add(lunch)

    # A Slack event may come twice: with a key it is stored once.
    for _ in range(2):
        chat.add(
            cw.user("Something vegetarian?", author="U7654321", sent_at="2023-04-04T12:34:00Z"),
            key="C024BE91L/1680611640.000100",
        )

    # Aya's own console display, of what the store has.
    stored = [each.message for each in chat.read()]
    print(show(stored, width=39))

    # Writing: entries that came from Aya go back as they came. The new one is numbered, its turn
    # counted by the speaker; `turn_rule` counts all of them anew, by another rule if you like.
    entries = cw.render(stored, "aya").payload
    print("\nas they came:", entries[:4] == ENTRIES)
    print(json.dumps(entries[4]))
    for rule in ("speaker", "exchange", "user"):
        counted = cw.render(stored, "aya", turn_rule=rule).payload
        print(f"turns by {rule}:", [entry["turn"] for entry in counted])

    # To the providers. The history that Aya looked up is recorded nowhere: each gets a result that
    # says so, because a call without one is refused.
    build_for_all(chat, recipes.find("aya"), own="openai-chat")

    # Words that people take back.
    take_words_back(chat, recipes.find("aya"), edited=2, deleted=5)
