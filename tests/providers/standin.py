"""A stand-in for the four providers: it answers over HTTP, and refuses what they would refuse."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import contextwright as cw
from contextwright.formats.replies.events import Event, ReplyError, TextDelta
from contextwright.formats.replies.failures import write_error
from contextwright.formats.replies.reply import ModelReply, events_of
from contextwright.formats.replies.streams import as_reply, stream_writer

KEY = "sk-test-0123456789abcdef"
ENDINGS = {
    "/v1/chat/completions": "openai-chat",
    "/v1/responses": "openai-responses",
    "/v1/messages": "anthropic",
    ":streamGenerateContent": "gemini",
}


class BreakOff(NamedTuple):
    """Answer, and close the connection after so many pieces of text."""

    reply: ModelReply
    pieces: int


class Held(NamedTuple):
    """Answer, and wait before everything but the first piece of text until `go` is set."""

    reply: ModelReply
    go: threading.Event
    noticed: threading.Event
    """Set if the client goes away meanwhile."""


class StandIn(ThreadingHTTPServer):
    """Plays `answers` in order; the last one again and again."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, answers: list[Any]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = answers
        self.bodies: list[dict[str, Any]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def base_url(self, format: str) -> str:
        ending = {"anthropic": "", "gemini": "/v1beta"}.get(format, "/v1")
        return self.address + ending


class Handler(BaseHTTPRequestHandler):
    """One request, checked as the provider checks it."""

    protocol_version = "HTTP/1.1"
    server: StandIn

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.partition("?")[0]
        format = next(name for ending, name in ENDINGS.items() if path.endswith(ending))
        model = path.rpartition("/")[2].partition(":")[0] if format == "gemini" else body["model"]
        self.server.bodies.append(body)
        number = len(self.server.bodies) - 1
        answer = self.server.answers[min(number, len(self.server.answers) - 1)]
        refused = self.refusal(body, format, model)
        if refused is not None or isinstance(answer, ReplyError):
            self.refuse(refused or answer, format)
        else:
            self.answer(answer, format, model)

    def refusal(self, body: dict[str, Any], format: str, model: str) -> ReplyError | None:
        """What the provider finds wrong: the key, or the body by the rules of `check`."""
        named = {"anthropic": "x-api-key", "gemini": "x-goog-api-key"}.get(format, "authorization")
        key = self.headers.get(named, "").removeprefix("Bearer ")
        if key != KEY:
            return ReplyError("authentication", f"Incorrect API key provided: {key}", 401)
        if format == "anthropic" and not self.headers.get("anthropic-version"):
            return ReplyError("invalid", "anthropic-version: header is required", 400)
        problems = [p for p in cw.check(body, format, model=model) if p.level == "error"]
        if problems:
            return ReplyError("invalid", f"{problems[0].path}: {problems[0].message}", 400)
        return None

    def refuse(self, error: ReplyError, format: str) -> None:
        status, headers, body = write_error(error, format)
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def answer(self, answer: Any, format: str, model: str) -> None:
        """A stream in chunks of HTTP, one for each event."""
        reply = answer if isinstance(answer, ModelReply) else answer.reply
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        writer = stream_writer(format, model, id="r1", created=7)
        pieces = 0
        for event in one_by_one(events_of(reply)):
            if isinstance(event, TextDelta):
                if isinstance(answer, BreakOff) and pieces == answer.pieces:
                    self.close_connection = True
                    return
                if isinstance(answer, Held) and pieces == 1:
                    self.hold(answer)
                pieces += 1
            for frame in writer.write(event):
                data = frame.encode()
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def hold(self, answer: Held) -> None:
        """Wait for the test, or until the client has closed the connection."""
        self.connection.settimeout(0.02)
        while not answer.go.is_set():
            try:
                if self.connection.recv(1) == b"":
                    answer.noticed.set()
                    return
            except TimeoutError:
                continue
            except OSError:
                answer.noticed.set()
                return
        self.connection.settimeout(None)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def one_by_one(events: Iterator[Event]) -> Iterator[Event]:
    """Texts a word at a time."""
    for event in events:
        if isinstance(event, TextDelta):
            for word in event.text.split(" "):
                yield TextDelta(event.index, f"{word} ", event.refusal, event.slot)
        else:
            yield event


def said(*content: Any) -> ModelReply:
    """A reply of the assistant."""
    return as_reply(cw.assistant(list(content)))


@contextmanager
def serving(*answers: Any) -> Iterator[StandIn]:
    """A stand-in that plays these answers."""
    with StandIn(list(answers)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
