"""What a message costs before a request is made."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.context.fitting.meter import TokenMeter, split_results
from contextwright.context.fitting.shape import shape_of
from contextwright.models import find
from contextwright.tokens.pieces import outline
from strategies.messages import arguments
from strategies.messages import messages as any_messages
from strategies.runs import TARGETS

METERS = [TokenMeter(format, find(model)) for format, model in TARGETS]
texts = st.one_of(
    st.text(max_size=40),
    st.text(st.characters(categories=["Cs", "Zs", "Ll"]), max_size=6),
    st.sampled_from(("", " \n", "<|im_end|>", "half \ud83d of it", "text 0 in the place of any")),
)
ids = st.sampled_from(("c0", "c1", "call_2", "a b", "x" * 80, "", None))
names = st.sampled_from(("look", "getWeather2", "sample_0", "a-b", "get weather", "9", "x" * 80))
calls = st.builds(
    cw.ToolCall, names, arguments, ids, raw=st.sampled_from((None, None, None, '{"a": 1}', "{"))
)
results = st.builds(
    cw.ToolResult,
    ids,
    texts | arguments,
    st.none() | names,
    st.sampled_from((False, False, False, True)),
)
spoken = st.lists(st.builds(cw.Text, texts), max_size=2)
messages = st.one_of(
    st.builds(
        cw.Message,
        st.sampled_from(("user", "assistant", "system")),
        texts.map(lambda text: (cw.Text(text),)),
        kind=st.sampled_from(("message", "summary")),
        sent_at=st.sampled_from((None, "2026-01-01")),
        pinned=st.booleans(),
    ),
    st.builds(
        lambda words, calls: cw.Message("assistant", (*words, *calls)),
        spoken,
        st.lists(calls, min_size=1, max_size=3),
    ),
    st.builds(
        cw.Message,
        st.sampled_from(("tool", "tool", "user")),
        st.lists(results, min_size=1, max_size=3).map(tuple),
    ),
    any_messages,
)


@given(messages, st.sampled_from(METERS))
def test_a_message_alone_costs_what_its_request_does(
    message: cw.Message, meter: TokenMeter
) -> None:
    if message.role != "system":
        assert meter.cost(message) == price_of(split_results(message), meter)


def test_results_beside_words_are_a_message_of_their_own() -> None:
    words, result = cw.Text("Look:"), cw.ToolResult("c1", "seen")
    for role in ("user", "assistant"):
        apart = [cw.Message(role, (words,)), cw.Message("tool", (result,))]
        assert split_results(cw.Message(role, (words, result))) == apart
    for whole in (
        cw.user("Look:"),
        cw.Message("user", (result, result)),
        cw.Message("tool", (result, words)),
    ):
        assert split_results(whole) == [whole]


def price_of(messages: list[cw.Message], meter: TokenMeter) -> float:
    """What messages cost in a request of their own."""
    rendered = cw.render(messages, meter.format, model=meter.model, repair=False)
    pricer = TokenMeter(meter.format, meter.model)._pricer  # pyright: ignore[reportPrivateUsage]
    found = [one for one in outline(rendered.payload, meter.format) if one.place != "request"]
    return pricer.most(found)


@given(texts, st.sampled_from(METERS))
def test_a_system_message_costs_what_it_adds_to_a_conversation(
    text: str, meter: TokenMeter
) -> None:
    talk, rule = [cw.user("Hi"), cw.assistant("Hello"), cw.user("So?")], cw.system(text)
    alone = price_of(talk, meter)
    added = [price_of([*talk[:place], rule, *talk[place:]], meter) - alone for place in (0, 1, 3)]
    assert meter.cost(rule) == pytest.approx(max(added))


def test_the_usual_messages_of_a_history_need_no_request_of_their_own() -> None:
    call = cw.ToolCall("look", {"at": "it, and more: all"}, id="c1")
    usual = [
        cw.user("Hi"),
        cw.assistant("Hello"),
        cw.assistant(["Let me see.", call, cw.ToolCall("look", {"at": 2}, id="c2")]),
        cw.tool_result("c1", "found"),
        cw.Message("tool", (cw.ToolResult("c1", "{}", "look"), cw.ToolResult("c2", "…"))),
    ]
    assert all(map(shape_of, usual))


@pytest.mark.parametrize("text", ["", " \n", "\u3000", "half \ud83d of it"])
def test_texts_that_are_not_sent_as_they_are_have_no_usual_shape(text: str) -> None:
    call = cw.ToolCall("look", {}, id="c1")
    assert shape_of(cw.user(text)) is None
    assert shape_of(cw.assistant([cw.Text(text), call])) is None
    assert shape_of(cw.tool_result("c1", text)) is None
