"""Lines that are typed in `cw chat`, one after the other: all that they print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import contextwright as cw
from contextwright import models
from contextwright.cli.chat import commands
from contextwright.cli.chat.command import questions, respond
from contextwright.cli.chat.session import PAGE, Session
from contextwright.cli.requests.snapshots import RequestTask
from contextwright.context import recipe_files
from golden_files import compare

TALK = """
/help
/nonsense
/nonsense\x1b[31m red
/explain
/diff
/recall risotto
/undo
/fork dinner
/model
/budget
/recipe
Risotto or soup?
/diff
Thursday it is.
/explain
/context
/diff
/recall
/recall risotto
/recall chess
/budget 8_000
/budget 9,000
/budget
/budget 0
/budget none
/budget many
/recipe aya
/recipe nothing
/recipe default
/model claude-sonnet-5-5
/model gpt-0
/explain
How much is it?
/model echo
/undo
/fork
/fork dinner
/fork dinner
/undo
/undo
"""


def test_all_that_a_talk_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    task = RequestTask(recipe=recipe_files.find("default"), model=models.find("echo"))
    told: list[str] = []
    with cw.Store(tmp_path / "chat.db", embedder=None) as store:
        with Session(store.conversation("lunch"), task) as session:
            assert questions(session) == []
            for line in filter(None, TALK.splitlines()):
                respond(session, line, [])
                out, err = capsys.readouterr()
                told += [f"> {repr(line)[1:-1]}", out + err]
            with pytest.raises(EOFError):
                respond(session, "/exit", [])
            session.chat = store.conversation("lunch")
            assert questions(session) == ["Risotto or soup?"]
            for number in range(PAGE):
                session.chat.add([cw.user(f"Question {number}"), cw.assistant("Answer")])
            length = len(session.chat)
            assert [one.seq for one in session.newest_first()] == [*range(length, 0, -1)]
    lasting = re.sub(r"\d{4}-\d\d-\d\d|\d+\.\d s", "TIME", "\n".join(told))
    compare("chat-commands", lasting)


def test_a_budget_of_thousands_of_digits_is_refused(tmp_path: Path) -> None:
    task = RequestTask(recipe=recipe_files.find("default"), model=models.find("echo"))
    with (
        cw.Store(tmp_path / "chat.db", embedder=None) as store,
        Session(store.conversation("lunch"), task) as session,
        pytest.raises(cw.UsageError, match="is not a number of tokens"),
    ):
        commands.run(session, "/budget " + "9" * 5_000)
