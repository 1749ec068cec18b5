"""Whatever bit of a store's file flips, wherever it is cut: every command ends in words."""

import io
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.cli import main
from profiles import STORE, examples

DAY = datetime(2026, 5, 4, tzinfo=UTC)
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("list",),
    ("read", "lunch"),
    ("dump", "fork"),
    ("show", "lunch"),
    ("export", "lunch", "--format", "contextwright"),
    ("build", "lunch", "--model", "gpt-4o", "--budget", "200"),
    ("explain", "fork", "--model", "claude-sonnet-5-5"),
    ("search", "soup"),
    ("recall", "soup", "--embedder", "none"),
    ("memories",),
    ("episodes", "lunch"),
    ("tenants",),
    ("doctor",),
    ("doctor", "--repair"),
    ("add", "lunch", "And now?"),
    ("hide", "lunch", "2"),
    ("edit", "lunch", "1", "Other words"),
    ("erase", "lunch", "3"),
    ("reindex", "--rebuild"),
    ("rename", "fork", "spoon"),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a store with a little of everything."""
    file = tmp_path_factory.mktemp("whole") / "store.db"
    with cw.Store(file, embedder=None) as store:
        chat = store.conversation("lunch")
        for number in range(6):
            call = cw.ToolCall("cook", {"pot": number}, id=f"c{number}")
            asked = cw.user(
                f"Soup {number}, please",
                author=cw.Author("U1", "Alice"),
                sent_at=DAY + timedelta(minutes=number),
            )
            chat.add(
                [asked, cw.assistant(call), cw.tool_result(f"c{number}", "Done")], key=str(number)
            )
        chat.fork("fork", at=9).add(cw.user("Another way"))
        chat.hide(4)
        chat.edit(7, "No soup")
        chat.make_episodes(now=DAY + timedelta(days=9))
        store.remember("Likes soup", about="U1")
        summarised = cw.Recipe(summary=cw.SummaryPolicy(), window=cw.windows.KeepRecent(messages=3))
        chat.context(summarised, model="gpt-4o")
        store.index()
    return file.read_bytes()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged") / "store.db"


def outcome(arguments: tuple[str, ...], place: Path) -> tuple[int, str]:
    """The exit code of a command, and all it wrote."""
    said = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with redirect_stdout(said), redirect_stderr(said):
        code = main([*arguments, "--store", str(place)])
    said.flush()
    return code, said.buffer.getvalue().decode()


@examples(STORE)
@given(
    at=st.integers(0, 1 << 30),
    bit=st.integers(0, 7),
    cut=st.sampled_from((False, False, False, True)),
    commands=st.lists(st.sampled_from(COMMANDS), min_size=3, max_size=3, unique=True),
)
def test_no_damage_ends_in_a_traceback(
    at: int, bit: int, cut: bool, commands: list[tuple[str, ...]], whole: bytes, place: Path
) -> None:
    damaged = bytearray(whole)
    if cut:
        del damaged[at % len(damaged) :]
    else:
        damaged[at % len(damaged)] ^= 1 << bit
    for arguments in commands:
        for rest in place.parent.iterdir():
            rest.unlink()
        place.write_bytes(damaged)
        code, said = outcome(arguments, place)
        assert code in (0, 1, 2)
        assert "Traceback" not in said
