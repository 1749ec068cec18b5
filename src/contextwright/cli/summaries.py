"""`cw summarise`: what left the window of a conversation, in few words."""

from __future__ import annotations

import shlex
import subprocess

from contextwright.cli.build import Task
from contextwright.cli.chats import asked_of
from contextwright.cli.output import note, say, say_json
from contextwright.cli.store import conversation
from contextwright.errors import SummaryError, UsageError, shown
from contextwright.messages import Message
from contextwright.summaries import Request, Summary, Using

__all__ = ["list_all", "summarise", "undo"]


def summarise(task: Task, id: str, command: str | None, *, as_json: bool) -> int:
    """Write the summary that the next request would lack, and print it."""
    using = None if command is None else by_command(command)
    with conversation(task.place, task.tenant, id, "--from") as chat:
        recipe, asked = asked_of(task, chat)
        found = chat.summarise(recipe, **asked, using=using)
    if found is None:
        note("cw: nothing is left out")
    if as_json:
        say_json(found)
    elif found is not None:
        say(text_of(found))
    return 0


def undo(task: Task, id: str, *, as_json: bool) -> int:
    """Remove the newest summary of this recipe; programs get to see it once more."""
    with conversation(task.place, task.tenant, id, "--from") as chat:
        found = chat.undo_summary(task.recipe)
    if as_json:
        say_json(found)
    if found is None:
        note("cw: there is no summary of this recipe")
        return 1
    note(f"cw: the summary of messages 1–{found.last} is gone")
    return 0


def list_all(task: Task, id: str, *, as_json: bool) -> int:
    """Print the summaries that are stored."""
    with conversation(task.place, task.tenant, id, "--from") as chat:
        stored = chat.summaries()
    if as_json:
        say_json(stored)
        return 0
    for one in stored:
        say(f"{one.made}  {one.name}\n{text_of(one.summary)}\n")
    if not stored:
        note("cw: no summaries")
    return 0


def text_of(summary: Summary) -> str:
    """A summary as a model reads it, all of it."""
    message = summary.message(1, is_free)
    return message.text if message else summary.head


def is_free(message: Message) -> int:
    """Here no token is counted."""
    return 0


def by_command(command: str) -> Using:
    """A program that reads the whole request from its standard input and prints the summary."""
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--using {shown(command)}: {error}") from None
    if not arguments:
        raise UsageError("--using names no program", hint="--using 'llm -m gpt-4o-mini'")

    def ask(request: Request) -> str:
        done = subprocess.run(arguments, input=request.prompt.encode(), stdout=subprocess.PIPE)
        if done.returncode:
            raise SummaryError(f"{shown(arguments[0])} ended with {done.returncode}")
        return done.stdout.decode(errors="replace")

    return ask
