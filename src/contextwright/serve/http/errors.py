"""Errors of the API: one shape for all of them, and the status each has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct
from starlette.responses import Response

from contextwright.errors import (
    BudgetError,
    Conflict,
    ContextwrightError,
    MissingExtra,
    NotFound,
    ParseError,
    StoreBusy,
    StoreFull,
    StoreLost,
)
from contextwright.text.json import encode_json

__all__ = ["ApiError", "ErrorAnswer", "ErrorDetail", "ErrorType", "MEANINGS", "error_answer"]

ErrorType: TypeAlias = Literal[
    "bad_request",
    "unauthorized",
    "forbidden",
    "not_found",
    "method_not_allowed",
    "timeout",
    "conflict",
    "too_large",
    "unsupported_media_type",
    "invalid",
    "budget_too_small",
    "internal",
    "unavailable",
    "overloaded_error",
]

MEANINGS: dict[int, str] = {
    400: "The request cannot be read: broken JSON, or a path or query that is not UTF-8.",
    401: "The token is missing or wrong.",
    403: "The host name is not the gateway's, or the call comes from a page of another site.",
    404: "There is no such conversation, message or record.",
    408: "The body came too slowly.",
    409: "The key or the id is in use for something else.",
    413: "The body is too large.",
    415: "The body is not `application/json`.",
    422: "A value is not valid: `message` says which one and why.",
    500: "An error of the gateway itself.",
    503: "The store or the gateway is busy; try again.",
}
"""The message of each status."""

TYPES: dict[int, ErrorType] = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "timeout",
    409: "conflict",
    413: "too_large",
    415: "unsupported_media_type",
    422: "invalid",
    500: "internal",
    503: "unavailable",
}


class ErrorDetail(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The problem, by its type and in words."""

    type: ErrorType
    message: str
    hint: str = ""
    path: str = ""
    minimum: int | None = None


class ErrorAnswer(Struct, frozen=True):
    """The body of every answer that is an error."""

    error: ErrorDetail


class ApiError(Exception):
    """A refusal with its status; the message never holds content."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}


def error_answer(error: ApiError | ContextwrightError) -> Response:
    """Return the answer for an error."""
    if isinstance(error, ApiError):
        detail = ErrorDetail(type=TYPES[error.status], message=str(error))
        return answered(error.status, detail, error.headers)
    status = status_of(error)
    detail = ErrorDetail(
        type="budget_too_small" if isinstance(error, BudgetError) else TYPES[status],
        message=str(error.args[0]),
        hint=error.hint,
        path=error.path if isinstance(error, ParseError) else "",
        minimum=error.minimum if isinstance(error, BudgetError) else None,
    )
    return answered(status, detail, {"retry-after": "1"} if status == 503 else {})


def status_of(error: ContextwrightError) -> int:
    """Return the status of an error of the library."""
    match error:
        case NotFound():
            return 404
        case Conflict():
            return 409
        case StoreBusy() | StoreFull() | StoreLost() | MissingExtra():
            return 503
        case _:
            return 422


def answered(status: int, detail: ErrorDetail, headers: Mapping[str, str]) -> Response:
    """Return an answer with the details of an error."""
    body = encode_json(ErrorAnswer(detail))
    return Response(body, status, dict(headers), "application/json")
