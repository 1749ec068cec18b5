"""The API as an ASGI application: token, route, decoding, and work in threads."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast
from urllib.parse import parse_qsl, unquote_to_bytes

import msgspec
from anyio import CapacityLimiter, to_thread
from msgspec import Struct
from starlette.concurrency import iterate_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from contextwright.documents.read import decode
from contextwright.errors import ContextwrightError, ParseError
from contextwright.serve.bodies import TooLarge, UnknownEncoding, decompressed
from contextwright.serve.guard import same_token
from contextwright.serve.http.errors import ApiError, error_answer
from contextwright.serve.http.openapi import describe
from contextwright.serve.http.operation import JSON, Operation
from contextwright.text.fields import wrong_value
from contextwright.text.json import convert, encode_json

__all__ = ["PREFIX", "Api", "ApiLimits", "ApiRoute", "note"]

PREFIX = "/api/v1"
DOCUMENT = "/openapi.json"
THREADS = 8
"""Calls that are worked on at once; others wait for their turn."""
MAX_PARAMETERS = 64
DOTS = re.compile(r"~+\.{1,2}")
"""Names of dots in a path have a tilde before them, because browsers resolve bare dots."""
WITHOUT_TOKEN = {"www-authenticate": "Bearer"}

log = logging.getLogger("contextwright.serve")


class ApiLimits(Struct, frozen=True):
    """Limits of a call."""

    body_bytes: int = 64 << 20
    upload_bytes: int = 1 << 30
    """Maximum size of a file to import; it is written to disk as it comes."""
    body_seconds: float = 60.0
    """Maximum time for a body; for a file, the time between two pieces of it."""


class Api:
    """Answers calls below `/api/v1`; each one shows the token."""

    def __init__(
        self,
        operations: tuple[Operation, ...],
        shared: Mapping[str, Any],
        *,
        token: str,
        limits: ApiLimits | None = None,
        stop: Callable[[], None] = lambda: None,
    ) -> None:
        self.operations = operations
        self.stop = stop
        """Ends the answers that never end by themselves."""
        self.shared = shared
        """Arguments of operations besides those of the call, by name."""
        self.token = token
        self.limits = limits or ApiLimits()
        self.threads = CapacityLimiter(THREADS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one call."""
        request = Request(scope, receive)
        try:
            self.require_token(request)
            response = await self.answer(request)
        except (ApiError, ContextwrightError) as error:
            response = error_answer(error)
        except ClientDisconnect:
            return
        except Exception as error:
            note(error)
            response = error_answer(ApiError(500, "internal error"))
        response.headers["cache-control"] = "no-store"
        response.headers["x-content-type-options"] = "nosniff"
        await response(scope, receive, send)

    async def answer(self, request: Request) -> Response:
        """Find the operation, decode what it takes, run it, and encode what it gives."""
        if request.scope["path"] == DOCUMENT:
            return self.document(request)
        operation, fields = self.find(request)
        given = dict(self.shared)
        query = request.scope["query_string"].decode("latin-1")
        if operation.query is not None:
            given["query"] = read_query(operation.query, fields, query)
        elif query:
            raise ApiError(422, "this route has no parameters")
        if operation.body is not None:
            given["body"] = read_body(operation.body, await self.json_body(request))
        if not operation.upload:
            return await self.run(operation, given)
        with TemporaryDirectory(prefix="contextwright-") as folder:
            given["file"] = Path(folder) / "upload"
            await self.save(request, given["file"])
            return await self.run(operation, given)

    def document(self, request: Request) -> Response:
        """Return the OpenAPI document."""
        if request.method != "GET":
            raise ApiError(405, "this route takes GET", {"allow": "GET"})
        return Response(self.description, media_type=JSON)

    @cached_property
    def description(self) -> bytes:
        """The OpenAPI document as JSON."""
        return encode_json(describe(self.operations, PREFIX))

    async def run(self, operation: Operation, given: Mapping[str, Any]) -> Response:
        """Run an operation in a thread."""
        arguments = {name: given[name] for name in operation.takes}
        if operation.waits:
            stream = await operation.run(**arguments)
            return StreamingResponse(stream, operation.status, media_type=operation.media)
        call = partial(operation.run, **arguments)
        result = await to_thread.run_sync(call, limiter=self.threads)
        if operation.answer is None:
            return Response(status_code=204)
        if not operation.streams:
            body = await to_thread.run_sync(encode_json, result, limiter=self.threads)
            return Response(body, operation.status, media_type=JSON)
        return StreamingResponse(flowing(result), operation.status, media_type=operation.media)

    # --- what a call says --------------------------------------------------------------------

    def require_token(self, request: Request) -> None:
        """Refuse a call without the token."""
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not same_token(given.strip(), self.token):
            raise ApiError(401, "this route needs the gateway's token", WITHOUT_TOKEN)

    def find(self, request: Request) -> tuple[Operation, dict[str, str]]:
        """Return the operation of a call, and the fields in its path.

        The path is split before it is decoded, so that a name may hold a slash.
        """
        raw = cast("bytes", request.scope.get("raw_path") or request.scope["path"].encode())
        steps = raw.removeprefix(PREFIX.encode()).strip(b"/").split(b"/")
        fitting = [one for one in self.operations if fits(one.segments, steps)]
        # A plain segment goes before one in braces.
        fitting.sort(key=lambda one: [step.startswith("{") for step in one.segments])
        fitting = [one for one in fitting if one.segments == fitting[0].segments]
        for one in fitting:
            if one.method == request.method:
                return one, path_fields(one, steps)
        if fitting:
            allowed = ", ".join(sorted(one.method for one in fitting))
            raise ApiError(405, f"this route takes {allowed}", {"allow": allowed})
        raise ApiError(404, "there is no such route")

    async def json_body(self, request: Request) -> bytes:
        """Return the JSON of a request."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != JSON:
            raise ApiError(415, f"the body has to be {JSON}")
        body = bytearray()
        async with self.patience():
            async for chunk in self.chunks(request, self.limits.body_bytes):
                body += chunk
        encodings = request.headers.get("content-encoding", "")
        try:
            return decompressed(bytes(body), encodings, self.limits.body_bytes)
        except UnknownEncoding as error:
            raise ApiError(415, str(error)) from None
        except TooLarge as error:
            raise ApiError(413, str(error)) from None

    async def save(self, request: Request, path: Path) -> None:
        """Write the body of a request to a file as it comes."""
        with path.open("xb") as file:
            async for chunk in self.chunks(request, self.limits.upload_bytes):
                await to_thread.run_sync(file.write, chunk, limiter=self.threads)

    async def chunks(self, request: Request, limit: int) -> AsyncIterator[bytes]:
        """Yield the body of a request, as long as it is not too large and keeps coming."""
        size = 0
        stream = aiter(request.stream())
        while True:
            async with self.patience():
                chunk = await anext(stream, b"")
            size += len(chunk)
            if size > limit:
                raise ApiError(413, f"more than {limit:,} bytes", {"connection": "close"})
            if not chunk:
                return
            yield chunk

    @asynccontextmanager
    async def patience(self) -> AsyncGenerator[None]:
        """Refuse a client that takes too long."""
        try:
            async with asyncio.timeout(self.limits.body_seconds):
                yield
        except TimeoutError:
            raise ApiError(408, "the body came too slowly", {"connection": "close"}) from None


class ApiRoute(BaseRoute):
    """All paths of the API, whatever characters are in them."""

    def __init__(self, api: Api) -> None:
        self.api = api

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a call is one of the API."""
        path = scope.get("path", "")
        ours = path in (PREFIX, DOCUMENT) or path.startswith(f"{PREFIX}/")
        return (Match.FULL if ours and scope["type"] == "http" else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a call."""
        await self.api(scope, receive, send)


def fits(segments: tuple[str, ...], steps: list[bytes]) -> bool:
    """Return whether a path belongs to a route; a field is never empty."""
    if len(segments) != len(steps):
        return False
    pairs = zip(segments, steps, strict=True)
    return all(step if want.startswith("{") else want.encode() == step for want, step in pairs)


def path_fields(operation: Operation, steps: list[bytes]) -> dict[str, str]:
    """Return the fields in a path, decoded; they are names and never paths."""
    fields: dict[str, str] = {}
    for want, step in zip(operation.segments, steps, strict=True):
        if want.startswith("{"):
            try:
                text = unquote_to_bytes(step).decode()
            except UnicodeDecodeError:
                raise ApiError(400, "the path is not UTF-8") from None
            fields[want[1:-1]] = text[1:] if DOTS.fullmatch(text) else text
    return fields


def read_query(type: type[Struct], fields: dict[str, str], query: str) -> Struct:
    """Return the parameters of a call: those in its path, and those behind the question mark."""
    found = dict(fields)
    try:
        pairs = parse_qsl(
            query,
            keep_blank_values=True,
            strict_parsing=bool(query),
            errors="strict",
            max_num_fields=MAX_PARAMETERS,
        )
    except ValueError:
        raise ApiError(400, "the query cannot be read") from None
    for name, value in pairs:
        if name in found:
            raise ApiError(422, "a parameter is given twice")
        found[name] = value
    return checked(found, type, strict=False)


def read_body(type: Any, data: bytes) -> Any:
    """Return the body of a call."""
    try:
        value = decode(data)
    except ParseError as error:
        raise ApiError(400, f"the body is not valid JSON: {error}") from None
    return checked(value, type, strict=True)


def checked(value: Any, type: Any, *, strict: bool) -> Any:
    """Return a value as a type; the error says which part of it is something else."""
    try:
        return convert(value, type, strict=strict)
    except msgspec.ValidationError as error:
        raise wrong_value(value, type, error) from None


async def flowing(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the pieces of an answer as they are made, each in a thread.

    Raises:
        BrokenAnswer: one of them could not be made; the client sees an answer without an end.
    """
    try:
        async for piece in iterate_in_threadpool(pieces):
            yield piece
    except Exception as error:
        note(error)
        raise BrokenAnswer from None


class BrokenAnswer(Exception):
    """An answer broke off; the server's log holds nothing of its content."""


def note(error: Exception) -> None:
    """Log where an error happened, and not its message, because that may hold content."""
    log.error("%s in %s", type(error).__name__, place_of(error))


def place_of(error: BaseException) -> str:
    """Return the file and line where an error was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "?"
    return f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
