"""People's text never becomes structure, wherever it is.

Hostile words are put into every place; the shape of every payload and of the system text has to be
the shape it has with harmless ones.
"""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

import contextwright as cw
from contextwright.systems import gryag, port42
from contextwright.systems.port42 import Sessions, parse_agents
from samples.hostile import OWN, corpus, entries, generated

HARMLESS = "harmless"
NOW = datetime(2026, 11, 15, tzinfo=UTC)
MODELS = {
    "anthropic": "claude-sonnet-5-5",
    "gemini": "gemini-3.8-flash",
    "openai-chat": "gpt-5.6-sol",
    "openai-responses": "gpt-5.6-sol",
}
FORMATS = (*MODELS, "aya", "chatml", "contextwright", "forge", "gryag", "port42")
PLACES = (
    "user text", "user name", "user handle", "user id", "assistant text", "thinking",
    "tool arguments", "tool result", "tool error", "reply excerpt", "reply name", "media name",
    "memory",
)  # fmt: skip
LETTER = re.compile(r"[^\W_]")
MARKDOWN = MarkdownIt("commonmark")
MARKS = ("[RESPOND]", "[REPLY TO THIS]", "[meta]", "[Image", "[Relevance: ", "**Name**", "```",
    "[INST]", "[/INST]", "[TOOL_CALLS]", "<<SYS>>", "[SYSTEM_PROMPT]", "<_user>", "]~b]", "[e~[",
)  # fmt: skip


def chat(words: str, *places: str) -> list[cw.Message]:
    """A talk in which these places hold the words, and all others harmless ones."""
    said = {place: words if place in places else HARMLESS for place in PLACES}
    alice = cw.Author(said["user id"], said["user name"], said["user handle"])
    other = cw.Author("2", said["reply name"])
    picture = cw.Media("image", "image/png", "iVBORw0KGgo=", name=said["media name"])
    return [
        cw.system("Be kind."),
        cw.user("hello", author=other, meta={"chat_id": -1, "message_id": 1}),
        cw.assistant(
            [
                cw.Thinking(said["thinking"]),
                cw.Text(spoken(said["assistant text"])),
                cw.ToolCall("search", {"words": said["tool arguments"]}, "call_1"),
                cw.ToolCall("fetch", {"words": said["tool arguments"]}, "call_2"),
            ]
        ),
        cw.tool_result("call_1", spoken(said["tool result"]), name="search"),
        cw.tool_result("call_2", spoken(said["tool error"]), name="fetch", is_error=True),
        cw.assistant("done"),
        cw.user(
            [spoken(said["user text"]), picture],
            author=alice,
            reply_to=cw.Reply("1", other, said["reply excerpt"]),
            meta={"chat_id": -1, "message_id": 2},
        ),
    ]


def spoken(words: str) -> str:
    """The words; where there are none to be seen, some before them: blank messages are left out."""
    return words if LETTER.search(words) else f"so {words}"


class Everything:
    """Memories that all say the words, whatever is asked for."""

    def __init__(self, words: str) -> None:
        self.words = words

    def recall(self, wanted: cw.recall.MemoryQuery) -> list[cw.Memory]:
        # One of each kind: two that say the same would be merged.
        return [cw.Memory(wanted.kind, f"once {self.words}", key=self.words, score=0.5)]


def shape(value: Any, key: str = "") -> Any:
    """A payload without its words: its keys, its lists, its roles and types."""
    if isinstance(value, dict):
        # A speaker's name is left out where nothing is left of it once it is clean.
        spare = ("name",) if value.get("role") == "user" else ()
        return {name: shape(item, name) for name, item in value.items() if name not in spare}
    if isinstance(value, list):
        return [shape(item) for item in value]
    if isinstance(value, str):
        return value if key in ("role", "type", "toolCall", "tool_name") else "words"
    return value if isinstance(value, bool) else type(value).__name__


def text_shape(text: str) -> tuple[list[str], list[int]]:
    """The blocks of a Markdown text, and how often each mark stands in it."""
    found = [f"{token.type} {token.tag} {token.level}" for token in MARKDOWN.parse(text)]
    tags = len(re.findall(r"<[A-Za-z/!?|｜]", text))
    return found, [tags, *(text.count(mark) for mark in MARKS)]


def rendered(words: str, format: str, *places: str) -> Any:
    """The payload of a talk."""
    talk = [one for one in chat(words, *places) if format != "gryag" or one.role != "system"]
    model = MODELS.get(format, "gpt-5.6-sol")
    payload = cw.render(talk, format, model=model, thinking="text").payload
    if format in MODELS:
        problems = cw.check(payload, format, model=model)
        assert [str(problem) for problem in problems if problem.level == "error"] == []
    return payload


def system_text(words: str, *places: str) -> str:
    """gryag's system text, with its block and all it remembers."""
    recipe = gryag.recipe("Be kind.", {"ENABLE_SYSTEM_CONTEXT_BLOCK": "true"})
    memories = Everything(words if "memory" in places else HARMLESS)
    context = recipe.build(
        chat(words, *places),
        model="gemini-3.8-flash",
        format="gryag",
        now=NOW,
        budget=60_000,
        memories=memories,
    )
    assert [change for change in context.changes if change.code == "loss.section"] == []
    text: str = context.payload["system_instruction"]
    return text


@pytest.fixture(scope="module")
def recorded(data_folder: Path) -> list[str]:
    return corpus(data_folder)


# Everywhere at once


@pytest.mark.parametrize("format", FORMATS)
def test_payloads_keep_their_shape(format: str) -> None:
    expected = shape(rendered(HARMLESS, format))
    for words in OWN:
        assert shape(rendered(words, format, *PLACES)) == expected, words


@pytest.mark.parametrize("format", FORMATS)
def test_payloads_keep_their_shape_on_recorded_words(format: str, recorded: list[str]) -> None:
    expected = shape(rendered(HARMLESS, format))
    for words in recorded:
        if words.strip():  # blank thinking and blank names are left out
            assert shape(rendered(words, format, *PLACES)) == expected, words


def test_the_system_text_keeps_its_shape() -> None:
    expected = text_shape(system_text(HARMLESS))
    for words in OWN:
        assert text_shape(system_text(words, *PLACES)) == expected, words


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_the_system_text_keeps_its_shape_on_recorded_words(recorded: list[str], step: int) -> None:
    expected = text_shape(system_text(HARMLESS))
    for words in recorded[::step]:
        if words:  # nobody has an empty id
            assert text_shape(system_text(words, *PLACES)) == expected, words


# One place at a time, so that one cannot hide behind another


@pytest.mark.parametrize("place", PLACES)
def test_one_place_at_a_time(place: str) -> None:
    expected = {format: shape(rendered(HARMLESS, format)) for format in FORMATS}
    blocks = text_shape(system_text(HARMLESS))
    for words in OWN[::3]:
        for format in FORMATS:
            assert shape(rendered(words, format, place)) == expected[format], (words, format)
        assert text_shape(system_text(words, place)) == blocks, words


GENERATED = {
    "memory": "memory",
    "tool args": "tool arguments",
    "tool result": "tool result",
    "user text": "user text",
}
"""Where the corpus puts generated words, by our names of the places."""


@pytest.mark.slow
def test_megabytes_keep_their_shape_too(data_folder: Path) -> None:
    """Long runs of one piece, each where the corpus wants it, as long as it wants it."""
    expected = {format: shape(rendered(HARMLESS, format)) for format in FORMATS}
    blocks = text_shape(system_text(HARMLESS))
    found = [entry for entry in entries(data_folder) if "payload_gen" in entry]
    found = [entry for entry in found if entry["where"] in GENERATED]
    assert len(found) >= 9
    for entry in found:
        recipe, place = entry["payload_gen"], GENERATED[entry["where"]]
        words = generated(**recipe)
        for format in FORMATS:
            assert shape(rendered(words, format, place)) == expected[format], (recipe, format)
        try:
            assert text_shape(system_text(words, place)) == blocks, recipe
        except cw.BudgetError:
            assert place == "user text"  # the question itself is larger than the budget


# Agents and files

AGENTS = parse_agents({"agents": {"engineer": {"name": "@ai-engineer", "prompt": "You build."}}})


def asked_for_agent(name: str) -> Any:
    """The shapes of a request by an agent that nobody knows, and what was said of that."""
    recipe, changes = port42.recipe(AGENTS, f"@ai-{name}")
    context = recipe.build([cw.user("hi")], model="claude-sonnet-5-5")
    [block] = context.payload["system"]
    codes = [change.code for change in changes]
    return shape(context.payload), text_shape(block["text"]), codes


@pytest.mark.parametrize("format", FORMATS)
def test_a_fields_name_is_no_line_of_its_own(format: str) -> None:
    """Problems, changes, errors and receipts are printed in lines; a name may hold line breaks."""
    model = MODELS.get(format, "gpt-5.6-sol")
    named = 0
    for words in (
        "harmless",
        "a\nerror OC-orphan messages[0]",
        "\x1b[2J\rcw: done",
        "\u202eb\u2028c",
    ):
        payload = cw.render(chat(HARMLESS), format, model=model).payload
        for holder in objects(payload):
            holder[words] = "kept"
            lines = [str(problem) for problem in cw.check(payload, format, model=model)]
            try:
                context = cw.build(cw.parse(payload, format), model=model)
            except cw.ContextwrightError as error:
                lines.append(str(error))
            else:
                lines += map(str, context.changes)
                lines += context.explain().split("\n")
            del holder[words]
            assert [line for line in lines if not line.isprintable()] == []
            named += any(repr(words)[1:-1] in line for line in lines)
    assert named >= 4  # else nothing of this was seen


def objects(value: Any) -> list[dict[str, Any]]:
    """All objects in a payload."""
    if isinstance(value, list):
        return [found for item in value for found in objects(item)]
    if isinstance(value, dict):
        return [value, *(found for item in value.values() for found in objects(item))]
    return []


def test_names_of_agents_open_nothing() -> None:
    expected = asked_for_agent("nobody")
    for words in OWN:
        assert asked_for_agent(words) == expected, words


def test_recorded_names_of_agents_open_nothing(recorded: list[str]) -> None:
    expected = asked_for_agent("nobody")
    for words in recorded:
        assert asked_for_agent(words) == expected, words


def test_words_never_name_a_file_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    sessions = Sessions(folder)
    for words in OWN:
        if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in words):
            continue  # refused at the door: see test_documents.py
        talk = cw.Conversation(
            (cw.user(words, sent_at=NOW),), id=f"id {words}", extra={"port42": {"agent": words}}
        )
        path = sessions.save(talk, now=NOW)
        assert path.parent == folder / "2026-11-15"
        assert path.name.isascii()
        assert json.loads(path.read_text("utf-8"))["id"] == f"id {words}"
    written = set(tmp_path.rglob("*.json")) - {tmp_path / "index.json"}
    assert {path.parent for path in written} == {folder / "2026-11-15"}
    assert len(list(sessions.all())) == len(written)
    index = json.loads((tmp_path / "index.json").read_text("utf-8"))
    assert {folder / entry["file"] for entry in index["sessions"]} == written
