"""A chat request for one host, converted for another that takes less."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.models import find
from contextwright.streams import restore_calls, write_reply
from contextwright.wire.openai_chat.dialects import dialect_of
from profiles import BODY, examples
from strategies.bodies import MODELS, bodies

CHAT = "openai-chat"
HOSTS = ("deepseek-chat", "kimi-k3", "mistral-large", "openai/gpt-5.6-sol")
FUNCTION = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
    "additionalProperties": False,
}


def request(model: str | None) -> dict[str, Any]:
    custom = {"name": "exec", "input": "ls"}
    body: dict[str, Any] = {
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": "List them", "name": "Ada"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "custom", "custom": custom}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "a b"},
        ],
        "tools": [{"type": "custom", "custom": {"name": "exec", "description": "Run"}}],
        "tool_choice": {"type": "custom", "custom": {"name": "exec"}},
        "max_completion_tokens": 100,
        "user": "ada",
        "logit_bias": {"1": 2},
    }
    return {"model": model, **body} if model else body


@pytest.mark.parametrize(
    ("model", "id", "settings"),
    [
        ("deepseek-chat", "c1", {"max_tokens": 100, "user": "ada"}),
        ("kimi-k3", "c1", {"max_tokens": 100, "user": "ada"}),
        ("mistral-large", "d0f631ca1", {"max_tokens": 100}),
    ],
)
def test_a_host_without_developers_and_custom_tools(
    model: str, id: str, settings: dict[str, Any]
) -> None:
    made = cw.convert(request("gpt-5.6-sol"), CHAT, CHAT, model=model)
    system, user, said, result = made.payload["messages"]
    assert system == {"role": "system", "content": "Be brief."}
    assert "Ada" in str(user) or model == "mistral-large"
    function = {"name": "exec", "arguments": '{"input":"ls"}'}
    assert said["tool_calls"] == [{"id": id, "type": "function", "function": function}]
    assert result == {"role": "tool", "tool_call_id": id, "content": "a b"}
    definition = {"name": "exec", "description": "Run", "parameters": FUNCTION}
    assert made.payload["tools"] == [{"type": "function", "function": definition}]
    assert made.payload["tool_choice"] == {"type": "function", "function": {"name": "exec"}}
    rest = {key: made.payload[key] for key in made.payload if key not in ("messages", "model")}
    assert without(rest, "tools", "tool_choice") == {**settings, "logit_bias": {"1": 2}}
    assert {change.code for change in made.changes} >= {"loss.extra"}
    lost = [str(change) for change in made.changes if change.code == "loss.setting"]
    assert lost == ([] if "user" in settings else ["loss.setting user: mistral refuses this field"])


def without(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key not in names}


@pytest.mark.parametrize("model", ["deepseek-chat", None])
def test_what_was_sent_to_a_host_may_be_sent_again(model: str | None) -> None:
    body = request(model)
    made = cw.convert(body, CHAT, CHAT, model="deepseek-chat")
    assert made.payload["messages"] == body["messages"]
    assert made.payload["tools"] == body["tools"]
    assert made.changes == ()


def test_every_host_gets_roles_and_tools_that_it_has() -> None:
    other: list[bool] = []

    @examples(BODY)
    @given(bodies(CHAT), st.sampled_from(HOSTS), st.sampled_from(MODELS[CHAT]))
    def law(body: dict[str, Any], host: str, own: str) -> None:
        body["model"] = own
        made = cw.convert(body, CHAT, CHAT, model=host)
        again = cw.convert(made.payload, CHAT, CHAT, model=host)
        assert (again.payload, again.changes) == (made.payload, ())
        if dialect_of(find(own)) is dialect_of(find(host)):
            return
        other.append(True)
        roles = {message["role"] for message in made.payload["messages"]}
        assert "developer" not in roles or find(host).developer_role
        calls = [call for one in made.payload["messages"] for call in one.get("tool_calls", ())]
        tools = made.payload.get("tools", ())
        assert {one["type"] for one in (*calls, *tools)} <= {"function"}
        said = {change.path for change in made.changes if change.code.startswith("loss.")}
        chosen = made.payload.get("tool_choice")
        assert "custom" not in str(chosen)
        dropped = {"max_tokens", "max_completion_tokens", "tools"}
        missing = body.keys() - made.payload.keys() - dropped
        assert missing <= {path.partition(".")[0] for path in said} | IDLE, (missing, said)

    law()
    assert other


IDLE = {"parallel_tool_calls", "tool_choice", "store", "service_tier", "seed"}
"""Settings that may go unsaid: without tools, if they ask for nothing, or under another name."""


@pytest.mark.parametrize(
    ("model", "refuses"),
    [
        ("gpt-5.2", False),
        ("kimi-k3", False),
        ("deepseek-chat", True),
        ("anthropic/claude-opus-4.6", True),
        ("gemini-3.8-flash", True),
    ],
)
def test_two_tools_of_one_name(model: str, refuses: bool) -> None:
    """OpenAI takes them; DeepSeek, and Claude and Gemini behind this format, refuse them."""
    one = {"type": "function", "function": {"name": "f", "description": "One"}}
    two = {"type": "custom", "custom": {"name": "f", "description": "Two"}}
    body = {"model": model, "messages": [{"role": "user", "content": "Hi"}], "tools": [one, two]}
    found = [str(problem) for problem in cw.check(body, CHAT)]
    made = cw.convert(body, CHAT, CHAT)
    if not refuses:
        assert found == []
        assert made.payload is body
        return
    assert found == [f"error OC-toolname tools[1].custom.name: {model} refuses a second tool 'f'"]
    assert made.payload["tools"] == [one]
    assert [str(change) for change in made.changes] == [
        "loss.tool tools[1]: an earlier tool has the name 'f'"
    ]


def test_a_call_of_two_tools_of_one_name_is_of_the_first() -> None:
    tools = [
        {"type": "custom", "custom": {"name": "f"}},
        {"type": "function", "function": {"name": "f"}},
    ]
    body = {"messages": [{"role": "user", "content": "Hi"}], "tools": tools}
    request = cw.parse(body, CHAT)
    made = cw.convert(body, CHAT, "anthropic", model="claude-opus-5")
    assert len(made.payload["tools"]) == 1
    block = {"type": "tool_use", "id": "t1", "name": "f", "input": {"input": "ls"}}
    reply = cw.parse_reply({"role": "assistant", "content": [block]}, "anthropic")
    home = restore_calls(reply, request, made.tool_names)
    [call] = write_reply(home, CHAT).body["choices"][0]["message"]["tool_calls"]
    assert (call["type"], call["custom"]) == ("custom", {"name": "f", "input": "ls"})
