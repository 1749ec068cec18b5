"""Whatever an argument or an option of a command is given: the call ends in words."""

import io
import json
import re
import shutil
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwright.cli import main
from contextwright.cli.commands import GROUPS, load
from profiles import BODY, examples
from samples.stores.chat import CHAT

APART = {"serve", "inspect", "mcp", "record", "demo", "batch"}
"""Commands that run until they are stopped, or take long."""
USUAL = {
    "FILE": "chat.json", "FILE|CONVERSATION": "chat.json", "SOURCE": "work.db", "TARGET": "new.db",
    "N": "1", "model": "gpt-4o", "target": "gemini", "store": "work.db",
}  # fmt: skip
"""What stands where no value is drawn, by metavar or name; everywhere else `lunch`."""
SECRET = "hunter2"
VALUES = (
    "", "-", "--", "-1", "0", "1", "1.5", "nan", "-inf", "1e999", "9" * 25,
    "\x1b[31m\x07", "\udcff",
    "\u202ea", "a\nb", " ", "x" * 5000, "/", ".", "..", "folder", "empty", "loop", "text.txt",
    "work.db", "chat.json", "missing/x", "-x", "{}", "[]", "null", "'; drop table messages;--",
    "%s%n", "lunch", "gpt-4o", "echo", "aya", "2026-13-01", "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59", f"POSTGRES+psycopg://me:{SECRET}@[::1",
    f"postgres:me:{SECRET}@[::1", f"postgres//me:{SECRET}@[::1",
)  # fmt: skip
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Place(NamedTuple):
    """An argument, or an option with a value, of a command."""

    command: str
    name: str
    option: str | None
    usual: str | None
    """What a call needs there; None if it may be left out."""


def places() -> dict[str, list[Place]]:
    """All arguments and options with values, by command."""
    found: dict[str, list[Place]] = {}
    for name, command in ((name, one) for group in GROUPS.values() for name, one in group.items()):
        for parameter in load(name, command).params:
            if name in APART or parameter.type is click.BOOL:
                continue
            option = parameter.opts[0] if isinstance(parameter, click.Option) else None
            needed = parameter.required or parameter.name == "store"
            usual = USUAL.get(parameter.metavar or "") or USUAL.get(parameter.name or "", "lunch")
            place = Place(name, parameter.name or "", option, usual if needed else None)
            found.setdefault(name, []).append(place)
    return found


PLACES = places()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of several kinds, and a store."""
    folder = tmp_path_factory.mktemp("calls")
    (folder / "folder").mkdir()
    (folder / "empty").touch()
    (folder / "loop").symlink_to("loop")
    (folder / "text.txt").write_text("plain words\n")
    (folder / "chat.json").write_text(json.dumps(CHAT))
    with chdir(folder):
        assert outcome(["import", "chat.json", "--as", "lunch", "--store", "work.db"])[0] == 0
    return folder


def outcome(arguments: list[str]) -> tuple[int, str, str]:
    """The exit code of a command, and what it wrote."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(b"{}"))
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main(arguments)
    finally:
        sys.stdin = before
    return code, written(out), written(err)


def written(stream: io.TextIOWrapper) -> str:
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()


def call(place: Place, value: str) -> list[str]:
    """A call that is right but for what stands in one place."""
    words: list[str] = []
    options: list[str] = []
    for one in PLACES[place.command]:
        text = value if one is place else one.usual
        if text is not None:
            (words if one.option is None else options).extend(filter(None, [one.option]))
            (words if one.option is None else options).append(text)
    return [place.command, *options, *words]


@examples(BODY)
@given(
    place=st.sampled_from([place for one in PLACES.values() for place in one]),
    value=st.sampled_from(VALUES),
)
def test_no_value_ends_in_a_traceback(
    place: Place, value: str, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    work = tmp_path_factory.mktemp("call")
    shutil.copytree(folder, work, symlinks=True, dirs_exist_ok=True)
    arguments = call(place, value)
    with chdir(work):
        code, _, err = outcome(arguments)
    shutil.rmtree(work)
    assert code in (0, 1, 2)
    assert code == 0 or err, "it does not say what is wrong"
    assert not RAW.search(err)
    assert SECRET not in err
