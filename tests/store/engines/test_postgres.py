"""The server that the other tests run on."""

import os

import pytest


def test_postgres_can_be_started(postgres_server: str | Exception) -> None:
    """Where it cannot, the tests that need it are skipped; in CI this one fails for them all."""
    if isinstance(postgres_server, Exception):
        if os.environ.get("CI"):
            raise postgres_server
        pytest.skip(f"Postgres cannot be started here: {postgres_server}")
    assert postgres_server.startswith("postgresql:")
