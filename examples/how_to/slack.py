"""A Slack bot: events arrive twice, people write in threads, the bot answers once."""

import tempfile
from typing import Any

import contextwright as cw
from contextwright.providers import Script

RECIPE = cw.Recipe(system=("You are Aya, a helpful colleague in Slack.",), budget=8_000)
script = Script([cw.assistant("Borscht and dumplings, <@U1>.")])  # instead of a real provider


def on_event(store: cw.Store, event: dict[str, Any]) -> str:
    """Answer an event of Slack's Events API; the same event again gives the same answer."""
    chat = store.conversation(f"{event['channel']}/{event.get('thread_ts', event['ts'])}")
    question = cw.user(event["text"], author=cw.Author(event["user"]))
    answer = chat.ask(
        question, model="claude-sonnet-5-5", recipe=RECIPE, key=event["ts"], provider=script
    )
    return answer.text


event = {"channel": "C1", "ts": "1763.1", "user": "U1", "text": "<@UAYA> what is for lunch?"}
with tempfile.TemporaryDirectory() as folder, cw.Store(f"{folder}/slack.db") as store:
    print(on_event(store, event))
    print(on_event(store, event))  # Slack repeats what it thinks was lost
    print([info.id for info in store.list()], store.conversation("C1/1763.1").length())
