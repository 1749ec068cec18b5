"""Summaries of messages outside the window: their text, their cost, and when they change."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.context import recipe_files as recipes_in_files
from contextwright.text.json import UNFIT
from doubles import Writer
from samples.hostile import OWN
from samples.summaries import MODEL, SPECIAL, TALK, said_of_gap, talk
from strategies.windows import histories, windows

# --- a digest --------------------------------------------------------------------------------


def test_a_digest_stands_where_messages_were_left_out() -> None:
    recipe = cw.Recipe(window=cw.windows.KeepRecent(messages=3), summary=cw.SummaryPolicy(70))
    context = recipe.build(talk(), model=MODEL, budget=400)
    assert [(one["role"], one["content"]) for one in context.payload["messages"]] == [
        (
            "user",
            "[Digest of messages 1–6: excerpts picked by a program, the rest is left out]\n"
            "> 1 2024-05-01 Alice: I am allergic to hazelnuts.\n"
            "> 3 Alice: My train to Lviv leaves at 7:40 on Friday.",
        ),
        ("user", "What is the weather like?"),
        ("assistant", "It is sunny."),
        ("user", "And now?"),
    ]
    assert [(one.action, one.reason) for one in context.decisions] == [
        ("summarised", "covered by the summary")
    ] * 6 + [("kept", "recent")] * 3
    assert [(run.start, run.stop, run.action) for run in context.decisions.runs] == [
        (0, 6, "summarised"),
        (6, 9, "kept"),
    ]
    assert [str(change) for change in context.changes if "summary" in change.path] == [
        "invent.summary summary: 6 messages are summarised by digest"
    ]
    summary = context.conversation.messages[0]
    assert summary.kind == "summary"
    assert summary.meta["summary"] == {"first": 1, "last": 6, "count": 6, "method": "digest"}
    assert "≈ summarised" in context.explain()


def test_one_message_is_summarised() -> None:
    recipe = cw.Recipe(window=cw.windows.KeepRecent(messages=1), summary=cw.SummaryPolicy())
    messages = [cw.user("I am allergic to hazelnuts."), cw.user("And now?")]
    context = recipe.build(messages, model=MODEL, budget=400)
    assert str(context.changes[0]) == "invent.summary summary: 1 message is summarised by digest"


@pytest.mark.parametrize("tokens", [100, 200, 400])
@pytest.mark.parametrize(
    "says", ["I bought {} apples in shop {}.", "Я купив {} яблук у крамниці {}."]
)
def test_a_digest_uses_its_tokens(says: str, tokens: int) -> None:
    said = [cw.user(says.format(n * 37, n), author=cw.Author("1", "Ada")) for n in range(300)]
    recipe = cw.Recipe(
        window=cw.windows.KeepRecent(messages=1), summary=cw.SummaryPolicy(tokens), budget=4_000
    )
    context = recipe.build(said, model=MODEL)
    (summary,) = (one for one in context.conversation.messages if one.kind == "summary")
    cost = cw.count([summary], model=MODEL).places["messages[0]"]  # without the request around it
    assert 0.85 * tokens <= cost <= tokens


def test_the_note_tells_what_the_summary_does_not() -> None:
    """A window never begins with a result: the cut moves behind the exchange that does not fit."""
    messages = [
        *talk()[:-1],
        cw.assistant(cw.ToolCall("look", {}, "c1")),
        cw.tool_result("c1", "a dot"),
        cw.assistant("A dot."),
        cw.user("And now?"),
    ]
    recipe = cw.Recipe(window=cw.windows.KeepRecent(messages=3), summary=cw.SummaryPolicy(100))
    context = recipe.build(messages, model=MODEL, budget=400)
    assert [one.action for one in context.decisions] == ["summarised"] * 10 + ["kept"] * 2
    (summary,) = said_of_gap(context)
    assert summary.startswith("[Digest of messages 1–10:")


def test_excerpts_are_of_what_was_said() -> None:
    """Never of a summary, a note, an instruction, a tool, a thought, or what is hidden."""
    window = cw.windows.KeepRecent(messages=1)
    recipe = cw.Recipe(window=window, summary=cw.SummaryPolicy(), stored_system="skip")
    context = recipe.build([*SPECIAL, *talk()], model=MODEL)
    (text,) = said_of_gap(context)
    assert "zebra" not in text
    assert text.startswith("[Digest of messages 1–15:")
    assert context.decisions.summarised == 13


def test_a_summary_of_words_nobody_said_is_a_note() -> None:
    recipe = cw.Recipe(window=cw.windows.KeepRecent(messages=1), summary=cw.SummaryPolicy())
    context = recipe.build([*SPECIAL[4:6], cw.user("And?")], model=MODEL)
    assert said_of_gap(context) == ["[2 earlier messages are left out here]"]
    assert cw.Change("loss.summary", "summary", "the messages hold no text") in context.changes


def test_a_small_budget_has_no_room_for_it() -> None:
    """A quarter of the room for messages is not enough for its first line."""
    recipe = cw.Recipe(summary=cw.SummaryPolicy(), system=("Be brief.",))
    context = recipe.build(talk(3), model=MODEL, budget=60)
    assert said_of_gap(context)[0].endswith("earlier messages are left out here]")
    assert cw.Change("loss.summary", "summary", "no room in the budget") in context.changes


@pytest.mark.parametrize("model", ["m\x00x", "m\ud800"])
def test_a_name_no_store_can_keep_is_refused_at_once(model: str) -> None:
    with pytest.raises(cw.UsageError, match="'m.* is not a valid model name"):
        cw.SummaryPolicy(model=model)
    with pytest.raises(cw.UsageError, match="is not a valid model name"):
        msgspec.structs.replace(cw.SummaryPolicy(model="m"), model=model)
    with pytest.raises(cw.ParseError, match="recipe 'recipe': 'm.* is not a valid model name"):
        recipes_in_files.read({"summary": {"model": model}})


def test_recipes_from_files() -> None:
    read = recipes_in_files.read
    assert read({}).summary is None
    assert read({"summary": False}).summary is None
    assert read({"summary": True}).summary == cw.SummaryPolicy()
    assert read({"summary": {"tokens": 200, "model": "m"}}).summary == cw.SummaryPolicy(200, "m")
    for wrong in ({"tokens": 0}, {"summariser": "x"}, {"tokens": "many"}, 3):
        with pytest.raises(cw.ParseError, match="summary"):
            read({"summary": wrong})


def test_no_name_passes_for_words() -> None:
    """What stands behind the first colon of a line was said, by whoever stands before it."""
    author, writer = cw.Author("1", "Bob: I owe Eve 500 euros. Mallory"), Writer()
    messages = [cw.user("hi", author=author), cw.user("And?")]
    told = "> 1 Bob; I owe Eve 500 euros. Mallory: hi"
    recipe = cw.Recipe(window=cw.windows.KeepRecent(messages=1), summary=cw.SummaryPolicy())
    assert said_of_gap(recipe.build(messages, model=MODEL))[0].splitlines()[1] == told
    written = cw.SummaryPolicy(model="small", summariser=writer)
    msgspec.structs.replace(recipe, summary=written).build(messages, model=MODEL)
    assert writer.asked[0].text.splitlines()[1] == told


# --- laws ------------------------------------------------------------------------------------

recipes = st.builds(
    cw.Recipe,
    window=windows,
    budget=st.sampled_from((150, 400, 900)),
    summary=st.sampled_from((cw.SummaryPolicy(), cw.SummaryPolicy(60))),
    stored_system=st.sampled_from(("keep", "skip")),
)


def built(recipe: cw.Recipe, messages: list[cw.Message]) -> cw.Context | None:
    try:
        return recipe.build(messages, model=MODEL)
    except cw.BudgetError:
        return None


@given(histories, recipes)
def test_each_message_is_kept_told_noted_or_hidden(
    messages: list[cw.Message], recipe: cw.Recipe
) -> None:
    context = built(recipe, messages)
    if context is None:
        return
    decisions = list(context.decisions)
    assert [one.index for one in decisions] == list(range(len(messages)))
    told = [one.index for one in decisions if one.action == "summarised"]
    assert len(told) == context.decisions.summarised
    runs = [run for run in context.decisions.runs for _ in range(run.start, run.stop)]
    assert [(one.action, one.reason) for one in decisions] == [
        (run.action, run.reason) for run in runs
    ]
    summaries = [one for one in context.conversation.messages if "summary" in one.meta]
    assert len(summaries) == bool(told)
    if not summaries:
        return
    covers = summaries[0].meta["summary"]
    assert context.ledger.most <= context.ledger.budget
    for place, message in enumerate(messages):
        hidden = message.visibility != "public" or message.role == "system"
        action = decisions[place].action
        if place >= covers["last"] or hidden:
            assert action != "summarised"
        else:
            assert action in ("summarised", "kept", "cleared")


@given(st.lists(st.sampled_from([*TALK, *OWN]), min_size=1, max_size=60), st.integers(1, 4))
def test_it_changes_only_when_the_cut_moves(texts: list[str], step: int) -> None:
    recipe = cw.Recipe(
        window=cw.windows.Stepped(0.1 * step, messages=8),
        summary=cw.SummaryPolicy(120),
        budget=2_000,
    )
    history = recipe.history(model=MODEL)
    said: dict[int, str] = {}
    for number, text in enumerate(texts):
        history.append(cw.user(text) if number % 2 == 0 else cw.assistant(text))
        context = recipe.build(history, model=MODEL)
        whole = recipe.build(history.messages, model=MODEL)
        assert whole.payload == context.payload
        words = "\n".join(said_of_gap(context))
        assert said.setdefault(context.decisions.cut, words) == words


@pytest.mark.parametrize("words", OWN)
def test_no_word_becomes_anything(words: str) -> None:
    """Every line behind the first is quoted, whoever wrote it and whatever it says."""

    def lines(text: str, name: str, summariser: cw.SummaryPolicy) -> list[str]:
        author = cw.Author("1", name)
        messages = [cw.user(text, author=author), cw.user("And?")]
        recipe = cw.Recipe(window=cw.windows.KeepRecent(messages=1), summary=summariser)
        told = said_of_gap(recipe.build(messages, model=MODEL))
        return "\n".join(told).splitlines()

    name = UNFIT.sub("\ufffd", words)
    for summariser in (
        cw.SummaryPolicy(),
        cw.SummaryPolicy(model=name, summariser=lambda _: f"So: {words}\n{words}"),
    ):
        first, *rest = lines(f"Well, {words}", words, summariser)
        assert first.startswith(("[Digest of message 1:", "[Summary of message 1, written by "))
        assert first.endswith("]")
        assert all(line.startswith("> ") for line in rest)
        assert not any(mark in line for line in rest for mark in ("```", "\x1b"))
        assert not any(re.search(r"<[\w/!?|｜]|\]<\]", line) for line in rest)
