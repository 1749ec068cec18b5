"""The kind of a provider's error, which says whether to try again."""

import pytest

from contextwright.formats.replies.failures import read_error

KINDS = {
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


def test_words_on_money_tell_more_than_the_status() -> None:
    body = b'{"error": {"code": "insufficient_quota", "message": "no"}}'
    assert read_error(429, {}, body).kind == "billing"
