"""Every route: what it answers, and what it refuses."""

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from contextwright.serve.api.routes import OPERATIONS
from contextwright.serve.http.errors import ErrorAnswer
from contextwright.serve.http.openapi import describe
from contextwright.serve.http.operation import Operation
from contextwright.text.json import decoder
from serve.api.calls import SOUND
from serve.api.client import BEARER, JSON, Client, filled, of
from serve.gateways import TOKEN, Answer, running


def each(operations: Iterable[Operation]) -> pytest.MarkDecorator:
    """Run a test for each of some operations."""
    return pytest.mark.parametrize("one", [pytest.param(one, id=one.name) for one in operations])


EACH = each(OPERATIONS)
WITH_BODY = each(one for one in OPERATIONS if one.body is not None)


def called(client: Client, one: Operation, path: str = "", **changes: Any) -> Answer:
    """Call an operation soundly but for some changes."""
    sound = SOUND[one.name]
    return client.call(
        path or sound.path, changes.pop("body", sound.body), method=one.method, **changes
    )


def require_error(answer: Answer, status: int, one: Operation | None = None) -> None:
    """The answer is an error of that status, in the shape of all errors."""
    assert answer.status == status
    assert answer.headers["content-type"] == "application/json"
    error = msgspec.json.decode(answer.body, type=ErrorAnswer).error
    assert error.message
    assert TOKEN not in error.message
    assert one is None or status == 405 or status in one.errors


def test_every_operation_has_a_sound_call() -> None:
    assert sorted(SOUND) == sorted(one.name for one in OPERATIONS)


@each(one for one in OPERATIONS if not one.waits)
def test_a_sound_call_is_answered_as_documented(client: Client, one: Operation) -> None:
    if one.name == "forget_conversation":
        filled(client.store, "forgotten", 1)
    answer = called(client, one)
    assert (answer.status, answer.headers["cache-control"]) == (one.status, "no-store")
    if one.answer is None:
        assert answer.body == b""
    elif not one.streams:
        assert answer.headers["content-type"] == "application/json"
        decoder(one.answer).decode(answer.body)


@each(one for one in OPERATIONS if one.streams)
def test_what_comes_in_pieces_is_documented_as_text(one: Operation) -> None:
    entry = describe(OPERATIONS, "/api/v1")["paths"][one.path][one.method.lower()]
    content = entry["responses"][str(one.status)]["content"]
    assert content == {one.media: {"schema": {"type": "string"}}}


@EACH
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": f"Bearer {TOKEN}x"},
        {"authorization": "Bearer \xff"},
        {"x-api-key": TOKEN},
        {"cookie": f"token={TOKEN}"},
    ],
    ids=["none", "wrong", "scheme", "longer", "bytes", "another header", "cookie"],
)
def test_no_call_without_the_token(client: Client, one: Operation, headers: dict[str, str]) -> None:
    answer = called(client, one, headers=headers)
    require_error(answer, 401, one)
    assert answer.headers["www-authenticate"] == "Bearer"


@EACH
@pytest.mark.parametrize("method", ["PUT", "HEAD", "OPTIONS", "TRACE"])
def test_another_method_is_refused(client: Client, one: Operation, method: str) -> None:
    answer = client.call(SOUND[one.name].path, method=method)
    assert answer.status == 405
    assert one.method in answer.headers["allow"].split(", ")
    assert "access-control-allow-origin" not in answer.headers


@EACH
def test_an_unknown_parameter_is_refused(client: Client, one: Operation) -> None:
    sound = SOUND[one.name].path
    require_error(called(client, one, f"{sound}{'&' if '?' in sound else '?'}nothing=1"), 422)


@each(one for one in OPERATIONS if "{conversation}" in one.path and one.name != "add_turn")
def test_an_unknown_conversation_is_not_found(client: Client, one: Operation) -> None:
    path = SOUND[one.name].path.replace(of(), of("nobody")).replace(of("forgotten"), of("nobody"))
    require_error(called(client, one, path), 404, one)


@WITH_BODY
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b'{"a": 1, "a": 2}', 400),
        (b'"\xff"', 400),
        (b"[" * 100_000, 400),
        (b'{"recipe": NaN}', 400),
        (b"[]", 422),
        (b"null", 422),
        (b'{"unknown": 1}', 422),
    ],
)
def test_a_wrong_body_is_refused(client: Client, one: Operation, body: bytes, status: int) -> None:
    require_error(called(client, one, body=body), status, one)


@WITH_BODY
def test_a_body_of_another_kind_is_refused(client: Client, one: Operation) -> None:
    headers = {**BEARER, "content-type": "text/plain"}
    require_error(called(client, one, headers=headers), 415, one)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/nothing", 404),
        ("/", 404),
        ("/conversations/", 200),
        ("/conversations//messages", 404),
        ("/conversations/%FF", 400),
        ("/conversations?q=%FF", 400),
        ("/conversations?limit", 400),
        ("/conversations?limit=0", 422),
        ("/conversations?limit=201", 422),
        ("/conversations?limit=1e3", 422),
        ("/conversations?limit=1&limit=2", 422),
        ("/conversations?cursor=x", 422),
        ("/conversations?" + "&".join(f"a{n}=1" for n in range(100)), 400),
        (f"{of()}/messages?from=1&before=2", 422),
        (f"{of()}/messages?from=99999999999999999999", 422),
        (f"{of()}/messages/0", 422),
        (f"{of()}/messages/9007199254740991", 404),
        (f"{of()}/context?at=9007199254740991", 404),
        (f"{of()}/context?format=telex", 422),
        (f"{of()}/context?recipe=/etc/passwd.toml", 422),
        (f"{of()}/context?recipe=../x.json", 422),
        (f"{of()}/context?now=tomorrow", 422),
        (f"{of()}/context?budget=1", 422),
        (f"{of()}/compare?with=request", 422),
        (f"{of()}/compare?with=at:0", 422),
        (f"{of()}/compare?with=at:{'9' * 200}", 422),
        (f"{of()}/compare?with=budget:%C2%B2", 422),
        (f"{of()}/compare?with=format:telex", 422),
        (f"{of()}/compare?with=request:x", 422),
        (f"{of()}/compare?with=request:999", 404),
        ("/requests/1/compare?with=999", 404),
        ("/requests/1/export?as=perl", 422),
    ],
)
def test_what_is_in_an_address(client: Client, path: str, status: int) -> None:
    answer = client.call(path)
    if status == 200:
        assert answer.status == 200
    else:
        require_error(answer, status)


def test_the_document_needs_the_token_too(client: Client) -> None:
    require_error(client.gateway.ask("/openapi.json", method="GET"), 401)
    require_error(client.gateway.ask("/openapi.json", b"", BEARER, "DELETE"), 405)
    answer = client.gateway.ask("/openapi.json", b"", BEARER, "GET")
    described = {
        (method.upper(), path) for path, entry in answer.json["paths"].items() for method in entry
    }
    assert (answer.json["openapi"], answer.status) == ("3.1.0", 200)
    assert described == {(one.method, one.path) for one in OPERATIONS}


def test_without_a_store_there_is_no_api() -> None:
    with running() as gateway:
        assert gateway.ask("/api/v1/conversations", b"", {**BEARER, **JSON}, "GET").status == 404
