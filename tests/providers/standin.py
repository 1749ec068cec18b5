"""A stand-in for the four providers: it answers over HTTP, and refuses what they would refuse."""

import base64
import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import contextwright as cw
from contextwright.formats.replies.events import ErrorEvent, Event, ReplyError, TextDelta
from contextwright.formats.replies.failures import write_error
from contextwright.formats.replies.reply import ModelReply, events_of
from contextwright.formats.replies.streams import as_reply, stream_writer, write_reply
from contextwright.formats.replies.writer import Frame
from contextwright.models import as_model
from contextwright.wire.gemini.types import STAND_IN

KEY = "sk-test-0123456789abcdef"
ENDINGS = {
    "/v1/chat/completions": "openai-chat",
    "/v1/responses": "openai-responses",
    "/v1/messages": "anthropic",
    ":streamGenerateContent": "gemini",
    ":generateContent": "gemini",
}


SIGNATURES = ("signature", "thoughtSignature", "encrypted_content")


class BreakOff(NamedTuple):
    """Answer, and close the connection after so many pieces of text."""

    reply: ModelReply
    pieces: int


class FailMidway(NamedTuple):
    """Answer, and report an error after the first piece of text."""

    reply: ModelReply
    error: ReplyError


class Dribble(NamedTuple):
    """Answer in pieces of three bytes, cut anywhere."""

    reply: ModelReply


class Held(NamedTuple):
    """Answer, and wait before everything but the first piece of text until `go` is set."""

    reply: ModelReply
    go: threading.Event
    noticed: threading.Event
    """Set if the client goes away meanwhile."""


class Request(NamedTuple):
    """What a provider received, and passed as legal."""

    body: dict[str, Any]
    format: str
    model: str
    number: int
    """How many requests came before it."""


class StandIn(ThreadingHTTPServer):
    """Plays `answers` in order; the last one again and again.

    An answer may be a function of the `Request`. Signatures that the stand-in gave out are taken
    back by the provider that gave them, and by no other.
    """

    daemon_threads = True
    block_on_close = False
    lenient = False
    """Whether a request with faults in what it says is answered, after they were noted."""

    def __init__(self, answers: list[Any]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = answers
        self.bodies: list[dict[str, Any]] = []
        self.signed: dict[str, tuple[str, str]] = {}
        """Each signature given out: by which API and which model."""
        self.returned: set[str] = set()
        """The signatures that came back."""
        self.stored: dict[str, str] = {}
        """The signatures of reasoning that a client may name by the id of its item."""
        self.refused: list[str] = []
        """Why requests were refused for what they say."""

    def sign(self, format: str, model: str) -> str:
        """A new signature of a model."""
        name = f"{format} {len(self.signed)}"
        signature = base64.b64encode(name.encode()).decode()
        self.signed[signature] = (format, model)
        return signature

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def base_url(self, format: str) -> str:
        ending = {"anthropic": "", "gemini": "/v1beta"}.get(format, "/v1")
        return self.address + ending


class Handler(BaseHTTPRequestHandler):
    """One request, checked as the provider checks it."""

    protocol_version = "HTTP/1.1"
    server: StandIn  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.partition("?")[0]
        format = next(name for ending, name in ENDINGS.items() if path.endswith(ending))
        model = path.rpartition("/")[2].partition(":")[0] if format == "gemini" else body["model"]
        self.server.bodies.append(body)
        number = len(self.server.bodies) - 1
        answer: Any = self.server.answers[min(number, len(self.server.answers) - 1)]
        refused = self.refusal(body, format, model)
        if callable(answer):
            answer = refused or answer(Request(body, format, model, number))
        if refused is not None or isinstance(answer, ReplyError):
            self.refuse(refused or answer, format)
        elif body.get("stream") or "stream" in path.rpartition(":")[2]:
            self.answer(answer, format, edition_of(model, format), f"r{number}")
        else:
            name = edition_of(model, format)
            whole = write_reply(answer, format, model=name, id=f"r{number}", created=7).body
            self.send(200, {"content-type": "application/json"}, whole)

    def refusal(self, body: dict[str, Any], format: str, model: str) -> ReplyError | None:
        """What the provider finds wrong: the key, or the body by the rules of `check`."""
        named = {"anthropic": "x-api-key", "gemini": "x-goog-api-key"}.get(format, "authorization")
        given = self.headers.get(named) or self.headers.get("authorization", "")
        key = given.removeprefix("Bearer ")
        if key != KEY:
            return ReplyError("authentication", f"Incorrect API key provided: {key}", 401)
        if format == "anthropic" and not self.headers.get("anthropic-version"):
            return ReplyError("invalid", "anthropic-version: header is required", 400)
        problems = [p for p in cw.check(body, format, model=model) if p.level == "error"]
        wrong = [f"{problem.path}: {problem.message}" for problem in problems]
        betas = self.headers.get("anthropic-beta", "")
        edits = format == "anthropic" and "context_management" in body
        if edits and "context-management" not in betas:
            wrong.append("context_management: Extra inputs are not permitted")
        asked = body.get("thinking", {}).get("type") in ("enabled", "adaptive")
        thinks = asked or as_model(model).always_thinks
        if "clear_thinking" in json.dumps(body.get("context_management")) and not thinks:
            wrong.append("`clear_thinking` requires `thinking` to be enabled or adaptive")
        if not wrong:
            wrong = list(self.foreign_signatures(body, format, model))
        self.server.refused += wrong
        if not wrong or self.server.lenient:
            return None
        return ReplyError("invalid", wrong[0], 400)

    def foreign_signatures(self, body: Any, format: str, model: str) -> Iterator[str]:
        """Signatures that this model did not give out: `check` cannot know them."""
        for field, signature in signatures_in(body):
            signer = self.server.signed.get(signature)
            bound = format == "anthropic"  # the other two take those of their other models
            if signer is None and signature == STAND_IN:
                continue
            if signer is None or signer[0] != format or (bound and signer[1] != model):
                yield f"{field}: invalid signature"
            self.server.returned.add(signature)
        if format == "openai-responses":
            items = body["input"] if isinstance(body["input"], list) else []
            named = {item.get("id") for item in items if item.get("type") == "item_reference"}
            self.server.returned |= {
                self.server.stored[id] for id in named & set(self.server.stored)
            }

    def refuse(self, error: ReplyError, format: str) -> None:
        self.send(*write_error(error, format))

    def send(self, status: int, headers: dict[str, str], body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def answer(self, answer: Any, format: str, model: str, id: str) -> None:
        """A stream in chunks of HTTP, one for each event."""
        reply = answer if isinstance(answer, ModelReply) else answer.reply
        for index, part in enumerate(reply.message.parts):
            if isinstance(part, cw.Thinking) and part.signature:
                self.server.stored[f"rs_{id}_{index}"] = part.signature
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        writer = stream_writer(format, model, id=id, created=7)
        pieces = 0
        for event in one_by_one(events_of(reply)):
            if isinstance(event, TextDelta):
                if isinstance(answer, BreakOff) and pieces == answer.pieces:
                    self.close_connection = True
                    return
                if isinstance(answer, Held) and pieces == 1:
                    self.hold(answer)
                if isinstance(answer, FailMidway) and pieces == 1:
                    self.pieces(writer.write(ErrorEvent(answer.error)))
                    break
                pieces += 1
            self.pieces(writer.write(event), 3 if isinstance(answer, Dribble) else None)
        self.wfile.write(b"0\r\n\r\n")

    def pieces(self, frames: Iterable[Frame], size: int | None = None) -> None:
        """Send frames as chunks of HTTP, each whole or in pieces of some bytes."""
        for frame in frames:
            data = frame.encode()
            step = size or len(data)
            for start in range(0, len(data), step):
                piece = data[start : start + step]
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")

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


def edition_of(model: str, format: str) -> str:
    """The name under which a model answers: Claude's has a date."""
    return f"{model}-20260815" if format == "anthropic" and model.startswith("claude") else model


def signatures_in(value: Any) -> Iterator[tuple[str, str]]:
    """The signatures of a request, wherever they stand."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key in SIGNATURES and isinstance(item, str):
                yield key, item
            else:
                yield from signatures_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from signatures_in(item)


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
