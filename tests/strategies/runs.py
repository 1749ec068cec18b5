"""Long histories as agents and chat rooms have them, for laws about how much of them is kept.

Most tool results are short and a few hold nearly all there is; pictures stand in questions and in
results; calls run in parallel and are answered late, or by a message with words beside; rules come
in the middle, some messages are pinned, some hidden; one person speaks, or several with names.
Every text has a number of its own.
"""

from __future__ import annotations

from itertools import count

from hypothesis import strategies as st

import contextwright as cw
from contextwright.messages.parts import Part
from contextwright.windows.clearing import Clearing
from contextwright.windows.policies import (
    FirstAndRecent,
    KeepAll,
    KeepRecent,
    Layers,
    Stepped,
    Window,
)
from strategies.messages import PNG

TARGETS = (
    ("anthropic", "claude-sonnet-4-5"),
    ("anthropic", "claude-sonnet-5-5"),
    ("gemini", "gemini-3.8-flash"),
    ("openai-chat", "gpt-4o"),
    ("openai-responses", "gpt-5.6-sol"),
)
targets = st.sampled_from(TARGETS)

STICKER = cw.Media("image", "image/png", PNG)
"""A picture that costs less than the words in its place."""
PHOTO = cw.Media("image", "image/jpeg", url="https://example.com/photo.jpg")
SPEECH = (
    "The train to Lviv leaves at seven forty and nobody has bought the tickets yet. ",
    "Потяг до Львова відходить о сьомій сорок, а квитків досі ніхто не купив. ",
    "def total(rows): return sum(row['amount'] for row in rows if row['paid'])\n",
    "列車は七時四十分に出ますが、切符はまだ誰も買っていません。",
)
PEOPLE = (
    (),
    (),
    (cw.Author(id="1", name="Ann"),),
    (cw.Author(id="1", name="Ann"), cw.Author(id="2", name="Богдан")),
    tuple(cw.Author(id=str(number), name=f"Guest {number} of the house") for number in range(5)),
)
"""Who speaks in a history; without names, nobody says who does."""
said = st.sampled_from((0, 8, 8, 30, 30, 90, 200))
"""Characters of what somebody says."""
returned = st.sampled_from((0, 2, 40, 80, 80, 80, 200, 200, 800, 2_500, 8_000))
"""Characters of a result: the longest are a hundred times the median."""


class Room:
    """Draws one history, turn by turn."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.numbers = count(1)
        self.people = draw(st.sampled_from(PEOPLE))
        self.ids = draw(st.sampled_from((*["c{}"] * 4, "again")))

    def chance(self, one_in: int) -> bool:
        return self.draw(st.integers(1, one_in)) == one_in

    def text(self, length: int) -> str:
        """A text of about that length, with a number of its own."""
        number = next(self.numbers)
        words = SPEECH[number % len(SPEECH)]
        return f"¶{number} {words * (length // len(words) + 1)}"[: length + 5]

    def speech(self) -> str:
        return self.text(self.draw(said))

    def user(self, said: str | list[Part]) -> cw.Message:
        """What one of the people says."""
        author = self.draw(st.sampled_from(self.people)) if self.people else None
        return cw.user(said, author=author)

    def talk(self) -> list[cw.Message]:
        thought = [cw.Thinking(self.speech(), "c2ln", "anthropic")] if self.chance(6) else []
        answer = cw.assistant([*thought, cw.Text(self.speech())])
        return [self.user(self.speech()), answer]

    def questions(self) -> list[cw.Message]:
        return [self.user(self.speech()) for _ in range(self.draw(st.integers(1, 3)))]

    def burst(self) -> list[cw.Message]:
        """Many short messages of one side: in a request they make one turn."""
        speak = self.draw(st.sampled_from((self.user, cw.assistant)))
        return [speak(self.text(0)) for _ in range(self.draw(st.integers(2, 20)))]

    def pictures(self) -> list[cw.Message]:
        number = self.draw(st.sampled_from((1, 1, 1, 2, 3)))
        picture = self.draw(st.sampled_from((PHOTO, PHOTO, STICKER)))
        return [self.user([cw.Text(self.speech()), *[picture] * number]), cw.assistant("Seen.")]

    def result(self, id: str) -> cw.ToolResult:
        text = self.text(self.draw(returned))
        kind = self.draw(st.sampled_from(("text", "text", "text", "json", "picture")))
        if kind == "json":
            return cw.ToolResult(id, {"rows": text})
        if kind == "picture":
            return cw.ToolResult(id, (cw.Text(text), self.draw(st.sampled_from((PHOTO, STICKER)))))
        return cw.ToolResult(id, text)

    def exchange(self) -> list[cw.Message]:
        """Calls alone or in parallel, and their results: apart, in one message, late."""
        parallel = self.draw(st.sampled_from((1, 1, 1, 2, 3)))
        ids = [self.ids.format(next(self.numbers)) for _ in range(parallel)]
        calls = [cw.ToolCall("search", {"q": self.text(8)}, id) for id in ids]
        words = [cw.Text(self.speech())] if self.chance(3) else []
        results = [self.result(id) for id in ids]
        asking = cw.assistant([*words, *calls])
        match self.draw(st.sampled_from(("apart", "apart", "together", "reminded", "late"))):
            case "together":
                return [asking, cw.Message("tool", tuple(results))]
            case "reminded":
                return [asking, self.user([*results, cw.Text(self.speech())])]
            case "late":
                apart = [cw.Message("tool", (one,)) for one in results]
                return [asking, self.user(self.speech()), *apart]
            case _:
                return [asking, *(cw.Message("tool", (one,)) for one in results)]

    def loop(self) -> list[cw.Message]:
        """A task, and the steps an agent takes."""
        steps = [one for _ in range(self.draw(st.integers(1, 6))) for one in self.exchange()]
        return [self.user(self.speech()), *steps]

    def odd(self) -> list[cw.Message]:
        """What damaged or foreign data has: nothing, blanks, a provider's own blocks, no ids."""
        nameless = cw.ToolResult(None, self.speech(), "search")
        search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
        found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
        hosted = [cw.Opaque("anthropic", one) for one in (search, found)]
        return self.draw(
            st.sampled_from(
                (
                    [cw.Message("user")],
                    [cw.Message("assistant")],
                    [self.user("")],
                    [cw.assistant(" ")],
                    [cw.assistant(cw.ToolCall("search", {})), cw.Message("tool", (nameless,))],
                    [self.user(self.speech()), cw.assistant([*hosted, cw.Text(self.speech())])],
                    [cw.user(self.speech(), kind="event")],
                    [cw.user(self.speech(), meta={"edited": True})],
                )
            )
        )

    def marked(self) -> list[cw.Message]:
        text = self.speech()
        return [
            self.draw(
                st.sampled_from(
                    (
                        cw.system(text),
                        cw.user(text, pinned=True),
                        cw.user(text, visibility="hidden"),
                        cw.assistant(text, visibility="deleted"),
                    )
                )
            )
        ]


@st.composite
def histories(draw: st.DrawFn, turns: int = 14) -> list[cw.Message]:
    """A history of some turns, perhaps in the middle of a tool loop."""
    room = Room(draw)
    kinds = (room.talk, room.talk, room.exchange, room.loop, room.pictures, room.marked, room.burst)
    messages = [cw.system(room.speech())] if draw(st.booleans()) else []
    for _ in range(draw(st.integers(1, turns))):
        messages += draw(st.sampled_from((*kinds, room.questions, room.odd)))()
    if draw(st.booleans()):
        messages.append(room.user(room.speech()))
    elif room.chance(3):
        messages.append(cw.assistant(cw.ToolCall("search", {"q": "?"}, "open")))
    if room.chance(5):
        # As other programs trim: what is left may begin with results whose calls are gone.
        messages = messages[draw(st.integers(0, len(messages) - 1)) :]
    return messages


sizes = st.none() | st.integers(1, 20)
steps = st.sampled_from((0.1, 0.3, 0.6, 0.9))
windows: st.SearchStrategy[Window] = st.one_of(
    st.just(KeepAll()),
    st.just(KeepRecent()),
    st.builds(KeepRecent, sizes),
    st.builds(Stepped, steps),
    st.builds(Stepped, steps, sizes, st.booleans()),
    st.builds(FirstAndRecent, st.integers(1, 30), st.integers(0, 4)),
    st.builds(Layers, st.integers(1, 6), st.integers(1, 30)),
)
clearings = st.one_of(
    st.just(Clearing()),
    st.builds(
        Clearing,
        results=st.none() | st.integers(0, 4),
        media=st.none() | st.integers(0, 3),
        most_media=st.none() | st.integers(1, 4),
        step=st.sampled_from((0, 0.5, 2)),
        spare=st.sampled_from(((), ("search",))),
    ),
)
summaries = st.sampled_from(
    (
        None,
        None,
        cw.SummaryPolicy(),
        cw.SummaryPolicy(60),
        cw.SummaryPolicy(summariser=lambda request: "They talked. " * 9),
    )
)
shares = st.sampled_from((0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 0.97))
"""The budget, as a share of what the whole history takes."""
limits = st.sampled_from((300, 1_000, 3_000, 9_000))
"""Limits where every letter is a token."""
