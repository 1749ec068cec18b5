"""Summaries written by a model: asked for once, bounded, and allowed to fail."""

from __future__ import annotations

from collections.abc import Collection

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.summaries import Request, Summary
from contextwright.summaries.summary import sentences_that_fit
from doubles import Writer
from pages import EXAMPLE, with_real_outputs
from paths import DOCS
from samples.hostile import OWN
from samples.summaries import MODEL, SECTIONS, SPECIAL, TALK, said_of_gap, talk
from samples.windows import From
from strategies.windows import windows

MODELS = (MODEL, "claude-sonnet-5-5", "gemini-3.5-flash")

CHINESE = [
    "我们明天早上一起坐火车去东京旅行。",
    "她对花生过敏所以晚餐不能有花生。",
    "他们决定在星期五之前买好车票。",
    "最后的问题是谁来照顾那只小猫呢。",
]


# --- a writer --------------------------------------------------------------------------------


def test_a_writer_is_asked_once_and_told_what_is_new() -> None:
    writer = Writer()
    recipe = cw.Recipe(
        window=cw.windows.Stepped(0.7, messages=8),
        summary=cw.SummaryPolicy(100, model="small", summariser=writer),
    )
    history = recipe.history(model=MODEL)
    cuts: set[int] = set()
    for message in talk(4):
        history.append(message)
        context = recipe.build(history, model=MODEL, budget=2_000)
        cuts.add(context.decisions.cut)
    assert len(writer.asked) == len(cuts - {0}) > 3
    first, second = (request.text.splitlines() for request in writer.asked[:2])
    assert first == [
        "Messages:",
        "> 1 2024-05-01 Alice: I am allergic to hazelnuts.",
        "> 2 assistant: Noted: no hazelnuts.",
        "> 3 2024-05-01 Alice: My train to Lviv leaves at 7:40 on Friday.",
        "> 4 assistant: Then be at the station at 7:20.",
    ]
    assert second[:3] == [
        "Earlier summary of messages 1–4:",
        "> Up to: > 4 assistant: Then be at the station at 7:20.",
        "Messages:",
    ]
    told = [line for request in writer.asked for line in request.text.splitlines()]
    numbers = [int(line.split()[1]) for line in told if line.startswith("> ") and line[2].isdigit()]
    assert numbers == list(range(1, max(cuts) + 1))
    assert writer.asked[0].model == "small"
    assert "at most 50 words" in writer.asked[0].instructions


def test_what_stayed_once_is_told_when_it_is_left_out() -> None:
    """Once a kept history's summary went without it, where it ended at the same message."""
    writer = Writer()
    policy = cw.SummaryPolicy(100, model="small", summariser=writer)
    recipe = cw.Recipe(window=From(6, [1]), summary=policy)
    history = recipe.history(talk(), model=MODEL)
    assert recipe.build(history, model=MODEL).decisions.summarised == 5
    recipe = msgspec.structs.replace(recipe, window=From(6))
    assert recipe.build(history, model=MODEL).decisions.summarised == 6
    assert writer.asked[1].text.splitlines()[-1].startswith("> 2 ")
    recipe.build(history, model=MODEL)
    assert len(writer.asked) == 2


@given(
    st.lists(st.sampled_from([*TALK, *CHINESE]), min_size=1, max_size=60),
    windows,
    st.sampled_from(SECTIONS),
    st.integers(60, 1_500),
    st.sampled_from((30, 100, 400)),
    st.sampled_from(MODELS),
)
def test_a_summary_ends_at_the_cut_and_is_asked_for_once(
    texts: list[str],
    window: cw.windows.Window,
    system: tuple[cw.Section | str, ...],
    budget: int,
    tokens: int,
    model: str,
) -> None:
    """Whatever gives way, and whatever is said: the cut is where it would be without the words."""
    messages = [cw.user(text) for text in texts]
    cuts: set[int] = set()
    for words in ("", "They spoke.", "They spoke of nuts. " * 60):
        asked: list[Request] = []

        def summariser(request: Request, words: str = words, asked: list[Request] = asked) -> str:
            asked.append(request)
            return words

        summary = cw.SummaryPolicy(tokens, model="small", summariser=summariser)
        recipe = cw.Recipe(window=window, system=system, summary=summary, budget=budget)
        history = recipe.history(messages, model=model)
        try:
            context = recipe.build(history, model=model)
        except cw.BudgetError:
            assert not asked
            continue
        assert len(asked) <= 1
        assert context.ledger.most <= budget or isinstance(window, cw.windows.KeepAll)
        cuts.add(context.decisions.cut)
        told = [one.meta["summary"] for one in context.conversation.messages if one.meta]
        assert [one["last"] for one in told] in ([], [context.decisions.cut])
        if words:
            again = recipe.build(history, model=model)
            assert again.payload == context.payload
            assert len(asked) <= 1
    assert len(cuts) <= 1


def failing(request: Request) -> str:
    raise RuntimeError("no credit\nleft")


@pytest.mark.parametrize(
    ("summariser", "reason"),
    [
        (failing, "it failed: RuntimeError: 'no credit'"),
        (lambda request: "", "it returned no text"),
        (lambda request: " \n\u200d", "it returned no text"),
        (lambda request: None, "it returned no text"),
        (None, "no summariser is set: SummaryPolicy(summariser=…)"),
    ],
)
def test_what_fails_leaves_the_note(
    summariser: cw.summaries.Summariser | None, reason: str
) -> None:
    recipe = cw.Recipe(
        window=cw.windows.KeepRecent(messages=3),
        summary=cw.SummaryPolicy(model="small", summariser=summariser),
    )
    context = recipe.build(talk(), model=MODEL)
    assert said_of_gap(context) == ["[6 earlier messages are left out here]"]
    assert cw.Change("loss.summary", "summary", reason) in context.changes
    bare = msgspec.structs.replace(recipe, summary=None)
    assert bare.build(talk(), model=MODEL).payload == context.payload


def test_what_is_too_long_ends_with_a_sentence() -> None:
    recipe = cw.Recipe(
        window=cw.windows.KeepRecent(messages=3),
        summary=cw.SummaryPolicy(
            60, model="small", summariser=lambda _: "They spoke of nuts. " * 30
        ),
    )
    context = recipe.build(talk(), model=MODEL)
    (text,) = said_of_gap(context)
    assert text.endswith("They spoke of nuts.")
    assert cw.Change("loss.cut", "summary", "it is longer than 60 tokens") in context.changes


@given(st.lists(st.sampled_from([*TALK, *CHINESE, *OWN, " ", "\n", "\n\n"]), max_size=20))
def test_all_of_it_is_told_where_it_fits(pieces: list[str]) -> None:
    text = "".join(pieces)
    summary = Summary(9, 9, "small", text)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert summary.quoted(summary.size) == "\n".join(f"> {line}" for line in lines if line)


@given(st.lists(st.sampled_from([*TALK, *CHINESE, "\n"]), max_size=20), st.integers(0, 400))
def test_its_beginning_is_its_own_and_fits(pieces: list[str], longest: int) -> None:
    text = "".join(pieces)
    lines = sentences_that_fit(text, longest)
    assert len("\n".join(lines)) <= longest
    assert "".join(text.split()).startswith("".join("".join(lines).split()))


def test_chinese_is_told_to_the_end_and_without_blanks() -> None:
    text = "".join(CHINESE)
    recipe = cw.Recipe(
        window=cw.windows.KeepRecent(messages=3),
        summary=cw.SummaryPolicy(model="small", summariser=lambda _: text),
    )
    context = recipe.build(talk(), model=MODEL)
    (told,) = said_of_gap(context)
    assert told.splitlines()[1:] == [f"> {text}"]
    assert not any(change.code == "loss.cut" for change in context.changes)


def test_a_long_history_is_told_in_several_requests() -> None:
    """A build asks once; what one request does not hold is noted, and told the next time."""
    writer = Writer()
    recipe = cw.Recipe(
        window=cw.windows.KeepRecent(messages=1),
        summary=cw.SummaryPolicy(model="small", summariser=writer),
    )
    said = [cw.user(f"{number} " + "word " * 300) for number in range(60)]
    history = recipe.history([*said, cw.user("And?")], model=MODEL)
    contexts = [recipe.build(history, model=MODEL) for _ in range(3)]
    told = [context.decisions.summarised for context in contexts]
    assert 0 < told[0] < told[1] == told[2] == 60
    assert len(writer.asked) == 2
    assert said_of_gap(contexts[0])[1] == f"[{60 - told[0]} earlier messages are left out here]"


def test_results_and_calls_reach_a_writer() -> None:
    writer = Writer()
    summary = cw.SummaryPolicy(model="small", summariser=writer)
    recipe = cw.Recipe(window=cw.windows.KeepRecent(messages=1), summary=summary)
    recipe.build([*SPECIAL, *talk()], model=MODEL)
    assert writer.asked[0].text.splitlines()[1:6] == [
        "> 1 user (summary): The zebra was compacted.",
        "> 2 user (note): The zebra is a reminder.",
        "> 5 assistant: (calls zebra {})",
        "> 6 tool: (result : The zebra is a result.)",
        "> 7 assistant: (nothing)",
    ]


def test_a_summary_may_come_from_elsewhere() -> None:
    class Mine:
        def upto(self, last: int, kept: Collection[int]) -> cw.summaries.SummaryResult:
            return cw.summaries.SummaryResult(Summary(last, last, "Ada", "They spoke."))

    recipe = cw.Recipe(window=cw.windows.KeepRecent(messages=3), summary=cw.SummaryPolicy())
    context = recipe.build(talk(), model=MODEL, summaries=Mine())
    assert said_of_gap(context) == [
        "[Summary of messages 1–6, written by Ada: nobody here said these words]\n> They spoke."
    ]


def test_the_guide_is_true() -> None:
    text = (DOCS / "summaries.md").read_text("utf-8")
    assert len(EXAMPLE.findall(text)) == 1
    assert with_real_outputs(text) == text


@pytest.mark.parametrize("tokens", [0, -5, None, 1.5, True])
def test_a_summary_of_no_tokens_is_refused(tokens: int) -> None:
    with pytest.raises(cw.UsageError, match="tokens cannot be "):
        cw.SummaryPolicy(tokens=tokens)
