"""What the five systems' contexts look like, whole: each beside a file of `golden`.

`WRITE_CASES=1 pytest tests/systems/test_golden.py` writes the files anew; read the difference.
"""

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace
from rich.console import Console

import contextwright as cw
from contextwright.context import recipe_files as recipes
from contextwright.display import print_conversation, show
from contextwright.formats.forge.format import Assistant, System, Tool, User
from contextwright.systems import gryag
from contextwright.systems.context_builder import ContextBuilder
from contextwright.windows.policies import FirstAndRecent
from golden_files import compare
from samples.systems import FIVE, LUNCH, MULTI_TOOL, call, row

NOW = datetime(2025, 1, 15, 12, 30, tzinfo=UTC)
GEMINI = "gemini-3.8-flash"


def built(context: cw.Context) -> dict[str, Any]:
    """The request and its receipt, without what depends on prices and tokenizers."""
    problems = cw.check(context.payload, context.format, model=context.model)
    assert [str(problem) for problem in problems if problem.level == "error"] == []
    return {
        "payload": context.payload,
        "decisions": [f"{each.action}: {each.reason}" for each in context.decisions],
        "changes": [str(change) for change in context.changes],
    }


# Aya


def aya() -> cw.Conversation:
    """The document's lunch, with an end mark and a vote behind it."""
    more = [
        {"toolCall": "createEmojiVote", "text": "Which\none?", "options": ["🍄", "🥗"]},
        {"toolCall": "finishRequest", "summary": "lunch is found", "reasoning": "All done"},
    ]
    entries: list[dict[str, Any]] = json.loads(LUNCH)
    for content in more:
        entries.append({**entries[-1], "index": len(entries), "content": content})
    return cw.parse(entries, "aya")


def test_aya_display_plain() -> None:
    """AYA-20 to AYA-29."""
    compare("aya-display", show(aya()))


def test_aya_display_ascii() -> None:
    """AYA-32."""
    compare("aya-display-ascii", show(aya(), width=39, ascii=True))


def test_aya_display_in_colour() -> None:
    """AYA-20 to AYA-29."""
    output = io.StringIO()
    console = Console(
        file=output, force_terminal=True, color_system="standard", width=80, legacy_windows=False
    )
    print_conversation(aya(), console=console)
    compare("aya-display-colour", output.getvalue().replace("\x1b", "\\e").rstrip("\n"))


# gryag

ALICE = cw.Author("987654321", "Alice", "alice_ua")
BOB = cw.Author("111222333", "Bob")
NOTES = cw.recall.MemoryList(
    [
        cw.Memory("memory", "User is from Kyiv", ALICE.id),
        cw.Memory("memory", "Works as a software developer", ALICE.id),
        cw.Memory("memory", "Likes coffee", ALICE.id),
        cw.Memory("profile", "A curious developer who argues well.", ALICE.id),
        cw.Memory("fact", "Kyiv", ALICE.id, "location"),
        cw.Memory("fact", "Software Developer", ALICE.id, "occupation"),
        cw.Memory("passage", "Тоді кава тут була дешевша", at="2025-01-15T12:30:00Z"),
        cw.Memory("passage", "Яка ще кава?", at="2025-01-08T12:30:00Z"),
        cw.Memory("episode", "Познайомились, бо скінчилась кава.", key="First meeting"),
    ]
)
CHAT = [
    cw.user("Привіт, як справи?", author=BOB, meta={"chat_id": -123, "message_id": 1}),
    cw.assistant("Не набридай.", meta={"chat_id": -123, "message_id": 2}),
    cw.user(
        ["Подивись на це фото", cw.Media("image", "image/jpeg", "/9j/4AAQ")],
        author=BOB,
        meta={"chat_id": -123, "message_id": 3},
    ),
    cw.user(
        "А кава тут яка?",
        author=ALICE,
        reply_to=cw.Reply("3", BOB, "Подивись на це фото"),
        meta={"chat_id": -123, "message_id": 4},
    ),
]
PERSONA = "Ти — гряг. Відповідай коротко."


@pytest.mark.parametrize("format", ["gryag", "gemini"])
def test_gry_11_to_20_the_system_instruction_and_the_history(format: str) -> None:
    """GRY-2, GRY-22."""
    recipe = gryag.recipe(PERSONA)
    context = recipe.build(CHAT, model=GEMINI, format=format, now=NOW, memories=NOTES)
    if format == "gryag":
        compare("gryag-system", context.payload["system_instruction"])
    compare(f"gryag-payload-{format}", built(context))


@pytest.mark.parametrize("meta", ["true", "false"])
def test_gry_23_to_30_the_block(meta: str) -> None:
    recipe = gryag.recipe(
        PERSONA,
        {"ENABLE_SYSTEM_CONTEXT_BLOCK": "true", "SYSTEM_CONTEXT_BLOCK_INCLUDE_META": meta},
    )
    context = recipe.build(CHAT, model=GEMINI, format="gryag", now=NOW, memories=NOTES)
    name = "gryag-block" if meta == "true" else "gryag-block-without-meta"
    compare(name, context.payload["system_instruction"])
    compare(f"{name}-payload", built(context))


# Port 42


def test_p42_3_to_9_the_window_table() -> None:
    """P42-6: how many are sent and what the note says, ours and by the origin's arithmetic."""
    recipe = recipes.find("port42")
    rows: dict[str, Any] = {}
    for total in (20, 21, 29, 30, 31, 100):
        roles = (cw.user, cw.assistant)
        talk = [roles[place % 2](f"m{place}") for place in range(total - 1)]
        talk.append(cw.user("question"))
        for name, exact in (("ours", False), ("origin", True)):
            assert recipe.note is not None
            note = replace(recipe.note, count_beyond=20 if exact else None)
            context = cw.Recipe(
                system=("You are @ai-engineer.",), window=FirstAndRecent(), note=note
            ).build(talk, model="claude-sonnet-5-5")
            problems = cw.check(context.payload, "anthropic", model="claude-sonnet-5-5")
            assert [str(each) for each in problems if each.level == "error"] == []
            said = json.dumps(context.payload["messages"])
            kept = [each.index for each in context.decisions if each.action == "kept"]
            noted = said.partition("[Session context: ")[2].partition("]")[0]
            rows.setdefault(str(total), {})[name] = {
                "kept": f"{len(kept)}: {kept[0]}–{kept[1]}, {kept[2]}–{kept[-1]}",
                "left out": total - len(kept),
                "note": noted,
            }
    compare("port42-windows", rows)


# Forge

FORGE = {
    "flow": [
        System("You are a helpful math tutor"),
        User("What is 15 + 27?"),
        Assistant(
            "[I'll calculate this using the calculator tool]\n\n<tool>\n{\n"
            '  "server_name": "local",\n  "tool_name": "calculator",\n'
            '  "arguments": {"operation": "add", "a": 15, "b": 27}\n}\n</tool>'
        ),
        Tool("calculator", "Result: 42"),
        Assistant("[Great, the calculator confirmed the result]\n\n15 + 27 = 42"),
        User("Thanks! Now what's 42 divided by 0?"),
        Assistant(
            '[I\'ll use the calculator]\n\n<tool>\n{\n  "server_name": "local",\n'
            '  "tool_name": "calculator",\n'
            '  "arguments": {"operation": "divide", "a": 42, "b": 0}\n}\n</tool>'
        ),
        Tool("calculator", "Error: division by zero"),
        Assistant("[I see the error]\n\nThat is undefined."),
        User("And 6?"),
    ],
    "several tools": [*MULTI_TOOL, User("Thank you")],
    "pure XML": [
        System("s"),
        User("add"),
        Assistant(
            "<thinking>Easy.</thinking>\n<tool><server_name>local</server_name>"
            "<tool_name>add</tool_name><arguments><a>5</a><b><![CDATA[</tool> & 3]]></b>"
            "</arguments></tool>"
        ),
        Tool("add", "8"),
        User("ok"),
    ],
}


@pytest.mark.parametrize("model", ["claude-sonnet-5-5", "gpt-5.6-sol", GEMINI])
@pytest.mark.parametrize("name", FORGE)
def test_forge_examples(name: str, model: str) -> None:
    """FRG-6, FRG-7, FRG-13, FRG-14, FRG-37."""
    conversation = cw.parse(FORGE[name], "forge")
    assert cw.render(conversation, "forge").payload == FORGE[name]
    context = recipes.find("forge").build(conversation, model=model)
    compare(f"forge-{name.replace(' ', '-')}-{context.format}", built(context))


# 013


def test_013_acceptance_scenarios() -> None:
    """CB-1 to CB-12."""
    long = [
        row(place, ("user", "assistant")[place % 2], f"message {place} " + "word " * 20)
        for place in range(30)
    ]
    unanswered = [row(1, "user", "go"), row(2, "assistant", tool_calls=[call("c1", "{}")])]
    both = [{"tool_call_id": f"c{number}", "content": f"r{number}"} for number in (1, 2)]
    several = [
        row(1, "user", "go"),
        row(2, "assistant", tool_calls=[call("c1", {"a": 1}), call("c2", "")]),
        row(3, "tool", tool_results=both),
        row(4, "user", "and?"),
    ]
    scenarios: dict[str, tuple[ContextBuilder, Any]] = {
        "1.1 all messages in order, 1.2 roles mapped": (ContextBuilder(), FIVE),
        "1.3 empty: the prompt alone": (ContextBuilder(), []),
        "2.1 the default prompt first": (ContextBuilder(), FIVE[:1]),
        "2.2 the configured prompt": (ContextBuilder("You are Ada."), FIVE[:1]),
        "3.1 calls, 3.2 results": (ContextBuilder(), several),
        "edge: very long, the prompt stays": (ContextBuilder(budget=200), long),
        "edge: missing result": (ContextBuilder(), unanswered),
        "edge: missing result, literally": (ContextBuilder(repair=False), unanswered),
    }
    output = {name: builder.build(rows) for name, (builder, rows) in scenarios.items()}
    compare("013-scenarios", output)
