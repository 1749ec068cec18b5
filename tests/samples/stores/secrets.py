"""A conversation with a message of which much was made, to be removed."""

from datetime import UTC, datetime

import contextwright as cw

BOB, AL = cw.Author("7", "Bob"), cw.Author("8", "Al")
SECRET = "The secret word is xylophone."
MODEL = "claude-sonnet-5-5"
RECIPE = cw.Recipe(system=["Be brief."], summary=cw.SummaryPolicy())
DAY = datetime(2026, 1, 2, tzinfo=UTC)


def filled(store: cw.Store, id: str = "lunch") -> cw.Chat:
    """A conversation whose third message is quoted, remembered, indexed, forked and summarised.

    The reply that quotes it was edited since.
    """
    chat = store.conversation(id)
    chat.add([cw.user(f"Filler {n} of the garden", author=AL) for n in range(2)], key="first")
    chat.add(
        cw.user(SECRET, author=BOB, sent_at="2026-01-01T10:00:00Z", meta={"message_id": 3}), "k3"
    )
    quote = cw.Reply("3", BOB, SECRET[:20])
    chat.add(cw.user("Really?", author=AL, reply_to=quote, meta={"message_id": 4}))
    chat.edit(4, "Really so?")
    chat.add([cw.assistant(f"Answer {n}") for n in range(3)])
    store.remember("Bob knows of a xylophone", about="7", scope=id, made_from=[3])
    chat.fork(f"{id}-fork").add(cw.user("Go on", author=AL))
    chat.update(title=f"#general: {SECRET}")
    store.index()
    chat.context(RECIPE, model=MODEL, budget=120)
    chat.make_episodes(now=DAY)
    return chat
