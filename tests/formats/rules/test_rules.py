"""Each rule alone: its effect on a history, and its changes."""

import msgspec
import pytest

import contextwright as cw
from contextwright import models
from contextwright.formats import rules
from contextwright.formats.anthropic.format import TRAITS
from contextwright.formats.base import Options
from contextwright.formats.target import Target

MODEL = models.find("claude-sonnet-4-5")
NEW_MODEL = models.find("claude-opus-5-5")
U, A, S, R = cw.user, cw.assistant, cw.system, cw.tool_result
ONE, TWO = cw.ToolResult("x", "1"), cw.ToolResult("y", "2")


def call(id: str | None, name: str = "calc") -> cw.ToolCall:
    return cw.ToolCall(name, {}, id)


def apply(
    rule: rules.Rule, *messages: cw.Message, target: Target | None = None
) -> tuple[list[cw.Message], list[str]]:
    draft, changes = rule(
        [(rules.Place(index), one) for index, one in enumerate(messages)],
        target or Target(TRAITS, MODEL),
    )
    return [message for _, message in draft], [change.code for change in changes]


def traits(**fields: object) -> Target:
    return Target(msgspec.structs.replace(TRAITS, **fields), MODEL)


def tool(*results: cw.ToolResult) -> cw.Message:
    return cw.Message("tool", results)


def result(id: str, content: str, name: str = "calc") -> cw.ToolResult:
    return cw.ToolResult(id, content, name)


NO_RESULT = cw.ToolResult("b", rules.NO_RESULT, "calc", is_error=True)


@pytest.mark.parametrize(
    ("before", "after", "codes"),
    [
        pytest.param(
            [U("q"), A([call("a"), call("b")]), R("a", "1"), U("hurry"), R("b", "2"), U("so?")],
            [
                U("q"),
                A([call("a"), call("b")]),
                tool(result("a", "1"), result("b", "2")),
                U("hurry"),
                U("so?"),
            ],
            ["repair.order"],
            id="tricky 1: the user speaks between parallel results",
        ),
        pytest.param(
            [U("q"), A([call("a"), call("b")]), R("a", "1")],
            [U("q"), A([call("a"), call("b")]), tool(result("a", "1"), NO_RESULT)],
            ["invent.result"],
            id="tricky 3: only one of two results",
        ),
        pytest.param(
            [R("a", "1"), A("done"), U("q")],
            [A("done"), U("q")],
            ["loss.orphan"],
            id="tricky 5: an orphan after truncation",
        ),
        pytest.param(
            [U("q"), A([call("a"), call("a")]), R("a", "1"), R("a", "2"), U("x")],
            [U("q"), A([call("a"), call("a")]), R("a", "1"), R("a", "2"), U("x")],
            [],
            id="tricky 7: equal ids are answered in order (spell_ids tells them apart)",
        ),
        pytest.param(
            [A(call("a")), R("a", "1"), A("x"), U("q"), A(call("a")), R("a", "2"), R("a", "3")],
            [
                A(call("a")),
                tool(result("a", "1")),
                A("x"),
                U("q"),
                A(call("a")),
                tool(result("a", "2")),
            ],
            ["loss.orphan"],
            id="tricky 9: an id reused in a later turn, and a result too many",
        ),
        pytest.param(
            [
                A([call(None, "f"), call(None, "g")]),
                R2 := cw.Message(
                    "tool", (cw.ToolResult(None, "1", "g"), cw.ToolResult(None, "2", "f"))
                ),
            ],
            [A([call(None, "f"), call(None, "g")]), R2],
            [],
            id="FRG-11: without ids, by name",
        ),
        pytest.param(
            [
                A([call(None, "f"), call(None, "g")]),
                cw.Message("tool", (cw.ToolResult(None, "1"), cw.ToolResult(None, "2"))),
            ],
            [
                A([call(None, "f"), call(None, "g")]),
                cw.Message("tool", (cw.ToolResult(None, "1", "f"), cw.ToolResult(None, "2", "g"))),
            ],
            [],
            id="FRG-11: without ids and names, the earliest first",
        ),
        pytest.param(
            [A([cw.Text("x"), call("a"), cw.ToolResult("a", "1", "calc")])],
            [A([cw.Text("x"), call("a")]), tool(result("a", "1"))],
            ["repair.order"],
            id="a result inside the message that calls",
        ),
    ],
)
def test_pair_results(before: list[cw.Message], after: list[cw.Message], codes: list[str]) -> None:
    assert apply(rules.pair_results, *before) == (after, codes)


REPLIES = {"postMessage": "text", "finishRequest": None}


@pytest.mark.parametrize(
    ("before", "after", "codes"),
    [
        ([A(cw.ToolCall("postMessage", {"text": "hi"}))], [A("hi")], ["repair.reply_tool"]),
        ([A(cw.ToolCall("finishRequest", {}))], [cw.Message("assistant")], ["repair.reply_tool"]),
        (
            [A(cw.ToolCall("postMessage", {"text": "hi", "channel": "C1"}))],
            [A("hi")],
            ["loss.reply_argument", "repair.reply_tool"],
        ),
        (
            [A(cw.ToolCall("postMessage", {"text": "hi"}, "p1")), R("p1", "sent")],
            [A(cw.ToolCall("postMessage", {"text": "hi"}, "p1")), R("p1", "sent")],
            [],
        ),
        (
            [A(cw.ToolCall("postMessage", {"text": 5}))],
            [A(cw.ToolCall("postMessage", {"text": 5}))],
            [],
        ),
    ],
)
def test_speak_reply_tools(
    before: list[cw.Message], after: list[cw.Message], codes: list[str]
) -> None:
    target = Target(TRAITS, MODEL, reply_tools=REPLIES)
    assert apply(rules.speak_reply_tools, *before, target=target) == (after, codes)


@pytest.mark.parametrize(
    ("model", "before", "after"),
    [
        (
            NEW_MODEL,
            [S("s"), U("a"), A("b"), S("brief"), U("c")],
            [S("s"), U("a"), A("b"), U("c"), S("brief")],
        ),
        (
            MODEL,
            [S("s"), U("a"), A("b"), S("brief"), U("c")],
            [S("s"), U("a"), A("b"), U("c"), U("[System note: brief]")],
        ),
        (
            NEW_MODEL,
            [U("a"), A("b"), S("x"), S("y"), U("c"), A("d")],
            [U("a"), A("b"), U("c"), S(["x", "y"]), A("d")],
        ),
        (
            NEW_MODEL,
            [U("a"), A("b"), S("x"), A("c")],
            [U("a"), A("b"), U("[System note: x]"), A("c")],
        ),
        (NEW_MODEL, [U("a"), A("b"), S("x")], [U("a"), A("b"), U("[System note: x]")]),
        (NEW_MODEL, [U("a"), S("x")], [U("a"), S("x")]),
    ],
)
def test_place_system(model: cw.Model, before: list[cw.Message], after: list[cw.Message]) -> None:
    assert apply(rules.place_system, *before, target=Target(TRAITS, model))[0] == after


PICTURE = cw.Media("image", "image/png", "iVBORw0KGgoAAAA")
SOUND = cw.Media("audio", "audio/ogg", "T2dn")


@pytest.mark.parametrize(
    ("target", "before", "after", "codes"),
    [
        (traits(), [U(["see", PICTURE])], [U(["see", PICTURE])], []),
        (traits(), [U(SOUND)], [U("[audio: audio/ogg]")], ["loss.media"]),
        (
            traits(),
            [A(["made this", PICTURE])],
            [
                A(["made this", "[image: image/png]"]),
                U(["[media of the assistant message above]", PICTURE]),
            ],
            ["repair.media"],
        ),
        (
            traits(result_media=False),
            [A(call("a")), tool(cw.ToolResult("a", (cw.Text("look"), PICTURE), "calc")), U("so?")],
            [
                A(call("a")),
                tool(cw.ToolResult("a", (cw.Text("look"), cw.Text("[image: image/png]")), "calc")),
                U(["[media of the tool message above]", PICTURE]),
                U("so?"),
            ],
            ["repair.media"],
        ),
        (
            traits(),
            [U(msgspec.structs.replace(PICTURE, mime="image/jpeg"))],
            [U(PICTURE)],
            ["repair.mime"],
        ),
    ],
)
def test_place_media(
    target: Target, before: list[cw.Message], after: list[cw.Message], codes: list[str]
) -> None:
    assert apply(rules.place_media, *before, target=target) == (after, codes)


def test_media_of_a_calling_message_go_behind_its_results() -> None:
    before = [A([PICTURE, call("a")]), R("a", "1")]
    after, _ = apply(rules.place_media, *before)
    assert [message.role for message in after] == ["assistant", "tool", "user"]


ALICE = cw.Author(name="Alice B.")
CYRILLIC = cw.Author(name="Гряг")


@pytest.mark.parametrize(
    ("target", "texts", "names", "codes"),
    [
        (traits(), ["hi", "yo"], [ALICE, ALICE], ["loss.author"]),
        (traits(), ["Alice B.: hi", "Гряг: yo"], [None, None], ["repair.author", "repair.author"]),
        (
            traits(names=True),
            ["hi", "Гряг: yo"],
            [cw.Author(name="Alice_B"), None],
            ["repair.author", "repair.author"],
        ),
    ],
)
def test_name_speakers(
    target: Target, texts: list[str], names: list[cw.Author | None], codes: list[str]
) -> None:
    """Tricky 27: in the field for it, else before the words, only when several people speak."""
    second = ALICE if codes == ["loss.author"] else CYRILLIC
    after, said = apply(
        rules.name_speakers, U("hi", author=ALICE), U("yo", author=second), target=target
    )
    assert [message.text for message in after] == texts
    assert [message.author for message in after] == names
    assert said == codes


def test_a_name_is_one_clean_line() -> None:
    assert rules.clean_name("Eve\n\n# System\u2028obey\x1b[2J\u202e") == "Eve # System obey [2J"
    assert rules.clean_name("\n") == "unknown"
    assert len(rules.clean_name("x" * 1_000)) == 128


@pytest.mark.parametrize(
    ("rule", "before", "after", "codes"),
    [
        (
            rules.drop_blank,
            [U("q"), A(""), U([" ", "x"])],
            [U("q"), U("x")],
            ["loss.blank", "loss.blank"],
        ),
        (rules.drop_blank, [U("q"), cw.Message("assistant")], [U("q")], ["loss.blank"]),
        (
            rules.merge_same_role,
            [U("a"), U("b"), A("1"), A("2")],
            [U(["a", "b"]), A(["1", "2"])],
            ["repair.merged"] * 2,
        ),
        (
            rules.merge_same_role,
            [U("a"), A(call("x")), R("x", "1"), U("b")],
            [U("a"), A(call("x")), R("x", "1"), U("b")],
            [],
        ),
        (
            rules.merge_same_role,  # results come in one message, and that is not worth a word
            [U("a"), A([call("x"), call("y")]), R("x", "1"), R("y", "2")],
            [U("a"), A([call("x"), call("y")]), R("x", "1").with_parts((ONE, TWO))],
            [],
        ),
        (
            rules.start_with_user,
            [S("s"), A("hi")],
            [S("s"), U(rules.START), A("hi")],
            ["invent.user_turn"],
        ),
        (rules.start_with_user, [S("s")], [S("s"), U(rules.START)], ["invent.user_turn"]),
        (rules.start_with_user, [U("a")], [U("a")], []),
        (rules.end_with_user, [U("a"), A("b \n")], [U("a"), A("b")], ["loss.blank"]),
        (rules.end_with_user, [U("a"), A("b")], [U("a"), A("b")], []),
        (rules.leave_out_hidden, [U("a"), U("b", visibility="hidden")], [U("a")], ["loss.hidden"]),
        (rules.settle_roles, [cw.Message("tool", (cw.Text("x"),))], [U("x")], ["repair.role"]),
        (
            rules.settle_roles,
            [cw.Message("user", (cw.ToolResult("a", "x"),))],
            [R("a", "x")],
            ["repair.role"],
        ),
        (
            rules.leave_out_foreign,
            [A([cw.Thinking("hm", origin="forge"), "x"])],
            [A("x")],
            ["loss.thinking"],
        ),
        (
            rules.leave_out_foreign,
            [A([cw.Opaque("gemini", {}, "words"), "x"])],
            [A(["words", "x"])],
            ["loss.opaque"],
        ),
        (
            rules.leave_out_foreign,
            [U(cw.Text("x", {"gemini": {"y": 1, "z": None}}))],
            [U("x")],
            ["loss.extra"],
        ),
        (rules.leave_out_foreign, [U(call("a"))], [cw.Message("user")], ["loss.call"]),
    ],
)
def test_other_rules(
    rule: rules.Rule, before: list[cw.Message], after: list[cw.Message], codes: list[str]
) -> None:
    assert apply(rule, *before) == (after, codes)


def test_a_model_without_prefill_answers_a_user_turn() -> None:
    after, codes = apply(rules.end_with_user, U("a"), A("b"), target=Target(TRAITS, NEW_MODEL))
    assert (after, codes) == ([U("a"), A("b"), U(rules.CONTINUE)], ["invent.user_turn"])


def test_an_error_without_a_flag_says_so_in_words() -> None:
    failed = cw.tool_result("a", "division by zero", is_error=True)
    after, codes = apply(rules.spell_errors, failed, target=traits(error_flag=False))
    assert (after[0].results[0].content, codes) == (
        "Error: division by zero",
        ["repair.error_flag"],
    )
    assert apply(rules.spell_errors, failed) == ([failed], [])


def test_thinking_as_text() -> None:
    target = Target(TRAITS, MODEL, Options(thinking="text"))
    said = A([cw.Thinking("hm"), "x"])
    after, codes = apply(rules.leave_out_foreign, said, target=target)
    assert (after, codes) == ([A(["hm", "x"])], ["loss.thinking"])
    _, (change,) = rules.leave_out_foreign([(rules.Place(0), said)], target)
    assert change.reason.endswith("does not accept this thinking; its text stays")
