"""Port 42: session files, and the agents that answer in them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.formats.port42.agents import AgentWindow, parse_agents
from contextwright.formats.port42.format import instructed
from strategies.messages import json_values

SESSION = """{
  "id": "session-id",
  "agent": "@ai-engineer",
  "messages": [
    {
      "role": "user",
      "content": "Hello",
      "timestamp": "2025-07-20T10:00:00.123456789+01:00"
    },
    {
      "role": "assistant",
      "content": "[\\"a\\"]",
      "timestamp": "2025-07-20T10:00:01Z"
    }
  ]
}"""

EPOCH = "1970-01-01T00:00:00Z"
NOON = "2023-04-04T12:00:00Z"

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


def codes(changes: Any) -> list[str]:
    return [change.code for change in changes]


def stored(role: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "timestamp": NOON, **fields}


def session(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"id": "s", "agent": "@ai-muse", "messages": list(messages), **fields}


# --- session files ---------------------------------------------------------------------------


def test_a_session_comes_back_byte_for_byte() -> None:
    """P42-14, P42-19: times keep their nanoseconds, words that look like JSON stay words."""
    conversation = cw.parse(json.loads(SESSION), "port42", strict=True)
    rendered = cw.render(conversation, "port42")
    assert json.dumps(rendered.payload, indent=2) == SESSION
    assert (conversation.id, conversation.changes, rendered.changes[1:]) == ("session-id", (), ())
    assert cw.check(rendered.payload, "port42") == []
    assert conversation.messages[1].parts == (cw.Text('["a"]'),)


@pytest.mark.parametrize("spelling", ["...", "2023-04-04 12:00", "1680609600.0002"])
def test_times_keep_their_spelling(spelling: str) -> None:
    data = session(stored("user", "hi") | {"timestamp": spelling})
    assert cw.convert(data, "port42", "port42", strict=True).payload == data
    assert [found.level for found in cw.check(data, "port42")] == ["warning"]


def test_what_else_a_session_knows_is_kept() -> None:
    """P42-14."""
    data = session(
        stored("user", "hi", tokens=3),
        state="active",
        created_at=NOON,
        updated_at=NOON,
        last_activity=NOON,
        command_generated={"name": "git-haiku", "created_at": NOON, "path": "/x"},
        metadata={"model": "claude-sonnet-4-5"},
    )
    conversation = cw.parse(data, "port42", strict=True)
    assert conversation.model == "claude-sonnet-4-5"
    assert cw.render(conversation, "port42").payload == data


@pytest.mark.parametrize(
    ("data", "expected", "code"),
    [
        pytest.param(
            session(stored("user", ["a"])),
            session(stored("user", '["a"]')),
            "repair.content",
            id="blocks",
        ),
        pytest.param(
            session(stored("user", None)), session(stored("user", "")), "repair.content", id="null"
        ),
        pytest.param(
            session(stored("user", "a"), {"role": "user", "content": "b"}),
            session(stored("user", "a"), {**stored("user", "b"), "timestamp": EPOCH}),
            "loss.timestamp",
            id="no time",
        ),
        pytest.param(
            {"id": "s", "messages": []},
            {"id": "s", "agent": "@ai-assistant", "messages": []},
            "repair.agent",
            id="no agent",
        ),
    ],
)
def test_lenient_reading_repairs_and_says_so(data: Any, expected: Any, code: str) -> None:
    conversation = cw.parse(data, "port42")
    assert code in codes(conversation.changes)
    assert cw.render(conversation, "port42").payload == expected
    with pytest.raises(cw.ParseError):
        cw.parse(data, "port42", strict=True)


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ([], "session"),
        (7, "session"),
        (session(7), "messages[0]"),
        (session(stored("tool", "x")), "messages[0].role"),
        ({"id": 7, "agent": "a", "messages": []}, "id"),
        ({"id": "s", "agent": "a", "messages": {}}, "messages"),
    ],
)
def test_what_cannot_be_read_is_an_error(data: Any, place: str) -> None:
    with pytest.raises(cw.ParseError) as caught:
        cw.parse(data, "port42")
    assert place in str(caught.value)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (session(stored("user", "hi")), []),
        ([], [("p42.session", "")]),
        ({}, [("p42.id", "id"), ("p42.agent", "agent"), ("p42.messages", "messages")]),
        (session(1), [("p42.message", "messages[0]")]),
        (session(stored("tool", "x")), [("p42.role", "messages[0].role")]),
        (session(stored("system", "x")), [("p42.system", "messages[0].role")]),
        (session(stored("user", "")), [("p42.content", "messages[0].content")]),
        (session(stored("user", 1)), [("p42.content", "messages[0].content")]),
        (
            session({**stored("user", "x"), "timestamp": "noon"}),
            [("p42.timestamp", "messages[0].timestamp")],
        ),
        (session(stored("user", "\ud800")), [("X-surrogate", "messages[0].content")]),
    ],
)
def test_check(data: Any, found: list[tuple[str, str]]) -> None:
    assert [(problem.code, problem.path) for problem in cw.check(data, "port42")] == found


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "id": st.just("s") | json_values,
            "agent": json_values,
            "messages": st.lists(
                st.fixed_dictionaries(
                    {"role": st.sampled_from(("user", "assistant", "system"))},
                    optional={"content": json_values, "timestamp": st.just(NOON) | json_values},
                )
                | json_values,
                max_size=3,
            ),
            "metadata": json_values,
        },
    )
    | json_values
)
def test_any_json_is_read_or_refused(data: Any) -> None:
    cw.check(data, "port42")
    for strict in (False, True):
        try:
            conversation = cw.parse(data, "port42", strict=strict)
        except cw.ParseError:
            continue
        cw.render(conversation, "port42")


def test_structure_becomes_words_and_is_said() -> None:
    """The file holds words only; an agent's own replies take in what its tools said."""
    rendered = cw.render(
        [
            cw.user("15 + 27?", sent_at=NOON),
            cw.assistant(
                [cw.Text("Let me see."), cw.ToolCall("calc", {"a": 15}, "c")], sent_at=NOON
            ),
            cw.tool_result("c", "42", sent_at=NOON),
            cw.tool_result("c2", "broken", name="x", is_error=True, sent_at=NOON),
            cw.assistant([cw.Thinking("easy"), cw.Text("It is 42.")], sent_at=NOON),
        ],
        "port42",
    )
    assert rendered.payload["messages"] == [
        stored("user", "15 + 27?"),
        stored("assistant", 'Let me see.\n\n[called calc: {"a":15}]'),
        stored("assistant", "[result of calc]\n42"),
        stored("assistant", "[error of x]\nbroken"),
        stored("assistant", "It is 42."),
    ]
    assert [code for code in codes(rendered.changes) if code.startswith("loss")] == [
        "loss.thinking",
        "loss.structure",
        "loss.structure",
        "loss.structure",
    ]
    again = cw.render(cw.parse(rendered.payload, "port42"), "port42")
    assert again.payload == rendered.payload


def test_an_id_is_invented_from_the_words_alone() -> None:
    first, second = (cw.render([cw.user("hi", sent_at=NOON)], "port42").payload for _ in range(2))
    other = cw.render([cw.user("ho", sent_at=NOON)], "port42").payload
    assert first["id"] == second["id"] != other["id"]


# --- agents ----------------------------------------------------------------------------------


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
    assert named.find("@ai-engineer").key == "e"


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
    assert codes(other.changes) == ["repair.window"]
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
    assert [(one.code, one.path) for one in agents.changes] == [("loss.guidance", path)]
    own = parse_agents({"agents": {"a": {"prompt": "P", "base_guidance": shared}}})
    assert [one.path for one in own.changes] == [f"agents.a.{path}"]


@pytest.mark.parametrize("given", [True, False, 1, "yes", None])
def test_only_true_asks_for_a_stream(given: object) -> None:
    agents = parse_agents({**AGENTS, "response_config": {"stream": given}})
    assert agents.stream is (given is True)
