"""A real client whose gateway is killed between two turns: the session goes on, signatures too."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from providers.standin import KEY, serving
from serve.clients.cell import installed, run
from serve.clients.script import Script
from serve.clients.table import CLIENTS, Client
from serve.recording.test_kill import gateway_process
from serve.upstreams import settings_for

PAIRS = {"openai-chat": "anthropic", "anthropic": "gemini", "gemini": "openai-responses"}
"""For a client of each of three APIs, an upstream of another one that signs."""
CELLS = [
    pytest.param(client, PAIRS[client.format], id=f"{client.slug}-{client.format}")
    for client in CLIENTS
    if client.slug == "pi" and client.format in PAIRS
]


@pytest.mark.slow
@pytest.mark.parametrize(("client", "upstream"), CELLS)
def test_a_session_outlives_its_gateway(
    client: Client, upstream: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not installed(client):
        pytest.skip(f"{client.name} is not installed; see tests/serve/clients/install.py")
    monkeypatch.setenv("UPSTREAM_KEY", KEY)
    script = Script(client)
    with serving(script) as server, ExitStack() as gateways:
        script.server = server
        (route,) = settings_for(upstream, server).routes
        rest = f'send_as = "{route.send_as}"\nkey_variable = "UPSTREAM_KEY"'

        def start(port: int = 0) -> str:
            base = route.base_url or ""
            process = gateway_process(tmp_path, base, route.upstream, rest, port)
            return gateways.enter_context(process)[1]

        def restart() -> None:
            gateways.close()  # kills it
            server.returned.clear()
            start(int(address.rpartition(":")[2]))

        address = start()
        token = (tmp_path / "token").read_text().strip()
        found = list(run(client, address, token, tmp_path / "client", restart))
        assert [*found, *script.findings()] == []
        assert server.signed != {}
