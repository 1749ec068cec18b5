"""Conversations as applications have them: whole tool loops, pictures, thinking, several people.

`clean` needs no rule of its provider, `nearly_clean` has one or two faults, `wild` (the strategies
of `messages`) has little else. Texts are numbered, so that one that is missing is missed.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

from hypothesis import strategies as st
from msgspec.structs import replace

import contextwright as cw
from contextwright.messages.parts import Part
from samples.native import PAYLOADS
from strategies.messages import PNG, PROVIDERS, messages

Messages: TypeAlias = list[cw.Message]

PICTURE = cw.Media("image", "image/png", PNG)
SOUND = cw.Media("audio", "audio/mpeg", "aGk=")
BLOCK = cw.Opaque("somewhere", {"type": "hosted"}, "what it says ¶905")
HANDLE = cw.Media("document", "application/pdf", file_id="file_1", origin="somewhere")
LINE = "2026-11-15T13:05:00Z  GET /orders/{n}  200  {n} ms\n"
TOOLS = ("search", "read_file", "get-weather", "sql")
PEOPLE = (
    None,
    None,
    cw.Author("U1", "Ada"),
    cw.Author("U2", "Ada"),
    cw.Author("U3", "Olena_K"),
    cw.Author(name="Гриць"),
)
"""Two of them have one name; one has a name that few APIs take."""
PHRASES = (
    "What is the weather like?",
    "Перевір, будь ласка, замовлення",
    "今日は何曜日ですか",
    "See https://example.com/a?b=1&c=<d>",
    "- one\n- two\n\n```python\nprint('x')\n```",
    "👩‍👩‍👧‍👦 and e\u0301",
)


class Native(NamedTuple):
    """What only one provider has, as its own messages give it."""

    questions: list[cw.Message]
    answers: list[cw.Message]
    exchanges: list[Messages]


def native(provider: str) -> Native:
    messages = list(cw.parse(PAYLOADS[provider], provider).messages)
    exchanges = [
        [one, after]
        for one, after in zip(messages, messages[1:], strict=False)
        if one.calls and after.results
    ]
    return Native(
        [one for one in messages if one.role == "user"],
        [one for one in messages if one.role == "assistant" and not one.calls],
        exchanges,
    )


NATIVE = {provider: native(provider) for provider in PROVIDERS}

lengths = st.one_of(
    st.integers(1, 40),
    st.integers(1, 40),
    st.integers(1, 400),
    st.sampled_from((2_000, 8_000, 30_000)),
)
"""Characters of a tool's output: most are short, a few hold nearly all there is."""


def output_of(length: int) -> str:
    """Lines of a log, of some length."""
    return "".join(LINE.format(n=number) for number in range(1 + length // 40))[:length].strip()


outputs = lengths.map(output_of)
extras = st.dictionaries(
    st.sampled_from((*PROVIDERS, "somewhere")),
    st.dictionaries(st.sampled_from(("x_trace", "index", "logprobs")), st.integers(0, 9)),
    max_size=2,
)
"""Fields of other formats, or of ours that nobody knows."""


class Words:
    """Draws texts, each with a number of its own."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.numbers = count(1)

    def __call__(self) -> str:
        return f"{self.draw(st.sampled_from(PHRASES))} ¶{next(self.numbers)}"


class Script:
    """Writes one conversation, turn by turn, as one provider's API would take it."""

    def __init__(self, draw: st.DrawFn, provider: str) -> None:
        self.draw = draw
        self.words = Words(draw)
        self.native = NATIVE[provider]
        self.flags_errors = provider in ("anthropic", "gemini")
        self.names_speakers = provider == "openai-chat"
        self.shows_results = provider != "openai-chat"
        self.ids = (f"call_{number}" for number in count(1))
        self.used_native = False

    def chance(self, one_in: int) -> bool:
        return self.draw(st.integers(1, one_in)) == one_in

    def question(self) -> cw.Message:
        parts: list[Part] = [cw.Text(self.words())]
        if self.chance(4):
            parts.insert(self.draw(st.integers(0, 1)), PICTURE)
        if self.chance(4):
            parts.extend(self.draw(st.sampled_from(self.native.questions)).parts)
        author = cw.Author("U1", "Ada") if self.names_speakers and self.chance(3) else None
        return cw.Message("user", tuple(parts), author, pinned=self.chance(8))

    def answer(self) -> cw.Message:
        if self.chance(3):
            return self.draw(st.sampled_from(self.native.answers))
        return cw.assistant(self.words())

    def result(self, id: str, name: str) -> cw.ToolResult:
        if self.flags_errors and self.chance(6):
            return cw.ToolResult(id, "no such file", name, True)
        if self.chance(4):
            return cw.ToolResult(
                id, {"rows": self.draw(st.integers(0, 9)), "t": self.words()}, name
            )
        if self.chance(5):
            return cw.ToolResult(id, (cw.Text(self.words()), PICTURE), name)
        return cw.ToolResult(id, f"{self.words()}\n{self.draw(outputs)}".strip(), name)

    def exchange(self) -> Messages:
        """A message that calls, alone or in parallel, and its results in some order."""
        if not self.used_native and self.chance(4):
            self.used_native = True  # its ids are fixed
            return self.draw(st.sampled_from(self.native.exchanges))
        names = self.draw(st.lists(st.sampled_from(TOOLS), min_size=1, max_size=3))
        calls = [cw.ToolCall(name, {"q": self.words()}, next(self.ids)) for name in names]
        said: list[Part] = [cw.Text(self.words())] if self.draw(st.booleans()) else []
        order = self.draw(st.permutations(calls))
        results = [self.result(call.id or "", call.name) for call in order]
        return [cw.assistant([*said, *calls]), cw.Message("tool", tuple(results))]

    def turn(self) -> Messages:
        rounds = self.draw(st.sampled_from((0, 0, 1, 1, 2, 4)))
        loop = [one for _ in range(rounds) for one in self.exchange()]
        return [self.question(), *loop, self.answer()]

    def messages(self) -> Messages:
        opening = [cw.system(self.words())] if self.draw(st.booleans()) else []
        turns = self.draw(st.integers(0, 3))
        history = [one for _ in range(turns) for one in self.turn()]
        if self.chance(4):
            return [*opening, *history, self.question(), *self.exchange()]
        return [*opening, *history, self.question()]


@st.composite
def clean_histories(draw: st.DrawFn, provider: str) -> Messages:
    """A history that the provider takes as it is."""
    return Script(draw, provider).messages()


# --- faults ----------------------------------------------------------------------------------

Change: TypeAlias = Callable[[st.DrawFn, cw.Message], list[cw.Message]]


def without_a_part(draw: st.DrawFn, message: cw.Message) -> list[cw.Message]:
    """A call without its result, a result without its call, or a message that says nothing."""
    place = draw(st.integers(0, len(message.parts) - 1))
    return [message.with_parts([*message.parts[:place], *message.parts[place + 1 :]])]


def with_a_stranger(draw: st.DrawFn, message: cw.Message) -> list[cw.Message]:
    """Blocks of some provider, perhaps another one."""
    strangers = NATIVE[draw(st.sampled_from(PROVIDERS))]
    stranger = draw(st.sampled_from([*strangers.answers, *strangers.questions]))
    return [message.with_parts((*message.parts, *stranger.parts))]


def with_calls(**fields: Any) -> Change:
    """A message whose calls have another id or name; their results keep theirs."""
    return lambda draw, message: [
        message.with_parts(
            replace(part, **fields) if isinstance(part, cw.ToolCall) else part
            for part in message.parts
        )
    ]


def with_results(**fields: Any) -> Change:
    """A message whose results are otherwise."""
    return lambda draw, message: [
        message.with_parts(
            replace(part, **fields) if isinstance(part, cw.ToolResult) else part
            for part in message.parts
        )
    ]


def with_part(part: Part) -> Change:
    """A message with one part more."""
    return lambda draw, message: [message.with_parts((*message.parts, part))]


def followed_by(message: cw.Message) -> Change:
    """Another message behind it."""
    return lambda draw, one: [one, message]


def speaks(message: cw.Message) -> bool:
    return message.role in ("user", "assistant")


def anything(message: cw.Message) -> bool:
    return True


class Fault(NamedTuple):
    """One thing wrong with one message."""

    change: Change
    among: Callable[[cw.Message], object] = anything
    """Those that it can happen to."""

    def __call__(self, draw: st.DrawFn, history: Messages) -> Messages:
        places = [place for place, one in enumerate(history) if self.among(one)]
        if not places:
            return history
        place = draw(st.sampled_from(places))
        return [*history[:place], *self.change(draw, history[place]), *history[place + 1 :]]


CALLS, RESULTS = attrgetter("calls"), attrgetter("results")
NEW = cw.ToolResult("new", "¶901")


def tool(*results: cw.ToolResult) -> cw.Message:
    return cw.Message("tool", results)


def with_exchange(id: str | None, answer: cw.Message, *, calls: int = 1) -> Fault:
    """Another turn with calls of this id behind an answer."""
    call = cw.ToolCall("search", {}, id)
    turn = [cw.user("Again? ¶900"), cw.assistant([call] * calls), answer]
    return Fault(
        lambda draw, one: [one, *turn], lambda one: one.role == "assistant" and not one.calls
    )


FAULTS = {
    "gone": Fault(lambda draw, one: []),
    "results gone": Fault(lambda draw, one: [], RESULTS),
    "twice": Fault(lambda draw, one: [one, one]),
    "hidden": Fault(lambda draw, one: [replace(one, visibility="hidden")]),
    "a part gone": Fault(without_a_part, attrgetter("parts")),
    "calls gone": Fault(without_a_part, CALLS),
    "no parts": Fault(lambda draw, one: [one.with_parts(())]),
    "blank text": Fault(with_part(cw.Text(" ")), speaks),
    "nothing but blanks": Fault(lambda draw, one: [one.with_parts([cw.Text("\n")])], speaks),
    "blank result": Fault(with_results(content=" "), RESULTS),
    "error": Fault(with_results(is_error=True), RESULTS),
    "empty error": Fault(with_results(is_error=True, content=""), RESULTS),
    "result without id": Fault(with_results(call_id=None), RESULTS),
    "picture in a result": Fault(with_results(content=(cw.Text("see"), PICTURE)), RESULTS),
    "sound in a result": Fault(with_results(content=(SOUND,)), RESULTS),
    "call without id": Fault(with_calls(id=None), CALLS),
    "odd id": Fault(with_calls(id="call:1/ж"), CALLS),
    "id used before": Fault(with_calls(id="call_1"), CALLS),
    "odd tool name": Fault(with_calls(name="my tool.v1"), CALLS),
    "another turn's id": with_exchange("call_1", tool(cw.ToolResult("call_1", "¶901"))),
    "no ids": with_exchange(None, tool(cw.ToolResult(None, "¶901", "search"))),
    "an id twice": with_exchange("same", tool(*[cw.ToolResult("same", "¶901")] * 2), calls=2),
    "a result behind words": with_exchange("new", cw.user(["¶905", NEW])),
    "a result of the model": with_exchange("new", cw.assistant([NEW])),
    "a result beside its call": Fault(
        followed_by(cw.assistant([cw.ToolCall("search", {}, "new"), NEW]))
    ),
    "a stranger's blocks": Fault(with_a_stranger, speaks),
    "a stranger's block": Fault(with_part(BLOCK), speaks),
    "a stranger's block in a result": Fault(with_results(content=(BLOCK,)), RESULTS),
    "odd fields": Fault(lambda draw, one: [replace(one, extra=draw(extras))]),
    "odd fields of a part": Fault(
        lambda draw, one: [
            one.with_parts([replace(one.parts[0], extra=draw(extras)), *one.parts[1:]])
        ],
        lambda one: one.parts and not isinstance(one.parts[0], cw.Opaque),
    ),
    "a speaker": Fault(
        lambda draw, one: [replace(one, author=draw(st.sampled_from(PEOPLE)))], speaks
    ),
    "a picture": Fault(with_part(PICTURE), speaks),
    "a sound": Fault(with_part(SOUND), speaks),
    "a foreign handle": Fault(with_part(HANDLE), speaks),
    "unsigned thinking": Fault(with_part(cw.Thinking("hm")), speaks),
    "a question behind": Fault(followed_by(cw.user("And? ¶902"))),
    "an answer behind": Fault(followed_by(cw.assistant("Well, ¶903 "))),
    "an instruction behind": Fault(followed_by(cw.system("Be brief. ¶904"))),
    "anything behind": Fault(lambda draw, one: [one, draw(messages)]),
}


@st.composite
def faulty_histories(draw: st.DrawFn, provider: str, *names: str) -> Messages:
    """A clean history with these faults."""
    history = draw(clean_histories(provider))
    for name in names:
        history = FAULTS[name](draw, history)
    return history


def conversation_of(history: Messages) -> cw.Conversation:
    return cw.Conversation(tuple(history))


def clean(provider: str) -> st.SearchStrategy[cw.Conversation]:
    """Conversations that their provider takes as they are."""
    return clean_histories(provider).map(conversation_of)


def faulty(provider: str, *names: str) -> st.SearchStrategy[cw.Conversation]:
    """Clean conversations with these faults."""
    return faulty_histories(provider, *names).map(conversation_of)


def nearly_clean(provider: str) -> st.SearchStrategy[cw.Conversation]:
    """Conversations with one or two faults of any kind."""
    chosen = st.lists(st.sampled_from(sorted(FAULTS)), min_size=1, max_size=2)
    return chosen.flatmap(lambda names: faulty(provider, *names))


def traffic(provider: str) -> st.SearchStrategy[cw.Conversation]:
    """Clean and nearly clean conversations, for one provider."""
    return st.one_of(clean(provider), nearly_clean(provider))


any_traffic = st.sampled_from(PROVIDERS).flatmap(traffic)
"""Clean and nearly clean conversations of any provider."""
