"""A small store with a row in every table: forks, marks, versions, an index, vectors, requests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

import contextwright as cw
from contextwright.store.recording import BegunRequest, EndedRequest, RequestLog
from contextwright.store.requests import RequestBodies
from contextwright.store.rows.recorded.signatures import SignedAnswer
from doubles import bag
from samples.stores.records import TRANSLATED

DAY = datetime(2026, 5, 4, tzinfo=UTC)
LATER = DAY + timedelta(days=9)
RECIPE = cw.Recipe(
    system=("Be brief.", cw.Memories(), cw.sections.Episodes(), cw.sections.PastMessages()),
    summary=cw.SummaryPolicy(),
    window=cw.windows.KeepRecent(messages=3),
)
ALICE = cw.Author("U1", "Alice")


def everything(place: Path) -> None:
    """Fill a new file: `lunch`, `fork` of it, `spoon` of that, and recorded requests."""
    with cw.Store(place, embedder=bag()) as store:
        chat = store.conversation("lunch")
        for n in range(4):
            asked = cw.user(
                f"Soup {n} and tea, please",
                author=ALICE,
                sent_at=DAY + timedelta(minutes=n),
                meta={"id": f"m{n}"},
            )
            call = cw.assistant(cw.ToolCall("cook", {"pot": n}, id=f"c{n}"))
            chat.add([asked, call, cw.tool_result(f"c{n}", "Done")], key=f"k{n}")
        calls = [cw.ToolCall("boil", {}, "p1"), cw.ToolCall("fry", {}, "p2")]
        chat.add([cw.user("Two at once"), cw.assistant(calls)])
        chat.add(cw.tool_result("p1", "one"))
        chat.add(cw.user("Really?", reply_to=cw.Reply("m0", ALICE, "Soup 0")))
        fork = chat.fork("fork", at=9)
        fork.add([cw.user("Another way"), cw.assistant("Yes, with tea")], key="f")
        fork.fork("spoon", at=10).add(cw.user("With a spoon"))
        fork.hide(3)
        chat.hide(4)
        chat.pin(1)
        chat.edit(7, "No soup")
        chat.update(title="Lunch", agent="cook", settings={"tools": []})
        chat.make_episodes(now=LATER)
        store.remember("Likes soup", about="U1")
        store.remember("Only here", scope="lunch", made_from=[1, 2])
        store.for_tenant("other").conversation("lunch").add(cw.user("Tea, too"), key="k")
        store.index()
        for name in ("lunch", "fork", "spoon"):
            store.index(name, few=0)
        for _ in range(2):
            chat.context(RECIPE, model="gpt-4o", now=LATER)
            store.recall("soup and tea")
            record(store)
        backup = "INSERT INTO backups (file, made) VALUES ('/nowhere', 'never')"
        store.engine.write_alone(lambda connection: connection.run(backup))


def record(store: cw.Store, said: str = "Hello") -> None:
    """Record a request and its signed answer; the next one goes on from it."""
    log, body = RequestLog(store.state, "here/1"), b"{%s}" % (b"hello " * 60)
    (number,) = log.begin([BegunRequest(TRANSLATED, body, place="place")])
    log.finish(
        [
            EndedRequest(
                record=replace(TRANSLATED, number=number, state="answered"),
                bodies=RequestBodies(body, None, b"{}"),
                payload={},
                said=cw.Conversation((cw.user(said),)),
                reply=cw.assistant("Yes."),
                signed=SignedAnswer("call-1", (cw.Thinking("Hm.", "signature", "gemini"),)),
                answer="digest",
            )
        ]
    )
