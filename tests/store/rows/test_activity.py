"""What is read of all conversations at once: when each was active, and whether any has changed."""

from msgspec.structs import replace

import contextwright as cw
from contextwright.store.rows import conversations


def test_the_last_time_of_each_conversation(place: str) -> None:
    with cw.Store(place) as store:
        sent = replace(cw.user("Sent"), sent_at="2026-11-16T08:00:00Z")
        store.conversation("sent").add([cw.user("Before"), sent])
        store.conversation("stored").add(cw.user("Stored"))
        store.conversation("sent").fork("fork")
        store.conversation("empty").update(title="Empty")
        rows = store.engine.read(lambda to: conversations.last_times(to, store.tenant, 0))
        [stored] = store.conversation("stored").tail(1)
        assert [(id, time) for _, id, time in rows] == [
            ("sent", sent.sent_at),
            ("stored", stored.stored_at),
            ("fork", None),
            ("empty", None),
        ]
        after = store.engine.read(lambda to: conversations.last_times(to, store.tenant, rows[2][0]))
        assert after == rows[3:]


def test_a_fingerprint_tells_of_every_change(place: str) -> None:
    with cw.Store(place) as store:
        chat = store.conversation("a")

        def look() -> object:
            return store.engine.read(
                lambda to: (
                    conversations.fingerprint(to, store.tenant),
                    conversations.states(to, store.tenant),
                )
            )

        seen = [look()]
        changes = (
            lambda: chat.add([cw.user("One"), cw.user("Two")]),
            lambda: chat.hide(2),
            lambda: chat.pin(1),
            lambda: chat.edit(1, cw.user("Uno")),
            lambda: store.conversation("b").add(cw.user("Three")),
            lambda: store.forget("b"),
        )
        for change in changes:
            change()
            assert look() != seen[-1]
            assert look() == look()
            seen.append(look())
        other = store.for_tenant("other")
        other.conversation("a").add(cw.user("Theirs"))
        assert look() == seen[-1]
