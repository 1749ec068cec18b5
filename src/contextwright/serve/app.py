"""The gateway as an ASGI application: the four wire APIs on one port."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute
from starlette.routing import Route as Path

from contextwright.context.recipe_files import find as find_recipe
from contextwright.errors import ContextwrightError, ProviderError
from contextwright.formats.replies.events import Event, ReplyError
from contextwright.formats.replies.failures import write_error
from contextwright.formats.replies.reply import gather_partial
from contextwright.messages.changes import Change
from contextwright.providers.base import AnyProvider
from contextwright.providers.http import HttpClient, require_aiohttp
from contextwright.providers.offline import Echo
from contextwright.providers.provider import Provider
from contextwright.providers.retries import Retries
from contextwright.providers.spans import Spans
from contextwright.serve.api.routes import api_of
from contextwright.serve.bodies import (
    TooLarge,
    TooSlow,
    UnknownEncoding,
    decompressed,
    read_body,
)
from contextwright.serve.calls import (
    METHODS,
    OTHER_METHODS,
    UPLOADS,
    Action,
    Call,
    api_asked,
    headers_in,
    leads_elsewhere,
    other_call,
    read_call,
    require_translatable,
)
from contextwright.serve.guard import Guard, Keys
from contextwright.serve.history.continuations import (
    RESPONSES,
    Continuations,
    is_continuable,
    new_id,
    previous_of,
)
from contextwright.serve.history.vault import History, Vault
from contextwright.serve.http.api import ApiLimits, ApiRoute, note
from contextwright.serve.http.stream import while_connected
from contextwright.serve.inspector import page_routes
from contextwright.serve.models import known_models, model_routes
from contextwright.serve.reading import Reading, Readings
from contextwright.serve.recording.passage import Passage
from contextwright.serve.recording.recorder import Recorder, record_of
from contextwright.serve.recording.spans import RequestSpans
from contextwright.serve.relay import relay, without_stand_ins
from contextwright.serve.secrets import keys_in
from contextwright.serve.sessions import session_of
from contextwright.serve.settings import ECHO, GatewaySettings, Route
from contextwright.serve.translate import answer, as_client_reads, count_tokens, cross
from contextwright.store.store import Store
from contextwright.text.json import encode_json

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

__all__ = ["Gateway", "create_app"]

GONE = 499
"""The status of a request whose client went away, as nginx has it."""
BODY_SECONDS = 60.0
"""How long a client may send nothing of a body that is not at its end, as nginx has it."""
UPSTREAM_SECONDS = 3_600.0
"""How long an upstream may send nothing: some models think for half an hour, and how long to wait
for them is the client's to decide. A request ends with its client.
"""
CLOSE = {"connection": "close"}
"""For an answer to a request whose body may still be on its way."""

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]


def create_app(
    settings: GatewaySettings | None = None,
    *,
    token: str = "",
    exposed: bool = False,
    environment: Mapping[str, str] | None = None,
    store: Store | None = None,
    records: Store | None = None,
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
) -> Starlette:
    """Return a gateway with these settings; `environment` holds the keys, else `os.environ`.

    `token` is what clients show wherever the gateway adds a key of its own; without one it never
    does. Where other machines can reach it (`exposed`), all clients show it. With a token, our own
    API serves the `store`. Requests are recorded in `records`, by default the `store`, unless the
    settings say otherwise. Their spans and metrics, if the settings want any, go to the
    `tracer_provider` and the `meter_provider`, by default those of the program.
    """
    keys = os.environ if environment is None else environment
    chosen = settings or GatewaySettings()
    spans = None
    if chosen.telemetry is not None:
        with_content = chosen.telemetry == "content"
        spans = RequestSpans(Spans(tracer_provider, meter_provider), content=with_content)
    gateway = Gateway(chosen, token, exposed, keys, records or store, spans)
    # Tried in this order.
    paths: list[BaseRoute] = [
        *wire_routes(gateway),
        Path("/health", gateway.health),
        Path("/metrics", gateway.show_metrics),
        Path("/api/hello", gateway.health, methods=["GET", "HEAD"]),
        *model_routes(gateway.models),
    ]
    api = None
    if store is not None and token:
        api = api_of(store, token=token, limits=ApiLimits(gateway.settings.max_body_bytes))
        paths += [ApiRoute(api), *page_routes()]
    for prefix in ("/v1", "/v1beta", f"{UPLOADS}/v1beta"):
        paths.append(Path(f"{prefix}/{{rest:path}}", gateway.pass_on, methods=OTHER_METHODS))
    app = Starlette(
        routes=paths,
        middleware=[
            Middleware(
                Guard,
                hosts=gateway.settings.hosts,
                max_requests=gateway.settings.max_requests,
            )
        ],
        lifespan=gateway.lifespan,
    )
    app.state.api = api
    return app


def wire_routes(gateway: Gateway) -> Iterator[BaseRoute]:
    """Yield the paths of the four APIs that ask a model."""
    for prefix in ("/v1", ""):
        yield posted(f"{prefix}/chat/completions", gateway.endpoint("openai-chat"))
        yield posted(f"{prefix}/responses", gateway.endpoint(RESPONSES))
        yield posted(f"{prefix}/responses/compact", gateway.endpoint(RESPONSES, "compact"))
        yield posted(f"{prefix}/messages", gateway.endpoint("anthropic"))
        yield posted(f"{prefix}/messages/count_tokens", gateway.endpoint("anthropic", "count"))
    for prefix in ("/v1beta", "/v1", ""):
        yield posted(f"{prefix}/models/{{method:path}}", gateway.endpoint("gemini"))


def posted(path: str, endpoint: Endpoint) -> Path:
    """Return a path that takes POST."""
    return Path(path, endpoint, methods=["POST"])


class Gateway:
    """The state that all requests share: connections, signatures, recipes."""

    def __init__(
        self,
        settings: GatewaySettings,
        token: str,
        exposed: bool,
        environment: Mapping[str, str],
        records: Store | None = None,
        spans: RequestSpans | None = None,
    ) -> None:
        self.settings = settings
        self.keys = Keys(token, exposed, environment, settings.routes)
        self.client = HttpClient(decompress=False, read_timeout=UPSTREAM_SECONDS)
        self.readings = Readings()
        self.providers: dict[tuple[Route, str], AnyProvider] = {}
        self.recipe = cache(find_recipe)
        self.recorder: Recorder | None = None
        if records is not None and settings.record:
            redact = settings.redact == "content"
            days = settings.keep_days
            self.recorder = Recorder(records, redact=redact, keep_days=days, spans=spans)
        has_content = self.recorder is not None and not self.recorder.redact
        self.vault = Vault(records if has_content else None)
        self.continuations = Continuations(records if has_content else None)

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncGenerator[None, None]:
        """Record while the gateway runs; close all connections at the end."""
        if self.recorder is not None:
            self.recorder.start()
        # It takes a while to import: the first request shall not wait for it.
        warming = asyncio.create_task(asyncio.to_thread(require_aiohttp))
        yield
        await warming
        if self.recorder is not None:
            await self.recorder.close()
        await self.client.close()
        for provider in self.providers.values():
            await provider.close()

    # --- the wire APIs -----------------------------------------------------------------------

    def endpoint(self, format: str, action: Action = "generate") -> Endpoint:
        """Return the function that answers requests of one API."""
        return partial(self.serve, format=format, action=action)

    async def serve(self, request: Request, *, format: str, action: Action) -> Response:
        """Answer one request; every error has the shape of the client's own API."""
        call = None
        method = request.path_params.get("method", "")
        if format == "gemini" and method.rpartition(":")[2] not in METHODS:
            action = "other"
        try:
            call = await self.read(request, format, action)
            return await self.respond(call, request)
        except ProviderError as error:
            kind = error.kind
            reply = ReplyError(kind, str(error), error.status, retry_after=error.retry_after)  # pyright: ignore[reportArgumentType]
            return failure(reply, format, CLOSE if call is None else None)
        except ClientDisconnect:
            return Response(status_code=GONE)  # nobody reads it
        except TooLarge as error:
            return failure(ReplyError("too_large", str(error), 413), format, CLOSE)
        except TooSlow as error:
            return failure(ReplyError("timeout", str(error), 408), format, CLOSE)
        except UnknownEncoding as error:
            return failure(ReplyError("invalid", str(error), 415), format)
        except ContextwrightError as error:
            return failure(ReplyError("invalid", str(error), 400), format)
        except Exception as error:
            note(error)
            return failure(ReplyError("server", "internal error", 500), format)

    async def pass_on(self, request: Request) -> Response:
        """Answer a call that asks no model with what its provider answers."""
        format = api_asked(request.url.path, request.headers)
        return await self.serve(request, format=format, action="other")

    async def models(self, request: Request) -> Response:
        """List the models that are known here, or let the one upstream of a client list its own."""
        format = api_asked(request.url.path, request.headers)
        keys = keys_in(request.headers, request.url.query)
        if self.settings.is_transparent(format) and self.keys.are_own(keys):
            return await self.pass_on(request)
        return known_models(request.path_params.get("model"))

    async def read(self, request: Request, format: str, action: Action) -> Call:
        """Read a request, as long as it is not too large."""
        method = request.path_params.get("method", "")
        headers = headers_in(request.scope["headers"])
        query = request.scope["query_string"].decode()
        if self.keys.exposed:  # strangers cannot make it read bodies
            self.keys.require_token(keys_in(headers, query))
        path = request.scope["raw_path"].decode()
        if action == "other":
            self.require_passing(format, path, keys_in(headers, query))
        sent = await read_body(request.stream(), self.settings.max_body_bytes, BODY_SECONDS)
        if action == "other":
            return other_call(format, request.method, path, headers, query, sent)
        encodings = headers.get("content-encoding", "")
        body = decompressed(sent, encodings, self.settings.max_body_bytes)
        return read_call(format, action, body, headers, query, method, sent=sent)

    async def respond(self, call: Call, request: Request) -> Response:
        """Send a request on: as it is, or in the API of another provider."""
        if call.action == "other":
            route = self.settings.passing(call.format)
            assert route is not None
            work = relay(call, route.host(call.format), self.client, None)
            return await while_connected(request.receive, work)
        route = self.settings.route_for(call.model, call.format)
        shown = keys_in(call.headers, call.query)
        given = shown[0] if shown else ""
        key = self.keys.own_key(route, call.format, shown)
        if route.is_open(call.format):
            call = without_stand_ins(await self.continuations.spelled_out(given, call))
        if call.action == "count":
            if route.is_open(call.format):
                work = relay(call, route.host(call.format), self.client, key)
                return await while_connected(request.receive, work)
            return count_tokens(call)
        passage = self.passage(call, route, (given, key or "", *shown, *self.keys.own))
        try:
            work = self.answer(call, route, key, given, passage)
            response = await while_connected(request.receive, work)
        except (ClientDisconnect, asyncio.CancelledError):  # or the gateway is asked to stop
            if passage is not None:
                passage.end()
            raise
        except Exception as error:
            if passage is not None:
                passage.failed(error)
            raise
        return response if passage is None else await passage.along(response)

    async def answer(
        self, call: Call, route: Route, key: str | None, owner: str, passage: Passage | None
    ) -> Response:
        """Return the answer of a route's upstream to a request."""
        if route.is_open(call.format):
            if passage is not None:
                passage.begin()
            return await relay(call, route.host(call.format), self.client, key)
        require_translatable(call)
        provider = self.provider_for(route, call, key)
        stores = provider.format == RESPONSES and route.upstream != ECHO
        line = (session_of(call) or owner, call.format, call.model)
        reading = self.readings.read(line, call.format, call.fields)
        said = await self.continuations.recalled(owner, reading.said, elsewhere=stores)
        if said is not reading.said:
            reading = replace(reading, said=said, known_trail=None)
        return await self.translate(call, route, provider, owner, reading, passage)

    async def translate(
        self,
        call: Call,
        route: Route,
        provider: AnyProvider,
        owner: str,
        reading: Reading,
        passage: Passage | None,
    ) -> Response:
        """Return the answer of another API's upstream; keep what the client cannot send back."""
        model = route.send_as or call.model
        history = History(owner, route.upstream, provider.format, model, reading)
        if passage is not None:
            passage.begin(history.next_place if history.may_be_signed else None)
        whole = await self.vault.restored(history)
        recipe = None if route.recipe is None else self.recipe(route.recipe)
        crossing = cross(call, reading.said, whole, route, recipe)
        if passage is not None:
            passage.translated(crossing)

        # A request that continues an answer known to the upstream alone is not whole here.
        continuable = is_continuable(reading.said) and not previous_of(reading.said)
        id = new_id(owner, await passage.numbered() if passage and continuable else 0)

        def keep(events: list[Event]) -> None:
            if history.may_be_signed:
                message = gather_partial(events, provider.format).message
                signed = self.vault.keep(history, message)
                if passage is not None:
                    passage.signed = signed
            if continuable:
                reply = as_client_reads(events, provider.format, call, reading.said, id)
                self.continuations.keep(owner, reading.said, reply, len(call.body))

        def report(changes: Sequence[Change]) -> None:
            if passage is not None:
                passage.changed(changes)

        return await answer(crossing, provider, id, keep, report)

    def passage(self, call: Call, route: Route, keys: Sequence[str]) -> Passage | None:
        """Follow a request for the record; None if it is not recorded."""
        recorder = self.recorder
        return recorder and recorder.follow(call, record_of(call, route), keys)

    def require_passing(self, format: str, path: str, shown: Sequence[str]) -> None:
        """Refuse a call that asks no model, unless its provider decides by the client's own key.

        Raises:
            ProviderError: nobody here has such a path.
        """
        passes = self.settings.passing(format) is not None and self.keys.are_own(shown)
        if not passes or leads_elsewhere(path):
            raise ProviderError("there is no such path", kind="not_found", status=404)

    def provider_for(self, route: Route, call: Call, key: str | None) -> AnyProvider:
        """Return the upstream of a route, with its connections."""
        known = self.providers.get((route, call.format))
        if known is None:
            if route.upstream == ECHO:
                known = Echo(call.format)
            else:
                # Whether to try again is the client's to decide.
                known = Provider(
                    route.host(call.format),
                    key,
                    retries=Retries(limit=0),
                    read_timeout=UPSTREAM_SECONDS,
                )
            self.providers[route, call.format] = known
        return known

    # --- small answers -----------------------------------------------------------------------

    async def health(self, _: Request) -> Response:
        """Say that the gateway runs."""
        return PlainTextResponse("ok")

    async def show_metrics(self, request: Request) -> Response:
        """Return the metrics since the start to clients that show the token."""
        if not self.keys.is_token_in(keys_in(request.headers, "")):
            return PlainTextResponse(
                "show the gateway's token", 401, {"www-authenticate": "Bearer"}
            )
        if self.recorder is None:
            return PlainTextResponse("nothing is recorded", 404)
        text = self.recorder.metrics.text(self.recorder.held_bytes)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")


def failure(
    error: ReplyError, format: str, more_headers: Mapping[str, str] | None = None
) -> Response:
    """Return an error in the shape of the client's own API."""
    status, headers, body = write_error(error, format)
    return Response(encode_json(body), status, {**headers, **(more_headers or {})})
