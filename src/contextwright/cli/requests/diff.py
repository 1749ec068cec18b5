"""`cw diff`: what two requests share, where they differ, and what that costs."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Struct

from contextwright.cli import completion
from contextwright.cli.arguments import read_time_option
from contextwright.cli.gateway.comparison import compared_rows, diff_recorded
from contextwright.cli.inputs import about
from contextwright.cli.options import (
    Argument,
    AsJson,
    InputFormat,
    ModelName,
    Option,
    RequestOptions,
    StoreOptions,
    given,
    refuse,
)
from contextwright.cli.output import numbered, say, say_json, table
from contextwright.cli.requests.snapshots import (
    RequestTask,
    Source,
    first_messages,
    stored_arguments,
)
from contextwright.context.context import Context
from contextwright.context.receipt import Comparison
from contextwright.errors import UsageError
from contextwright.messages.conversation import Conversation

__all__ = ["diff"]

RECORDED = "has no effect on recorded requests"


class DiffOptions(RequestOptions, frozen=True, kw_only=True):
    """Everything a request depends on; recorded requests know their model."""

    model: ModelName = None  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues]


def diff(
    files: Annotated[
        list[str],
        Argument(
            "FILE|CONVERSATION|N...",
            help="One conversation, to compare two points of it with --at; or two; or the number "
            "of a recorded request, or of two.",
            complete=completion.conversations,
        ),
    ],
    request: DiffOptions,
    where: StoreOptions,
    source: InputFormat = None,
    at: Annotated[
        list[int] | None,
        Option(
            "--at",
            min=1,
            metavar="N",
            help="Request after message N. Give it twice; the second defaults to the last.",
        ),
    ] = None,
    now: Annotated[
        list[str] | None,
        Option(
            "--now",
            metavar="TIME",
            help="Current time for time sections (ISO 8601). Give it twice: one per request.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Compare two requests and find where the cache breaks.

    Compares two points of one conversation, or the newest requests of two conversations: how much
    of the first the provider's cache keeps, where they first differ, why, and the price. Numbers
    without --model are recorded requests (see cw requests); a single one is compared with the
    request before it.

    \b
    cw diff lunch --model claude-sonnet-5-5 --at 40 --at 42
    cw diff chat.json --model claude-sonnet-5-5 --at 40
    cw diff before.json after.json --model claude-sonnet-5-5 --json
    cw diff 14
    cw diff 12 14
    """
    if request.model is None:
        is_recorded = len(files) == 2 or (len(files) == 1 and not at)
        if is_recorded and all(map(str.isdecimal, files)):
            refuse({**given(request), "--from": source, "--at": at, "--now": now}, RECORDED)
            return diff_recorded([*map(int, files)], where, as_json=as_json)
        raise UsageError("--model is missing", hint="add --model NAME; cw models lists them")
    if source is not None and source.isdecimal():
        raise UsageError("--from is the format of a file", hint=f"--at {source} --at N")
    task = RequestTask.of(request)
    nows = [read_time_option(time) for time in now or ()]
    previous, context = Reader(task, source, where).requests(snapshots(files, at or [], nows))
    comparison = context.compared_with(previous)
    if as_json:
        say_json({**msgspec.to_builtins(comparison), "share": round(comparison.share, 4)})
    else:
        say(table(differences(previous, context, comparison)))
    return 0


class Snapshot(Struct, frozen=True):
    """A conversation after some of its messages."""

    name: str
    at: int | None
    """The number of the last message; None: all messages."""
    now: datetime | None


def snapshots(names: list[str], at: list[int], nows: list[datetime]) -> list[Snapshot]:
    """Return the two points to compare.

    Raises:
        UsageError: the arguments do not name exactly two.
    """
    if len(names) > 2 or len(at) > 2 or len(nows) > 2:
        raise UsageError("cw diff compares two requests", hint="name two conversations, or --at")
    if len(names) == 1 and not at:
        raise UsageError(
            "there is no second point to compare with", hint="add --at N, or name two conversations"
        )
    points = [*at, None, None][:2]
    times = nows * 2 if len(nows) == 1 else nows or [None, None]
    return [
        Snapshot(names[min(place, len(names) - 1)], points[place], times[place])
        for place in range(2)
    ]


class Reader:
    """Builds the requests of snapshots; a file is read once."""

    def __init__(self, task: RequestTask, source: str | None, where: StoreOptions) -> None:
        self.task, self.source, self.where = task, source, where
        self.files: dict[str, Conversation] = {}

    def requests(self, points: list[Snapshot]) -> list[Context]:
        """Build the requests, in order."""
        return [self.request(point) for point in points]

    def request(self, point: Snapshot) -> Context:
        """Build the request at one point of a conversation."""
        source = Source(point.name, self.source, self.where)
        if source.is_file:
            if point.name not in self.files:
                self.files[point.name] = source.read()
            with about(point.name):
                return self.task.build(first_messages(self.files[point.name], point.at), point.now)
        with source.chat() as chat:
            recipe, arguments = stored_arguments(self.task, chat, at=point.at, now=point.now)
            return chat.context(recipe, **arguments, at=point.at)


def differences(
    previous: Context, context: Context, comparison: Comparison
) -> list[tuple[str, str]]:
    """Return a comparison as rows of a table."""
    messages = [numbered(len(each.decisions), "message") for each in (previous, context)]
    return [
        ("before", f"{previous.ledger.tokens:,} tokens for {messages[0]}"),
        ("now", f"{context.ledger.tokens:,} tokens for {messages[1]}"),
        *compared_rows(comparison),
    ]
