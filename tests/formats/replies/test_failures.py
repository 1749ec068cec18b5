"""The kind of a provider's error, which says whether to try again."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from math import ceil
from typing import Any, get_args

import pytest

from contextwright.formats.replies.events import ErrorEvent, ErrorKind, ReplyError
from contextwright.formats.replies.failures import (
    WORDS,
    error_body,
    error_of,
    read_error,
    write_error,
)
from contextwright.formats.replies.streams import write_stream
from contextwright.text.json import decode_json, encode_json
from golden_files import compare_digests

FORMATS = ("anthropic", "gemini", "openai-chat", "openai-responses")
KINDS = {
    204: "server",
    302: "server",
    400: "invalid",
    401: "authentication",
    402: "billing",
    403: "permission",
    404: "not_found",
    408: "timeout",
    409: "invalid",
    413: "too_large",
    418: "invalid",
    422: "invalid",
    429: "rate_limit",
    500: "server",
    502: "server",
    503: "overloaded",
    504: "timeout",
    520: "server",
    529: "overloaded",
}


@pytest.mark.parametrize(("status", "kind"), KINDS.items())
def test_a_status_tells_the_kind(status: int, kind: str) -> None:
    error = read_error(status, {}, b"<html>no</html>")
    assert (error.status, error.kind) == (status, kind)


CODES = ("server_error", "rate_limit_exceeded", "bad_gateway")


@pytest.mark.parametrize("format", ["anthropic", "gemini", "openai-chat", "openai-responses"])
@pytest.mark.parametrize("status", [-1, 0, 3, 204, 302, 99_999])
def test_only_the_status_of_an_error_is_written(format: str, status: int) -> None:
    kinds: dict[ErrorKind, int] = {"server": 502, "rate_limit": 429, "connection": 502}
    for kind, usual in kinds.items():
        written = write_error(ReplyError(kind, "No", status), format)
        assert written.status == usual
        assert written.body["error"].get("code") in (usual, None, *CODES)


def test_a_code_that_is_no_status_leaves_the_words() -> None:
    body = b'{"error": {"code": 8, "status": "RESOURCE_EXHAUSTED", "message": "no"}}'
    assert error_of(decode_json(body)) == ReplyError("rate_limit", "no", 8, "RESOURCE_EXHAUSTED")


def test_words_on_money_tell_more_than_the_status() -> None:
    body = b'{"error": {"code": "insufficient_quota", "message": "no"}}'
    assert read_error(429, {}, body).kind == "billing"


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses"])
@pytest.mark.parametrize("code", ["context_length_exceeded", "model_not_found", "invalid_prompt"])
def test_a_code_that_openai_s_clients_act_on_arrives(code: str, target: str) -> None:
    held = {"code": code, "type": "invalid_request_error", "message": "no", "param": None}
    error = read_error(400, {}, encode_json({"error": held}))
    assert write_error(error, target).body["error"] == held
    data = b"".join(write_stream([ErrorEvent(error)], target))
    assert f'"code":"{code}"'.encode() in data


def test_an_error_in_gemini_s_words() -> None:
    busy = ReplyError("overloaded", "No", retry_after=2.5)
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2.5s"}]
    held = {"code": 503, "message": "No", "status": "UNAVAILABLE"}
    assert error_body(busy, "gemini") == {"error": {**held, "details": details}}
    assert error_body(ReplyError("overloaded", "No", 529), "gemini") == {"error": held}
    assert error_body(ReplyError("server", "No"), "gemini", 502)["error"]["code"] == 502


@pytest.mark.parametrize("wait", [0.0, 0.25, 7.0, 9_658.021, 1_234_567.0, 1e16])
def test_a_wait_is_told_in_whole_seconds_too(wait: float) -> None:
    error = ReplyError("rate_limit", "No", 429, retry_after=wait)
    for format in FORMATS:
        status, headers, body = write_error(error, format)
        assert int(headers["retry-after"]) == ceil(wait)
        assert read_error(status, headers, encode_json(body)).retry_after == wait
    details = error_body(error, "gemini")["error"]["details"]
    assert float(details[0]["retryDelay"].removesuffix("s")) == wait
    assert "e" not in details[0]["retryDelay"]


NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
WAITS: list[dict[str, str]] = [
    {},
    {"retry-after": "3"},
    {"retry-after": "0.5"},
    {"retry-after": "soon"},
    {"retry-after": "-1"},
    {"retry-after-ms": "1500"},
    {"retry-after": "Sun, 01 Mar 2026 09:00:20 GMT"},
    {"retry-after": "Sun, 01 Mar 2026 08:00:00 GMT"},
    {"Retry-After": "4", "retry-after-ms": "x"},
]
HELD: list[dict[str, Any]] = [
    *({"type": word, "message": "no"} for word in WORDS),
    *(
        {"code": code, "status": status, "type": type, "message": "no"}
        for code, status, type in product(
            (None, 429, "", "weird", "tokens"), (None, 5, "ABORTED"), (None, "", [], "strange")
        )
    ),
    *({"type": "api_error", "message": message} for message in (None, "", 3, "no")),
    {},
]


def test_all_that_errors_become() -> None:
    def outcomes() -> Iterator[tuple[object, object]]:
        for held in HELD:
            body = encode_json({"error": held})
            yield held, [read_error(status, {}, body) for status in (200, 400, 429)]
            yield (held, "stream"), error_of({"error": held})
        for headers in WAITS:
            yield headers, read_error(429, headers, b"", now=NOW)
        for kind, format, status in product(get_args(ErrorKind), FORMATS, (None, 409, 500)):
            error = ReplyError(kind, "No", status, retry_after=1.5)
            yield (kind, format, status), write_error(error, format)

    compare_digests("errors", outcomes())
