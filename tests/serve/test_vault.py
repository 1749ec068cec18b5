"""What the vault puts back: every signature, in its place, whatever a client made of the rest."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import contextwright as cw
from contextwright.serve.vault import Vault

FORMAT = "openai-responses"
WORDS = st.text("ab ", min_size=1, max_size=5).filter(str.strip)
THOUGHTS = st.builds(
    cw.Thinking, WORDS.map(lambda word: f"hm {word}"), st.just("sig"), st.just(FORMAT)
)
TEXTS = st.builds(cw.Text, WORDS)
CALLS = st.builds(cw.ToolCall, st.just("run"), st.dictionaries(WORDS, WORDS, max_size=1))


@st.composite
def answers(draw: st.DrawFn) -> list[Any]:
    """An answer with signed thinking, and calls with ids of their own."""
    parts = draw(st.lists(st.one_of(THOUGHTS, TEXTS, CALLS), min_size=1, max_size=5))
    parts.insert(draw(st.integers(0, len(parts))), draw(THOUGHTS))
    if not any(isinstance(part, cw.Text | cw.ToolCall) for part in parts):
        parts.append(cw.Text("yes"))
    return [
        replace(part, id=f"c{place}") if isinstance(part, cw.ToolCall) else part
        for place, part in enumerate(parts)
    ]


@given(parts=answers(), thinking=st.sampled_from(["dropped", "as text"]), ids=st.booleans())
def test_an_answer_comes_back_as_it_was_given(parts: list[Any], thinking: str, ids: bool) -> None:
    before = cw.Conversation((cw.user("Hello"),))
    vault = Vault()
    vault.keep("me", FORMAT, before, cw.assistant(parts))
    sent: list[Any] = []
    for part in parts:
        if isinstance(part, cw.Thinking):
            if thinking == "as text":
                sent.append(cw.Text(f"{part.text}\n"))
        elif isinstance(part, cw.ToolCall) and not ids:
            sent.append(replace(part, id=f"own-{part.id}"))
        else:
            sent.append(part)
    history = cw.Conversation((*before.messages, cw.assistant(sent)))
    [_, message] = vault.restored("me", FORMAT, history).messages
    given = [
        replace(part, id=f"own-{part.id}") if isinstance(part, cw.ToolCall) and not ids else part
        for part in parts
    ]
    assert list(message.parts) == given
    assert vault.restored("another", FORMAT, history) == history


def test_another_answer_in_its_place_gets_nothing() -> None:
    before = cw.Conversation((cw.user("Hello"),))
    vault = Vault()
    thinking = cw.Thinking("Hm.", "sig", FORMAT)
    vault.keep("me", FORMAT, before, cw.assistant([thinking, "Yes."]))
    other = cw.Conversation((*before.messages, cw.assistant("No."), cw.user("Why?")))
    assert vault.restored("me", FORMAT, other) == other
