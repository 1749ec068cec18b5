"""Port 42's session files."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from formats.port42.sessions import NOON, codes, session, stored
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
            session(stored("user", "a") | {"timestamp": ""}),
            session(stored("user", "a") | {"timestamp": EPOCH}),
            "loss.timestamp",
            id="an empty time",
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
