"""Cache marks are set where they pay, on blocks that may have one, at most four."""

import datetime
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.context.cache_marks import CacheBreakpoints, mark_anthropic
from contextwright.context.receipt import unmarked
from contextwright.context.recipe import Recipe
from contextwright.sections import CurrentTime, Instructions, Section
from strategies.messages import MODELS

CLAUDE, GPT = "claude-sonnet-5-5", "gpt-5.6-sol"
NOW = datetime.datetime(2026, 11, 15, 12, 0, tzinfo=datetime.UTC)
CLOCK = CurrentTime()
RARE = Instructions("Alice likes tea.", "rare")
TOOLS = [cw.Tool("look", "Look.", {"type": "object", "properties": {}})]


def loop(*calls: int) -> list[cw.Message]:
    """Steps of a tool loop, each with so many parallel calls."""
    messages: list[cw.Message] = []
    for step, number in enumerate(calls):
        ids = [f"c{step}_{call}" for call in range(number)]
        messages.append(cw.assistant([cw.ToolCall("look", {}, id) for id in ids]))
        messages.extend(cw.tool_result(id, "seen") for id in ids)
    return messages


def marks(payload: dict[str, Any], mark: str = "cache_control") -> list[str]:
    """Where marks stand."""
    return list(marked(payload, "", mark))


def marked(value: Any, path: str, mark: str) -> Iterator[str]:
    if isinstance(value, dict):
        if mark in value:
            yield path
        for key, inner in value.items():
            yield from marked(inner, f"{path}.{key}".lstrip("."), mark)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from marked(inner, f"{path}[{index}]", mark)


CHAT = [cw.user("first"), cw.assistant("yes"), cw.user("second")]


@pytest.mark.parametrize(
    ("system", "messages", "places"),
    [
        ((), [cw.user("hi")], ["messages[0].content[0]", "tools[0]"]),
        (("Be kind.",), CHAT, ["system[0]", "messages[2].content[0]", "tools[0]"]),
        # Text that changes now and then stands behind a mark of its own.
        (
            (RARE, "Be kind."),
            CHAT,
            ["system[0]", "system[1]", "messages[2].content[0]", "tools[0]"],
        ),
        # A clock stands behind the mark; the question before, which has lost its own, is marked.
        (
            ("Be kind.", CLOCK),
            CHAT,
            ["system[0]", "messages[0].content[0]", "messages[2].content[0]", "tools[0]"],
        ),
        # In a tool loop both the question's own words and the end are marked.
        (
            ("Be kind.", CLOCK),
            [*CHAT, *loop(1, 1)],
            [
                "system[0]",
                "messages[0].content[0]",
                "messages[2].content[0]",
                "messages[6].content[0]",
            ],
        ),
        # More blocks than Anthropic looks back over: the end of the request before is marked.
        (
            ("Be kind.",),
            [*CHAT, *loop(1, 11)],
            ["system[0]", "messages[4].content[0]", "messages[6].content[10]", "tools[0]"],
        ),
    ],
)
def test_marks_of_anthropic(
    system: tuple[Section | str, ...], messages: list[cw.Message], places: list[str]
) -> None:
    recipe = Recipe(system=system)
    payload = recipe.build(messages, model=CLAUDE, now=NOW, tools=TOOLS).payload
    assert sorted(marks(payload)) == sorted(places)
    assert cw.check(payload, "anthropic", model=CLAUDE) == []


SYSTEM = ("Be kind.", RARE, CLOCK)


@given(
    st.lists(st.integers(0, 12), max_size=4),
    st.integers(0, 6),
    st.booleans(),
    st.sampled_from((*MODELS["anthropic"], GPT)),
    st.sampled_from(((), SYSTEM[:1], SYSTEM[:2], SYSTEM)),
    st.sampled_from((None, "key")),
)
def test_marks_are_always_legal(
    calls: list[int],
    stale: int,
    cache: bool,
    model: str,
    system: tuple[Section | str, ...],
    key: str | None,
) -> None:
    """Whatever the history brings along: marks of older requests, a cache key as Codex has it."""
    mark = {"anthropic": {"cache_control": {"type": "ephemeral", "ttl": "1h"}}}
    old = [cw.user(cw.Text(f"old {number}", extra=mark)) for number in range(stale)]
    chat = [message for each in old for message in (each, cw.assistant("yes"))]
    thought = cw.Thinking("hm", signature="c2lnbmVk", origin="anthropic")
    messages = [*chat, cw.user("newest"), *loop(*calls), cw.assistant([thought]), cw.user("so?")]
    recipe = Recipe(system=system, cache=cache)
    conversation = cw.Conversation(tuple(messages), settings=cw.Settings(cache_key=key))
    payload = recipe.build(conversation, model=model, now=NOW, tools=TOOLS).payload
    format = "openai-chat" if model == GPT else "anthropic"
    problems = cw.check(payload, format, model=model)
    assert [str(problem) for problem in problems if problem.level == "error"] == []
    automatic = payload.pop("cache_control", None)
    assert bool(automatic) == (bool(key) and not cache and model != GPT)
    found = marks(payload) + marks(payload, "prompt_cache_breakpoint")
    assert len(found) <= 4
    assert bool(found) == (cache and (model != GPT or bool(system)))


def test_marks_of_older_requests_go_and_that_is_said() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    body = {"messages": [{"role": "user", "content": [{"type": "text", "text": "hi", **mark}]}]}
    context = Recipe(cache=False).build(cw.parse(body, "anthropic"), model=CLAUDE)
    assert marks(context.payload) == []
    assert [change.code for change in context.changes] == ["loss.cache_mark"]
    assert "cache_control" in body["messages"][0]["content"][0], "nobody else's data are touched"


@pytest.mark.parametrize(("format", "model"), [("anthropic", CLAUDE), ("openai-chat", GPT)])
def test_arguments_named_like_a_mark_are_no_mark(format: str, model: str) -> None:
    call = cw.ToolCall("look", {"cache_control": 1, "prompt_cache_breakpoint": 2}, "c1")
    chat = [cw.user(["look", "here"]), cw.assistant(call), cw.tool_result("c1", "seen")]
    plain = cw.render(chat, format, model=model).payload
    context = Recipe(cache=False).build(chat, model=model)
    assert (context.payload["messages"], context.changes) == (plain["messages"], ())


def test_marks_inside_a_result_go_too() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    seen = [{"type": "text", "text": "a dot", **mark}, {"type": "text", "text": "a line"}]
    body = {
        "messages": [
            {"role": "user", "content": "look"},
            {"role": "assistant", "content": [use("c1")]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "c1", "content": seen}],
            },
        ]
    }
    context = Recipe(cache=False).build(cw.parse(body, "anthropic"), model=CLAUDE)
    (result,) = context.payload["messages"][2]["content"]
    bare = [{"type": "text", "text": "a dot"}, {"type": "text", "text": "a line"}]
    assert result == {"type": "tool_result", "tool_use_id": "c1", "content": bare}
    assert [change.code for change in context.changes] == ["loss.cache_mark"]


def use(id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "look", "input": {}}


@pytest.mark.parametrize(
    ("kinds", "places"),
    [
        (("text", "thinking"), ["messages[0].content[0]"]),
        (("text", "thinking", "redacted_thinking"), ["messages[0].content[0]"]),
        (("thinking", "text", "thinking"), ["messages[0].content[1]"]),
        (("thinking", "redacted_thinking"), []),
        (("thinking", "text"), ["messages[0].content[1]"]),
    ],
)
def test_a_mark_stands_on_the_last_block_that_may_carry_one(
    kinds: tuple[str, ...], places: list[str]
) -> None:
    payload = {"messages": [{"role": "assistant", "content": [{"type": kind} for kind in kinds]}]}
    mark_anthropic(payload, CacheBreakpoints("", (), None))
    assert marks(payload) == places


def test_the_turn_of_a_cleared_result_ends_with_a_mark() -> None:
    turns = [
        [{"type": "text", "text": "Where?"}],
        [{"type": "tool_use", "id": "a"}, {"type": "tool_use", "id": "b"}],
        [{"type": "tool_result", "content": "[old]"}, {"type": "tool_result", "content": "here"}],
        [{"type": "tool_use", "id": "c"}],
        [{"type": "tool_result", "content": "[new]"}, {"type": "text", "text": "Go on."}],
        [{"type": "text", "text": "Here."}],
        [{"type": "text", "text": "Thanks!"}],
    ]
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": turn} for n, turn in enumerate(turns)]
    payload = {"messages": messages}
    mark_anthropic(payload, CacheBreakpoints("", (), None, ("[new]", "[old]")))
    assert marks(payload) == [
        "messages[2].content[1]",
        "messages[4].content[1]",
        "messages[6].content[0]",
    ]


@pytest.mark.parametrize(
    ("format", "system", "messages", "places"),
    [
        ("openai-chat", ("Be kind.", "Be brief."), CHAT, ["messages[0].content[1]"]),
        (
            "openai-chat",
            ("Be kind.", CLOCK),
            [*CHAT, *loop(1)],
            ["messages[0].content[0]", "messages[1].content[0]", "messages[3].content[0]"],
        ),
        ("openai-responses", ("Be kind.",), CHAT, []),
        (
            "openai-responses",
            ("Be kind.", CLOCK),
            CHAT,
            ["input[0].content[0]", "input[2].content[0]"],
        ),
    ],
)
def test_breakpoints_of_openai(
    format: str,
    system: tuple[Section | str, ...],
    messages: list[cw.Message],
    places: list[str],
) -> None:
    recipe = Recipe(system=system)
    payload = recipe.build(messages, model=GPT, format=format, now=NOW, tools=TOOLS).payload
    assert marks(payload, "prompt_cache_breakpoint") == places
    assert cw.check(payload, format, model=GPT) == []
    older = recipe.build(messages, model="gpt-4o", format=format, now=NOW).payload
    assert marks(older, "prompt_cache_breakpoint") == []


@pytest.mark.parametrize(
    ("system", "messages", "places"),
    [
        (("Be kind.",), CHAT, ["messages[0].content[0]", "messages[3].content[0]"]),
        (
            ("Be kind.",),
            [*CHAT, *loop(1)],
            ["messages[0].content[0]", "messages[5].content[0]"],
        ),
        (
            ("Be kind.", CLOCK),
            CHAT,
            ["messages[0].content[0]", "messages[1].content[0]", "messages[3].content[0]"],
        ),
        (
            ("Be kind.", CLOCK),
            [*CHAT, *loop(1)],
            [
                "messages[0].content[0]",
                "messages[1].content[0]",
                "messages[3].content[0]",
                "messages[5].content[0]",
            ],
        ),
        ((), [cw.user("only")], ["messages[0].content[0]"]),
    ],
)
def test_claude_behind_a_router(
    system: tuple[Section | str, ...], messages: list[cw.Message], places: list[str]
) -> None:
    routed, format = "anthropic/claude-sonnet-4.5", "openai-chat"
    recipe = Recipe(system=system)
    payload = recipe.build(messages, model=routed, format=format, now=NOW, tools=TOOLS).payload
    assert marks(payload) == places
    assert marks(payload, "prompt_cache_breakpoint") == []
    assert cw.check(payload, format, model=routed) == []
    # Marks move with the end: no text of an earlier message becomes a list or a string by that.
    longer = [*messages, cw.assistant("Done."), cw.user("More?")]
    later = recipe.build(longer, model=routed, format=format, now=NOW, tools=TOOLS).payload
    if CLOCK not in system:
        turns = unmarked(payload["messages"])
        assert unmarked(later["messages"])[: len(turns)] == turns
    direct = recipe.build(messages, model="claude-sonnet-4-5", format=format, now=NOW).payload
    assert marks(direct) == []


def test_the_cache_key_is_the_conversation_or_how_it_begins() -> None:
    def key(*messages: cw.Message, system: tuple[Section | str, ...] = (), id: str | None = None):
        conversation = cw.Conversation(messages, id=id)
        payload = Recipe(system=system).build(conversation, model="gpt-4o", now=NOW).payload
        return payload.get("prompt_cache_key")

    assert key(cw.user("hi"), id="lunch") == "lunch"
    assert key(cw.user("hi")) is None, "nothing is known to come again"
    kind = key(cw.user("hi"), system=("Be kind.",))
    assert kind == key(cw.user("bye"), system=("Be kind.", CLOCK))
    assert kind != key(cw.user("hi"), system=("Be brief.",))


@pytest.mark.parametrize(
    ("model", "question"),
    [
        (CLAUDE, "messages[2]"),
        (GPT, "messages[3]"),
        ("gpt-4o", "messages[3]"),
        ("gemini-3.8-flash", "contents[2]"),
    ],
)
def test_only_the_clock_of_the_newest_question_moves(model: str, question: str) -> None:
    recipe = Recipe(system=("Be kind.", CLOCK))
    history = recipe.history(CHAT, model=model)
    previous = recipe.build(history, model=model, now=NOW)
    for calls in (1, 2):
        history.extend(loop(calls))
        context = recipe.build(history, model=model, now=NOW)
        assert context.compared_with(previous).first_difference is None, "the same question"
        previous = context
    history.extend([cw.assistant("done"), cw.user("and then?")])
    context = recipe.build(history, model=model, now=NOW + datetime.timedelta(minutes=1))
    parted = context.compared_with(previous)
    assert (parted.first_difference, parted.cause) == (
        question,
        "volatile sections changed: CurrentTime[1]",
    )


def test_a_tool_that_is_loaded_later_is_not_marked() -> None:
    """Claude refuses it there; the last tool before it ends the same prefix."""
    later = cw.Tool("later", extra={"anthropic": {"defer_loading": True}})
    payload = Recipe().build(CHAT, model=CLAUDE, now=NOW, tools=[*TOOLS, later]).payload
    assert marks(payload) == ["tools[0]", "messages[2].content[0]"]
    assert [one for one in cw.check(payload, "anthropic") if one.level == "error"] == []
