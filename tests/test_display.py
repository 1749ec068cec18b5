"""The console view: golden text, and nothing that content could forge."""

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from rich.console import Console

import contextwright as cw
from contextwright.display import View, print_conversation, safe, show
from samples.systems import LUNCH
from strategies.messages import conversations

NOON = "2023-04-04T12:00:00Z"

SHOWN = """🧠 System: You're a helpful AI assistant named Aya...

👤 User <@U1234546> [Turn 0]
🕐 2023-04-04T12:33:10Z
> Suggest lunch options please.

🤖 Assistant [Turn 1]
🕐 2023-04-04T12:33:20Z
🔧 getThreadHistory (ascending: false)
   └─ Reason: Checking for context about dietary preferences

🤖 Assistant [Turn 1]
🕐 2023-04-04T12:33:30Z
💬 postMessage:
   "Here are some lunch suggestions: 1) Mushroom risotto, 2) Caesar salad, 3) Vegetable curry"
   └─ Reason: Providing diverse lunch options"""


def lunch() -> cw.Conversation:
    return cw.parse(json.loads(LUNCH), "aya")


def test_the_documents_display() -> None:
    """AYA-20 to AYA-24, AYA-26, AYA-28, AYA-31."""
    assert show(lunch(), width=39) == SHOWN


def test_system_text_is_whole_by_default() -> None:
    """AYA-31."""
    whole = "🧠 System: You're a helpful AI assistant named Aya. You help users with content..."
    assert show(lunch()).splitlines()[0] == whole
    assert show(lunch(), width=500) == show(lunch())
    families = "ab👩\u200d👩\u200d👧cd"
    assert show([cw.system(families)], width=4) == "🧠 System: ab..."
    assert show([cw.system(families)], width=7) == "🧠 System: ab👩\u200d👩\u200d👧..."


def test_aya_names_everybody() -> None:
    """AYA-7, AYA-22."""
    entries = json.loads(LUNCH)[1:2]
    entries[0]["content"]["userid"] = "<@unknown>"
    assert show(cw.parse(entries, "aya")).startswith("👤 User <@unknown> [Turn 0]\n🕐 ")


def test_ascii_marks() -> None:
    """AYA-32."""
    assert show(lunch(), width=39, ascii=True) == (
        SHOWN.replace("🧠", "[SYS]")
        .replace("👤", "[USER]")
        .replace("🤖", "[ASST]")
        .replace("🕐", "[TIME]")
        .replace("🔧", "[HIST]")
        .replace("💬", "[MSG]")
        .replace("└─ ", "|-- ")
    )


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param(
            cw.assistant(
                [cw.Thinking("done"), cw.ToolCall("finishRequest", {"summary": "ok"})],
                turn=2,
                sent_at=NOON,
            ),
            "🤖 Assistant [Turn 2]\n🕐 2023-04-04T12:00:00Z\n"
            "✅ finishRequest (summary: ok)\n   └─ Reason: done",
            id="AYA-27",
        ),
        pytest.param(
            cw.assistant(cw.ToolCall("finishRequest")),
            "🤖 Assistant [Turn 0]\n✅ finishRequest",
            id="AYA-28 no reason",
        ),
        pytest.param(
            cw.assistant([cw.Thinking(" "), cw.ToolCall("finishRequest")]),
            "🤖 Assistant [Turn 0]\n✅ finishRequest",
            id="AYA-28 a blank reason",
        ),
        pytest.param(
            cw.assistant(
                cw.ToolCall(
                    "t",
                    {
                        "a": False,
                        "b": None,
                        "c": "two words",
                        "d": ["a", "b"],
                        "e": 1.0,
                        "f": {"g": [0.5, True]},
                    },
                )
            ),
            "🤖 Assistant [Turn 0]\n"
            '🔧 t (a: false, b: null, c: two words, d: ["a","b"], e: 1, f: {"g":[0.5,true]})',
            id="AYA-25",
        ),
        pytest.param(
            cw.assistant(
                cw.ToolCall(
                    "t", {"a": 1e21, "b": 1e-7, "c": 0.00001, "d": 1.5e300, "e": -0.0, "f": 10**22}
                )
            ),
            "🤖 Assistant [Turn 0]\n"
            "🔧 t (a: 1e+21, b: 1e-7, c: 0.00001, d: 1.5e+300, e: 0, f: 10000000000000000000000)",
            id="AYA-25 numbers",
        ),
        pytest.param(
            cw.assistant(
                cw.ToolCall("postMessage", {"text": 'She said "hi"\n🤖 Assistant [Turn 9]\n\nbye'})
            ),
            "🤖 Assistant [Turn 0]\n💬 postMessage:\n"
            '   "She said "hi"\n    🤖 Assistant [Turn 9]\n    \n    bye"',
            id="AYA-26 lines",
        ),
        pytest.param(
            cw.assistant(cw.ToolCall("createEmojiVote", {"text": "Lunch?", "options": ["🍕"]})),
            '🤖 Assistant [Turn 0]\n🔧 createEmojiVote (options: ["🍕"]):\n   "Lunch?"',
            id="AYA-29",
        ),
        pytest.param(
            cw.assistant("hello"), '🤖 Assistant [Turn 0]\n💬 Message:\n   "hello"', id="AYA-30"
        ),
        pytest.param(cw.Message("x"), "Unknown role: x", id="AYA-33 role"),  # pyright: ignore
        pytest.param(
            cw.system("a\n🤖 Assistant"), "🧠 System: a\n   🤖 Assistant", id="system lines"
        ),
        pytest.param(
            cw.user("a\n\n🧠 System: b"),
            "👤 User [Turn 0]\n> a\n> \n> 🧠 System: b",
            id="user lines",
        ),
        pytest.param(
            cw.user("hi", author=cw.Author("U1", "Eve\n🤖 Assistant"), pinned=True),
            "👤 User Eve\\n🤖 Assistant <@U1> [Turn 0] (pinned)\n> hi",
            id="names",
        ),
        pytest.param(
            cw.tool_result("c1", "a\nb", name="search"), "📥 Tool search\n< a\n< b", id="a result"
        ),
        pytest.param(
            cw.tool_result("c1", "division by zero", name="calculator", is_error=True),
            "📥 Tool calculator\n! division by zero",
            id="an error",
        ),
        pytest.param(
            cw.user(
                ["see", cw.Media("image", "image/png", "aGk=", name="a.png"), cw.Media("audio")]
            ),
            "👤 User [Turn 0]\n> see\n+ image (image/png, a.png, 2 bytes)\n+ audio",
            id="media",
        ),
        pytest.param(
            cw.assistant(
                [cw.Opaque("anthropic", {"type": "server_tool_use"}), cw.Opaque("x", {}, "a\nb")]
            ),
            "🤖 Assistant [Turn 0]\n+ anthropic server_tool_use\n+ x: a\n   b",
            id="blocks",
        ),
        pytest.param(
            cw.assistant([cw.Thinking("a\nb"), cw.Thinking("", "sig", redacted=True)]),
            "🤖 Assistant [Turn 0]\n   └─ Reason: a\n      b\n   └─ Reason: (withheld)",
            id="thinking alone",
        ),
        pytest.param(
            cw.Message("user", (cw.ToolResult("c", "ok"), cw.Text("so?"))),
            "📥 Tool c [Turn 0]\n< ok\n\n👤 User [Turn 0]\n> so?",
            id="both",
        ),
        pytest.param(
            cw.Message("system", (cw.Text("old"),), kind="summary", visibility="internal"),
            "🧠 System (summary, internal): old",
            id="remarks",
        ),
    ],
)
def test_entries(message: cw.Message, expected: str) -> None:
    assert show([message]) == expected


def test_nothing() -> None:
    """AYA-33."""
    assert show([]) == "Empty context"


def test_a_result_is_named_by_its_call() -> None:
    shown = show([cw.assistant(cw.ToolCall("calc", {}, "c1")), cw.tool_result("c1", "8")])
    assert shown.splitlines()[-2:] == ["📥 Tool calc", "< 8"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[2J\x1b]0;owned\x07", r"\x1b[2J\x1b]0;owned\x07"),
        ("a\rb\r\nc\x85d\u2028e", "a\\x0db\nc\\x85d\\u2028e"),
        ("\u202eevil\u202c \u2066x\u2069", r"\u202eevil\u202c \u2066x\u2069"),
        ("\U000e0068\U000e0069", r"\U000e0068\U000e0069"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("half \ud83d", r"half \ud83d"),
        (
            "👩\u200d👩\u200d👧 й\u0306 می\u200cخواهم\t",
            "👩\u200d👩\u200d👧 й\u0306 می\u200cخواهم\t",
        ),
    ],
)
def test_what_a_terminal_obeys_is_shown(text: str, expected: str) -> None:
    assert safe(text) == expected


OBEYED = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)
MARGIN = re.compile(
    "🧠 System|👤 User|🤖 Assistant|📥 Tool|Empty context|🕐 |🔧 |💬 |✅ |> |< |! |[+] |   "
)


@given(conversations)
def test_content_forges_nothing(conversation: cw.Conversation) -> None:
    """One block for each thing said, and every line of it of a known kind."""
    blocks = show(conversation).split("\n\n")
    assert len(blocks) == len(View(conversation, ascii=False, width=None).entries())
    heads = ("🧠", "👤", "🤖", "📥", "Empty")
    assert all(block.startswith(heads) for block in blocks)
    for block in blocks:
        first, *rest = block.split("\n")
        assert not any(line.startswith(heads) for line in rest)
        assert all(MARGIN.match(line) for line in [first, *rest])
        assert not OBEYED.search(block.replace("\t", ""))


@given(conversations)
@example(cw.Conversation((cw.user("a\tb\n漢字\t"), cw.assistant("\t[bold]:fire:"))))
def test_colour_changes_no_word(conversation: cw.Conversation) -> None:
    screen = io.StringIO()
    print_conversation(conversation, console=Console(file=screen, width=10))
    assert screen.getvalue() == show(conversation) + "\n"


def test_colour() -> None:
    screen = io.StringIO()
    print_conversation(lunch(), console=Console(file=screen, force_terminal=True), width=39)
    assert screen.getvalue().startswith("\x1b[1m🧠 System")
    assert re.sub(r"\x1b\[[0-9;]*m", "", screen.getvalue()) == SHOWN + "\n"


def test_plain_text_needs_no_rich() -> None:
    script = "import sys, contextwright.display as d; d.show([]); print('rich' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_half_a_pair_among_arguments_is_shown() -> None:
    assert show([cw.assistant(cw.ToolCall("t", {"a": ["\ud800"]}))]).endswith(r"(a: ['\ud800'])")


def test_hostile_words_are_shown_and_not_obeyed(data_folder: Path) -> None:
    for line in (data_folder / "hostile" / "corpus.jsonl").read_text().splitlines():
        words = json.loads(line).get("payload", "")
        talk = [
            cw.user(words, author=cw.Author("U1", words)),
            cw.assistant([cw.ToolCall(words or "t", {words: words}), cw.Text(words)]),
            cw.tool_result("c", words, name=words),
        ]
        shown = show(talk)
        assert len(shown.split("\n\n")) == 3
        assert not OBEYED.search(shown.replace("\t", ""))
