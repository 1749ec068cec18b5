"""Rules for the ids of calls, each alone."""

import msgspec
import pytest

import contextwright as cw
from contextwright import models
from contextwright.formats import rules
from contextwright.formats.anthropic.format import TRAITS
from contextwright.formats.target import Speller, Spelling, Target

U, A, R = cw.user, cw.assistant, cw.tool_result
MODEL = models.find("claude-sonnet-4-5")


def call(id: str | None, name: str = "calc") -> cw.ToolCall:
    return cw.ToolCall(name, {}, id)


def apply(
    rule: rules.Rule, *messages: cw.Message, **traits: object
) -> tuple[list[cw.Message], list[str]]:
    draft = [(rules.Place(index), one) for index, one in enumerate(messages)]
    target = Target(msgspec.structs.replace(TRAITS, **traits), MODEL)
    after, changes = rule(draft, target)
    return [message for _, message in after], [change.code for change in changes]


def ids(messages: list[cw.Message]) -> list[list[str | None]]:
    return [
        [
            part.id if isinstance(part, cw.ToolCall) else part.call_id
            for part in message.parts
            if isinstance(part, cw.ToolCall | cw.ToolResult)
        ]
        for message in messages
    ]


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ([A([call("a"), call("a")]), R("a", "1"), R("a", "2")], [["a", "a_2"], ["a"], ["a_2"]]),
        (
            [A([call("c:1"), call("c/1")]), R("c/1", "x"), R("c:1", "y")],
            [["c_1", "c_1_2"], ["c_1_2"], ["c_1"]],
        ),
        (
            [A(call(None)), cw.Message("tool", (cw.ToolResult(None, "x", "calc"),))],
            [["call"], ["call"]],
        ),
        ([A(call("a")), R("a", "1"), A(call("a")), R("a", "2")], [["a"], ["a"], ["a"], ["a"]]),
    ],
)
def test_spell_ids(before: list[cw.Message], expected: list[list[str]]) -> None:
    assert ids(apply(rules.spell_ids, *before)[0]) == expected


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ([A(call("a")), A(call("a")), R("a", "1"), R("a", "2")], [["a"], ["a_2"], ["a"], ["a_2"]]),
        ([A(call("a")), A(call("a")), R("a", "1")], [["a"], ["a"], ["a"]]),
        (
            [A(call("a")), U("?"), A(call("a")), R("a", "1"), R("a", "2")],
            [["a"], [], ["a_2"], ["a"], ["a_2"]],
        ),
        ([A(call("a")), R("a", "1"), A(call("a")), R("a", "2")], [["a"], ["a"], ["a"], ["a"]]),
        ([A([call("a"), call("a")]), R("a", "1"), R("a", "2")], [["a", "a"], ["a"], ["a"]]),
        (
            [A([call("a"), call("a_2")]), A(call("a")), A(call("a")), R("a", "1"), R("a", "2")],
            [["a", "a_2"], ["a"], ["a_3"], ["a"], ["a_3"]],
        ),
        (
            [A(call("a")), A(call("a")), R("a", "1"), R("a", "2"), R("a", "3")],
            [["a"], ["a_2"], ["a"], ["a_2"], ["a"]],
        ),
    ],
)
def test_part_repeated_ids(before: list[cw.Message], expected: list[list[str]]) -> None:
    after, codes = apply(rules.part_repeated_ids, *before)
    assert ids(after) == expected
    assert set(codes) <= {"repair.id"}
    assert bool(codes) is (after != before)


def test_spell_ids_renumbers_where_ids_pair_across_turns() -> None:
    before = [A(call("a")), R("a", "1"), A(call("a")), R("a", "2")]
    after, codes = apply(rules.spell_ids, *before, reuses_ids=False)
    assert ids(after) == [["a"], ["a"], ["a_2"], ["a_2"]]
    assert codes == ["repair.id"]


def test_spelling_is_injective_and_stable() -> None:
    speller = Speller(Spelling(longest=8), otherwise="call")
    names = ["a b", "a_b", "a:b", "погода", "時間", "x" * 30, "x" * 31]
    spelled = [speller.spell(name) for name in names]
    assert spelled == ["a_b", "a_b_2", "a_b_3", "call", "call_2", "xxxxxxxx", "xxxxxx_2"]
