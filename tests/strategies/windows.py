"""Histories priced by their letters, windows, limits, and what is cleared."""

from hypothesis import strategies as st

import contextwright as cw
from contextwright.windows.clearing import Clearing
from contextwright.windows.policies import FirstAndRecent, KeepRecent, Layers, Stepped

PICTURE = cw.Media("image", "image/png", "aGk=")


def price(message: cw.Message) -> int:
    """A letter a token, a picture forty, and one for the message."""
    return 1 + sum(map(part_price, message.parts))


def part_price(part: cw.messages.Part) -> int:
    match part:
        case cw.Text():
            return len(part.text)
        case cw.ToolResult(content=tuple()):
            return sum(part_price(piece) for piece in part.content)
        case cw.ToolResult():
            return len(part.text)
        case cw.Media():
            return 40
        case _:
            return 3


ids = st.sampled_from(("a", "b", "c", None))


words = st.integers(0, 60).map(lambda length: "x" * length)


tool_names = st.sampled_from(("search", "look"))


contents = st.one_of(words, st.just((cw.Text("see"), PICTURE)), words.map(lambda text: {"t": text}))


part = st.one_of(
    st.builds(cw.Text, words),
    st.builds(cw.ToolCall, tool_names, st.just({}), ids),
    st.builds(cw.ToolResult, ids, contents, st.none() | tool_names),
    st.just(PICTURE),
)


loose = st.builds(
    cw.Message,
    st.sampled_from(("system", "user", "user", "assistant", "assistant", "tool")),
    st.lists(part, min_size=1, max_size=3).map(tuple),
    pinned=st.sampled_from((False, False, False, False, True)),
    visibility=st.sampled_from(("public", "public", "public", "public", "hidden", "deleted")),
)


@st.composite
def exchanges(draw: st.DrawFn) -> list[cw.Message]:
    """A question, parallel calls, their results somewhere behind, words in between."""
    asked = draw(st.lists(ids, min_size=1, max_size=3, unique=True))
    results = [cw.Message("tool", (cw.ToolResult(id, draw(contents)),)) for id in asked]
    results = results[: draw(st.integers(0, 3))]
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(results)))
        results.insert(place, draw(st.sampled_from((cw.user("and?"), cw.assistant("wait")))))
    return [
        cw.user(draw(words)),
        cw.assistant([cw.ToolCall(draw(tool_names), {}, id) for id in asked]),
        *results,
    ]


histories = st.lists(st.one_of(loose.map(lambda one: [one]), exchanges()), max_size=8).map(
    lambda groups: [message for group in groups for message in group]
)


sizes = st.none() | st.integers(0, 9)


windows: st.SearchStrategy[KeepRecent | Stepped | FirstAndRecent | Layers] = st.one_of(
    st.builds(KeepRecent, sizes),
    st.builds(Stepped, st.sampled_from((0.1, 0.4, 0.9)), sizes, st.booleans()),
    st.builds(FirstAndRecent, st.integers(0, 9), st.integers(0, 4)),
    st.builds(Layers, st.integers(0, 4), st.integers(0, 9)),
)


limits = st.one_of(st.integers(0, 40), st.integers(0, 600))


clearings = st.one_of(
    st.just(Clearing()),
    st.builds(
        Clearing,
        results=st.none() | st.integers(0, 3),
        media=st.none() | st.integers(0, 3),
        most_media=st.none() | st.integers(0, 3),
        step=st.sampled_from((0, 0.5, 1)),
        spare=st.sampled_from(((), ("look",))),
    ),
)
