"""Codex has its history summed up between two turns, by providers that know no compactions."""

from pathlib import Path

import pytest
from msgspec.structs import replace

import contextwright as cw
from contextwright.formats.replies.compactions import HEADING, INSTRUCTIONS
from contextwright.formats.replies.events import ReplyError, Usage
from contextwright.formats.replies.reply import ModelReply
from providers.standin import Request, said, serving
from serve.clients.cell import installed, run
from serve.clients.script import Script
from serve.clients.table import CLIENTS, SECOND, Client
from serve.gateways import TOKEN, running
from serve.upstreams import ENVIRONMENT, FORMATS, settings_for

[CODEX] = [client for client in CLIENTS if client.name == "Codex"]
LIMIT = ("-c", "model_auto_compact_token_limit=1000")
SUMMARY = "alpha and beta were printed"


class Summing(Script):
    """A model that writes a summary when it is asked for one."""

    def __init__(self, client: Client) -> None:
        super().__init__(client)
        self.seen: list[str] = []
        """The texts of each request."""

    def __call__(self, request: Request) -> ModelReply | ReplyError:
        texts = [message.text for message in cw.parse(request.body, request.format).messages]
        self.seen.append("\n".join(texts))
        if INSTRUCTIONS in texts[-1]:
            return replace(said(SUMMARY), usage=Usage(100, 10))
        return super().__call__(request)


@pytest.mark.slow
@pytest.mark.parametrize("upstream", [one for one in FORMATS if one != "openai-responses"])
def test_codex_goes_on_from_a_summary(upstream: str, tmp_path: Path) -> None:
    if not installed(CODEX):
        pytest.skip("Codex is not installed; see tests/serve/clients/install.py")
    commands = tuple((*command[:-1], *LIMIT, command[-1]) for command in CODEX.commands)
    client = CODEX._replace(commands=commands)
    script = Summing(client)
    with serving(script) as server:
        script.server = server
        settings = settings_for(upstream, server)
        with running(settings, environment=ENVIRONMENT) as gateway:
            assert list(run(client, gateway.address, TOKEN, tmp_path)) == []
        assert server.refused == []
    (summed_up,) = [number for number, text in enumerate(script.seen) if INSTRUCTIONS in text]
    later = script.seen[summed_up + 1 :]
    assert later
    assert all(f"{HEADING}\n\n{SUMMARY}" in text and SECOND in text for text in later)
