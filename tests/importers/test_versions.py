"""Later imports of the same conversations: replies that went on, and other versions of them."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwright import importers
from contextwright.importers.intake import Intake, Outcome
from contextwright.store.care.doctor import examine
from contextwright.store.store import Store
from samples.exports import chatgpt, node, write_json, write_lines


def take(store: Store, path: Path, **options: Any) -> Outcome:
    with importers.open_files(path) as files:
        return Intake(format=importers.detect(files), **options).into(store, files)


def said(store: Store, id: str) -> list[tuple[str, str, int, str]]:
    """Role, text, number of parts and visibility of each message."""
    read = store.conversation(id).read(hidden=True)
    messages = (stored.message for stored in read)
    return [(one.role, one.text, len(one.parts), one.visibility) for one in messages]


def codes(outcome: Outcome) -> list[str]:
    return [change.code for change in outcome.report.changes]


def line(number: int, parent: int | None, role: str, *content: Any, id: str = "") -> dict[str, Any]:
    """A line of Claude Code's log."""
    words = content[0] if isinstance(content[0], str) else list(content)
    return {
        "type": role,
        "uuid": f"u{number}",
        "parentUuid": None if parent is None else f"u{parent}",
        "sessionId": "s",
        "timestamp": f"2026-02-10T21:00:0{number}.000Z",
        "message": {"role": role, "content": words, **({"id": id} if id else {})},
    }


LOG = [
    line(1, None, "user", "Fix the test."),
    line(2, 1, "assistant", {"type": "text", "text": "I look."}, id="m1"),
    line(3, 2, "assistant", {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}, id="m1"),
    line(4, 3, "user", {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}),
    line(5, 4, "assistant", {"type": "text", "text": "Done."}, id="m2"),
    line(6, 5, "user", "Now commit."),
    line(7, 5, "user", "Now commit and push."),
    line(8, 7, "assistant", {"type": "text", "text": "Pushed."}, id="m3"),
]
ITEMS = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "2+2?"}]},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Easy."}]},
    {"type": "function_call", "call_id": "c1", "name": "sum", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "4"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "4"}]},
]
CODEX = [
    {"type": "session_meta", "payload": {"id": "s"}},
    *({"type": "response_item", "payload": item} for item in ITEMS),
]


@pytest.mark.parametrize("lines", [LOG, CODEX], ids=["claude-code", "codex"])
def test_a_log_may_be_imported_while_it_is_written(
    place: str, tmp_path: Path, lines: list[dict[str, Any]]
) -> None:
    """A reply that was half written was another message from then on, and refused the folder."""
    path = tmp_path / "rollout-s.jsonl"
    with Store(tmp_path / "whole.db") as store:
        take(store, write_lines(path, *lines))
        whole = said(store, "s")
    with Store(place) as store:
        for length in (*range(2, len(lines) + 1), len(lines), 3, len(lines)):
            take(store, write_lines(path, *lines[:length]))
        assert said(store, "s") == whole
        assert take(store, path).messages == 0
        assert not examine(store.engine).findings
        built = store.conversation("s").context(model="claude-sonnet-5-5")
        assert "no result recorded" not in str(built.payload)


def test_growth_and_retractions_are_said(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with Store(tmp_path / "s.db") as store:
        take(store, write_lines(path, *LOG[:2]))
        grown = take(store, write_lines(path, *LOG[:6]))
        assert str(grown.report.changes[0]) == "update.edited s: message 2: continued at its source"
        retracted = take(store, write_lines(path, *LOG))
        assert [code for code in codes(retracted) if code != "repair.branch"] == ["update.hidden"]
        store.conversation("s").show(5)
        assert "update.hidden" not in codes(take(store, path))
        assert said(store, "s")[4][3] == "public"


QUESTION = [
    node("u1", None, "user", "Which tea?", create_time=1.0),
    node("a1", "u1", "assistant", "Green.", create_time=2.0),
    node("u2", "a1", "user", "Why?", create_time=3.0),
    node("a2", "u2", "assistant", "It is fresh.", create_time=4.0),
]
AGAIN = [*QUESTION, node("b2", "u2", "assistant", "It is light.", create_time=5.0)]
FURTHER = [*AGAIN, node("u3", "b2", "user", "How hot?", create_time=6.0)]
EDITED = [*FURTHER, node("v1", None, "user", "Which coffee?", create_time=7.0)]


def test_another_version_of_a_chat_becomes_a_fork(place: str, tmp_path: Path) -> None:
    """An answer that was written again refused the whole export, with all other chats in it."""
    path = tmp_path / "conversations.json"
    texts = {
        "c": ["Which tea?", "Green.", "Why?", "It is fresh."],
        "c-b2": ["Which tea?", "Green.", "Why?", "It is light.", "How hot?"],
        "c-v1": ["Which coffee?"],
    }
    with Store(place) as store:
        new = [
            take(store, write_json(path, chatgpt(*nodes))).messages
            for nodes in (QUESTION, AGAIN, FURTHER, EDITED, AGAIN, QUESTION, EDITED)
        ]
        assert new == [4, 1, 1, 1, 0, 0, 0]
        assert {
            one.id: [text for _, text, *_ in said(store, one.id)] for one in store.list()
        } == texts
        assert {(one.id, one.parent, one.fork_at) for one in store.list()} == {
            ("c", None, None),
            ("c-b2", "c", 3),
            ("c-v1", "c", 0),
        }
        (change,) = take(store, write_json(path, chatgpt(*AGAIN))).report.changes
        reason = "another version than the stored one; in the fork 'c-b2'"
        assert str(change) == f"update.version c: message 4: {reason}"


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=12))
def test_every_version_is_stored_once_in_whatever_order(steps: list[tuple[int, int]]) -> None:
    """Each step adds a message behind another one, and an export that ends at a third."""
    with TemporaryDirectory() as folder, Store(Path(folder) / "s.db") as store:
        path = Path(folder) / "conversations.json"
        nodes = [node("n0", None, "user", "n0", create_time=0.0)]
        exports: list[Any] = []
        for parent, current in steps:
            id = f"n{len(nodes)}"
            after = nodes[parent % len(nodes)]["id"]
            nodes.append(node(id, after, "user", id, create_time=float(len(nodes))))
            end = nodes[current % len(nodes)]["id"]
            exports.append(chatgpt(*nodes, current_node=end))
            take(store, write_json(path, exports[-1]))
            branch = branch_of(exports[-1][0])
            held = {one.id: texts_of(store, one.id) for one in store.list()}
            assert any(texts[: len(branch)] == branch for texts in held.values())
            own = [text for one in store.list() for text in held[one.id][one.fork_at or 0 :]]
            assert len(own) == len(set(own))
        for export in exports:
            assert take(store, write_json(path, export)).messages == 0


def branch_of(chat: dict[str, Any]) -> list[str]:
    """The ids of the messages up to the current one."""
    branch: list[str] = []
    at = chat["current_node"]
    while at is not None:
        branch.append(at)
        at = chat["mapping"][at]["parent"]
    return branch[::-1]


def texts_of(store: Store, id: str) -> list[str]:
    return [text for _, text, *_ in said(store, id)]


def test_a_dry_run_says_what_becomes_a_fork(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    with Store(tmp_path / "s.db") as store:
        take(store, write_json(path, chatgpt(*QUESTION)))
        write_json(path, chatgpt(*AGAIN))
        with importers.open_files(path) as files:
            rehearsed = Intake(format="chatgpt").rehearse(files, store)
        assert [one.id for one in store.list()] == ["c"]
        outcome = take(store, path)
        assert (rehearsed.messages, codes(rehearsed)) == (outcome.messages, codes(outcome))


def test_what_was_changed_in_the_store_stays(place: str, tmp_path: Path) -> None:
    path = write_json(tmp_path / "conversations.json", chatgpt(*QUESTION))
    with Store(place) as store:
        take(store, path)
        chat = store.conversation("c")
        chat.edit(1, "Which tea, please?")
        chat.hide(2)
        chat.erase(3)
        before = said(store, "c")
        other = [{**one, "message": {**one["message"], "weight": 0.5}} for one in QUESTION]
        write_json(path, chatgpt(*other, node("u3", "a2", "user", "How hot?", create_time=6.0)))
        outcome = take(store, path)
        assert (outcome.messages, outcome.known, codes(outcome)) == (1, 4, [])
        assert said(store, "c") == [*before, ("user", "How hot?", 1, "public")]


@pytest.mark.parametrize("name", ["chat", "log"])
def test_what_was_added_in_the_store_stays_apart(tmp_path: Path, name: str) -> None:
    def write(number: int) -> Path:
        if name == "log":
            return write_lines(tmp_path / "s.jsonl", *LOG[:number])
        return write_json(tmp_path / "conversations.json", chatgpt(*QUESTION[:number]))

    id = {"log": "s", "chat": "c"}[name]
    with Store(tmp_path / "s.db") as store:
        take(store, write(1))
        store.conversation(id).add({"role": "assistant", "content": "Ours."})
        assert take(store, write(1)).messages == 0
        for new in (1, 0):
            assert take(store, write(2)).messages == new
        forks = [one for one in store.list() if one.parent == id]
        assert [text for _, text, *_ in said(store, id)][1:] == ["Ours."]
        assert len(forks) == 1
        assert forks[0].fork_at == 1


def test_a_session_of_port_42_that_was_cleared_goes_on_as_a_fork(tmp_path: Path) -> None:
    def write(*words: str) -> Path:
        said = [
            {"role": "user", "content": word, "timestamp": f"2025-08-01T10:00:0{place}Z"}
            for place, word in enumerate(words)
        ]
        session = {"id": "s", "agent": "@ai-engineer", "messages": said}
        return write_json(tmp_path / "session-1.json", session)

    with Store(tmp_path / "s.db") as store:
        new = [
            take(store, write(*words)).messages
            for words in (["Hi"], ["Hi", "More"], ["Again"], ["Again", "On"], ["Third"], ["Again"])
        ]
        assert new == [1, 1, 1, 1, 1, 0]
        held = {one.id: [text for _, text, *_ in said(store, one.id)] for one in store.list()}
        assert held == {"s": ["Hi", "More"], "s-1": ["Again", "On"], "s-1-1": ["Third"]}
        store.conversation("s").edit(1, "Hello")
        assert take(store, write("Hi", "More", "Last")).messages == 1
