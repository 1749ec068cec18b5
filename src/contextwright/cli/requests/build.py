"""`cw build` and `cw explain`: the request for a conversation, and its receipt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Any

import msgspec

from contextwright import display, formats
from contextwright.cli.arguments import read_time_option
from contextwright.cli.inputs import about, parse_document
from contextwright.cli.options import (
    AsJson,
    At,
    FileOrConversation,
    InputFormat,
    ListChanges,
    Option,
    Output,
    RequestOptions,
    StoreOptions,
)
from contextwright.cli.output import (
    count_changes,
    error_fields,
    indented,
    list_changes,
    note,
    numbered,
    paint,
    report_changes,
    say,
    say_json,
    takes_colour,
    written,
)
from contextwright.cli.requests.snapshots import RequestTask, Source
from contextwright.context.context import Context
from contextwright.documents.read import read_lines
from contextwright.errors import BudgetError, ContextwrightError, ParseError, UsageError
from contextwright.messages.changes import Change
from contextwright.text.json import encode_json

__all__ = ["Now", "build", "explain"]

Now = Annotated[
    str | None,
    Option(
        "--now",
        metavar="TIME",
        help="Current time for time sections (ISO 8601). Default: that of the newest question.",
    ),
]


# --- build ---------------------------------------------------------------------------------------


def build(
    file: FileOrConversation,
    request: RequestOptions,
    where: StoreOptions,
    source: InputFormat = None,
    at: At = None,
    now: Now = None,
    output: Output = None,
    jsonl: Annotated[
        bool,
        Option("--jsonl", help="Read one conversation per line, print one request per line."),
    ] = False,
    receipt: Annotated[
        bool, Option("--receipt", help='Print {"payload": …, "receipt": …}.')
    ] = False,
    changes: ListChanges = False,
) -> int:
    """Build the best request that fits a token budget.

    The recipe decides what goes in. The request is printed as JSON, in the model's own format
    unless --format names another. With --jsonl, a line that fails becomes {"error": …} in its
    place, and the exit code is 1.

    \b
    cw build lunch --model claude-sonnet-5-5 --budget 8000
    cw build chat.json --model claude-sonnet-5-5 --budget 8000
    cw build thread.json --from aya --recipe aya --model gpt-5.6-sol --receipt
    cw build session.json --recipe port42 --agents agents.json --model claude-sonnet-5-5
    cw build - --from anthropic --recipe mine.toml --model gpt-5.6-sol --jsonl < logs.jsonl
    """
    task = task_of(request, now)
    if task.model.matched == "default":
        note(f"cw: {task.model.note}")
    if jsonl:
        if where.is_named or at is not None:
            raise UsageError("--jsonl reads a file", hint="leave out --store, --tenant and --at")
        return build_lines(task, file, source, output, receipt=receipt, listed=changes)
    repairs, context = task.build_from(Source(file, source, where), at)
    with written(output) as write:
        write(indented(encode_json(answer(repairs, context, receipt=receipt))))
    report_changes((*repairs, *context.changes), listed=changes)
    return 0


def task_of(request: RequestOptions, now: str | None) -> RequestTask:
    """Return the task of a call that may name the time."""
    return RequestTask.of(request, None if now is None else read_time_option(now))


def build_lines(
    task: RequestTask,
    file: str,
    source: str | None,
    output: str | None,
    *,
    receipt: bool,
    listed: bool,
) -> int:
    """Print a request for each line of a file as it arrives; an error takes its place."""
    if source is not None:
        formats.find(source)
    failed = 0
    codes: Counter[str] = Counter()
    with about(file), written(output) as write:
        for number, data in read_lines(file):
            changes: Iterable[Change] = ()
            try:
                if isinstance(data, ParseError):
                    raise data
                conversation = parse_document(data, source)
                context = task.build(conversation)
                line = encode_json(answer(conversation.changes, context, receipt=receipt))
                changes = (*conversation.changes, *context.changes)
            except (ContextwrightError, RecursionError, MemoryError) as error:
                failed += 1
                line = encode_json({"error": refusal(error, number)})
            write(line + b"\n")
            codes.update(change.code for change in changes)
            if listed:
                list_changes(changes, prefix=f"line {number}: ")
    if not listed:
        count_changes(codes)
    if failed:
        note(f"cw: {numbered(failed, 'line')} failed (see the error lines in the output)")
    return 1 if failed else 0


def answer(repairs: Iterable[Change], context: Context, *, receipt: bool) -> Any:
    """Return the payload, alone or with its receipt."""
    if not receipt:
        return context.payload
    return {"payload": context.payload, "receipt": receipt_of(repairs, context)}


def receipt_of(repairs: Iterable[Change], context: Context) -> dict[str, Any]:
    """Return the receipt, with the repairs of reading among its changes."""
    receipt = context.receipt()
    return {**receipt, "changes": [*map(msgspec.to_builtins, repairs), *receipt["changes"]]}


def refusal(error: BaseException, number: int) -> dict[str, Any]:
    """Return an error as the data of an error line; a budget error names one that works."""
    fields = error_fields(error, number)
    return {**fields, "minimum": error.minimum} if isinstance(error, BudgetError) else fields


# --- explain -------------------------------------------------------------------------------------


def explain(
    file: FileOrConversation,
    request: RequestOptions,
    where: StoreOptions,
    source: InputFormat = None,
    at: At = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Explain what a request holds, drops and costs.

    Shows the tokens of every part, what happened to every message and why, every change, and the
    price. --json prints the receipt.

    \b
    cw explain lunch --model claude-sonnet-5-5 --budget 8000
    cw explain lunch --model claude-sonnet-5-5 --at 40
    cw explain chat.json --model claude-sonnet-5-5 --budget 8000
    """
    repairs, context = task_of(request, now).build_from(Source(file, source, where), at)
    if as_json:
        say_json(receipt_of(repairs, context))
        return 0
    if takes_colour():
        paint(lambda console: display.print_explanation(context, console=console))
    else:
        say(context.explain())
    for change in repairs:
        note(f"cw: {change}")
    return 0
