"""Refusals that come in pieces, name passwords, or ask for what nobody can wait."""

import asyncio
import json
from typing import Any

import pytest

from contextwright.errors import ContextwrightError, ProviderError, UsageError, without_login
from contextwright.formats.replies.failures import read_error, write_error
from contextwright.providers import Host, Provider, Retries, connect
from providers.standin import KEY, said, serving

PAYLOAD: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi"}]}


def refused(
    *pieces: bytes | float, status: str = "429 Too Many Requests", key: str = KEY
) -> tuple[ProviderError, int]:
    """The error of a host that answers with pieces and pauses, and how often it was asked."""
    asked = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        await reader.readuntil(b"\r\n\r\n")
        length = sum(len(piece) for piece in pieces if isinstance(piece, bytes))
        writer.write(b"HTTP/1.1 %b\r\ncontent-length: %d\r\n\r\n" % (status.encode(), length))
        try:
            for piece in pieces:
                if isinstance(piece, bytes):
                    writer.write(piece)
                    await writer.drain()
                else:
                    await asyncio.sleep(piece)
        finally:
            writer.close()

    async def run() -> ProviderError:
        server = await asyncio.start_server(answer, "127.0.0.1")
        port = server.sockets[0].getsockname()[1]
        host = Host("mine", "openai-chat", f"http://127.0.0.1:{port}/v1")
        retries = Retries(limit=1, first_wait=0.0)
        async with server, Provider(host, key, retries=retries) as provider:
            with pytest.raises(ProviderError) as caught:
                await provider.send(PAYLOAD, model="gpt-5.6-sol")
        return caught.value

    return asyncio.run(run()), asked


@pytest.mark.parametrize("cut", [1, 30, -1])
def test_the_body_of_an_error_may_come_in_pieces(cut: int) -> None:
    body = b'{"error":{"message":"You have no credit left","type":"insufficient_quota"}}'
    error, asked = refused(body[:cut], 0.05, body[cut:])
    assert str(error) == "mine: You have no credit left"
    assert (error.kind, asked) == ("billing", 1)  # which no retry would mend


def test_the_body_of_an_error_is_not_awaited_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contextwright.providers.provider.ERROR_SECONDS", 0.2)
    error, _ = refused(b"Go away", 3.0, b"!", status="400 Bad Request")
    assert "Go away" in str(error)


def test_a_key_that_comes_back_in_other_spelling_is_hidden() -> None:
    key = "sk-abc/def+é"
    body = json.dumps({"error": {"message": f"wrong key {key}"}}).replace("/", "\\/")
    error, _ = refused(body.encode(), status="401 Unauthorized", key=key)
    assert str(error).startswith("mine: wrong key …")


@pytest.mark.parametrize("delay", ["9" * 400, "9" * 20, "1e400", "-1", "nan", "٣" * 400])
@pytest.mark.parametrize("format", ["anthropic", "gemini", "openai-chat", "openai-responses"])
def test_a_wait_without_end_can_be_passed_on(delay: str, format: str) -> None:
    body = {"error": {"code": 10**30, "message": "Slow", "details": [{"retryDelay": f"{delay}s"}]}}
    error = read_error(429, {"retry-after": delay, "retry-after-ms": delay}, json.dumps(body))
    written = write_error(error, format)
    assert written.status == 429
    assert json.loads(json.dumps(written.body, allow_nan=False))


@pytest.mark.parametrize("code", [True, 10**30, -1, 0, 1210])
def test_a_code_that_is_no_status(code: int) -> None:
    error = read_error(200, {}, json.dumps({"error": {"code": code, "message": "Oops"}}))
    assert error.kind == "server"
    assert write_error(error, "anthropic").status == 502


# --- keys and addresses ------------------------------------------------------------------------


def test_a_key_may_come_from_the_line_of_a_file() -> None:
    async def run(address: str) -> str:
        async with connect("anthropic", f" {KEY}\r\n", base_url=address) as provider:
            return (await provider.send(ASKED, model="claude-sonnet-5-5")).message.text

    with serving(said("Fine.")) as server:
        assert asyncio.run(run(server.address)).strip() == "Fine."


ASKED = {"model": "claude-sonnet-5-5", "max_tokens": 9, **PAYLOAD}


@pytest.mark.parametrize("key", ["sk-1\n-secret", "sk-\0-secret", "sk-\ud800-secret", b"sk-secret"])
def test_a_key_that_no_header_holds_is_refused_and_not_shown(key: Any) -> None:
    with pytest.raises(UsageError, match="key") as caught:
        connect("anthropic", key)
    assert "secret" not in f"{caught.value!r} {caught.value}"


@pytest.mark.parametrize(
    "address",
    [
        "http://me:secret@127.0.0.1:1/v1",
        "http://me:secret@[bad/v1",
        "http://[::1",
        "secret://me:secret@x",
        "http://127.0.0.1:99999",
        "nowhere",
        "",
    ],
)
@pytest.mark.parametrize("key", [KEY, None])
def test_addresses_that_lead_nowhere_are_errors_without_their_passwords(
    address: str, key: str | None
) -> None:
    shown: list[str] = []

    async def run() -> None:
        host = Host("mine", "openai-chat", address)
        async with Provider(host, key, retries=Retries(limit=0)) as provider:
            shown.append(repr(provider))
            with pytest.raises(ContextwrightError) as caught:
                await provider.send(PAYLOAD, model="gpt-5.6-sol")
            shown.append(f"{caught.value} {caught.value!r}")

    asyncio.run(run())
    assert "me:secret" not in " ".join(shown)


@pytest.mark.parametrize("ahead", ["http://", ""])
def test_the_password_of_a_proxy_is_not_shown(ahead: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor need its address name the scheme, as for curl."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n")
        writer.close()

    async def run() -> str:
        server = await asyncio.start_server(refuse, "127.0.0.1")
        port = server.sockets[0].getsockname()[1]
        monkeypatch.setenv("https_proxy", f"{ahead}me:secret@127.0.0.1:{port}")
        host = Host("mine", "openai-chat", "https://provider.invalid/v1")
        async with server, Provider(host, KEY, retries=Retries(limit=0)) as provider:
            with pytest.raises(ProviderError) as caught:
                await provider.send(PAYLOAD, model="gpt-5.6-sol")
        return str(caught.value)

    shown = asyncio.run(run())
    assert "407" in shown
    assert "secret" not in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://me:p/w@host/db", "postgresql://…@host/db"),
        ("at https://me:pw@host/a and http://x:y@z", "at https://…@host/a and http://…@z"),
        ("https://host/@me and me@host", "https://host/@me and me@host"),
        ("https://host?to=me@host", "https://host?to=me@host"),
    ],
)
def test_logins_are_left_out_of_addresses(text: str, shown: str) -> None:
    assert without_login(text) == shown
