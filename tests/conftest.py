import gc
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path

import pytest

import contextwright
import postgres as servers
import profiles
from commands import Run, runner
from paths import TESTS

MEMORY = Path("/dev/shm")
ROOM = 2 * 1024**3
"""Bytes of memory that must be free for temporary files to lie there."""

profiles.register()


def pytest_configure(config: pytest.Config) -> None:
    worker = getattr(config, "workerinput", None)
    if worker is None:
        keep_bytecode(config.rootpath / ".pytest_cache" / "bytecode")
        use_memory()
        servers.reserve()
    elif config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        collect_from(config, int(worker["workerid"][2:]) / worker["workercount"])


def collect_from(config: pytest.Config, share: float) -> None:
    """Let each process collect the same tests from another place on.

    What one has compiled, the others load; side by side, all of them would compile everything.
    """
    found = sorted({path.relative_to(TESTS).parts[0] for path in TESTS.rglob("test_*.py")})
    first = int(len(found) * share)
    config.args = [str(TESTS / name) for name in found[first:] + found[:first]]


def keep_bytecode(folder: Path) -> None:
    """Let programs that tests start share their bytecode, also where Python is told to keep none.

    They would compile themselves at every start, which takes longer than what they do.
    """
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        os.environ.setdefault("PYTHONPYCACHEPREFIX", str(folder))


def use_memory() -> None:
    """Put temporary files into memory, where there is room and nobody has named a folder.

    On a disk every commit of a store waits for a write, and every Postgres database that is dropped
    takes a second.
    """
    in_memory = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM
    if in_memory and "TMPDIR" not in os.environ:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None  # whoever has asked already asks again


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        servers.stop()


def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores, because some tests wait for others' programs."""
    mine = getattr(os, "sched_getaffinity", None)
    return (len(mine(0)) if mine else os.cpu_count() or 1) + 1


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector from looking at what is imported: all of it stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put tests in one order, wherever collecting began, and mark those that need Postgres."""
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        items.sort(key=lambda item: item.path)
    for item in items:
        chosen = getattr(getattr(item, "callspec", None), "params", {})
        engines = {chosen.get("place"), chosen.get("bare_place")}
        if "postgres" in engines or "databases" in getattr(item, "fixturenames", ()):
            item.add_marker("postgres")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name each reason why tests were skipped once."""
    skipped = terminalreporter.stats.get("skipped", ())
    for reason, number in Counter(report.longrepr[2] for report in skipped).items():
        terminalreporter.write_line(f"{number} {reason}")


@pytest.fixture
def cw(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process."""
    return runner(capsysbinary, monkeypatch)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Real public data to measure with; it is not part of the project."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("CONTEXTWRIGHT_DATA", beside))
    if not folder.is_dir():
        pytest.skip("no recorded data here; name a folder in CONTEXTWRIGHT_DATA")
    return folder


@pytest.fixture(scope="session")
def postgres_server() -> str | Exception:
    """The URL of this run's Postgres, or why there is none."""
    try:
        return servers.start()
    except Exception as error:  # whatever an odd platform answers
        return error


@pytest.fixture(scope="session")
def databases(postgres_server: str | Exception, worker_id: str) -> Iterator[servers.Databases]:
    """Databases on a real Postgres; tests are skipped where none can be started.

    In CI `test_postgres_can_be_started` fails then.
    """
    if isinstance(postgres_server, Exception):
        pytest.skip(f"Postgres cannot be started here: {postgres_server}")
    with closing(servers.Databases(postgres_server, worker_id)) as databases:
        yield databases


@pytest.fixture
def postgres(databases: servers.Databases) -> Iterator[str]:
    """The URL of an empty store on Postgres."""
    name = databases.create(databases.template)
    yield databases.url(name)
    databases.drop(name)


@pytest.fixture
def bare_postgres(databases: servers.Databases) -> Iterator[str]:
    """The URL of a database without tables."""
    name = databases.create()
    yield databases.url(name)
    databases.drop(name)


@pytest.fixture(scope="module")
def shared_postgres(databases: servers.Databases) -> Iterator[str]:
    """The URL of a store on Postgres for all examples of a law."""
    name = databases.create(databases.template)
    yield databases.url(name)
    databases.drop(name)


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite store without conversations, to be copied: making its tables takes longer."""
    file = tmp_path_factory.mktemp("empty") / "store.db"
    contextwright.Store(file).close()
    return file


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place of an empty store, on each engine."""
    if request.param == "postgres":
        return request.getfixturevalue("postgres")
    return str(shutil.copy(request.getfixturevalue("empty_store"), tmp_path / "store.db"))


@pytest.fixture(params=["sqlite", "postgres"])
def bare_place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place where no store is yet, on each engine."""
    if request.param == "postgres":
        return request.getfixturevalue("bare_postgres")
    return str(tmp_path / "store.db")
