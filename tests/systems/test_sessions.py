"""Port 42's session files: found by the id inside, named in clean characters, written whole."""

import json
import os
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright.store.frames import conversation_of
from contextwright.systems import port42
from contextwright.systems.port42 import Sessions, log_lines, parse_agents
from contextwright.systems.sessions import write_whole

BEGUN = "2025-07-20T23:30:00.123456789+03:00"
NOW = datetime(2025, 7, 21, 9, tzinfo=UTC)


def session(id: str = "s1", count: int = 1, **fields: Any) -> dict[str, Any]:
    roles = ("user", "assistant")
    messages = [
        {"role": roles[place % 2], "content": f"Make me a tool, {place}", "timestamp": BEGUN}
        for place in range(count)
    ]
    return {"id": id, "agent": "@ai-engineer", "messages": messages, **fields}


def written(folder: Path, name: str, data: Any) -> Path:
    path = folder / "2025-07-20" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data), "utf-8")
    return path


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_p42_15_where_a_session_lies(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    talk = cw.parse(session(count=2), "port42")
    path = sessions.save(talk, now=NOW)
    assert names(tmp_path) == ["2025-07-20/session-1753043400-make-me-a.json"]
    data = json.loads(path.read_text("utf-8"))
    assert list(data) == ["id", "agent", "messages", "created_at", "updated_at"]
    assert data["messages"] == session(count=2)["messages"]
    assert path.read_text("utf-8").startswith('{\n  "id": "s1",\n')
    assert (sessions.find("s1") or talk).messages == talk.messages


def test_p42_15_one_file_for_ever(tmp_path: Path) -> None:
    """The origin leaves a second file behind when a command gives the session another name."""
    sessions = Sessions(tmp_path)
    path = sessions.save(cw.parse(session(), "port42"), now=NOW)
    made = session(count=4, command_generated={"name": "git-tidy"})
    assert sessions.save(cw.parse(made, "port42"), now=NOW) == path
    assert len(names(tmp_path)) == 1
    other = sessions.save(cw.parse(session("s2"), "port42"), now=NOW)
    assert other.name == "session-1753043400-make-me-a-2.json"
    assert [each.id for _, each in sessions.all()] == ["s2", "s1"]


def test_p42_15_of_several_files_the_fullest_counts(tmp_path: Path) -> None:
    """File names say nothing: the id inside does."""
    written(tmp_path, "session-1-new.json", session(count=2, updated_at="2025-07-20T10:00:00Z"))
    full = written(tmp_path, "session-1-x.json", session(count=3))
    written(tmp_path, "session-s1-other.json", session("other", count=9))
    last = written(
        tmp_path, "session-0-a.json", session(count=3, updated_at="2025-07-20T11:00:00Z")
    )
    sessions = Sessions(tmp_path)
    found = sessions.file_of("s1")
    assert found is not None
    assert found[0] == last != full
    assert sessions.find("nobody") is None


def test_p42_15_an_index_lies_beside_the_folder(tmp_path: Path) -> None:
    """With the fields of Port 42's own, for its own commands."""
    sessions = Sessions(tmp_path / "sessions")
    made = session(count=2, command_generated={"name": "git-tidy"}, state="completed")
    sessions.save(cw.parse(made, "port42"), now=NOW)
    sessions.save(cw.parse({**session("s2"), "messages": []}, "port42"), now=NOW)
    assert json.loads((tmp_path / "index.json").read_text("utf-8")) == {
        "sessions": [
            {
                "id": "s1",
                "date": "2025-07-20",
                "slug": "git-tidy",
                "agent": "@ai-engineer",
                "command_generated": True,
                "state": "completed",
                "file": "2025-07-20/session-1753043400-git-tidy.json",
                "created_at": "2025-07-20T23:30:00.123456+03:00",
                "last_activity": BEGUN,
                "message_count": 2,
            },
            {
                "id": "s2",
                "date": "2025-07-21",
                "slug": "conversation",
                "agent": "@ai-engineer",
                "command_generated": False,
                "state": "active",
                "file": "2025-07-21/session-1753088400-conversation.json",
                "created_at": NOW.isoformat(),
                "last_activity": NOW.isoformat(),
                "message_count": 0,
            },
        ],
        "stats": {
            "total_sessions": 2,
            "commands_generated": 1,
            "active_sessions": 1,
            "last_session_time": NOW.isoformat(),
        },
    }


@pytest.mark.parametrize(
    "lie",
    [
        "{",
        '{"sessions": [{"id": "s1", "file": "../../secret.json", "message_count": 99}]}',
        '{"sessions": {"s1": 1}, "stats": null}',
    ],
)
def test_p42_15_the_index_is_never_believed(tmp_path: Path, lie: str) -> None:
    """Sessions are found without it, of twins the fullest, and the next save puts it right."""
    (tmp_path / "secret.json").write_text(json.dumps(session("s1", count=9)))
    folder = tmp_path / "memory" / "sessions"
    folder.mkdir(parents=True)
    written(folder, "session-1-a.json", session("s1", count=3))
    written(folder, "session-2-b.json", session("s1", count=2))
    index = folder.parent / "index.json"
    index.write_text(lie)
    sessions = Sessions(folder)
    found = sessions.open("s1")
    assert len(found.messages) == 3
    assert sessions.save(found, now=NOW).name == "session-1-a.json"
    [entry] = json.loads(index.read_text("utf-8"))["sessions"]
    assert (entry["file"], entry["message_count"]) == ("2025-07-20/session-1-a.json", 3)


def test_an_index_of_files_that_say_little(tmp_path: Path) -> None:
    """A time nobody knows is written as Go writes it; a file without an id is not listed."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    written(folder, "session-1-a.json", {"id": "old", "messages": [], "created_at": "?"})
    written(folder, "session-2-b.json", {"messages": []})
    Sessions(folder).save(cw.parse(session(), "port42"), now=NOW)
    entries = json.loads((tmp_path / "index.json").read_text("utf-8"))["sessions"]
    assert [(entry["id"], entry["created_at"]) for entry in entries] == [
        ("old", "0001-01-01T00:00:00Z"),
        ("s1", "2025-07-20T23:30:00.123456+03:00"),
    ]


def test_a_session_is_saved_where_no_index_can_be(tmp_path: Path) -> None:
    (tmp_path / "index.json").mkdir()
    sessions = Sessions(tmp_path / "sessions")
    sessions.save(cw.parse(session(), "port42"), now=NOW)
    assert sessions.find("s1") is not None
    assert [change.code for change in sessions.changes] == ["loss.index"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.json", "sessions"]


@pytest.mark.parametrize(
    ("words", "slug"),
    [
        ("../../etc/passwd now please", "etc-passwd-now-please"),
        ("a/b\\c.d", "a-b-c-d"),
        ("CON", "con"),
        ("Привіт, як справи?", "conversation"),
        ("\x00\n\r\x1b[2J", "2j"),
        ("x" * 500, "x" * 48),
        ("...", "conversation"),
        ("", "conversation"),
    ],
)
def test_p42_15_names_are_clean(tmp_path: Path, words: str, slug: str) -> None:
    talk = cw.Conversation((cw.user(words, sent_at=BEGUN),), id="../../../x", source="port42")
    Sessions(tmp_path / "in").save(talk, now=NOW)
    assert names(tmp_path) == [f"in/2025-07-20/session-1753043400-{slug}.json"]


def test_files_that_are_no_session_are_said_and_passed_over(tmp_path: Path) -> None:
    written(tmp_path, "session-1-a.json", "{")
    written(tmp_path, "session-2-b.json", [1])
    written(tmp_path, "session-3-c.json", session())
    written(tmp_path, "notes.json", "{")
    outside = tmp_path.parent / f"{tmp_path.name}-outside.json"
    outside.write_text(json.dumps(session("secret")))
    (tmp_path / "2025-07-20" / "session-4-d.json").symlink_to(outside)
    (tmp_path / "2025-07-20" / "session-5-e.json").symlink_to("session-5-e.json")
    os.mkfifo(tmp_path / "2025-07-20" / "session-6-f.json")
    sessions = Sessions(tmp_path)
    assert [each.id for _, each in sessions.all()] == ["s1"]
    assert [change.code for change in sessions.changes] == ["loss.file"] * 5
    assert sessions.find("secret") is None
    assert len(sessions.changes) == 5


def test_what_a_file_cannot_hold_is_reported_once(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    said = [cw.Thinking("Hm."), "Look:", cw.ToolCall("ls", {}, "1")]
    asked = sessions.added(sessions.open("s1"), cw.user("What is here?"), cw.assistant(said))
    for _ in range(2):
        sessions.save(asked, now=NOW)
    assert [f"{change.code} {change.path}" for change in sessions.changes] == [
        "loss.thinking messages[1].parts[0]",
        "loss.structure messages[1].parts[2]",
    ]


def test_p42_16_a_session_goes_on_by_its_id(tmp_path: Path) -> None:
    """It stays with its agent and is active again; an unknown id begins a session."""
    sessions = Sessions(tmp_path)
    new = sessions.open("s1", agent="@ai-muse")
    assert (new.id, new.messages, new.extra) == ("s1", (), {"port42": {"agent": "@ai-muse"}})
    kyiv = timezone(timedelta(hours=3))
    said = sessions.added(new, cw.user("Hello", sent_at=NOW))
    path = sessions.save(said, now=datetime(2025, 7, 21, 0, 30, tzinfo=kyiv))
    idle = {**json.loads(path.read_text()), "state": "idle"}
    path.write_text(json.dumps(idle))
    again = sessions.open("s1", agent="@ai-engineer")
    assert again.extra["port42"]["agent"] == "@ai-muse"
    assert again.extra["port42"]["state"] == "active"
    sessions.save(sessions.added(again, cw.assistant("Hi", sent_at=NOW)), now=NOW)
    assert len(sessions.open("s1").messages) == 2
    assert len(names(tmp_path)) == 1
    path.write_text(json.dumps({name: idle[name] for name in idle if name != "state"}))
    assert "state" not in sessions.open("s1").extra["port42"]


def test_a_session_without_an_id_is_refused(tmp_path: Path) -> None:
    with pytest.raises(cw.UsageError, match="id cannot be None"):
        Sessions(tmp_path).save(cw.Conversation(()), now=NOW)


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.mkdir()
    with pytest.raises(OSError, match="taken"):
        write_whole(taken, b"{}")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


AGENTS = parse_agents(
    {
        "agents": {
            "engineer": {
                "name": "@ai-engineer",
                "prompt": "You are @ai-engineer.",
                "personality": "Technical",
                "description": "Builds tools",
            }
        },
        "base_guidance": {"implementation": "Write code."},
        "response_config": {"context_window": {"max_messages": 6}, "max_tokens": 512},
    }
)


def test_p42_11_and_12_agents_are_recipes() -> None:
    recipe, changes = port42.recipe(AGENTS, "@ai-engineer")
    assert recipe.title == "Builds tools"
    talk = cw.parse(session(count=9), "port42")
    context = recipe.build(talk, model="claude-sonnet-5-5")
    assert context.payload["system"][0]["text"] == "You are @ai-engineer.\n\nWrite code."
    assert context.payload["max_tokens"] == 512
    assert [decision.action for decision in context.decisions] == (
        ["kept"] * 2 + ["dropped"] * 4 + ["kept"] * 3
    )
    assert changes == ()
    recipe, changes = port42.recipe(AGENTS, "@ai-nobody\n# System")
    assert changes[-1].code == "invent.agent"
    [section] = recipe.system
    assert "@ai-nobody # System" in str(section)
    assert "\n" not in getattr(section, "text", "")


def test_p42_18_log_facts_are_lines_of_the_receipt() -> None:
    recipe, _ = port42.recipe(AGENTS, "engineer")

    def lines(count: int) -> list[str]:
        talk = cw.parse(session("s\n1", count), "port42")
        return log_lines(talk, recipe.build(talk, model="claude-sonnet-5-5"))

    assert lines(6) == [
        "Session loaded: ID=s\\n1, MessageCount=6",
        "Context: Including all 6 messages",
    ]
    assert lines(9)[1] == "Context: Including 5 of 9 messages, 4 omitted"


@pytest.mark.parametrize("model", ["claude-sonnet-5-5", "gpt-5.6-sol", "gemini-3.8-flash"])
def test_p42_17_unanswered_questions_and_empty_answers_are_sent_legally(model: str) -> None:
    recipe, _ = port42.recipe(AGENTS, "engineer")
    messages = [cw.user("a"), cw.user("b"), cw.assistant(""), cw.user("c"), cw.user("d")]
    context = recipe.build(messages, model=model)
    problems = cw.check(context.payload, context.format, model=model)
    assert [str(problem) for problem in problems if problem.level == "error"] == []
    assert all(letter in json.dumps(context.payload) for letter in "abcd")


@pytest.mark.parametrize("model", ["claude-sonnet-5-5", "gpt-5.6-sol", "gemini-3.8-flash"])
def test_p42_10_a_stored_system_message_is_never_the_assistants(model: str) -> None:
    recipe, _ = port42.recipe(AGENTS, "engineer")
    messages = [cw.system("Rules."), cw.user("a"), cw.assistant("b"), cw.user("c")]
    context = recipe.build(messages, model=model)
    parsed = cw.parse(context.payload, context.format)
    spoken = [each for each in parsed.messages if each.role == "assistant"]
    assert [each.text for each in spoken] == ["b"]
    assert "Rules." in "".join(each.text for each in parsed.messages if each.role == "system")


def test_p42_21_a_confused_reply_can_be_left_out_and_kept() -> None:
    recipe, _ = port42.recipe(AGENTS, "engineer")
    confused = cw.assistant("I am a teapot.", visibility="hidden")
    messages = [cw.user("a"), confused, cw.user("b")]
    context = recipe.build(messages, model="claude-sonnet-5-5")
    assert "teapot" not in json.dumps(context.payload)
    assert context.decisions[1].action == "dropped"
    kept = cw.parse(cw.render(messages, "contextwright").payload, "contextwright")
    assert kept.messages[1] == confused


def test_a_reply_is_added_as_it_was_parsed(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    reply = cw.Conversation((cw.assistant("Hello."),))
    session = sessions.added(sessions.open("s"), cw.user("Hi"), reply)
    assert [message.text for message in session.messages] == ["Hi", "Hello."]
    cleared = sessions.cleared(session)
    assert (cleared.id, cleared.messages, cleared.extra) == ("s", (), session.extra)


@pytest.mark.parametrize("imported", [True, False])
def test_an_agent_of_a_store_is_written_into_the_session(tmp_path: Path, imported: bool) -> None:
    with cw.Store(tmp_path / "a.db") as store:
        chat = store.conversation("s1")
        if imported:
            chat.add(cw.parse(session(count=2), "port42"))
        else:
            chat.add(cw.user("Hello", sent_at=BEGUN))
        chat.update(agent="@ai-muse")
        rendered = cw.render(conversation_of(chat), "port42")
    assert rendered.payload["agent"] == "@ai-muse"
    assert [str(change) for change in rendered.changes] == []


def test_a_cleared_session_stays_cleared(tmp_path: Path) -> None:
    """A copy that the origin left behind under another name does not bring it back."""
    written(tmp_path, "session-1-old.json", session(count=4))
    written(tmp_path, "session-2-new.json", session(count=4, updated_at="2025-07-20T11:00:00Z"))
    sessions = Sessions(tmp_path)
    sessions.save(sessions.cleared(sessions.open("s1")), now=NOW)
    assert names(tmp_path) == ["2025-07-20/session-2-new.json"]
    again = sessions.open("s1")
    assert again.messages == ()
    assert again.extra["port42"]["agent"] == "@ai-engineer"


def test_a_fresh_session_leaves_the_old_one_alone(tmp_path: Path) -> None:
    written(tmp_path, "session-1-old.json", session(count=4, state="completed"))
    sessions = Sessions(tmp_path)
    fresh = sessions.cleared(sessions.open("s1"), id="s2")
    sessions.save(sessions.added(fresh, cw.user("Again")), now=NOW)
    assert [len((sessions.find(id) or fresh).messages) for id in ("s1", "s2")] == [4, 1]
    assert fresh.extra["port42"] == {"agent": "@ai-engineer"}


@pytest.mark.parametrize("id", ["", "a\0", "a\ud800", 3, None], ids=repr)
def test_ids_that_no_file_can_hold_are_refused(tmp_path: Path, id: Any) -> None:
    sessions = Sessions(tmp_path)
    with pytest.raises(cw.UsageError, match="session's id cannot"):
        sessions.open(id)
    with pytest.raises(cw.UsageError, match="session's id cannot"):
        sessions.save(cw.Conversation((cw.user("x"),), id=id), now=NOW)
    assert names(tmp_path) == []


@pytest.mark.parametrize("message", ["hi", None, {"role": "user"}, 3], ids=repr)
def test_only_messages_are_added(tmp_path: Path, message: Any) -> None:
    with pytest.raises(cw.UsageError):
        Sessions.added(Sessions(tmp_path).open("s1"), message)


def test_an_agent_whose_instructions_are_sent_is_not_lost() -> None:
    agents = parse_agents({"agents": {"engineer": {"prompt": "You are @ai-engineer."}}})
    recipe, _ = port42.recipe(agents, "@ai-engineer")
    talk = cw.parse(session(count=3, state="active", created_at=BEGUN), "port42")
    context = recipe.build(talk, model="claude-sonnet-5-5")
    assert [change.code for change in context.changes] == ["loss.envelope"]
    without = cw.Recipe().build(talk, model="claude-sonnet-5-5")
    assert "agent" in [change.path for change in without.changes]
