"""Recorded requests: the list, one with its receipt, its bodies, replay in another format."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct, field

from contextwright.context.receipt import Unit, encoded_steps, units_of
from contextwright.documents.read import decode
from contextwright.errors import NotFound, ParseError, Problem
from contextwright.formats import FormatName
from contextwright.formats.api import check, convert, count
from contextwright.messages.changes import Change
from contextwright.models import find as find_model
from contextwright.serve.api.programs import ProgramKind, program_of
from contextwright.serve.http.fields import MAX_NUMBER, ConversationId, Limit, ModelName
from contextwright.serve.http.operation import Lines
from contextwright.store.requests import BodyKind, RecordedRequest
from contextwright.store.store import Store
from contextwright.tokens.count import Count
from contextwright.wire.values import is_object

__all__ = [
    "export_request",
    "get_request",
    "get_request_body",
    "list_requests",
    "replay_request",
    "sent_payload",
]


class RequestsQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which recorded requests to list."""

    conversation: ConversationId | None = None
    before: (
        Annotated[int, Meta(ge=1, le=MAX_NUMBER, description="List those before this number.")]
        | None
    ) = None
    limit: Limit = 50


class RequestPage(Struct, frozen=True):
    """Recorded requests, newest first; `next` is `before` of the next page."""

    requests: list[RecordedRequest]
    next: int | None


class RecordedQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which recorded request."""

    request: Annotated[int, Meta(ge=1, le=MAX_NUMBER, description="Number of a request.")]


class RequestBodyQuery(RecordedQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which body of a recorded request."""

    part: Annotated[BodyKind, Meta(description="The client's, the upstream's, or the reply.")] = (
        "request"
    )


class ReplayQuery(RecordedQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A recorded request in another format."""

    format: FormatName
    model: ModelName | None = None


class ProgramQuery(RecordedQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A recorded request as a program."""

    kind: Annotated[ProgramKind, Meta(description="Language of the program.")] = field(
        name="as", default="curl"
    )


class RequestReceipt(Struct, frozen=True, kw_only=True):
    """A recorded request with what the provider was sent; without a body, only its figures."""

    request: RecordedRequest
    payload: Any
    count: Count | None
    units: list[Unit]
    problems: list[Problem]


class ReplayAnswer(Struct, frozen=True):
    """The request as it would have been, and what had to change."""

    payload: Any
    changes: list[Change]


def list_requests(store: Store, query: RequestsQuery) -> RequestPage:
    """List the requests that passed through the gateway, newest first."""
    found = store.requests(query.conversation, limit=query.limit + 1, before=query.before)
    page = found[: query.limit]
    return RequestPage(page, page[-1].number if len(found) > query.limit else None)


def get_request(store: Store, query: RecordedQuery) -> RequestReceipt:
    """Return a recorded request with its receipt: what was sent, counted and checked."""
    try:
        record, payload, format = sent_payload(store, query.request)
    except NotFound:
        record = store.request(query.request)
        return RequestReceipt(request=record, payload=None, count=None, units=[], problems=[])
    model = find_model(record.sent_model)
    counted = count(payload, model=model, format=format)
    return RequestReceipt(
        request=record,
        payload=payload,
        count=counted,
        units=list(units_of(encoded_steps(payload), counted.places)),
        problems=check(payload, format, model=model),
    )


def get_request_body(store: Store, query: RequestBodyQuery) -> Lines:
    """Return a body of a recorded request, byte for byte."""
    body = getattr(store.request_bodies(query.request), query.part)
    if body is None:
        raise NotFound(f"the {query.part} body of request {query.request} is not kept")
    return iter([body])


def replay_request(store: Store, query: ReplayQuery) -> ReplayAnswer:
    """Return a recorded request as it would have been in another format. Nothing is sent."""
    record = store.request(query.request)
    payload = payload_of(store.request_bodies(query.request).request)
    if payload is None:
        raise NotFound(f"the body of request {query.request} is not kept")
    found = convert(payload, record.format, query.format, model=query.model)
    return ReplayAnswer(found.payload, list(found.changes))


def export_request(store: Store, query: ProgramQuery) -> Lines:
    """Return a recorded request as a curl command, a Python script or a test.

    It goes to the provider itself, with the key from the environment.
    """
    record, payload, _ = sent_payload(store, query.request)
    return iter([program_of(query.kind, record, payload).encode()])


def sent_payload(store: Store, number: int) -> tuple[RecordedRequest, dict[str, Any], str]:
    """Return a recorded request, what the provider was sent, and its format.

    Raises:
        NotFound: there is no such request, or its body is not kept.
    """
    record, bodies = store.request(number), store.request_bodies(number)
    translated = bodies.upstream is not None
    payload = payload_of(bodies.upstream if translated else bodies.request)
    if not is_object(payload):
        raise NotFound(f"the body of request {number} is not kept, or is not JSON")
    return record, payload, record.upstream_format if translated else record.format


def payload_of(body: bytes | None) -> Any:
    """Return a body as JSON; None if there is none, or if it is something else."""
    if body is None:
        return None
    try:
        return decode(body)
    except ParseError:
        return None
