"""Errors of providers, read and written in each dialect.

One table gives each kind of error its status and its name in each format, so that any provider's
error can be written for any client.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import ceil
from typing import Any, NamedTuple

import msgspec

from contextwright import formats
from contextwright.errors import require, shown
from contextwright.formats.replies.events import ErrorKind, ReplyError
from contextwright.messages.times import with_zone
from contextwright.messages.validation import refuse
from contextwright.text.json import decode_json
from contextwright.wire.values import is_list, is_object

__all__ = [
    "BAD_GATEWAY",
    "WrittenError",
    "error_body",
    "error_of",
    "openai_code",
    "read_error",
    "write_error",
]


class Names(NamedTuple):
    """The names of one kind of error."""

    status: int
    anthropic: str
    openai: str
    gemini: str
    openai_code: str | None = None


BAD_GATEWAY = 502
NAMES: dict[ErrorKind, Names] = {
    "invalid": Names(400, "invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"),
    "authentication": Names(
        401, "authentication_error", "invalid_request_error", "UNAUTHENTICATED", "invalid_api_key"
    ),
    "billing": Names(
        402, "billing_error", "insufficient_quota", "FAILED_PRECONDITION", "insufficient_quota"
    ),
    "permission": Names(403, "permission_error", "permission_error", "PERMISSION_DENIED"),
    "not_found": Names(404, "not_found_error", "invalid_request_error", "NOT_FOUND", "not_found"),
    "timeout": Names(504, "timeout_error", "server_error", "DEADLINE_EXCEEDED", "timeout"),
    "too_large": Names(
        413, "request_too_large", "invalid_request_error", "INVALID_ARGUMENT", "request_too_large"
    ),
    "rate_limit": Names(
        429, "rate_limit_error", "rate_limit_error", "RESOURCE_EXHAUSTED", "rate_limit_exceeded"
    ),
    "overloaded": Names(529, "overloaded_error", "server_error", "UNAVAILABLE", "overloaded"),
    "server": Names(500, "api_error", "server_error", "INTERNAL", "server_error"),
    "connection": Names(502, "api_error", "server_error", "UNAVAILABLE", "bad_gateway"),
}
"""The HTTP status of each kind of error, and its name in each dialect."""
STATUSES: dict[int, ErrorKind] = {
    **{names.status: kind for kind, names in NAMES.items()},
    408: "timeout",
    502: "server",
    503: "overloaded",
}
WORDS: dict[str, ErrorKind] = {
    **{names.anthropic: kind for kind, names in reversed(NAMES.items())},
    **{names.gemini: kind for kind, names in reversed(NAMES.items())},
    **{names.openai_code: kind for kind, names in NAMES.items() if names.openai_code},
    "server_error": "server",
    "insufficient_quota": "billing",
    "model_not_found": "not_found",
    "tokens": "rate_limit",
    "requests": "rate_limit",
    "too_many_requests": "rate_limit",
    "server_is_overloaded": "overloaded",
    "slow_down": "overloaded",
    "invalid_prompt": "invalid",
    "context_length_exceeded": "invalid",
    "UNAVAILABLE": "overloaded",
    "api_error": "server",
    "OUT_OF_RANGE": "invalid",
    "ABORTED": "server",
    "UNKNOWN": "server",
}
"""Words that identify an error within a stream, which has no status."""
CODES = ("context_length_exceeded", "insufficient_quota", "invalid_prompt", "model_not_found")
"""Codes of OpenAI that its clients act on, as on the first one by writing a summary."""
DURATION = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)s").fullmatch
RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"


class WrittenError(NamedTuple):
    """An error as an HTTP response."""

    status: int
    headers: dict[str, str]
    body: dict[str, Any]


# --- reading ---------------------------------------------------------------------------------


def read_error(
    status: int, headers: Mapping[str, str], body: bytes | str, *, now: datetime | None = None
) -> ReplyError:
    """Read the error of an HTTP response in any dialect."""
    require(status, int, "status")
    require(headers, Mapping, "headers")
    require(body, bytes | str, "body")
    require(now, datetime | None, "now", "pass a datetime")
    try:
        value = decode_json(body) if body else None
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        value = None
    error = error_of(value)
    wait = retry_after(headers, now or datetime.now(UTC))
    if error is None:
        words = body.decode(errors="replace") if isinstance(body, bytes) else body
        message = shown(words.strip()) if words.strip() else f"HTTP status {status}"
        return ReplyError(kind_of(status, ()), message, status, None, wait)
    return msgspec.structs.replace(
        error,
        kind=kind_of(status, (error.type or "",)),
        status=status,
        retry_after=wait if wait is not None else error.retry_after,
    )


def error_of(value: Any) -> ReplyError | None:
    """Read the error in a body or stream event; return None if there is none."""
    if is_list(value) and value:
        value = value[0]
    if not is_object(value):
        return None
    held = value.get("error")
    if isinstance(held, str):
        held = {"message": held}
    if not is_object(held):
        return None
    words = [held.get(key) for key in ("code", "status", "type")]
    code = next((word for word in words if type(word) is int and 0 < word < 1_000), None)
    named = [word for word in words if isinstance(word, str) and word]
    kind = kind_of(code, named)
    message = held.get("message")
    return ReplyError(
        kind,
        message if isinstance(message, str) and message else shown(held),
        code or NAMES[kind].status,
        next((word for word in named if word in WORDS), named[0] if named else None),
        retry_delay(held.get("details")),
    )


def kind_of(status: int | None, words: list[str] | tuple[str, ...]) -> ErrorKind:
    """Return the kind of an error from its status, else from the provider's words."""
    for word in words:
        if word in ("insufficient_quota", "billing_error"):
            return "billing"
    if status is not None and is_refusal(status):
        if status in STATUSES:
            return STATUSES[status]
        return "server" if status >= 500 else "invalid"
    for word in words:
        if word in WORDS:
            return WORDS[word]
    return "server"


def is_refusal(status: int) -> bool:
    """Whether an HTTP status is one of an error; a redirect or an error code of a host is not."""
    return 400 <= status < 600


def retry_delay(details: Any) -> float | None:
    """Return the delay that Gemini states in the details of an error."""
    for detail in details if is_list(details) else ():
        delay = detail.get("retryDelay") if is_object(detail) else None
        found = DURATION(delay) if isinstance(delay, str) else None
        if found:
            return float(found[1])
    return None


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds to wait that the headers ask for, as a number or a date."""
    given = {str(name).lower(): str(value).strip() for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            wait = float(given.get(name, "")) / unit
        except ValueError:
            continue
        if 0 <= wait < float("inf"):
            return wait
    try:
        moment = parsedate_to_datetime(given.get("retry-after", ""))
    except ValueError:
        return None
    return max(0.0, (with_zone(moment) - with_zone(now)).total_seconds())


# --- writing ---------------------------------------------------------------------------------


def write_error(error: ReplyError, format: str) -> WrittenError:
    """Write an error as an HTTP response in this format.

    Only Anthropic has the status 529; the others use 503. A status that is not one of an error,
    such as that of a redirect, is not passed on.
    """
    formats.find(format)
    require(error, ReplyError, "error")
    refuse(error, ReplyError, "error", None)
    status = status_of(error)
    if status == 529 and format != "anthropic":
        status = 503
    headers = {"content-type": "application/json"}
    if error.retry_after is not None:
        headers.update(waiting(error.retry_after))
    return WrittenError(status, headers, error_body(error, format, status))


def waiting(seconds: float) -> dict[str, str]:
    """Return the headers that tell a client how long to wait.

    HTTP has whole seconds; the vendors' clients take milliseconds too.
    """
    headers = {"retry-after": str(ceil(seconds))}
    if seconds % 1:
        headers["retry-after-ms"] = str(round(seconds * 1_000))
    return headers


def status_of(error: ReplyError) -> int:
    """Return the HTTP status of an error: its own, or the usual one of its kind.

    A redirect, or an answer without content, is none that a gateway can pass on.
    """
    own = error.status
    if own is not None and is_refusal(own):
        return own
    is_answer = own is not None and error.kind == "server"
    return BAD_GATEWAY if is_answer else NAMES[error.kind].status


def error_body(error: ReplyError, format: str, status: int | None = None) -> dict[str, Any]:
    """Return the JSON of an error in a format; streams carry the same JSON in an event."""
    names = NAMES[error.kind]
    if format == "anthropic":
        held: dict[str, Any] = {"type": names.anthropic, "message": error.message}
        return {"type": "error", "error": held}
    if format == "gemini":
        code = status or status_of(error)
        held = {"code": 503 if code == 529 else code, "message": error.message}
        held["status"] = names.gemini
        if error.retry_after is not None:
            seconds = f"{error.retry_after:.9f}".rstrip("0").rstrip(".")
            held["details"] = [{"@type": RETRY_INFO, "retryDelay": f"{seconds}s"}]
        return {"error": held}
    held = {"message": error.message, "type": names.openai, "param": None}
    return {"error": {**held, "code": openai_code(error)}}


def openai_code(error: ReplyError) -> str | None:
    """Return the code that OpenAI has for an error: its own, or that of the kind."""
    return error.type if error.type in CODES else NAMES[error.kind].openai_code
