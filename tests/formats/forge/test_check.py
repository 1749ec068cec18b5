"""Forge's checks and estimates, in linear time."""

import gc
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.formats.forge.check import message_problems
from contextwright.formats.forge.format import (
    Assistant,
    System,
    Tool,
    User,
    validate_message,
    validate_tool_call,
)
from contextwright.formats.forge.read import scan
from contextwright.tokens.tokenizers import ESTIMATORS
from samples.formats.forge import CALCULATOR, forge

# --- validation ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "faults"),
    [
        pytest.param(User("x"), [], id="nothing"),
        pytest.param({"role": "bot", "content": "x"}, ["invalid role: bot"], id="FRG-29"),
        pytest.param(User(""), ["content cannot be empty"], id="FRG-30"),
        pytest.param(User(" \n"), [], id="FRG-30 white space is content"),
        pytest.param({"Role": "user", "Content": "x"}, [], id="as Go writes it"),
        pytest.param(
            {"Role": "bot", "Content": ""},
            ["invalid role: bot", "content cannot be empty"],
            id="Go, both",
        ),
        pytest.param(
            {"role": "x", "content": ""}, ["invalid role: x", "content cannot be empty"], id="both"
        ),
        pytest.param(
            7, ["invalid role: None", "content must be a string, not None"], id="no message"
        ),
    ],
)
def test_validate_message(message: Any, faults: list[str]) -> None:
    assert validate_message(message) == faults


@pytest.mark.parametrize(
    ("content", "faults"),
    [
        pytest.param(CALCULATOR, [], id="nothing"),
        pytest.param("text", ["missing <tool> tag"], id="FRG-31 no tag"),
        pytest.param("<tool>{}", ["missing </tool> tag"], id="FRG-31 no end"),
        pytest.param("<tool>{x}</tool>", ["invalid JSON"], id="FRG-31 JSON"),
        pytest.param(
            '<tool>{"tool_name":"x","arguments":{}} please</tool>',
            ["invalid JSON: text after the object"],
            id="FRG-31 more than JSON",
        ),
        pytest.param('<tool>{"arguments":{}}</tool>', ["missing tool_name"], id="FRG-31 name"),
        pytest.param(
            '<tool>{"tool_name":"x"}</tool>', ["missing arguments"], id="FRG-31 arguments"
        ),
        pytest.param(
            '<tool>{"tool_name":"x","arguments":null}</tool>',
            ["arguments must be an object"],
            id="FRG-31 null",
        ),
        pytest.param(
            "<tool>{}</tool>", ["missing tool_name", "missing arguments"], id="FRG-31 both"
        ),
        pytest.param(
            '<tool>{"tool_name":" ","arguments":[1]}</tool>',
            ["missing tool_name", "arguments must be an object"],
            id="FRG-31 both wrong",
        ),
        pytest.param("</tool>{}<tool>", ["</tool> stands before <tool>"], id="FRG-32"),
        pytest.param(
            '<tool>{"tool_name":"x","tool_name":"y","arguments":{}}</tool>', [], id="FRG-31 twice"
        ),
        pytest.param(
            f'{CALCULATOR}<tool>{{"tool_name":"x"}}</tool>', ["missing arguments"], id="FRG-33"
        ),
    ],
)
def test_validate_tool_call(content: str, faults: list[str]) -> None:
    found = validate_tool_call(content)
    assert len(found) == len(faults)
    assert all(text.startswith(fault) for text, fault in zip(found, faults, strict=True))


def documented_fault(content: str) -> str | None:
    """Forge's validator as its document has it: the first fault of the first call."""
    if "<tool>" not in content:
        return "missing <tool> tag"
    if "</tool>" not in content:
        return "missing </tool> tag"
    try:
        fields = json.loads(content[content.index("<tool>") + 6 : content.index("</tool>")])
    except ValueError:
        return "invalid JSON"
    if not isinstance(fields, dict):
        return "invalid JSON"
    missing = [name for name in ("tool_name", "arguments") if name not in fields]
    return f"missing {missing[0]}" if missing else None


pieces = st.sampled_from(
    '{ } , : " \n a [b] "tool_name":"x" "arguments":{} {"tool_name":"x","arguments":{}}'.split(" ")
)


@given(st.lists(pieces, max_size=8).map("".join), st.booleans(), st.booleans())
def test_validation_agrees_with_the_document(body: str, opened: bool, closed: bool) -> None:
    """FRG-31, for one call at most, whose strings hold no tag."""
    content = "<tool>" * opened + body + "</tool>" * closed
    expected, found = documented_fault(content), validate_tool_call(content)
    assert (expected is None) == (not found)
    if expected:
        assert found[0].startswith(expected)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        pytest.param([System("s"), User("x")], [], id="nothing"),
        pytest.param(7, [("forge.messages", "", "error")], id="no list"),
        pytest.param(
            {"messages": {}}, [("forge.messages", "messages", "error")], id="no list in it"
        ),
        pytest.param(
            [System("s"), {"role": "x", "content": "y"}],
            [("forge.role", "[1].role", "error")],
            id="FRG-29",
        ),
        pytest.param(
            [System("s"), User("")], [("forge.content", "[1].content", "error")], id="FRG-30"
        ),
        pytest.param(
            [System("s"), Assistant("<tool>")],
            [("forge.call", "[1].content", "error")],
            id="FRG-33",
        ),
        pytest.param([System("s"), User("<tool>")], [], id="FRG-33 users may say it"),
        pytest.param(
            [System("s"), Tool("a", "b c")], [("forge.orphan", "[1]", "error")], id="FRG-34 order"
        ),
        pytest.param([User("x")], [("forge.no_system", "", "warning")], id="FRG-34 system"),
        pytest.param(
            {"messages": [System("s"), Assistant(CALCULATOR), Tool("calculator", "42")]},
            [("forge.bare_result", "messages[2].content", "warning")],
            id="FRG-34 bare",
        ),
        *(
            pytest.param(
                [System("s"), Assistant(CALCULATOR), Tool("calculator", "4" * digits)],
                [("forge.bare_result", "[2].content", "warning")] if digits <= 20 else [],
                id=f"FRG-34 a word of {digits}",
            )
            for digits in (20, 21)
        ),
        pytest.param(
            [System("s"), User("x") | {"y": 1}],
            [("forge.extra", "[1].y", "warning")],
            id="a field too many",
        ),
    ],
)
def test_check(data: Any, found: list[tuple[str, str, str]]) -> None:
    assert [(one.code, one.path, one.level) for one in cw.check(data, "forge")] == found


# --- estimates -------------------------------------------------------------------------------

LISTS = (
    "Please explain the difference between lists and tuples in Python, including their "
    "performance characteristics and common use cases."
)


@pytest.mark.parametrize(
    ("text", "formula", "table"),
    [
        pytest.param("Hello", 5, 5, id="FRG-18"),
        pytest.param(LISTS, 36, 36, id="FRG-19 the formula wins over the example"),
        pytest.param(CALCULATOR, 40, 40, id="FRG-19 a call"),
        pytest.param("Привіт", 7, 7, id="FRG-20 bytes"),
        pytest.param(Tool("calculator", "Result: 8")["content"], 10, 16, id="FRG-21"),
    ],
)
def test_estimates(text: str, formula: int, table: int) -> None:
    assert (ESTIMATORS["forge"](text), ESTIMATORS["forge-table"](text)) == (formula, table)


# --- time ------------------------------------------------------------------------------------

SHAPES = {
    "tags": ("", "<tool>", ""),
    "open objects": ("", "<tool>{", ""),
    "open strings": ("", '<tool>{"', ""),
    "escaped strings": ('<tool>{"', '<tool>{\\"', ""),
    "two readings": ('<tool>{"<tool>{"', ':":",",', ""),
    "brackets": ("", "[", ""),
    "brackets at line starts": ("", "\n[", ""),
    "nested lists": ("", "[\n", "]\n"),
    "nested thoughts": ("", "[a\n", "]\n"),
    "thoughts": ("", "[a b]\n", ""),
    "code blocks": ("", "```\n[a b]\n", ""),
    "nested objects": ("<tool>", '{"a":', "}"),
    "nested calls": ("", '<tool>{"a":', "}"),
    "elements": ("<tool><arguments>", "<a>", "</a>"),
    "unclosed elements": ("", "<tool><tool_name>", ""),
    "CDATA": ("", "<tool><arguments><x><![CDATA[", "]]>"),
    "thinking": ("", "<thinking>", ""),
    "calls": ("", '<tool>{"tool_name":"x","arguments":{}}</tool>', ""),
    "broken calls": ("", '<tool>{"tool_name":x,"arguments":{}}</tool>', ""),
    "blanks": ("<tool>", " ", "x"),
}


def cost(text: str) -> float:
    """The processor time of one scan, at its best of several."""
    best = float("inf")
    gc.disable()
    try:
        for _ in range(3):
            start = time.process_time()
            scan(text)
            best = min(best, time.process_time() - start)
    finally:
        gc.enable()
    return best


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_time_is_linear(shape: str) -> None:
    """Four times the text takes about four times the time, and nowhere near sixteen times."""
    before, unit, after = SHAPES[shape]

    def text(size: int) -> str:
        count = size // len(unit + after)
        return before + unit * count + after * count

    ratios = (cost(text(200_000)) / max(cost(text(50_000)), 1e-3) for _ in range(3))
    assert any(ratio < 8 for ratio in ratios)


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["tags", "brackets at line starts", "nested lists", "calls"])
def test_a_megabyte_is_read_whole(shape: str) -> None:
    before, unit, after = SHAPES[shape]
    count = 1_000_000 // len(unit + after)
    text = before + unit * count + after * count
    conversation = cw.parse([Assistant(text)], "forge")
    assert cw.render(conversation, "forge").payload == [Assistant(text)]


def test_hostile_words_change_no_structure(data_folder: Path) -> None:
    """Whoever says it, wherever it stands: the same roles, calls and results are read back."""
    for line in (data_folder / "hostile" / "corpus.jsonl").read_text().splitlines():
        words = json.loads(line).get("payload", "")
        if not words.strip() or re.search("[\ud800-\udfff]", words):
            continue
        rendered = forge(
            cw.system("s"),
            cw.user(words),
            cw.assistant([cw.Text(words), cw.ToolCall("echo", {"words": words}, "1")]),
            cw.tool_result("1", words),
            cw.assistant(words),
        )
        parsed = cw.parse(rendered.payload, "forge", strict=True)
        shape = [
            (message.role, len(message.calls), len(message.results)) for message in parsed.messages
        ]
        assert shape == [
            ("system", 0, 0),
            ("user", 0, 0),
            ("assistant", 1, 0),
            ("tool", 0, 1),
            ("assistant", 0, 0),
        ]
        assert parsed.messages[1].text == words
        assert parsed.messages[2].calls[0].arguments == {"words": words}
        assert parsed.messages[3].results[0].content == words
        assert not any(
            isinstance(part, cw.Thinking) for message in parsed.messages for part in message.parts
        )


@pytest.mark.parametrize("message", [5, "words", None, ["role"]])
def test_what_is_no_message_has_no_fields(message: object) -> None:
    codes = [problem.code for problem in message_problems(message, "messages[0]")]
    assert codes == ["forge.role", "forge.content"]
