"""A bot for a Telegram group: it reads everybody, and answers when it is spoken to."""

import tempfile
from typing import Any

import contextwright as cw
from contextwright.providers import Script
from contextwright.sections import CurrentUser, Instructions, Memories

RECIPE = cw.Recipe(
    system=(Instructions("You are gryag. Be short."), Memories(), CurrentUser()), budget=8_000
)
script = Script([cw.assistant("Borscht, Olena.")])  # instead of a real provider


def on_message(store: cw.Store, update: dict[str, Any]) -> str | None:
    """Store a message of a group; answer if it names the bot."""
    message = update["message"]
    sender = message["from"]
    author = cw.Author(str(sender["id"]), sender["first_name"], sender.get("username"))
    chat = store.conversation(str(message["chat"]["id"]))
    said = cw.user(message["text"], author=author, meta={"message_id": message["message_id"]})
    key = f"update-{update['update_id']}"
    if "@gryag" not in message["text"]:
        chat.add(said, key=key)
        return None
    return chat.ask(said, model="gemini-3.8-flash", recipe=RECIPE, key=key, provider=script).text


def update(number: int, name: str, text: str) -> dict[str, Any]:
    sender = {"id": len(name), "first_name": name}
    message = {"message_id": number, "from": sender, "chat": {"id": -100}, "text": text}
    return {"update_id": number, "message": message}


with tempfile.TemporaryDirectory() as folder, cw.Store(f"{folder}/group.db") as store:
    store.remember("Likes borscht", about="5")
    print(on_message(store, update(1, "Max", "I am starving")))
    print(on_message(store, update(2, "Olena", "@gryag what should we eat?")))
    print(store.conversation("-100").context(RECIPE, model="gemini-3.8-flash").explain())
