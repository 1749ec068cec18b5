"""One damaged message: it is reported, everything else works, and the doctor repairs it."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from random import Random

import apsw
import pytest

import contextwright as cw
from commands import Run
from contextwright.sections import PastMessages
from contextwright.store.care.copying import copy
from contextwright.store.care.doctor import examine, mend
from contextwright.store.store import Store

TEXTS = ("tea with Anna", "coffee with Bob", "tea with Clara")
LEFT = (TEXTS[0], "", TEXTS[2])
DAMAGE = {
    "broken JSON": "substr(body, 1, length(body) - 3)",
    "broken bytes": "CAST(replace(CAST(body AS BLOB), x'636f66', x'fffe80') AS TEXT)",
    "no message": "'[]'",
    "nothing": "''",
    "other words": "replace(body, 'coffee', 'coffef')",
}


@pytest.fixture(params=[(damage, indexed) for damage in DAMAGE for indexed in (False, True)])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store of which the second of three messages is damaged, before or after it was indexed."""
    place, (damage, indexed) = str(tmp_path / "store.db"), request.param
    with Store(place, embedder=None) as store:
        store.conversation("lunch").add([cw.user(text) for text in TEXTS])
        if indexed:
            store.index("lunch", few=0)
    database = apsw.Connection(place)
    database.execute(f"UPDATE messages SET body = {DAMAGE[damage]} WHERE seq = 2")
    database.close()
    return place


def test_everything_else_goes_on(file: str) -> None:
    with Store(file, embedder=None) as store:
        chat = store.conversation("lunch")
        read = list(chat.read())
        assert tuple(one.message.text for one in read) == LEFT
        assert [one.damage for one in read] == ["", "message 2 is damaged", ""]
        assert [one.message.visibility for one in read] == ["public", "deleted", "public"]
        for hits in (chat.search("tea"), store.search("tea")):
            assert [hit.seq for hit in hits] == [3, 1]
        assert chat.search("coffee") == []
        store.index("lunch", few=0)
        assert {item.seq for item in chat.recall("Who had tea?")} == {1, 3}
        context = chat.context(cw.Recipe(budget=1_000), model="gpt-4o")
        sent = context.payload["messages"]
        assert [message["content"] for message in sent] == [TEXTS[0], TEXTS[2]]
        losses = [change for change in context.changes if change.code == "loss.damaged"]
        assert [change.path for change in losses] == ["messages[1]"]
        assert chat.add(cw.user("more")) == [4]
        fork = chat.fork("dinner", at=2)
        assert tuple(one.message.text for one in fork.read()) == LEFT[:2]


def test_the_doctor_finds_it_and_sets_it_aside(file: str) -> None:
    with Store(file, embedder=None) as store:
        report = examine(store.engine)
        found = [str(finding) for finding in report.findings]
        assert found in (
            ["body conversation 'lunch': message 2 cannot be read"],
            ["body conversation 'lunch': message 2 is not as it was stored"],
        )
        before = list(store.conversation("lunch").read())
        assert len(mend(store.engine, report)) == 1
        assert examine(store.engine).findings == []
        assert list(store.conversation("lunch").read()) == before, "its bytes are kept"


def test_search_and_recall_name_it(file: str) -> None:
    """Whether its words are still known or not, and in a fork; but not if it was hidden."""
    recipe = cw.Recipe(system=[PastMessages(confidence=0)], budget=1_000)
    with Store(file, embedder=None) as store:
        lunch = store.conversation("lunch")
        for is_indexed in (False, True):
            dinner = store.conversation("dinner") if is_indexed else lunch.fork("dinner", at=2)
            for chat in (lunch, dinner):
                for found in (chat.search("coffee"), chat.recall("Who had coffee?")):
                    assert 2 not in [hit.seq for hit in found]
                    assert [*map(str, found.changes)] == [named(chat.id)]
            for found in (store.search("coffee"), store.recall("Who had coffee?")):
                assert 2 not in [hit.seq for hit in found]
                assert named("lunch") in map(str, found.changes)
            store.index(few=0)
        lunch.add([cw.user(f"{number} " + "cake " * 200) for number in range(9)])
        lunch.add(cw.user("Who had coffee?"))
        changes = lunch.context(recipe, model="gpt-4o").changes
        assert [str(one) for one in changes if one.code == "loss.damaged"] == [named("lunch")]
        lunch.hide(2)
        assert lunch.search("coffee").changes == ()
        assert lunch.recall("Who had coffee?").changes == ()


def named(conversation: str) -> str:
    """The change that names the damaged message."""
    return f"loss.damaged messages[1]: message 2 of '{conversation}' is damaged"


def test_a_copy_names_it(file: str, tmp_path: Path) -> None:
    target = str(tmp_path / "copy.db")
    with Store(file, embedder=None) as one, Store(target, embedder=None) as other:
        copied = copy(one.engine, other.engine)
        assert copied.damaged == ["conversation 'lunch': message 2 is damaged"]
        assert list(other.conversation("lunch").read()) == list(one.conversation("lunch").read())
        assert copy(one.engine, other.engine).known == 3
        assert examine(other.engine).findings == []


def test_a_mark_does_not_bring_it_back(file: str) -> None:
    with Store(file, embedder=None) as store:
        chat = store.conversation("lunch")
        chat.show(2)
        chat.pin(2)
        sent = chat.context(cw.Recipe(budget=1_000), model="gpt-4o").payload["messages"]
        assert [message["content"] for message in sent] == [TEXTS[0], TEXTS[2]]
        assert [one.message.visibility for one in chat.read()] == ["public", "deleted", "public"]


def test_every_bit_that_flips_is_found(place: str) -> None:
    """In readable text too: one bit makes another letter, and the JSON is still sound."""
    random = Random(9)
    said = [cw.user(f"Anna owes Bob {number} euros, кава й чай") for number in range(60)]
    with Store(place, embedder=None) as store:
        chat = store.conversation("debts")
        chat.add(said)
        bodies = store.engine.read(lambda one: one.rows("SELECT seq, body FROM messages"))
        flips: dict[int, str] = {}
        for seq, body in bodies:
            while seq not in flips:
                data = bytearray(body.encode())
                data[random.randrange(len(data))] ^= 1 << random.randrange(8)
                with suppress(UnicodeDecodeError):  # a database that checks refuses those
                    flips[seq] = data.decode()
                    if "\0" in flips[seq]:
                        del flips[seq]
        rows = [(body, seq) for seq, body in flips.items()]
        update = "UPDATE messages SET body = ? WHERE seq = ?"
        store.engine.write_alone(lambda one: one.run_many(update, rows))
        assert all(one.damage for one in chat.read())
        assert len(chat.search("Anna").changes) == len(said)
        store.index(few=0)
        assert len(chat.search("Anna").changes) == len(store.recall("Anna").changes) == len(said)
        found = [one.problem for one in examine(store.engine).findings if one.code == "body"]
        assert len(found) == len(said)
        assert any("is not as it was stored" in problem for problem in found)


def test_commands_name_it(file: str, cw: Run, tmp_path: Path) -> None:
    where = ("--store", file)
    lines = [json.loads(line) for line in cw("dump", "lunch", *where).out.splitlines()]
    assert [line["text"] for line in lines] == list(LEFT)
    assert lines[1]["damaged"] == "message 2 is damaged"
    for command in ("read", "show", "export"):
        done = cw(command, "lunch", *where)
        assert (done.code, TEXTS[2] in done.out) == (0, True), done
    read = cw("read", "lunch", *where).out.splitlines()
    assert read[1] == "     2 message 2 is damaged (cw doctor --repair sets it aside)"
    exported = cw("export", "lunch", "--format", "openai-chat", *where)
    assert "loss.damaged" in exported.err
    for command in ("search", "recall"):
        assert named("lunch") in cw(command, "coffee", *where).err.splitlines()
    done = cw("copy", file, str(tmp_path / "copy.db"))
    assert (done.code, "message 2 is damaged" in done.err) == (1, True)
    assert cw("doctor", *where).code == 1
    assert cw("doctor", "--repair", *where).code == 0


@pytest.mark.parametrize("seq", [1, 2, 3])
@pytest.mark.parametrize("is_indexed", [False, True])
def test_a_missing_row_reads_as_a_damaged_message(
    seq: int, is_indexed: bool, tmp_path: Path
) -> None:
    """Everything else goes on, also if it is indexed now; it cannot be marked or changed."""
    place = str(tmp_path / "store.db")
    with Store(place, embedder=None) as store:
        store.conversation("lunch").add([cw.user(text) for text in TEXTS])
        if is_indexed:
            store.index("lunch", few=0)
    database = apsw.Connection(place)
    database.execute(f"DELETE FROM messages WHERE seq = {seq}")
    database.close()
    left = {number for number in (1, 2, 3) if number != seq}
    with Store(place, embedder=None) as store:
        chat = store.conversation("lunch")
        read = list(chat.read())
        assert [one.damage for one in read if one.seq == seq] == [f"message {seq} is damaged"]
        assert {one.seq for one in read if not one.damage} == left
        context = chat.context(cw.Recipe(budget=1_000), model="gpt-4o")
        sent = [message["content"] for message in context.payload["messages"]]
        assert sent == [TEXTS[number - 1] for number in sorted(left)]
        told = f"loss.damaged messages[{seq - 1}]: message {seq} is damaged; left out"
        assert told in map(str, context.changes)
        for _ in range(2):
            for found in (chat.search("with"), store.search("with"), chat.recall("Who had tea?")):
                assert {hit.seq for hit in found} <= left
            store.index("lunch", few=0)
        for change in (chat.hide, chat.pin, lambda number: chat.edit(number, "cake")):
            with pytest.raises(cw.errors.StoreError, match=f"message {seq} is missing"):
                change(seq)
        assert chat.add(cw.user("more")) == [4]


def test_a_conversation_whose_end_is_missing(tmp_path: Path) -> None:
    place = str(tmp_path / "store.db")
    with Store(place, embedder=None) as store:
        store.conversation("lunch").add(cw.user("tea"))
    database = apsw.Connection(place)
    database.execute("DELETE FROM heads")
    database.close()
    with Store(place, embedder=None) as store:
        chat = store.conversation("lunch")
        with pytest.raises(cw.errors.StoreError, match="the end of 'lunch' is missing"):
            chat.add(cw.user("more"))
        for reading in (lambda: list(chat.read()), lambda: chat.context(model="gpt-4o")):
            with pytest.raises(cw.errors.ContextwrightError):
                reading()


@pytest.mark.parametrize("window", [cw.windows.Stepped(), cw.windows.KeepRecent()])
@pytest.mark.parametrize("damaged", [1, 3, 405])
def test_a_damaged_question_is_no_question(
    tmp_path: Path, damaged: int, window: cw.windows.Window
) -> None:
    """Far back in a run, of which the store reads only the end and its questions."""
    place = str(tmp_path / "store.db")
    steps = [
        one
        for number in range(200)
        for one in (
            cw.assistant(cw.ToolCall("search", {"page": number}, f"c{number}")),
            cw.tool_result(f"c{number}", f"result {number} " * 40),
        )
    ]
    asked = [cw.user("Look it up."), cw.assistant("Where?"), cw.user("In the index.")]
    with Store(place, embedder=None) as store:
        store.conversation("run").add(
            [*asked, *steps, cw.assistant("So?"), cw.user("Go on."), *steps]
        )
    database = apsw.Connection(place)
    database.execute("UPDATE messages SET body = body || ' ' WHERE seq = ?", (damaged,))
    database.close()
    with Store(place, embedder=None) as store:
        chat = store.conversation("run")
        whole = cw.Conversation(tuple(one.message for one in chat.read(hidden=True)), id="run")
    for model in ("gpt-4o", "claude-sonnet-4-5"):
        recipe = cw.Recipe(window=window, budget=3_000, note=None)
        with Store(place, embedder=None) as store:
            context = store.conversation("run").context(recipe, model=model)
        assert context.payload == recipe.build(whole, model=model).payload


@pytest.mark.parametrize("window", [cw.windows.Stepped(messages=4), cw.windows.KeepRecent()])
def test_a_message_that_was_set_aside_is_not_counted(
    tmp_path: Path, window: cw.windows.Window
) -> None:
    """By the note on omitted messages, whether it is loaded or not; also in forks and copies."""
    place, recipe = str(tmp_path / "store.db"), cw.Recipe(window=window, budget=400)
    with Store(place, embedder=None) as store:
        store.conversation("run").add([cw.user(f"question {one} " * 9) for one in range(400)])
        store.conversation("run").fork("fork", at=300)
        store.conversation("run").erase(9, scrub=False)
    database = apsw.Connection(place)
    database.execute("UPDATE messages SET body = body || ' ' WHERE seq IN (7, 8, 9)")
    database.close()
    with Store(place) as store, Store(tmp_path / "copy.db") as other:
        copy(store.engine, other.engine)
        mend(store.engine, examine(store.engine))
        for chats in (store, other):
            assert examine(chats.engine).findings == []
            for id in ("run", "fork"):
                chat = chats.conversation(id)
                whole = cw.Conversation(tuple(one.message for one in chat.read(hidden=True)), id=id)
                context = chat.context(recipe, model="gpt-4o")
                alike = recipe.build(whole, model="gpt-4o")
                assert context.payload == alike.payload
                assert context.decisions.runs == alike.decisions.runs
        copy(store.engine, other.engine)
