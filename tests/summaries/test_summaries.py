"""What left the window, told in few words: what it says, what it costs, and when it changes."""

from __future__ import annotations

from collections.abc import Collection

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.context import recipe_files as recipes_in_files
from contextwright.summaries import Request, Summary
from contextwright.summaries.summary import beginning
from contextwright.text.json import UNFIT
from doubles import Writer
from pages import EXAMPLE, with_real_outputs
from paths import DOCS
from samples.hostile import OWN
from samples.summaries import SECTIONS, TALK, said_of_gap, talk
from strategies.windows import histories, windows

MODEL = "gpt-4o"
MODELS = (MODEL, "claude-sonnet-5-5", "gemini-3.5-flash")


CHINESE = [
    "我们明天早上一起坐火车去东京旅行。",
    "她对花生过敏所以晚餐不能有花生。",
    "他们决定在星期五之前买好车票。",
    "最后的问题是谁来照顾那只小猫呢。",
]


# --- a digest --------------------------------------------------------------------------------


def test_a_digest_stands_where_messages_were_left_out() -> None:
    recipe = cw.Recipe(window=cw.windows.KeepRecent(messages=3), summary=cw.SummaryPolicy(70))
    context = recipe.build(talk(), model=MODEL, budget=400)
    assert [(one["role"], one["content"]) for one in context.payload["messages"]] == [
        (
            "user",
            "[Digest of messages 1–6: excerpts picked by a program, the rest is left out]\n"
            "> 3 2024-05-01 Alice: My train to Lviv leaves at 7:40 on Friday.\n"
            "> 4 assistant: Then be at the station at 7:20.",
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


SPECIAL = [
    cw.Message("user", (cw.Text("The zebra was compacted."),), kind="summary"),
    cw.Message("user", (cw.Text("The zebra is a reminder."),), kind="note"),
    cw.user("The zebra is hidden.", visibility="hidden"),
    cw.system("The zebra is an instruction."),
    cw.assistant(cw.ToolCall("zebra", {}, "c1")),
    cw.tool_result("c1", "The zebra is a result."),
    cw.assistant(cw.Thinking("The zebra is a thought.")),
]


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
    with pytest.raises(cw.UsageError, match="the model 'm.* cannot be named"):
        cw.SummaryPolicy(model=model)
    with pytest.raises(cw.UsageError, match="cannot be named"):
        msgspec.structs.replace(cw.SummaryPolicy(model="m"), model=model)
    with pytest.raises(cw.ParseError, match="recipe 'recipe': the model"):
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
        assert not any(mark in line for line in rest for mark in ("<", "```", "\x1b"))


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
        "> 5 2024-05-02 Alice: Remind me to buy a ticket for Olena.",
        "> 6 assistant: I will remind you.",
    ]
    assert second[:3] == [
        "Earlier summary of messages 1–6:",
        "> Up to: > 6 assistant: I will remind you.",
        "Messages:",
    ]
    told = [line for request in writer.asked for line in request.text.splitlines()]
    numbers = [int(line.split()[1]) for line in told if line.startswith("> ") and line[2].isdigit()]
    assert numbers == list(range(1, max(cuts) + 1))
    assert writer.asked[0].model == "small"
    assert "at most 50 words" in writer.asked[0].instructions


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
        (lambda request: "", "it came back empty"),
        (lambda request: " \n\u200d", "it came back empty"),
        (lambda request: None, "it came back empty"),
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
    lines = beginning(text, longest)
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
    with pytest.raises(cw.UsageError, match="no summary has .* tokens"):
        cw.SummaryPolicy(tokens=tokens)
