"""The vendors' own clients read what our writers make, over HTTP."""

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anthropic
import openai
import pytest
from google import genai
from google.genai import errors as genai_errors

import contextwright as cw
from contextwright.formats.replies.events import ReplyError
from contextwright.formats.replies.failures import read_error, write_error
from contextwright.formats.replies.reply import ModelReply, events_of
from contextwright.formats.replies.streams import as_reply, write_reply, write_stream

CALLS = [
    cw.ToolCall("weather", {"city": "Kyiv", "days": 2}, "call_1"),
    cw.ToolCall("weather", {"city": "Lviv"}, "call_2"),
]
CUSTOM = cw.ToolCall(
    "exec", {"input": 'print("é")\n'}, "call_3", extra={"openai-chat": {"type": "custom"}}
)
REFUSAL = cw.Text("I cannot help.", {"openai-chat": {"type": "refusal"}})
MESSAGES = {
    "text": cw.assistant("Привіт, світе! 👋"),
    "thinking": cw.assistant([cw.Thinking("Let me see.", origin="x"), "It is 4."]),
    "parallel calls": cw.assistant(["Looking.", *CALLS]),
    "custom call": cw.assistant([CUSTOM]),
    "refusal": cw.assistant([REFUSAL]),
}
ENDINGS = {
    "/chat/completions": "openai-chat",
    "/responses": "openai-responses",
    "/messages": "anthropic",
    ":generateContent": "gemini",
    ":streamGenerateContent": "gemini",
}


class Provider(BaseHTTPRequestHandler):
    """Answers with a message, whole or streamed, as the address and the body ask."""

    protocol_version = "HTTP/1.1"
    reply: ModelReply | ReplyError

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.partition("?")[0]
        format = next(name for ending, name in ENDINGS.items() if path.endswith(ending))
        if isinstance(self.reply, ReplyError):
            status, headers, error = write_error(self.reply, format)
            self.answer(status, headers, json.dumps(error).encode())
        elif body.get("stream") or "stream" in path:
            pieces = write_stream(events_of(self.reply), format, model="m", id="r1", created=7)
            self.answer(200, {"content-type": "text/event-stream"}, b"".join(pieces))
        else:
            whole = write_reply(self.reply, format, model="m", id="r1", created=7).body
            self.answer(200, {"content-type": "application/json"}, json.dumps(whole).encode())

    def answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def provider(request: pytest.FixtureRequest) -> Iterator[str]:
    handler = type("Handler", (Provider,), {"reply": request.param})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


ASK: Any = {"role": "user", "content": "hi"}


def chat(address: str, *, stream: bool) -> Any:
    with openai.OpenAI(base_url=address, api_key="none", max_retries=0) as client:
        if not stream:
            return client.chat.completions.create(model="m", messages=[ASK])
        with client.chat.completions.stream(model="m", messages=[ASK]) as events:
            return events.get_final_completion()


def chunks(address: str) -> list[Any]:
    with openai.OpenAI(base_url=address, api_key="none", max_retries=0) as client:
        return list(client.chat.completions.create(model="m", messages=[ASK], stream=True))


def responses(address: str, *, stream: bool) -> Any:
    with openai.OpenAI(base_url=address, api_key="none", max_retries=0) as client:
        if not stream:
            return client.responses.create(model="m", input="hi")
        with client.responses.stream(model="m", input="hi") as events:
            return events.get_final_response()


def claude(address: str, *, stream: bool) -> Any:
    with anthropic.Anthropic(base_url=address, api_key="none", max_retries=0) as client:
        if not stream:
            return client.messages.create(model="m", max_tokens=9, messages=[ASK])
        with client.messages.stream(model="m", max_tokens=9, messages=[ASK]) as events:
            return events.get_final_message()


def gemini(address: str, *, stream: bool) -> Any:
    client = genai.Client(api_key="none", http_options={"base_url": address})
    try:
        if not stream:
            return client.models.generate_content(model="m", contents="hi")
        return list(client.models.generate_content_stream(model="m", contents="hi"))
    finally:
        client.close()


CLIENTS = {
    "openai-chat": chat,
    "openai-responses": responses,
    "anthropic": claude,
    "gemini": gemini,
}


def read(got: Any, format: str) -> ModelReply:
    """The message in the client's own object; Google's client does not put streams together."""
    if isinstance(got, list):
        return cw.parse_stream(got, format)
    return cw.parse_reply(got, format)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("format", CLIENTS)
@pytest.mark.parametrize(
    "provider", [as_reply(message) for message in MESSAGES.values()], ids=MESSAGES, indirect=True
)
def test_the_vendors_client_reads_what_we_write(
    provider: str, format: str, stream: bool, request: pytest.FixtureRequest
) -> None:
    message = MESSAGES[request.node.callspec.id.split("-")[0]]
    reply = as_reply(message)
    # The SDK's own types of chat streams know no custom calls: there its chunks are read.
    chunks_only = format == "openai-chat" and stream and message.calls == (CUSTOM,)
    got = chunks(provider) if chunks_only else CLIENTS[format](provider, stream=stream)
    ours = cw.parse_reply(write_reply(reply, format, model="m", id="r1", created=7).body, format)
    streamed = cw.parse_stream(write_stream(events_of(reply), format, model="m", id="r1"), format)
    for one in (read(got, format), ours, streamed):
        assert one.message.text == message.text
        assert thoughts(one.message) == thoughts(message)
        assert [(call.name, call.arguments, call.id) for call in one.message.calls] == [
            (call.name, call.arguments, call.id) for call in message.calls
        ]
    assert plain(read(got, format).message) == plain((streamed if stream else ours).message)


def thoughts(message: cw.Message) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, cw.Thinking)]


def plain(message: cw.Message) -> list[Any]:
    """Parts without what an SDK adds to a message of its own accord."""
    return [
        part.data if isinstance(part, cw.Opaque) else (type(part), getattr(part, "text", None))
        for part in message.parts
    ]


ERRORS = {
    "rate_limit": ReplyError("rate_limit", "Slow down", 429, None, 7.0),
    "invalid": ReplyError("invalid", "messages: too short", 400),
    "overloaded": ReplyError("overloaded", "Overloaded", 529),
}


@pytest.mark.parametrize("format", CLIENTS)
@pytest.mark.parametrize("provider", ERRORS.values(), ids=ERRORS, indirect=True)
def test_the_vendors_client_reads_our_errors(
    provider: str, format: str, request: pytest.FixtureRequest
) -> None:
    error = ERRORS[request.node.callspec.id.split("-")[0]]
    raised = (openai.APIStatusError, anthropic.APIStatusError, genai_errors.APIError)
    with pytest.raises(raised) as caught:
        CLIENTS[format](provider, stream=False)
    assert error.message in str(caught.value)
    status = getattr(caught.value, "status_code", None) or getattr(caught.value, "code", None)
    expected = 503 if error.status == 529 and format != "anthropic" else error.status
    assert status == expected


@pytest.mark.parametrize("target", CLIENTS)
@pytest.mark.parametrize("source", CLIENTS)
@pytest.mark.parametrize("kind", ERRORS)
def test_errors_cross_with_their_kind_message_and_wait(kind: str, source: str, target: str) -> None:
    error = ERRORS[kind]
    for format in (source, target):
        status, headers, body = write_error(error, format)
        error = read_error(status, headers, json.dumps(body))
    assert (error.kind, error.message) == (ERRORS[kind].kind, ERRORS[kind].message)
    assert error.retry_after == ERRORS[kind].retry_after


def test_errors_of_other_hosts() -> None:
    html = read_error(502, {}, b"<html>Bad Gateway</html>")
    assert (html.kind, html.message) == ("server", "'<html>Bad Gateway</html>'")
    dated = read_error(429, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, b"")
    assert (dated.kind, dated.message, dated.retry_after) == ("rate_limit", "HTTP status 429", 0.0)
    quota = {"error": {"message": "No money", "type": "insufficient_quota", "code": None}}
    assert read_error(429, {}, json.dumps(quota)).kind == "billing"
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3.5s"}
    body = [{"error": {"code": 429, "message": "m", "status": "X", "details": [info]}}]
    assert read_error(429, {}, json.dumps(body)).retry_after == 3.5


@pytest.mark.parametrize(
    "provider", [as_reply(MESSAGES["parallel calls"])], ids=["calls"], indirect=True
)
def test_asynchronous_clients_read_the_same(provider: str) -> None:
    async def ask() -> Any:
        async with anthropic.AsyncAnthropic(base_url=provider, api_key="none") as client:
            stream = client.messages.stream(model="m", max_tokens=9, messages=[ASK])  # pyright: ignore
            async with stream as events:
                return await events.get_final_message()

    assert read(asyncio.run(ask()), "anthropic").message.calls == tuple(CALLS)
