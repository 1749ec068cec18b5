"""The times in Port 42's session files: when a session was created, saved and last spoken in."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import contextwright as cw
from contextwright.systems.port42 import Sessions

BEGUN = "2025-07-20T23:30:00.123456789+03:00"
NOW = datetime(2025, 7, 21, 9, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


@pytest.mark.parametrize("again", ["in memory", "from its file"])
@pytest.mark.parametrize("created", [None, BEGUN])
def test_a_session_keeps_the_time_of_its_creation(
    tmp_path: Path, created: str | None, again: str
) -> None:
    sessions = Sessions(tmp_path)
    new = sessions.open("s1", agent="@ai-muse")
    if created:
        new = cw.Conversation(
            (), id="s1", extra={"port42": {**new.extra["port42"], "created_at": created}}
        )
    talk = sessions.added(new, cw.user("Hello"))
    sessions.save(talk, now=NOW)
    if again == "from its file":
        talk = sessions.open("s1")
    path = sessions.save(sessions.added(talk, cw.assistant("Hi")), now=LATER)
    assert json.loads(path.read_text("utf-8")) == {
        "id": "s1",
        "agent": "@ai-muse",
        "messages": [
            {"role": "user", "content": "Hello", "timestamp": NOW.isoformat()},
            {"role": "assistant", "content": "Hi", "timestamp": LATER.isoformat()},
        ],
        "created_at": created or NOW.isoformat(),
        "updated_at": LATER.isoformat(),
    }


def test_a_message_is_stored_with_the_time_it_was_saved_at(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    talk = sessions.added(sessions.open("s1"), cw.user("Hello"))
    sessions.save(talk, now=NOW)
    talk = sessions.added(talk, cw.assistant("Hi"), cw.user("?", sent_at=BEGUN))
    sessions.save(talk, now=LATER)
    found = sessions.find("s1")
    assert found is not None
    times = [NOW.isoformat(), LATER.isoformat(), BEGUN]
    assert [one.sent_at for one in found.messages] == times


def test_only_new_messages_are_an_activity(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    talk = cw.Conversation((cw.user("Hello", sent_at=BEGUN),), id="s1")
    path = sessions.save(talk, now=NOW)
    fields = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**fields, "last_activity": BEGUN}))
    talk = sessions.open("s1")
    for more, time in ((), BEGUN), ((cw.user("Are you there?"),), LATER.isoformat()):
        path = sessions.save(sessions.added(talk, *more), now=LATER)
        assert json.loads(path.read_text("utf-8"))["last_activity"] == time
