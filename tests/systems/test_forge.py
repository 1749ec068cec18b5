"""Forge's memory: FRG-23 to FRG-28."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.errors import BudgetError, UsageError
from contextwright.formats.forge.format import Assistant, System, Tool, User
from contextwright.messages.exchanges import match_results
from contextwright.systems.forge import ConversationMemory, EstimateTokens, validate_message

CALL = '<tool>\n{"tool_name": "calculator", "arguments": {"a": 5}}\n</tool>'


def filled(limit: int, *messages: cw.Message) -> ConversationMemory:
    memory = ConversationMemory(limit)
    for message in messages:
        memory.add(message)
    return memory


def forty(letter: str) -> str:
    """40 characters: 14 tokens in Forge's arithmetic."""
    return letter * 40


def test_frg_18_and_23_the_oldest_go_first() -> None:
    memory = ConversationMemory(42)
    assert memory.add(System(forty("s"))) == ()
    assert memory.add(User(forty("a"))) == ()
    assert memory.add(Assistant(forty("b"))) == ()
    assert memory.tokens == 42
    assert memory.add(User(forty("c"))) == (cw.user(forty("a")),)
    assert memory.entries == [System(forty("s")), Assistant(forty("b")), User(forty("c"))]
    assert memory.tokens == 42
    assert memory.overflow is None


def test_a_broken_call_is_remembered_as_the_text_it_is() -> None:
    memory = ConversationMemory(100)
    memory.add(Assistant('<tool>{"tool_name": "look"'))
    assert memory.entries == [Assistant('<tool>{"tool_name": "look"')]
    assert memory.messages[0].calls == ()


def test_frg_24_and_26_system_messages_survive_in_their_place() -> None:
    memory = filled(
        60,
        cw.system(forty("s")),
        cw.user(forty("a")),
        cw.system(forty("t")),
        cw.assistant(forty("b")),
        cw.system(forty("u")),
        cw.user(forty("c")),
    )
    assert [message.text[0] for message in memory.messages] == ["s", "t", "u", "c"]
    memory = filled(80, *memory.messages[:3], cw.user("x"), cw.system(forty("v")), cw.user("y"))
    assert [message.text[0] for message in memory.messages] == ["s", "t", "u", "x", "v", "y"]


def test_frg_25_system_messages_beyond_the_limit_are_kept_and_reported() -> None:
    memory = filled(20, cw.system(forty("s")), cw.system(forty("t")))
    assert [message.text[0] for message in memory.messages] == ["s", "t"]
    assert memory.overflow == cw.Change(
        "budget.system_overflow", "system", "system messages cost 28 of 20 tokens"
    )
    strict = ConversationMemory(20, strict=True)
    strict.add(System(forty("s")))
    with pytest.raises(BudgetError) as caught:
        strict.add(System(forty("t")))
    assert caught.value.minimum == 28
    assert [message.text[0] for message in strict.messages] == ["s"]


def test_frg_27_a_question_beyond_the_limit_is_kept_and_reported() -> None:
    memory = filled(20, cw.system(forty("s")), cw.user("old"), cw.user("q" * 400))
    assert [message.text[0] for message in memory.messages] == ["s", "q"]
    assert memory.overflow == cw.Change(
        "budget.overflow",
        "messages",
        "system messages and the newest turn cost 118 of 20 tokens",
    )
    with pytest.raises(BudgetError):
        ConversationMemory(20, strict=True).add(User("q" * 400))


def test_a_refused_message_leaves_no_price_behind() -> None:
    """The memory freed by a refused message is often that of the next one."""
    memory = ConversationMemory(100, strict=True)
    for _ in range(10):
        with pytest.raises(BudgetError):
            memory.add(User("q" * 4_000))
        memory.add(User("hi"))
        assert memory.tokens == sum(map(EstimateTokens, memory.entries))


def test_frg_28_a_call_and_its_result_are_forgotten_together() -> None:
    memory = ConversationMemory(80)
    memory.add(User(forty("q")))
    memory.add(Assistant(CALL))
    memory.add(Tool("calculator", "Result: 8"))
    memory.add(Assistant(forty("a")))
    assert len(memory.messages) == 4
    forgotten = memory.add(User(forty("r")))
    assert [message.role for message in forgotten] == ["user"]
    forgotten = memory.add(Assistant(forty("s")))
    assert [message.role for message in forgotten] == ["assistant", "tool"]
    assert memory.entries == [Assistant(forty("a")), User(forty("r")), Assistant(forty("s"))]


def test_frg_28_a_result_whose_call_is_forgotten_is_not_remembered() -> None:
    memory = filled(
        40,
        cw.assistant(cw.ToolCall("slow", {}, "a")),
        cw.user(forty("q")),
        cw.assistant(forty("a")),
    )
    late = cw.tool_result("a", "at last")
    assert memory.add(late) == (late,)
    assert [message.role for message in memory.messages] == ["user", "assistant"]


def test_calls_without_ids_are_answered_in_order() -> None:
    memory = ConversationMemory(200)
    for entry in (
        Assistant(CALL),
        Tool("calculator", "8"),
        Assistant(CALL),
        Tool("calculator", "9"),
    ):
        assert memory.add(entry) == ()
    assert match_results(memory.messages).orphans == []


def test_the_same_message_twice_is_two_messages() -> None:
    again = cw.user(forty("a"))
    memory = filled(28, again, again)
    assert memory.add(again) == (again,)
    assert memory.messages == (again, again)


def test_what_is_hidden_costs_nothing() -> None:
    memory = filled(28, cw.user(forty("h"), visibility="hidden"), cw.user(forty("a")))
    assert memory.tokens == 14
    memory.add(cw.assistant(forty("b")))
    assert len(memory.messages) == 3
    memory.add(cw.user(forty("c")))
    assert [message.text[0] for message in memory.messages] == ["b", "c"]


def test_estimators_by_name() -> None:
    result = Tool("calculator", "Result: 8")
    for estimator, tokens in (("forge", 10), ("forge-table", 16), ("chars4", 7)):
        memory = ConversationMemory(99, estimator=estimator)
        memory.add(Assistant(CALL))
        before = memory.tokens
        memory.add(result)
        assert memory.tokens - before == tokens
    with pytest.raises(UsageError, match="unknown tokenizer"):
        ConversationMemory(99, estimator="guess")


entries = st.one_of(
    st.builds(System, st.text("s ", min_size=1, max_size=80)),
    st.builds(User, st.text("u ", min_size=1, max_size=200)),
    st.builds(Assistant, st.text("a ", min_size=1, max_size=200)),
    st.just(Assistant(CALL)),
    st.just(Tool("calculator", "Result: 8")),
    st.just(Tool("other", "nothing")),
)


@given(st.lists(entries, max_size=12), st.integers(0, 200))
def test_strict_memory_stays_within_its_limit(entries: list[dict[str, str]], limit: int) -> None:
    memory = ConversationMemory(limit, strict=True)
    for entry in entries:
        before = memory.messages
        try:
            memory.add(entry)
        except BudgetError:
            assert memory.messages == before
        assert memory.tokens == sum(map(EstimateTokens, memory.entries)) <= limit


@given(st.lists(entries, max_size=12), st.integers(0, 200))
def test_memory_keeps_system_question_and_limit(entries: list[dict[str, str]], limit: int) -> None:
    memory = ConversationMemory(limit)
    for entry in entries:
        before = memory.messages
        forgotten = memory.add(entry)
        assert len(forgotten) == len(before) + 1 - len(memory.messages)
        assert memory.tokens == sum(map(EstimateTokens, memory.entries))
    assert (memory.tokens <= limit) == (memory.overflow is None)
    assert match_results(memory.messages).orphans == []
    systems = [entry["content"] for entry in entries if entry["role"] == "system"]
    assert [m.text for m in memory.messages if m.role == "system"] == systems
    asked = [entry["content"] for entry in entries if entry["role"] == "user"]
    assert [m.text for m in memory.messages if m.role == "user"][-1:] == asked[-1:]


def test_frg_18_and_30_white_space_is_content_and_counts() -> None:
    memory = ConversationMemory(12)
    memory.add(User(" " * 8))
    memory.add(Assistant("\n\n\n\n"))
    assert memory.entries == [User(" " * 8), Assistant("\n\n\n\n")]
    assert memory.tokens == 11 == sum(map(EstimateTokens, memory.entries))
    assert memory.add(User("Hello")) == (cw.user(" " * 8),)


def test_messages_as_go_writes_them() -> None:
    entry = {"Role": "user", "Content": "Hello"}
    memory = ConversationMemory(100)
    memory.add(entry)
    assert memory.entries == [User("Hello")]
    assert EstimateTokens(entry) == 5
    assert cw.check([entry, {**entry, "Role": "system"}], "forge") == []


@pytest.mark.parametrize(
    ("message", "faults"),
    [
        pytest.param(cw.user("x"), [], id="text"),
        pytest.param(cw.assistant(cw.ToolCall("add", {}, "1")), [], id="FRG-30 only a call"),
        pytest.param(cw.tool_result("1", ""), [], id="an empty result names its tool"),
        pytest.param(cw.user(""), ["content cannot be empty"], id="FRG-30"),
    ],
)
def test_messages_of_ours_are_valid_as_forge_writes_them(
    message: cw.Message, faults: list[str]
) -> None:
    assert validate_message(message) == faults


def test_a_limit_is_not_negative() -> None:
    with pytest.raises(UsageError, match=r"a limit of -5 tokens \(0 or more\)"):
        ConversationMemory(-5)
