"""`cw requests`, `cw show-request`: what passed through the gateway."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from typing import Annotated, Any, Literal

from contextwright import display
from contextwright.cli import completion
from contextwright.cli.options import Argument, AsJson, Option, StoreOptions, refuse
from contextwright.cli.output import note, numbered, say, say_json, table, written
from contextwright.cli.stores import existing, require_conversation
from contextwright.context.explain import money
from contextwright.errors import NotFound
from contextwright.messages.times import read_time
from contextwright.store.requests import RecordedRequest, RequestBodies

__all__ = ["Number", "list_requests", "share", "show_request", "tokens"]

Number = Annotated[int, Argument("N", help="Number of a recorded request (see cw requests).")]


def list_requests(
    where: StoreOptions,
    conversation: Annotated[
        str | None,
        Argument(
            "[CONVERSATION]",
            help="Id of a stored conversation. Default: all.",
            complete=completion.conversations,
        ),
    ] = None,
    limit: Annotated[
        int, Option("--limit", "-n", min=1, metavar="N", help="Number of requests.")
    ] = 20,
    before: Annotated[
        int | None,
        Option("--before", min=1, metavar="N", help="Only requests before number N."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """List recorded requests, the newest last.

    `cached` is the share of the input that the provider read from its cache, `same` the share that
    equals the beginning of the request before. If `same` is higher, the difference was paid for
    again.

    \b
    cw requests
    cw requests claude-code/5e551011 --limit 50
    cw requests --json | jq '.[].usage'
    """
    with existing(where, embedder=None) as store:
        if conversation is not None:
            require_conversation(store, conversation)
        found = store.requests(conversation, limit=limit, before=before)[::-1]
    if as_json:
        say_json(found)
    elif found:
        head = ("#", "time", "client", "model", "state", "input", "cached", "same", "output")
        say(table([(*head, "price", "seconds", "cache"), *map(row_of, found)]))
    else:
        note("cw: no recorded requests; cw serve and cw record keep them")
    return 0


def row_of(record: RecordedRequest) -> tuple[str, ...]:
    """Return a request as a row of single-line cells."""
    time, usage, prefix = read_time(record.started), record.usage, record.prefix
    broken = prefix is not None and prefix.first_difference is not None
    return (
        str(record.number),
        display.human_time(time.astimezone(UTC)) if time else "",
        record.client.partition("/")[0] or "–",
        record.sent_model,
        record.error or record.state,
        tokens(usage and usage.input),
        share(record.cached) if usage else "–",
        share(prefix.share) if prefix else "–",
        tokens(usage and usage.output),
        "–" if record.price is None else money(record.price),
        "–" if record.seconds is None else f"{record.seconds:.1f}",
        prefix.cause if prefix and broken else "",
    )


def tokens(count: int | None) -> str:
    """Return a number of tokens, or a dash where none is known."""
    return "–" if count is None else f"{count:,}"


def share(part: float) -> str:
    """Return a share in percent."""
    return f"{part:.0%}"


# --- one of them ---------------------------------------------------------------------------------


def show_request(
    number: Number,
    where: StoreOptions,
    body: Annotated[
        Literal["request", "upstream", "reply"] | None,
        Option("--body", help="Print a body instead, byte for byte."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Show a recorded request, or one of its bodies.

    Shows the client, tokens and price, the new part, and the changes of a translation.

    --body prints the body that the client sent (request), the one that the provider got if that is
    another (upstream), or the answer (reply).

    \b
    cw show-request 12
    cw show-request 12 --body request | cw check - --format anthropic
    """
    if body is not None:
        refuse({"--json": as_json}, "has no effect with --body: it is printed byte for byte")
    with existing(where, embedder=None) as store:
        record, bodies = store.request(number), store.request_bodies(number)
    if body is not None:
        print_body(number, body, bodies)
    elif as_json:
        say_json(record)
    else:
        say(table(list(details_of(record))))
        for change in record.changes:
            say(f"  {change}")
    return 0


def print_body(number: int, kind: str, bodies: RequestBodies) -> None:
    """Print a body as it was sent."""
    found: bytes | None = getattr(bodies, kind)
    if found is None:
        hint = "it was sent as the client wrote it: --body request" if kind == "upstream" else ""
        raise NotFound(f"no {kind} body is kept of request {number}", hint=hint)
    with written(None) as write:
        write(found)


def details_of(record: RecordedRequest) -> Iterator[tuple[str, str]]:
    """Yield what is known of a request, as rows of a table."""
    yield "request", f"{record.number}, {record.error or record.state}"
    yield "started", record.started
    if record.conversation is not None:
        added = "" if record.first is None else f", messages {record.first} to {record.last}"
        yield "conversation", f"{record.conversation}{added}"
    if record.fork is not None:
        fork = record.fork
        yield "fork", f"{fork.reason}: leaves {fork.parent} after message {fork.at}"
    yield "client", f"{record.client or 'unknown'}, {record.format}"
    yield "upstream", f"{record.upstream}, {record.upstream_format}, {record.mode}"
    asked = "" if record.model == record.sent_model else f" (asked for: {record.model})"
    yield "model", f"{record.sent_model}{asked}"
    yield "size", f"{numbered(record.messages, 'message')}, {record.request_bytes:,} bytes"
    yield from answer_of(record)
    yield from prefix_of(record)
    if record.masked:
        yield "masked", "keys are replaced by stars"
    if record.redacted:
        yield "redacted", "only figures were kept"
    if record.changes:
        yield "changes", f"{len(record.changes):,}"


def answer_of(record: RecordedRequest) -> Iterator[tuple[str, str]]:
    """Yield the rows about the answer."""
    if record.seconds is not None:
        first = "" if record.first_byte is None else f", first byte after {record.first_byte:.3f} s"
        status = "" if record.status is None else f"status {record.status}, "
        yield "answer", f"{status}{record.reply_bytes:,} bytes in {record.seconds:.3f} s{first}"
    usage = record.usage
    if usage is not None:
        cached = f"{usage.cached:,} cached ({record.cached:.1%}), {usage.written:,} written"
        output = f"{usage.output:,} output, {usage.reasoning:,} of it thinking"
        yield "tokens", f"{usage.input:,} input: {cached}; {output}"
    if record.price is not None:
        yield "price", money(record.price)


def prefix_of(record: RecordedRequest) -> Iterator[tuple[str, str]]:
    """Yield the rows about what the request shares with the one before."""
    prefix: Any = record.prefix
    if prefix is None:
        return
    same = f"{prefix.shared:,} of {prefix.tokens:,} tokens ({prefix.share:.1%})"
    yield "same as before", f"{same}, in request {record.previous}"
    if prefix.first_difference is not None:
        yield "differs at", f"{prefix.first_difference}, byte {prefix.byte or 0:,}"
    yield "cause", prefix.cause
