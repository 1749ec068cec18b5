"""Real clients, each through the gateway to each upstream: a question, tools, a second turn.

One cell: `pytest -m slow tests/serve/clients -k 'pi-anthropic-to-gemini'`.
"""

import os
from pathlib import Path

import pytest

from serve.clients.cell import findings, installed
from serve.clients.table import CLIENTS, Client
from serve.upstreams import FORMATS

CELLS = [
    pytest.param(client, upstream, id=f"{client.slug}-{client.format}-to-{upstream}")
    for client in CLIENTS
    for upstream in FORMATS
]


@pytest.mark.slow
@pytest.mark.parametrize(("client", "upstream"), CELLS)
def test_a_client_reaches_an_upstream(client: Client, upstream: str, tmp_path: Path) -> None:
    if os.environ.get("CI") and client.slug == "opencode" and upstream != beside(client.format):
        pytest.skip("opencode takes 16 s of CPU a cell: in CI, one for each of its APIs")
    if not installed(client):
        pytest.skip(f"{client.name} is not installed; see tests/serve/clients/install.py")
    assert findings(client, upstream, tmp_path) == []


def beside(format: str) -> str:
    """Another API for each."""
    return FORMATS[FORMATS.index(format) - 1]
