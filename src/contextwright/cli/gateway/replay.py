"""`cw replay`: a recorded request for another provider, or once more."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec.structs import replace

from contextwright import formats
from contextwright.cli import completion
from contextwright.cli.gateway.requests import Number
from contextwright.cli.options import (
    AsJson,
    ListChanges,
    ModelName,
    Option,
    Output,
    StoreOptions,
    refuse,
)
from contextwright.cli.output import indented, note, report_changes, say, say_json, written
from contextwright.cli.stores import existing
from contextwright.errors import NotFound, ParseError, UsageError
from contextwright.formats import api
from contextwright.formats.base import Rendered
from contextwright.formats.replies.compactions import in_words
from contextwright.formats.replies.reply import ModelReply, gather_partial
from contextwright.models import as_model
from contextwright.providers.hosts import host_for
from contextwright.providers.provider import connect_sync
from contextwright.store.requests import RecordedRequest
from contextwright.text.json import decode_object

__all__ = ["replay"]


def replay(
    number: Number,
    where: StoreOptions,
    format: Annotated[
        str | None,
        Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help="Format to write the request in (see cw formats).",
            complete=completion.formats,
        ),
    ] = None,
    to: Annotated[
        str | None,
        Option("--to", metavar="PROVIDER", help="Provider to write it for: anthropic, openai …"),
    ] = None,
    model: ModelName = None,
    send: Annotated[
        bool, Option("--send", help="Send it, with the provider's key from the environment.")
    ] = False,
    changes: ListChanges = False,
    output: Output = None,
    as_json: AsJson = False,
) -> int:
    """Write a recorded request for another API, or resend it.

    Offline it prints the body that the provider would have been sent, and counts what could not
    be translated. With --send it asks the provider, and prints the answer; --json prints all of
    it. The provider is asked at OPENAI_BASE_URL, ANTHROPIC_BASE_URL or GOOGLE_GEMINI_BASE_URL if
    set.

    \b
    cw replay 12 --format openai-responses --changes
    cw replay 12 --to gemini --model gemini-3.8-flash
    cw replay 12 --to anthropic --send
    """
    if format is not None and to is not None:
        raise UsageError("--format and --to both name an API", hint="leave one of them out")
    if send:
        refuse({"--output": output}, "has no effect with --send: the answer is printed")
    else:
        refuse({"--json": as_json}, "has no effect without --send: a body is JSON already")
    with existing(where, embedder=None) as store:
        record, body = store.request(number), store.request_bodies(number).request
    if body is None:
        raise NotFound(f"the body of request {number} was not kept")
    payload = decode_object(body)
    if payload is None:
        raise ParseError(f"the body of request {number} is not a JSON object")
    target = format or (record.format if to is None else format_of(to))
    formats.find(target)
    asked = model or model_for(record, target)
    conversion = converted(payload, record.format, target, asked)
    report_changes(conversion.changes, listed=changes)
    if send:
        return ask(to or target, conversion.payload, asked, as_json=as_json)
    with written(output) as write:
        write(indented(msgspec.json.encode(conversion.payload)))
    return 0


def converted(payload: dict[str, Any], source: str, target: str, model: str) -> Rendered:
    """Return a request in another format, with summaries of the gateway's in words."""
    said = api.parse(payload, source)
    whole = in_words(said, target)
    if whole is said:
        return api.convert(payload, source, target, model=model)
    rendered = api.render(whole, target, model=model)
    return replace(rendered, changes=(*whole.changes, *rendered.changes))


def format_of(provider: str) -> str:
    """Return the API that a provider speaks."""
    return "openai-chat" if provider == "echo" else host_for(provider).format


def model_for(record: RecordedRequest, format: str) -> str:
    """Return the model to ask: the recorded one if it speaks the format, else the format's own."""
    for name in (record.model, record.sent_model):
        if format == record.format or as_model(name).format == format:
            return name
    default = formats.find(format).default_model
    if default is None:
        raise UsageError(f"{format} has no model of its own", hint="--model NAME")
    return default


def ask(provider: str, payload: dict[str, Any], model: str, *, as_json: bool) -> int:
    """Send a request, and print the answer."""
    with connect_sync(provider) as client:
        reply = gather_partial(client.stream(payload, model=model), client.format)
    if as_json:
        say_json(reply)
    else:
        print_reply(reply)
    return 0 if reply.error is None else 1


def print_reply(reply: ModelReply) -> None:
    """Print the words and calls of an answer, and its tokens."""
    say(
        "\n".join(
            [reply.answer.text, *(f"{call.name}({call.json})" for call in reply.answer.calls)]
        )
    )
    if reply.usage is not None:
        usage = reply.usage
        figures = f"{usage.input:,} input, {usage.cached:,} of it cached, {usage.output:,} output"
        note(f"cw: {figures}; {reply.finish}")
