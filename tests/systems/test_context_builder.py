"""013's context builder: CB-1 to CB-14."""

import asyncio
from pathlib import Path
from time import process_time
from types import MappingProxyType
from typing import Any

import msgspec
import pytest

import contextwright as cw
from contextwright.context.recipe import Recipe
from contextwright.display import show
from contextwright.documents.read import decode
from contextwright.errors import BudgetError, ParseError, UsageError
from contextwright.systems.context_builder import ContextBuilder, LLMMessage
from contextwright.wire.openai_chat.types import RequestMessage
from samples.systems import FIVE, call, row

PROMPT = "You are a helpful assistant."
SYSTEM = {"role": "system", "content": PROMPT}


def wire_call(id: str, arguments: str, name: str = "search") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


BUILT = [
    SYSTEM,
    {"role": "user", "content": "hello"},
    {"role": "assistant", "content": "hi"},
    {"role": "user", "content": "search"},
    {"role": "assistant", "content": None, "tool_calls": [wire_call("c1", '{"q":1}')]},
    {"role": "tool", "tool_call_id": "c1", "content": "found"},
]


def test_cb_1_2_6_7_9_rows_in_order_with_their_roles() -> None:
    built = ContextBuilder().build(FIVE)
    assert built == BUILT
    assert len(built) == 6
    assert not cw.check({"model": "gpt-4o", "messages": built}, "openai-chat")


def test_the_same_from_messages_a_conversation_a_body_and_a_history() -> None:
    conversation = cw.parse(FIVE, "openai-chat")
    builder = ContextBuilder()
    assert builder.build(conversation) == BUILT
    assert builder.build(list(conversation.messages)) == BUILT
    assert builder.build(iter(conversation.messages)) == BUILT
    assert builder.build({"model": "gpt-4o", "messages": BUILT[1:]}) == BUILT
    assert builder.build(BUILT[1:]) == BUILT
    assert builder.build([MappingProxyType(row) for row in BUILT[1:]]) == BUILT
    assert builder.build(MappingProxyType({"messages": BUILT[1:]})) == BUILT
    history = builder.history(conversation.messages[:3])
    assert builder.build(history) == BUILT[:4]
    history.extend(conversation.messages[3:])
    assert builder.build(history) == BUILT


@pytest.mark.parametrize("empty", [[], (), cw.Conversation(()), {"messages": []}])
def test_cb_3_an_empty_conversation_is_the_prompt_alone(empty: Any) -> None:
    assert ContextBuilder().build(empty) == [SYSTEM]


def test_cb_5_the_configured_prompt_wins() -> None:
    assert ContextBuilder("You are Ada.").build([])[0]["content"] == "You are Ada."
    assert ContextBuilder(None).build([]) == [SYSTEM]
    assert ContextBuilder(recipe=Recipe()).build([]) == [SYSTEM]
    for empty in ("", "  \n"):
        with pytest.raises(UsageError, match="system_prompt.empty"):
            ContextBuilder(empty)


@pytest.mark.parametrize(
    ("arguments", "written"),
    [('{"q": 1}', '{"q": 1}'), ({"q": 1}, '{"q":1}'), ("", "{}"), (None, "{}"), ({}, "{}")],
)
def test_cb_6_arguments_are_json_text(arguments: object, written: str) -> None:
    rows = [row(1, "user", "go"), row(2, "assistant", tool_calls=[call("c1", arguments)]), FIVE[4]]
    assert ContextBuilder().build(rows)[2]["tool_calls"] == [wire_call("c1", written)]


@pytest.mark.parametrize(("content", "lost"), [(None, False), ("", False), ("both", True)])
def test_cb_8_one_row_may_hold_several_results(content: str | None, lost: bool) -> None:
    results = [{"tool_call_id": "a", "content": "one"}, {"tool_call_id": "b", "content": "two"}]
    rows = [
        row(1, "user", "go"),
        row(2, "assistant", "both", tool_calls=[call("a", {}), call("b", {})]),
        row(3, "tool", content, tool_results=results),
    ]
    context = ContextBuilder().context(rows)
    assert ("loss.content" in {change.code for change in context.changes}) == lost
    assert context.payload["messages"] == [
        SYSTEM,
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": "both",
            "tool_calls": [wire_call("a", "{}"), wire_call("b", "{}")],
        },
        {"role": "tool", "tool_call_id": "a", "content": "one"},
        {"role": "tool", "tool_call_id": "b", "content": "two"},
    ]


@pytest.mark.parametrize("listed", [False, True])
def test_a_field_that_a_result_cannot_have_is_reported(listed: bool) -> None:
    result = {"tool_call_id": "c1", "content": "boom", "is_error": True}
    rows = [
        row(1, "user", "go"),
        row(2, "assistant", tool_calls=[call("c1", {})]),
        row(3, "tool", tool_results=[result]) if listed else {"role": "tool", **result},
    ]
    context = ContextBuilder().context(rows)
    assert context.payload["messages"][3] == {
        "role": "tool",
        "tool_call_id": "c1",
        "content": "boom",
    }
    lost = [change for change in context.changes if change.code == "loss.extra"]
    assert [str(change) for change in lost] == [
        "loss.extra messages[2].parts[0]: OpenAI's own models refuse is_error"
    ]


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize(
    ("content", "written"),
    [
        ([{"title": "Ada"}, {"title": "Bob"}], '[{"title":"Ada"},{"title":"Bob"}]'),
        ([1, None, [True]], "[1,null,[true]]"),
        ([{"type": "text", "text": "found"}], "found"),
        ({"hits": 2}, '{"hits":2}'),
        (42, "42"),
        (None, ""),
    ],
)
def test_cb_7_a_result_is_text_whatever_the_tool_returned(
    content: object, written: str, listed: bool
) -> None:
    result = {"tool_call_id": "c1", "content": content}
    rows = [
        row(1, "user", "go"),
        row(2, "assistant", tool_calls=[call("c1", {})]),
        row(3, "tool", tool_results=[result]) if listed else {"role": "tool", **result},
    ]
    context = ContextBuilder().context(rows)
    assert context.payload["messages"][3] == {
        "role": "tool",
        "tool_call_id": "c1",
        "content": written,
    }
    changed = not isinstance(content, list) or "type" not in str(content)
    repaired = [change.path for change in context.changes if change.code == "repair.content"]
    assert (
        repaired
        == ["messages[2].tool_results[0].content" if listed else "messages[2].content"] * changed
    )


def test_cb_4_10_12_the_oldest_exchanges_go_and_the_prompt_stays() -> None:
    rows: list[dict[str, Any]] = []
    for number in range(0, 40, 4):
        id = f"c{number}"
        rows += [
            row(number, "user", f"question {number} " + "word " * 20),
            row(number + 1, "assistant", tool_calls=[call(id, {"q": "x"})]),
            row(number + 2, "tool", tool_results=[{"tool_call_id": id, "content": "found " * 20}]),
            row(number + 3, "assistant", "answer " * 20),
        ]
    rows.append(row(40, "user", "and now?"))
    whole = cw.parse(rows, "openai-chat").messages
    last = {"role": "user", "content": "and now?"}
    for budget in range(60, 1_000, 13):
        context = ContextBuilder(budget=budget).context(rows)
        built = context.payload["messages"]
        assert built[0] == SYSTEM
        assert built[-1] == last
        assert built[1]["role"] != "tool"
        assert not cw.check(context.payload, "openai-chat")
        assert cw.count(context.payload, model="gpt-4o").most <= budget
        # What is left out is the oldest: everything kept is one run up to the end.
        kept = list(context.decisions.kept())
        assert kept == list(range(kept[0], len(whole)))
    assert len(ContextBuilder(budget=2_000).build(rows)) == 42
    with pytest.raises(BudgetError) as caught:
        ContextBuilder(budget=10).build(rows)
    assert ContextBuilder(budget=caught.value.minimum).build(rows) == [SYSTEM, last]
    with pytest.raises(BudgetError):
        ContextBuilder(budget=caught.value.minimum - 1).build(rows)


def test_cb_11_a_missing_result_is_said_or_left_missing() -> None:
    rows = [*FIVE[:4], row(6, "user", "well?")]
    context = ContextBuilder().context(rows)
    assert context.payload["messages"] == [
        *BUILT[:5],
        {"role": "tool", "tool_call_id": "c1", "content": "Error: [no result recorded]"},
        {"role": "user", "content": "well?"},
    ]
    assert [change.code for change in context.changes if change.code.startswith("invent")] == [
        "invent.result"
    ]
    literal = ContextBuilder(repair=False).build(rows)
    assert literal == [*BUILT[:5], {"role": "user", "content": "well?"}]


def test_cb_18_stored_system_rows_are_skipped_and_reported() -> None:
    rows = [row(0, "system", "stored"), *FIVE]
    context = ContextBuilder().context(rows)
    assert context.payload["messages"] == BUILT
    assert context.decisions[0].action == "dropped"
    assert context.decisions[0].reason == "system messages of the history are left out"


def test_a_store_s_conversation_gives_what_its_messages_give(tmp_path: Path) -> None:
    """CB-1 to CB-5, CB-10 to CB-12 over the store."""
    rows = [*FIVE, row(6, "user", "well?"), row(7, "assistant", tool_calls=[call("c2", "{}")])]
    messages = cw.parse(rows, "openai-chat").messages
    with cw.Store(tmp_path / "chat.db") as store:
        chat = store.conversation("c")
        assert ContextBuilder().build(chat) == [SYSTEM]
        chat.update(title="new")
        assert ContextBuilder().build(chat) == [SYSTEM]
        chat.add(messages)
        for builder in (
            ContextBuilder(),
            ContextBuilder("You are Ada.", repair=False),
            ContextBuilder(budget=60),
        ):
            assert builder.build(chat) == builder.build(messages)
        short = ContextBuilder(budget=60).context(chat)
        assert short.payload["messages"][0] == SYSTEM
        assert short.decisions.omitted > 0
        with pytest.raises(BudgetError):
            ContextBuilder(budget=1).build(chat)


@pytest.mark.slow
def test_cb_13_a_hundred_messages_take_less_than_fifty_milliseconds() -> None:
    rows: list[dict[str, Any]] = []
    for number in range(0, 90, 3):
        id = f"c{number}"
        rows += [
            row(number, "user", f"question {number}"),
            row(number + 1, "assistant", tool_calls=[call(id, {"q": number})]),
            row(number + 2, "tool", tool_results=[{"tool_call_id": id, "content": "found"}]),
        ]
    rows += [row(number, "user", f"more {number}") for number in range(90, 100)]
    builder = ContextBuilder()
    assert len(builder.build(rows)) == 101
    history = builder.history(cw.parse(rows, "openai-chat").messages)
    taken: list[float] = []
    for _ in range(200):
        started = process_time()
        builder.build(history)
        taken.append(process_time() - started)
    assert sorted(taken)[197] < 0.05


def test_cb_14_every_role_and_both_tool_shapes_come_back() -> None:
    built = ContextBuilder().build(FIVE)
    assert ContextBuilder().build(built[1:]) == built
    assert ContextBuilder().build(cw.parse(built[1:], "openai-chat", strict=True)) == built


def test_cb_14a_the_array_is_of_llm_messages() -> None:
    built: list[LLMMessage] = ContextBuilder().build(FIVE)
    assert len(msgspec.convert(built, list[RequestMessage])) == len(built)
    assert [message["role"] for message in built] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "tool",
    ]


def test_changes_of_reading_are_in_the_receipt() -> None:
    context = ContextBuilder().context([{"role": "user", "content": None}, *FIVE])
    assert "repair.content" in [change.code for change in context.changes]


@pytest.mark.parametrize("wrong", [[{"role": "wizard", "content": "x"}], [1], [cw.user("a"), {}]])
def test_what_is_no_message_is_refused(wrong: Any) -> None:
    with pytest.raises((ParseError, UsageError)):
        ContextBuilder().build(wrong)


def test_cb_16_order_is_the_order_of_the_rows() -> None:
    """Rows of one transaction share a time, and clocks go back: neither moves a message."""
    times = ["2025-12-13T10:00:02Z", "2025-12-13T10:00:02Z", "2025-12-13T10:00:01Z"]
    rows = [row(place, "user", str(place), created_at=at) for place, at in enumerate(times)]
    texts = [entry["content"] for entry in ContextBuilder().build(rows)[1:]]
    assert texts == ["0", "1", "2"]


def test_cb_17_text_is_sent_as_it_came() -> None:
    """No HTML is escaped and no character stripped; half a character never gets in."""
    words = "<script>alert('&amp;')</script> \x07\x1b[2J 👨\u200d👩 \u202eabc \n\t"
    assert ContextBuilder().build([row(1, "user", words)])[1]["content"] == words
    shown = show(cw.parse([row(1, "user", words)], "openai-chat"))
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    with pytest.raises(ParseError, match="surrogate"):
        decode(b'[{"role": "user", "content": "\\ud800"}]')


def test_cb_19_a_tools_error_is_a_result() -> None:
    talk = [
        cw.user("go"),
        cw.assistant(cw.ToolCall("search", {}, "c1")),
        cw.tool_result("c1", "no route", is_error=True),
    ]
    assert ContextBuilder().build(talk)[-1] == {
        "role": "tool",
        "tool_call_id": "c1",
        "content": "Error: no route",
    }


def test_cb_21_half_arguments_are_pointed_out() -> None:
    """A reply that broke off: its arguments stay as they were, and are no object."""
    rows = [
        row(1, "user", "go"),
        row(2, "assistant", tool_calls=[call("c1", '{"q": "ha')]),
        row(3, "tool", tool_results=[{"tool_call_id": "c1", "content": "?"}]),
    ]
    body = {"model": "gpt-4o", "messages": ContextBuilder().build(rows)}
    assert body["messages"][2]["tool_calls"][0]["function"]["arguments"] == '{"q": "ha'
    assert [problem.code for problem in cw.check(body, "openai-chat")] == ["OC-args"]


def test_cb_22_one_reply_may_hold_words_and_calls() -> None:
    rows = [
        row(1, "user", "go"),
        row(2, "assistant", "Let me see.", tool_calls=[call("c1", "{}")]),
        row(3, "tool", tool_results=[{"tool_call_id": "c1", "content": "found"}]),
    ]
    built = ContextBuilder().build(rows)[2]
    assert (built["content"], len(built["tool_calls"])) == ("Let me see.", 1)


@pytest.mark.parametrize("cache", [True, False])
def test_cache_marks_can_be_switched_off(cache: bool) -> None:
    builder = ContextBuilder("You are Ada.", model="gpt-5.6-sol", cache=cache)
    context = builder.context([cw.user("hi")])
    assert ("prompt_cache_key" in context.payload) == cache


def test_cb_3_a_conversation_never_written_to_is_the_prompt_alone(tmp_path: Path) -> None:
    with cw.Store(tmp_path / "s.db") as store:
        assert ContextBuilder().build(store.conversation("new")) == [SYSTEM]
        context = ContextBuilder().context(store.conversation("new"))
    assert len(context.decisions) == 0


def test_an_async_chat_is_awaited(tmp_path: Path) -> None:
    async def built() -> list[list[dict[str, Any]]]:
        builder = ContextBuilder()
        async with cw.AsyncStore(tmp_path / "s.db") as store:
            chat = store.conversation("five")
            empty = await builder.build(chat)
            await chat.add(cw.parse(FIVE, "openai-chat").messages)
            context = await builder.context(chat)
            return [empty, await builder.build(chat), context.payload["messages"]]

    assert asyncio.run(built()) == [[SYSTEM], BUILT, BUILT]


def test_truncation_leaves_no_answer_without_its_question() -> None:
    rows = [
        {"role": role, "content": f"{role} {turn} " + "word " * turn}
        for turn in range(8)
        for role in ("user", "assistant")
    ]
    rows.append({"role": "user", "content": "and now?"})
    lengths: set[int] = set()
    for budget in range(20, 200, 3):
        built = ContextBuilder("x", budget=budget).build(rows)
        assert built[0]["role"] == "system"
        assert built[1]["role"] == "user"
        assert built[1:] == rows[len(rows) - len(built) + 1 :]
        lengths.add(len(built))
    assert len(lengths) > 4


def test_an_agents_steps_stay_with_the_question_they_answer() -> None:
    """The question stays however far back it is, so what answers it need not go."""
    messages = [cw.user("old"), cw.assistant("answer"), cw.user("do it")]
    for step in range(9):
        messages.append(cw.assistant([cw.ToolCall("f", {"n": step}, id=f"c{step}")]))
        messages.append(cw.tool_result(f"c{step}", "word " * 20))
    built = ContextBuilder("x", budget=160).build(messages)
    assert [one["role"] for one in built[:3]] == ["system", "user", "assistant"]
    assert built[1]["content"] == "do it"
    assert 3 < len(built) < 20


def test_skipped_system_rows_are_changes(tmp_path: Path) -> None:
    messages = [cw.system("old"), cw.user("a"), cw.assistant("b"), cw.system("x"), cw.user("c")]
    contexts = [ContextBuilder().context(messages)]
    with cw.Store(tmp_path / "s.db") as store:
        chat = store.conversation("c")
        chat.add(messages)
        contexts.append(ContextBuilder().context(chat))
    for context in contexts:
        said = [change.path for change in context.changes if change.code == "loss.system"]
        assert said == ["messages[0]", "messages[3]"]
