"""One served store for the tests of a file."""

from collections.abc import Iterator

import pytest

from serve.api.client import Client, served


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with served(tmp_path_factory.mktemp("served")) as client:
        yield client
