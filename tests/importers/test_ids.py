"""The ids of imported conversations: valid in a store, and as different as those of the source."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from contextwright import importers
from contextwright.importers.base import as_id
from contextwright.importers.intake import Intake
from contextwright.store.rows.validation import require_name
from contextwright.store.store import Store
from profiles import FAULT, examples
from samples.exports import PORT42, write_lines

LONG = "x" * 256
ALIKE = ["s", "s ", "s\0", "s\u200b", "a b", "a\nb", LONG, f"{LONG}1", f"{LONG}2", "é" * 129]
any_id = st.sampled_from(ALIKE) | st.text(st.sampled_from("a -\n\0\u200b\u3164\ud800é"), max_size=5)


@examples(FAULT)
@given(any_id, any_id)
def test_other_ids_stay_other_ids(one: str, other: str) -> None:
    assert require_name(as_id(one), "id") == as_id(one)
    assert (as_id(one) == as_id(other)) == ((one or "imported") == (other or "imported"))


def test_what_a_store_can_hold_stays_as_it_is() -> None:
    for id in ("s", "a b", "лекція", LONG, "é" * 128):
        assert as_id(id) == id


def test_conversations_with_ids_that_look_alike_are_all_kept(tmp_path: Path) -> None:
    """One was taken for a newer version of the other, and its words for an edit."""
    sessions = [
        {**PORT42, "id": id, "messages": [{**PORT42["messages"][0], "content": json.dumps(id)}]}
        for id in ALIKE
    ]
    path = write_lines(tmp_path / "sessions.jsonl", *sessions)
    with Store(tmp_path / "store.db") as store, importers.open_files(path) as files:
        outcome = Intake(format="port42").into(store, files)
        read = [next(iter(store.conversation(info.id).read())) for info in store.list()]
    assert (outcome.messages, outcome.report.changes) == (len(ALIKE), [])
    assert sorted(one.message.text for one in read) == sorted(map(json.dumps, ALIKE))
