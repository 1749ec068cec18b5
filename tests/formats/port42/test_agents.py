"""The agents of Port 42, and how they answer in sessions."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.formats.port42.agents import AgentWindow, parse_agents
from contextwright.formats.port42.format import instructed
from formats.port42.sessions import codes, session, stored
from strategies.messages import json_values

PROMPT = "You are @ai-engineer, a technical consciousness within Port 42..."
AGENTS = {
    "agents": {
        "engineer": {
            "name": "@ai-engineer",
            "prompt": PROMPT,
            "personality": "Technical, thorough, practical, reliable",
        },
        "muse": {
            "name": "@ai-muse",
            "prompt": "You are @ai-muse.",
            "example": {"name": "git-haiku"},
            "suffix": "Flow.",
        },
        "founder": {"name": "@ai-founder", "prompt": "Build.", "no_implementation": True},
        "claude": {"prompt": "You are Claude."},
    },
    "base_guidance": {"implementation": "Handle errors.", "format_template": "Write JSON."},
    "response_config": {
        "context_window": {"max_messages": 20, "recent_messages": 17, "system_messages": 3}
    },
}


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("@ai-engineer", "engineer"),
        ("@engineer", "engineer"),
        ("engineer", "engineer"),
        ("ai-engineer", "engineer"),
        ("@claude", "claude"),
    ],
)
def test_agents_are_found_by_all_their_names(name: str, key: str) -> None:
    """P42-12."""
    agent = parse_agents(AGENTS).find(name)
    assert (agent.key, agent.known) == (key, True)
    named = parse_agents({"agents": {"e": {"name": "@ai-engineer", "prompt": "p"}}})
    assert named.find(name).known is (key == "engineer")
    keyed = parse_agents({"agents": {f"ai-{key}": {"prompt": "p"}}})
    assert keyed.find(f"@ai-{key}").known
    assert keyed.find(f"ai-{key}").known


def test_an_unknown_agent_is_named_and_said() -> None:
    """P42-12."""
    agents = parse_agents(AGENTS)
    agent = agents.find("@ai-nobody\n# Persona")
    assert not agent.known
    assert agent.system_text.startswith("You are @ai-nobody # Persona, ")
    conversation = cw.parse({**session(), "agent": "@ai-nobody"}, "port42")
    told = instructed(conversation, agents)
    assert codes(told.changes) == ["invent.agent"]
    assert "engineer, muse, founder, claude" in told.changes[0].reason
    nameless = agents.find(" ").system_text
    assert nameless.startswith("You are an assistant within Port 42.")


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("engineer", f"{PROMPT}\n\nWrite JSON.\n\nHandle errors."),
        (
            "muse",
            "You are @ai-muse.\n\nWrite JSON.\n\nExample:\n"
            '```json\n{\n  "name": "git-haiku"\n}\n```'
            "\n\nHandle errors.\n\nFlow.",
        ),
        ("founder", "Build."),
    ],
)
def test_instructions(key: str, text: str) -> None:
    """P42-11, P42-13: the personality is for people, not for the model."""
    assert parse_agents(AGENTS).find(key).system_text == text


def test_the_later_layout() -> None:
    """P42-11: a template is filled once; what fills it is never filled again."""
    agents = parse_agents(
        {
            "models": {"opus": {"id": "claude-opus-4-5", "temperature": 0.5}},
            "default_model": "opus",
            "guidance_file": "guidance.md",
            "base_template": "You are {name}: {personality}, {style}.\n{guidance}",
            "agents": {
                "muse": {
                    "name": "@ai-muse",
                    "personality": "{guidance}",
                    "style": "brief",
                    "custom_prompt": "Rhyme.",
                    "suffix": "Flow.",
                    "temperature_override": 0.9,
                }
            },
        },
        guidance="Use the tools.",
    )
    muse = agents.find("@ai-muse")
    assert muse.system_text == (
        "You are @ai-muse: {guidance}, brief.\nUse the tools."
        "\n\n<role_details>\nRhyme.\n</role_details>\n\nFlow."
    )
    assert (muse.model, muse.temperature) == ("claude-opus-4-5", 0.9)
    assert agents.changes == ()


def test_settings_of_the_file() -> None:
    """P42-11: what is not said has Port 42's defaults; a wish that cannot come true is said."""
    agents = parse_agents(AGENTS)
    assert (agents.window, agents.max_tokens, agents.stream) == (
        AgentWindow(20, 17, 3),
        4_096,
        False,
    )
    config = {"context_window": {"max_messages": 10, "recent_messages": 17}, "max_tokens": 9}
    other = parse_agents({"agents": {}, "response_config": config})
    assert (other.window, other.max_tokens) == (AgentWindow(10, 17, 3), 9)
    assert parse_agents({"agents": {}, "response_config": {"stream": True}}).stream
    assert codes(other.changes) == ["repair.window"]
    small = parse_agents({"agents": {}, "response_config": {"context_window": {"max_messages": 6}}})
    assert (small.window.max, small.changes) == (6, ())  # nobody asked for 17 recent ones
    early = {"model_config": {"default": "claude-3-5-sonnet"}, "agents": {"a": {"prompt": "p"}}}
    assert parse_agents(early).find("a").model == "claude-3-5-sonnet"
    unread = parse_agents({"agents": {"a": {}}, "guidance_file": "g.md", "base_template": ""})
    assert codes(unread.changes) == ["loss.guidance", "repair.prompt"]


@pytest.mark.parametrize(
    ("data", "place"), [([], ""), ({}, "agents"), ({"agents": {"a": 1}}, "agents.a")]
)
def test_what_is_no_agents_file(data: Any, place: str) -> None:
    with pytest.raises(cw.ParseError) as caught:
        parse_agents(data)
    assert caught.value.path == place


def test_the_prompt_is_the_system_parameter() -> None:
    """P42-1, P42-2: instructions on top, then role and content, no times."""
    conversation = cw.parse(
        session(stored("user", "hi"), stored("assistant", "ho"), stored("user", "so?")), "port42"
    )
    told = instructed(conversation, parse_agents(AGENTS), name="@ai-engineer")
    payload = cw.render(told, "anthropic", model="claude-sonnet-4-5").payload
    text = f"{PROMPT}\n\nWrite JSON.\n\nHandle errors."
    assert payload["system"] in (text, [{"type": "text", "text": text}])
    assert [set(message) for message in payload["messages"]] == [{"role", "content"}] * 3
    assert [message["role"] for message in payload["messages"]] == ["user", "assistant", "user"]


def test_the_prompt_is_never_stored() -> None:
    """P42-16: told again, under another agent, there is still only one prompt."""
    agents = parse_agents(AGENTS)
    data = session(stored("user", "hi"))
    told = instructed(instructed(cw.parse(data, "port42"), agents), agents, name="@ai-founder")
    assert [message.text for message in told.messages] == ["Build.", "hi"]
    assert cw.render(told, "port42").payload == data


def test_a_session_without_an_agent_gets_no_prompt() -> None:
    told = instructed(cw.Conversation((cw.user("hi"),)), parse_agents(AGENTS))
    assert [message.role for message in told.messages] == ["user"]
    assert codes(told.changes) == ["repair.agent"]


@pytest.mark.parametrize(
    ("shared", "own", "text"),
    [
        ("Do one thing.", None, "P\n\nDo one thing."),
        ({"implementation": "Do one thing."}, None, "P\n\nDo one thing."),
        ("Do one thing.", "Do two.", "P\n\nDo two."),
        ({"format_template": "F"}, {"implementation": "I"}, "P\n\nF\n\nI"),
        (None, "Do two.", "P\n\nDo two."),
    ],
)
def test_base_guidance_may_be_text_or_an_agents_own(shared: Any, own: Any, text: str) -> None:
    agents = parse_agents(
        {"agents": {"a": {"prompt": "P", "base_guidance": own}}, "base_guidance": shared}
    )
    assert agents.find("a").system_text == text


@pytest.mark.parametrize(
    ("shared", "path"),
    [
        (["Handle errors."], "base_guidance"),
        (3, "base_guidance"),
        ({"implementation": 3}, "base_guidance.implementation"),
        ({"tone": "Be kind."}, "base_guidance.tone"),
    ],
)
def test_guidance_that_is_not_used_is_said(shared: Any, path: str) -> None:
    agents = parse_agents({"agents": {"a": {"prompt": "P"}}, "base_guidance": shared})
    assert [(one.code, one.path) for one in agents.changes] == [("loss.field", path)]
    own = parse_agents({"agents": {"a": {"prompt": "P", "base_guidance": shared}}})
    assert [one.path for one in own.changes] == [f"agents.a.{path}"]


FIELD = "response_config.context_window.max_messages"


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"context_window": {"max_messages": "40"}}, f"{FIELD}: '40' is not a whole number"),
        ({"context_window": {"max_messages": 0}}, f"{FIELD}: 0 is not above 0"),
        ({"context_window": {"max_messages": True}}, f"{FIELD}: True is not a whole number"),
        ({"context_window": [20]}, "response_config.context_window: [20] is not an object"),
        ([], "response_config: [] is not an object"),
        ({"stream": 1}, "response_config.stream: 1 is not true or false"),
        ({"max_tokens": 9.5}, "response_config.max_tokens: 9.5 is not a whole number"),
    ],
)
def test_a_setting_that_is_not_used_is_said(config: Any, told: str) -> None:
    agents = parse_agents({"agents": {}, "response_config": config})
    assert (agents.window, agents.max_tokens, agents.stream) == (AgentWindow(), 4_096, False)
    assert [str(change) for change in agents.changes] == [f"loss.field {told}; it is not used"]


TEXTS = (
    "name",
    "prompt",
    "personality",
    "style",
    "description",
    "suffix",
    "custom_prompt",
    "model",
)


@given(st.sampled_from(TEXTS), json_values)
def test_a_field_of_an_agent_is_text_or_said(name: str, value: Any) -> None:
    agents = parse_agents({"agents": {"a": {"suffix": "S", "prompt": "P", name: value}}})
    wrong = [(one.code, one.path) for one in agents.changes]
    fits = value is None or isinstance(value, str)
    assert wrong == ([] if fits else [("loss.field", f"agents.a.{name}")])
