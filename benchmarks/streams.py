"""How long reading a streamed reply takes, beside the vendors' own clients.

    uv run python benchmarks/streams.py [--events 5000]

The same bytes for both. Ours: `read_stream`, from bytes to events with every part put together.
Theirs: the SDK's own iteration over its typed events, from a transport in memory; it puts nothing
together. CPU time, the best of several rounds in which both take turns. Nothing is sent anywhere.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import anthropic
import httpx2
import openai
from google import genai
from google.genai import types

from contextwright.formats.replies.events import (
    ArgumentsDelta,
    CallStart,
    Event,
    Finish,
    PartEnd,
    ReplyStart,
    TextDelta,
    Usage,
)
from contextwright.messages.parts import Text, ToolCall
from contextwright.streams import read_stream, write_stream

ROUNDS = 9
WORDS = ("the", " quick", " brown", " fox", " стрибає", " über", " the", " dog", ".", " 🦊")

Run = Callable[[], object]


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--events", default=5_000, type=int)
    count = options.parse_args().events
    print(f"\nReading a stream of {count:,} events (CPU ms, best of {ROUNDS})\n")
    print(f"{'':34}{'ours':>10}{'the SDK':>10}{'ours / SDK':>12}")
    for shape, events in (("text", text(count)), ("arguments of a call", arguments(count))):
        for format, sdk in SDKS.items():
            body = b"".join(write_stream(events, format, model="m", id="r1"))
            pieces = [body[at : at + 4096] for at in range(0, len(body), 4096)]
            ours, theirs = best_of(ours_run(pieces, format), sdk(body))
            print(
                f"  {f'{format}, {shape}':32}{ours * 1e3:>10.1f}{theirs * 1e3:>10.1f}"
                f"{ours / theirs:>12.2f}"
            )
    return 0


def text(count: int) -> list[Event]:
    """A reply of words alone."""
    pieces = [WORDS[number % len(WORDS)] for number in range(count)]
    deltas = [TextDelta(0, piece) for piece in pieces]
    ending = [PartEnd(0, Text("".join(pieces))), Finish("stop", usage=Usage(10, count))]
    return [ReplyStart("r1", "m"), *deltas, *ending]


def arguments(count: int) -> list[Event]:
    """A reply that is one call with long arguments."""
    pieces = ['{"text":"', *(WORDS[number % len(WORDS)] for number in range(count)), '"}']
    call = ToolCall.from_json("write", "".join(pieces), id="call_1")
    deltas = [ArgumentsDelta(0, piece) for piece in pieces]
    ending = [PartEnd(0, call), Finish("tool_calls", usage=Usage(10, count))]
    return [ReplyStart("r1", "m"), CallStart(0, "write", "call_1"), *deltas, *ending]


def ours_run(pieces: list[bytes], format: str) -> Run:
    def run() -> None:
        for _ in read_stream(pieces, format):
            pass

    return run


# --- the vendors' clients --------------------------------------------------------------------


def transport(body: bytes) -> httpx2.Client:
    """A client that gets these bytes for every request."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, stream=Pieces(body))

    return httpx2.Client(transport=httpx2.MockTransport(answer))


class Pieces(httpx2.SyncByteStream):
    """A body that arrives in pieces of 4 KB, as from a network."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def __iter__(self) -> Iterator[bytes]:
        for at in range(0, len(self.body), 4096):
            yield self.body[at : at + 4096]


def exhausted(stream: Callable[[], Any]) -> Run:
    def run() -> None:
        for _ in stream():
            pass

    return run


def openai_chat(body: bytes) -> Run:
    client = openai.OpenAI(api_key="none", http_client=transport(body))
    asked: Any = {"model": "m", "messages": [{"role": "user", "content": "x"}], "stream": True}
    return exhausted(lambda: client.chat.completions.create(**asked))


def openai_responses(body: bytes) -> Run:
    client = openai.OpenAI(api_key="none", http_client=transport(body))
    return exhausted(lambda: client.responses.create(model="m", input="x", stream=True))


def anthropic_messages(body: bytes) -> Run:
    client = anthropic.Anthropic(api_key="none", http_client=transport(body))
    asked: Any = {"model": "m", "messages": [{"role": "user", "content": "x"}], "stream": True}
    return exhausted(lambda: client.messages.create(max_tokens=9, **asked))


def gemini(body: bytes) -> Run:
    options = types.HttpOptions(httpx_client=transport(body))
    client = genai.Client(api_key="none", http_options=options)
    return exhausted(lambda: client.models.generate_content_stream(model="m", contents="x"))


SDKS: dict[str, Callable[[bytes], Run]] = {
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "anthropic": anthropic_messages,
    "gemini": gemini,
}


def best_of(*runs: Run) -> tuple[float, float]:
    """The best CPU seconds of each, taken in turns; the first run of each only warms up."""
    best = [float("inf")] * len(runs)
    for run in runs:
        run()
    gc.collect()
    gc.disable()
    for _ in range(ROUNDS):
        for index, run in enumerate(runs):
            started = process_time()
            run()
            best[index] = min(best[index], process_time() - started)
    gc.enable()
    return best[0], best[1]


if __name__ == "__main__":
    raise SystemExit(main())
