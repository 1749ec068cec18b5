"""A gateway that listens on a port of its own, and clients that speak to it."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any, NamedTuple

from starlette.applications import Starlette

from contextwright.serve import GatewaySettings, create_app
from contextwright.serve.server import GatewayServer
from contextwright.store import Store

TOKEN = "gateway-token-0123456789"
PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
}
KEY_NAMES = {"anthropic": "x-api-key", "gemini": "x-goog-api-key"}


class Answer(NamedTuple):
    """What a client is answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Running(NamedTuple):
    """A gateway on a port."""

    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self,
        path: str,
        body: bytes | Mapping[str, Any] = b"",
        headers: Mapping[str, str] | None = None,
        method: str = "POST",
    ) -> Answer:
        """Send a request as it stands."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, path, data, dict(headers or {}))
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        answer = Answer(response.status, found, response.read())
        connection.close()
        return answer

    def generate(
        self,
        format: str,
        payload: Mapping[str, Any],
        *,
        model: str,
        streams: bool = False,
        key: str = TOKEN,
    ) -> Answer:
        """Ask a model, as a client of a format does."""
        name = KEY_NAMES.get(format, "authorization")
        headers = {name: key if name != "authorization" else f"Bearer {key}"}
        if format == "gemini":
            method = "streamGenerateContent?alt=sse" if streams else "generateContent"
            return self.ask(f"/v1beta/models/{model}:{method}", payload, headers)
        if format == "anthropic":
            headers["anthropic-version"] = "2023-06-01"
        body = {**payload, "model": model, **({"stream": True} if streams else {})}
        return self.ask(PATHS[format], body, headers)


class PromptServer(GatewayServer):
    """Looks often whether it should end: most tests end one or more of them."""

    async def main_loop(self) -> None:
        while not await self.on_tick(0):
            await asyncio.sleep(0.005)


@contextmanager
def running(
    settings: GatewaySettings | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    exposed: bool = False,
    store: Store | None = None,
) -> Iterator[Running]:
    """A gateway while the block runs."""
    app = create_app(
        settings, token=TOKEN, exposed=exposed, environment=environment or {}, store=store
    )
    with listening(app) as gateway:
        yield gateway


@contextmanager
def listening(app: Starlette) -> Iterator[Running]:
    """An application that listens on a port of its own while the block runs."""
    server = PromptServer(app, port=0, log_level="error")
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield Running(server.servers[0].sockets[0].getsockname()[1])
    finally:
        server.should_exit = True
        thread.join()
