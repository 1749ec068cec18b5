"""`cw build`, `cw explain` and `cw diff`: a conversation through a recipe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, cast

import msgspec
from msgspec import Struct

from contextwright import api, display, formats, recipes
from contextwright.changes import Change
from contextwright.cli import chats
from contextwright.cli.chats import question_time
from contextwright.cli.convert import described, report, summarise
from contextwright.cli.input import about
from contextwright.cli.output import (
    indented,
    note,
    numbered,
    on_terminal,
    paint,
    say,
    say_json,
    table,
    written,
)
from contextwright.context import Comparison, Context
from contextwright.documents import read_document, read_lines
from contextwright.errors import BudgetError, ContextwrightError, ParseError, UsageError, shown
from contextwright.explaining import money
from contextwright.formats.base import Conversation
from contextwright.messages import Opaque, Tool, encode_json
from contextwright.models import Model
from contextwright.recipe import Recipe
from contextwright.wire.values import is_object

__all__ = ["Task", "build", "build_lines", "diff", "explain", "read_now", "read_tools", "recipe_of"]


class Task(Struct, frozen=True, kw_only=True):
    """How to make a request of a conversation."""

    source: str | None
    """The format of files; None: conversations of the store are meant."""
    recipe: Recipe
    model: Model
    format: str | None = None
    budget: int | None = None
    now: datetime | None = None
    tools: tuple[Tool | Opaque, ...] | None = None
    place: str | None = None
    """Where the store is, if it was named."""
    tenant: str = ""

    def parse(self, data: Any) -> Conversation:
        """The conversation in a document."""
        if self.source is None:
            raise UsageError("what is the file?", hint="say it with --from FORMAT")
        return api.parse(data, self.source)

    def build(self, conversation: Conversation, now: datetime | None = None) -> Context:
        """The request; clocks tell the time asked for, or that of the newest question."""
        return self.recipe.build(
            conversation,
            model=self.model,
            format=self.format,
            tools=self.tools,
            now=now or self.now or question_time(reversed(conversation.messages)),
            budget=self.budget,
        )

    def require_formats(self) -> None:
        """Fail before anything is read if a format does not exist."""
        if self.source is not None:
            if self.place is not None or self.tenant:
                hint = "leave out one of --from and --store"
                raise UsageError("a file, or a conversation of the store?", hint=hint)
            formats.find(self.source)
        formats.find(self.format or self.model.format)


def request_of(task: Task, name: str) -> tuple[tuple[Change, ...], Context]:
    """What reading had to mend, and the request, for a file or a conversation of the store."""
    if task.source is None:
        return (), chats.context_of(task, name)
    with about(name):
        conversation = task.parse(read_document(name))
        return conversation.changes, task.build(conversation)


def build(task: Task, file: str, output: str | None, *, receipt: bool, list_changes: bool) -> int:
    """Print the request for one conversation."""
    task.require_formats()
    mended, context = request_of(task, file)
    with written(output) as write:
        write(indented(encode_json(answer(mended, context, receipt=receipt))))
    report((*mended, *context.changes), listed=list_changes)
    return 0


def build_lines(
    task: Task, file: str, output: str | None, *, receipt: bool, list_changes: bool
) -> int:
    """Print a request for each line of a file as it arrives; an error takes its place."""
    task.require_formats()
    if task.source is None:
        raise UsageError("--jsonl reads a file", hint="say what its lines are with --from FORMAT")
    failed = 0
    codes: Counter[str] = Counter()
    with about(file), written(output) as write:
        for number, data in read_lines(file):
            changes: Iterable[Change] = ()
            try:
                if isinstance(data, ParseError):
                    raise data
                conversation = task.parse(data)
                context = task.build(conversation)
                line = encode_json(answer(conversation.changes, context, receipt=receipt))
                changes = (*conversation.changes, *context.changes)
            except (ContextwrightError, RecursionError, MemoryError) as error:
                failed += 1
                line = encode_json({"error": refusal(error, number)})
            write(line + b"\n")
            codes.update(change.code for change in changes)
            if list_changes:
                report(changes, listed=True, prefix=f"line {number}: ")
    if not list_changes:
        summarise(codes)
    if failed:
        note(f"cw: {numbered(failed, 'line')} failed (see the error lines in the output)")
    return 1 if failed else 0


def answer(changes: Iterable[Change], context: Context, *, receipt: bool) -> Any:
    """The payload, alone or with its receipt; what reading had to mend is part of that."""
    if not receipt:
        return context.payload
    given = context.receipt()
    mended = [msgspec.to_builtins(change) for change in changes]
    return {
        "payload": context.payload,
        "receipt": {**given, "changes": [*mended, *given["changes"]]},
    }


def refusal(error: BaseException, number: int) -> dict[str, Any]:
    """An error as the data of an error line; a budget that is too small names one that works."""
    said = described(error, number)
    return {**said, "minimum": error.minimum} if isinstance(error, BudgetError) else said


def explain(task: Task, file: str) -> int:
    """Print what stayed, what went, why, and what it costs."""
    task.require_formats()
    mended, context = request_of(task, file)
    if on_terminal():
        paint(lambda console: display.print_explanation(context, console=console))
    else:
        say(context.explain())
    for change in mended:
        note(f"cw: {change}")
    return 0


# --- comparing -------------------------------------------------------------------------------


def diff(
    task: Task,
    files: list[str],
    cuts: tuple[int | None, int | None],
    *,
    nows: list[datetime],
    as_json: bool,
) -> int:
    """Print what a request shares with the one before it, and what broke the rest."""
    task.require_formats()
    if len(files) > 2:
        what = "conversations" if task.source is None else "files"
        raise UsageError(f"more than two {what}", hint="name one and --at and --and, or two")
    moments = [
        Moment(
            files[min(number, len(files) - 1)],
            option,
            cut,
            nows[min(number, len(nows) - 1)] if nows else None,
        )
        for number, (option, cut) in enumerate(zip(("--at", "--and"), cuts, strict=True))
    ]
    if len(files) == 1:
        for moment in moments:
            moment.require_cut()
    previous, context = requests_of(task, moments)
    comparison = context.compared_with(previous)
    if as_json:
        say_json({**msgspec.to_builtins(comparison), "share": round(comparison.share, 4)})
    else:
        say(table(differences(previous, context, comparison)))
    return 0


class Moment(Struct, frozen=True):
    """A conversation after some of its messages."""

    name: str
    option: str
    cut: int | None
    """None: after all of them."""
    now: datetime | None

    def require_cut(self) -> None:
        """Refuse a moment that says nothing, where the other is of the same conversation."""
        if self.cut is None:
            raise UsageError(f"{self.option} how many messages?", hint="or name a second file")

    def of(self, conversation: Conversation) -> Conversation:
        """The conversation as it was then."""
        count = len(conversation.messages)
        if self.cut is None:
            return conversation
        if self.cut > count:
            raise UsageError(
                f"{self.option} {self.cut:,}: there are only {numbered(count, 'message')}"
            )
        return msgspec.structs.replace(conversation, messages=conversation.messages[: self.cut])


def requests_of(task: Task, moments: Iterable[Moment]) -> list[Context]:
    """The requests of some moments; a file is read once."""
    read: dict[str, Conversation] = {}
    contexts: list[Context] = []
    for moment in moments:
        name = moment.name
        if task.source is None:
            contexts.append(chats.context_of(task, name, at=moment.cut, now=moment.now))
            continue
        with about(name):
            if name not in read:
                read[name] = task.parse(read_document(name))
            contexts.append(task.build(moment.of(read[name]), moment.now))
    return contexts


def differences(
    previous: Context, context: Context, comparison: Comparison
) -> list[tuple[str, str]]:
    """A comparison in words."""
    messages = [numbered(len(each.decisions), "message") for each in (previous, context)]
    rows = [
        ("before", f"{previous.ledger.tokens:,} tokens for {messages[0]}"),
        ("now", f"{context.ledger.tokens:,} tokens for {messages[1]}"),
        ("shared", f"{comparison.shared:,} tokens, {comparison.share:.1%} of now"),
    ]
    if comparison.first_difference is None:
        return [*rows, ("cause", comparison.cause)]
    again = previous.ledger.tokens - comparison.shared
    rows.append(("parted at", f"{comparison.first_difference}, byte {comparison.byte or 0:,}"))
    rows.append(("cause", comparison.cause))
    if comparison.cost is not None:
        rows.append(("price", f"{money(comparison.cost)} for {again:,} tokens that are read anew"))
    return rows


# --- what arguments mean -----------------------------------------------------------------------


def recipe_of(name: str, answer: int | None) -> Recipe:
    """A recipe by name or file, with another reserve for the answer if one is asked for."""
    recipe = recipes.find(name)
    return recipe if answer is None else msgspec.structs.replace(recipe, answer=answer)


def read_now(text: str) -> datetime:
    """A time from the command line; without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"--now {shown(text)} is no time", hint="2026-11-15T13:05:00+02:00"
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def read_tools(file: str) -> tuple[Tool | Opaque, ...]:
    """Tools from a file: a list, in the spelling of any provider or in ours."""
    with about(file):
        data = read_document(file)
        if not isinstance(data, list) or not all(map(is_object, cast("list[Any]", data))):
            raise ParseError("not a list of tools", hint='[{"name": …, "parameters": {…}}]')
        tools = cast("list[dict[str, Any]]", data)
        spelling = spelling_of(tools)
        if spelling == "contextwright":
            tools = [{"type": "tool", **tool} for tool in tools]
        return api.parse({"tools": tools, **REQUESTS[spelling]}, spelling).tools


REQUESTS: dict[str, dict[str, Any]] = {
    "anthropic": {"messages": []},
    "openai-chat": {"messages": []},
    "openai-responses": {"input": []},
    "gemini": {"contents": []},
    "contextwright": {"messages": []},
}
"""Requests without messages, to read tools from."""


def spelling_of(tools: list[dict[str, Any]]) -> str:
    """Whose spelling a list of tools has."""
    fields = {field for tool in tools for field in tool}
    if "input_schema" in fields:
        return "anthropic"
    if "functionDeclarations" in fields or "function_declarations" in fields:
        return "gemini"
    if "function" in fields:
        return "openai-chat"
    kinds = {tool.get("type") for tool in tools}
    return "openai-responses" if kinds - {None, "tool", "opaque"} else "contextwright"
