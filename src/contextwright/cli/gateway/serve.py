"""`cw serve`: a gateway between clients of the four wire APIs and any provider."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from socket import AF_INET, AF_INET6, create_server, socket
from typing import TYPE_CHECKING, Annotated, Any

from msgspec.structs import replace

from contextwright.cli.locations import make_own_folder
from contextwright.cli.options import Option, StoreOptions
from contextwright.cli.output import note
from contextwright.cli.stores import opened
from contextwright.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    from contextwright.serve import GatewaySettings

__all__ = ["listening", "serve"]

NAME_THE_HOST = 'name this one in the routes file: hosts = ["gateway.example"]'

RoutesFile = Annotated[
    str | None,
    Option("--routes", metavar="FILE.toml", help="File with routes: which models go where."),
]
TokenFile = Annotated[
    str | None,
    Option("--token-file", metavar="FILE", help="File with the gateway's token; made if missing."),
]


def serve(
    where: StoreOptions,
    host: Annotated[
        str, Option("--host", metavar="ADDRESS", help="Address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, Option("--port", "-p", min=0, max=65535, help="Port to listen on.")
    ] = 8042,
    routes: RoutesFile = None,
    token_file: TokenFile = None,
) -> int:
    """Run a gateway between clients and any provider.

    Serves the four wire APIs, and sends each request to the provider that its model's route
    names. If that provider speaks the client's own API, the request goes through byte for byte,
    with the client's key. Any other is translated, and sent with the gateway's key; the client
    then sends the gateway's token in place of its key. The model `echo` needs neither. On an
    address that other machines can reach, every request needs the token. Requests and answers are
    recorded in the store, without keys, unless the routes file says `record = false`: see
    cw requests. With the token, the store is served below /api/v1.

    \b
    cw serve
    cw serve --routes gateway.toml --port 9000
    curl localhost:8042/v1/chat/completions \\
      -d '{"model":"echo","messages":[{"role":"user","content":"hello"}]}'
    """
    try:
        from contextwright.serve import GatewaySettings, create_app, read_settings
        from contextwright.serve.guard import own_token
        from contextwright.serve.server import GatewayServer
    except ImportError as error:
        raise MissingExtra("a gateway", "serve") from error
    settings = read_settings(routes) if routes else GatewaySettings()
    exposed = is_exposed(host, settings)
    path = Path(token_file) if token_file else make_own_folder() / "gateway-token"
    if where.store is None:
        where = replace(where, store=settings.store)
    with (
        listening(host, port) as listener,
        opened(where) as store,
        # No answer waits for a disk: a loss of power may take the records of the last moments.
        opened(where, sync="fast") as records,
    ):
        app = create_app(
            settings,
            token=own_token(path),
            exposed=exposed,
            store=store,
            records=records,
            **(collectors() if settings.telemetry else {}),
        )
        note(f"cw: listening on http://{host}:{listener.getsockname()[1]} (token in {path})")
        prioritise_streams()
        GatewayServer(app).run(sockets=[listener])
    return 0


def is_exposed(host: str, settings: GatewaySettings) -> bool:
    """Whether other machines can reach an address.

    Raises:
        UsageError: they can, and the settings do not say by which names.
    """
    from contextwright.serve.guard import is_loopback

    if is_loopback(host):
        return False
    if not settings.hosts:
        raise UsageError(f"{host} can be reached from other machines", hint=NAME_THE_HOST)
    return True


def collectors() -> dict[str, Any]:
    """Return where spans and measures go."""
    from contextwright.serve.recording.spans import measure_to_collector, send_to_collector

    return {"tracer_provider": send_to_collector(), "meter_provider": measure_to_collector()}


def prioritise_streams() -> None:
    """Let pieces of answers go on at once while requests are recorded beside them.

    The thread that records hands over after 2 ms, not 5, because the loop has to wait for that with
    each piece that it reads; a shorter time costs CPU for handing over. Objects that live as long
    as the process are not looked at again when garbage is collected, and that is done less often.
    """
    sys.setswitchinterval(0.002)
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


def listening(host: str, port: int) -> socket:
    """Return a socket that listens there; port 0 means any free one.

    Raises:
        UsageError: the address is in use, or does not belong to this machine.
    """
    try:
        return create_server((host, port), family=AF_INET6 if ":" in host else AF_INET)
    except OSError as error:
        raise UsageError(f"{host}:{port}: {error.strerror}", hint="--port N") from error
