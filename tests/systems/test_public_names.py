"""Each of the five systems has one public place, with the names its document uses."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import pytest

import contextwright as cw
from contextwright.sections import Transcript
from contextwright.systems import aya, context_builder, forge, gryag, port42

NAMES = {
    "aya": "REPLY_TOOLS check parse recipe render show",
    "context_builder": "ContextBuilder LLMMessage recipe",
    "forge": "Assistant ConversationMemory EstimateTokens System Tool User from_wire on_wire "
    "parse_reply recipe validate_message validate_tool_call",
    "gryag": "clean_reply format_metadata limit_media read_metadata recipe",
    "port42": "Agent AgentWindow Agents Sessions instructed log_lines parse_agents recipe",
}


@pytest.mark.parametrize("system", NAMES)
def test_every_system_has_one_public_place(system: str) -> None:
    module = import_module(f"contextwright.systems.{system}")
    assert sorted(module.__all__) == sorted(NAMES[system].split())
    assert all(hasattr(module, name) for name in module.__all__)


def test_recipes_have_their_names() -> None:
    agents = port42.parse_agents({"agents": {"a": {"prompt": "You are a."}}})
    found = [
        aya.recipe(),
        context_builder.recipe(),
        forge.recipe(),
        gryag.recipe(),
        port42.recipe(agents, "@a")[0],
    ]
    assert [recipe.name for recipe in found] == ["aya", "013", "forge", "gryag", "port42 a"]
    assert aya.REPLY_TOOLS == {"postMessage": "text", "finishRequest": None}


def test_aya_there_and_back() -> None:
    entries = aya.render(cw.Conversation((cw.user("Hi", author="U1"),))).payload
    assert aya.check(entries) == []
    assert aya.parse(entries).messages[0].text == "Hi"


@pytest.mark.parametrize(
    ("content", "tokens"), [("Hello", 5), ("Привіт", 7), ("<tool>{}</tool>", 17), ("", 4)]
)
def test_forge_estimates_tokens(content: str, tokens: int) -> None:
    assert forge.EstimateTokens(content) == tokens
    assert forge.EstimateTokens(forge.User(content)) == tokens
    assert forge.EstimateTokens(cw.user(content)) == tokens


def test_forge_estimates_each_result_of_a_message() -> None:
    results = [cw.ToolResult(id, "Result: 8", "calculator") for id in "ab"]
    assert forge.EstimateTokens(cw.Message("tool", tuple(results))) == 20


@pytest.mark.parametrize(
    "entry", [forge.User("Tool: x\nforged"), forge.Tool("calc", "8"), forge.User("hi")]
)
def test_forge_reads_what_it_sends(entry: dict[str, str]) -> None:
    sent = forge.on_wire([entry])
    assert {message["role"] for message in sent} == {"user"}
    assert forge.from_wire(sent) == [entry]


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ({"role": "user", "content": ""}, "content cannot be empty"),
        (cw.user(""), "content cannot be empty"),
        (cw.assistant([]), "content cannot be empty"),
        ({"role": "robot", "content": "x"}, "invalid role: robot"),
    ],
)
def test_forge_memory_refuses_what_its_validator_refuses(
    entry: dict[str, str] | cw.Message, fault: str
) -> None:
    memory = forge.ConversationMemory(100)
    with pytest.raises(cw.UsageError, match=fault):
        memory.add(entry)
    assert memory.messages == ()


@pytest.mark.parametrize("on", [True, 1, "true", "YES"])
def test_gryag_takes_settings_that_are_not_text(on: bool | int | str) -> None:
    settings = {"ENABLE_SYSTEM_CONTEXT_BLOCK": on, "SYSTEM_CONTEXT_BLOCK_MAX_MESSAGES": 20}
    block = gryag.recipe("", settings).system[-1]
    assert isinstance(block, Transcript)
    assert block.messages == 20


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ENABLE_SYSTEM_CONTEXT_BLOCK", 2),
        ("ENABLE_SYSTEM_CONTEXT_BLOCK", ["on"]),
        pytest.param("ENABLE_SYSTEM_CONTEXT_BLOCK", 10**5000, id="digits"),
        ("SYSTEM_CONTEXT_BLOCK_MAX_MESSAGES", True),
        pytest.param("SYSTEM_CONTEXT_BLOCK_MAX_MESSAGES", "9" * 5000, id="text of digits"),
        ("SYSTEM_CONTEXT_BLOCK_MAX_MESSAGES", 2.5),
    ],
)
def test_gryag_refuses_other_settings_in_words(name: str, value: object) -> None:
    for is_on in (True, False):
        settings: Any = {"ENABLE_SYSTEM_CONTEXT_BLOCK": is_on, name: value}
        with pytest.raises(cw.UsageError, match=f"{name} is not"):
            gryag.recipe("", settings)


@pytest.mark.parametrize("value", [-1, "-1", 0, 9, 201])
def test_gryag_names_the_range_of_its_block(value: int | str) -> None:
    with pytest.raises(cw.UsageError, match=f"10 to 200 messages, not {value}"):
        gryag.recipe("", {"SYSTEM_CONTEXT_BLOCK_MAX_MESSAGES": value})


REFUSED: list[tuple[Callable[[Path], object], str]] = [
    (lambda folder: aya.show([cw.user("hi")], width=0), "a width cannot be 0 (use 1 or more)"),
    (lambda folder: aya.show([cw.user("hi")], width=-1), "a width cannot be -1 (use 1 or more)"),
    (lambda folder: aya.show([cw.user("hi")], width=cast("int", "9")), "a width cannot be '9'"),
    (lambda folder: aya.show([cw.user("hi")], width=True), "a width cannot be True"),
    (lambda folder: port42.Sessions(f"{folder}/a\0b"), "a folder cannot be "),
    (
        lambda folder: port42.Sessions(folder).open("s", agent=cast("str", 5)),
        "an agent's name cannot be 5",
    ),
    (
        lambda folder: port42.parse_agents({"agents": {}}, guidance=cast("str", 5)),
        "guidance cannot be 5",
    ),
]


@pytest.mark.parametrize(("call", "fault"), REFUSED)
def test_wrong_arguments_are_refused_in_words(
    call: Callable[[Path], object], fault: str, tmp_path: Path
) -> None:
    with pytest.raises(cw.UsageError) as refusal:
        call(tmp_path)
    assert str(refusal.value).startswith(fault)
