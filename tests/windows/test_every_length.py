"""All decisions of every window on one talk: every length, limit, and place where loading ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

import contextwright as cw
from contextwright.windows.clearing import Clearing
from contextwright.windows.decisions import Decisions
from contextwright.windows.log import Log, Unloaded
from contextwright.windows.policies import (
    FirstAndRecent,
    KeepAll,
    KeepRecent,
    Layers,
    Stepped,
    Window,
)
from golden_files import compare_digests
from samples.windows import decided
from strategies.windows import PICTURE
from windows.test_policies import partly_loaded


def exchange(id: str, tool: str, content: str | tuple[cw.Text | cw.Media, ...]) -> list[cw.Message]:
    return [
        cw.assistant([cw.Text("I look."), cw.ToolCall(tool, {"at": id}, id)]),
        cw.Message("tool", (cw.ToolResult(id, content, tool),)),
    ]


TALK = [
    cw.system("Be kind."),
    cw.user("Find the road to the harbour."),
    *exchange("a", "find", "x" * 60),
    cw.assistant("Left, then right."),
    cw.user([cw.Text("Is it this one?"), PICTURE]),
    *exchange("b", "look", (cw.Text("see"), PICTURE)),
    cw.assistant([cw.ToolCall("find", {}, "c"), cw.ToolCall("look", {}, "d")]),
    cw.tool_result("d", "y" * 30),
    cw.user("Wait.", visibility="hidden"),
    cw.Message("tool", (cw.ToolResult("c", "z" * 45, "find"),)),
    cw.assistant("It is."),
    cw.user("Remember: no stairs.", pinned=True),
    cw.system("It rains."),
    cw.user([PICTURE, PICTURE]),
    *exchange("e", "find", "w" * 80),
    cw.assistant("Under the bridge."),
    cw.user("And back?"),
    *exchange("f", "look", (PICTURE,)),
]
WINDOWS = {
    "all": KeepAll(),
    "recent": KeepRecent(),
    "recent 5": KeepRecent(5, whole_turns=True),
    "stepped": Stepped(),
    "stepped 0.2": Stepped(0.2, messages=8, task=False),
    "first": FirstAndRecent(5, 2),
    "layers": Layers(2, 6),
}
CLEARINGS = (
    Clearing(),
    Clearing(results=1, step=0),
    Clearing(media=1, step=1.0),
    Clearing(results=2, media=2, step=3),
    Clearing(most_media=2, spare=("find",)),
)


def told(decisions: Decisions) -> object:
    return decisions.runs, decisions.omitted, decisions.gap, decisions.cut


def without_the_middle(
    window: Window, clearing: Clearing, messages: Sequence[cw.Message]
) -> Iterator[str]:
    """Whether a window decides alike without the messages between two ends, or asks for them."""
    whole = decided(list(messages), window, 300, clearing)
    for tail in range(len(messages)):
        for head in (0, 3):
            try:
                found = decided(partly_loaded(list(messages), head, tail), window, 300, clearing)
                sent = found.messages()
            except Unloaded as error:
                yield f"{head} and {tail}: wants {error.args}"
            else:
                assert told(found) == told(whole)
                assert sent == whole.messages()
                yield f"{head} and {tail}: enough"


@pytest.mark.parametrize("name", WINDOWS)
def test_every_decision(name: str) -> None:
    window = WINDOWS[name]

    def outcomes() -> Iterator[tuple[object, object]]:
        for clearing in CLEARINGS:
            for limit in (60, 150, 300, 10_000):
                log = Log()
                decisions: list[object] = []
                for message in TALK:
                    log.append(message, since=0)
                    decisions.append(told(decided(log, window, limit, clearing)))
                last = decided(list(TALK), window, limit, clearing)
                sent = list(zip(last.kept(), last.messages(), strict=True))
                yield (clearing, limit), [*decisions, list(last), sent]
            yield (clearing, "in part"), list(without_the_middle(window, clearing, TALK))

    compare_digests(f"decisions-{name}".replace(" ", "-"), outcomes())
