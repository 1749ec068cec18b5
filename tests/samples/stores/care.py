"""A store with a little of everything, and statements that spoil it."""

from __future__ import annotations

import contextwright as cw

TURN = [
    cw.user("What is 6 × 7?"),
    cw.assistant([cw.Text("Let me see."), cw.ToolCall("times", {"a": 6, "b": 7}, "c1")]),
    cw.tool_result("c1", "42"),
    cw.assistant("It is 42."),
]
RECIPE = cw.Recipe(system=("Be brief.",), budget=4_000)


def filled(place: str) -> cw.Store:
    """A store with a little of everything: `a` has 8 messages, `b` goes on after its third."""
    store = cw.Store(place, sync="fast")
    chat = store.conversation("a")
    chat.add(TURN, key="k")
    chat.add([cw.user("And 7 × 8?"), cw.assistant(cw.ToolCall("times", {"a": 7, "b": 8}, "c2"))])
    chat.add(cw.Message("user", (cw.Text("psst"),), visibility="internal"))
    chat.context(RECIPE, model="gpt-4o")
    chat.add(cw.user("Well?"))
    fork = chat.fork("b", at=3)
    fork.add(cw.assistant("Forty-two."))
    fork.hide(1)
    fork.update(title="Другий\nрядок", agent="x", settings={"a": [1, None, "\u2028"]})
    store.for_tenant("other").conversation("a").add(cw.user("Hello"), key="k")
    return store


def run_sql(store: cw.Store, *statements: str) -> None:
    store.engine.write_alone(lambda connection: [connection.run(one) for one in statements])
