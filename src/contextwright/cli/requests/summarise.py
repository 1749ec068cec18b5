"""`cw summarise`: summaries of the messages that the window leaves out."""

from __future__ import annotations

import shlex
import subprocess
from typing import Annotated

from contextwright.cli.options import (
    AsJson,
    Conversation,
    Option,
    RequestOptions,
    StoreOptions,
    given,
    refuse,
)
from contextwright.cli.output import note, say, say_json
from contextwright.cli.requests.snapshots import RequestTask, stored_arguments
from contextwright.cli.stores import existing_chat
from contextwright.context.recipe import Recipe
from contextwright.errors import SummaryError, UsageError, shown
from contextwright.messages.message import Message
from contextwright.store.chat import Chat
from contextwright.store.contexts.summaries import summary_policy
from contextwright.summaries.policy import Request, Summariser
from contextwright.summaries.summary import Summary

__all__ = ["summarise"]


def summarise(
    conversation: Conversation,
    request: RequestOptions,
    where: StoreOptions,
    summariser: Annotated[
        str | None,
        Option(
            "--summariser",
            metavar="COMMAND",
            help="Program that reads a prompt and prints a summary, if the recipe names a model. "
            "Default: excerpts, without a model.",
        ),
    ] = None,
    undo: Annotated[
        bool, Option("--undo", help="Remove the newest summary of this recipe instead.")
    ] = False,
    show: Annotated[
        bool, Option("--show", help="Print the stored summaries, or those of --recipe.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Summarise what the window leaves out.

    Stores the summary and prints it. Later requests include it. The recipe has to ask for
    summaries: summary = true, or a table with tokens and model.

    \b
    cw summarise lunch --recipe mine.toml --model claude-sonnet-5-5
    cw summarise lunch --recipe my.toml --model claude-sonnet-5-5 --summariser 'llm -m gpt-4o-mini'
    cw summarise lunch --recipe mine.toml --model claude-sonnet-5-5 --undo
    """
    if undo and show:
        raise UsageError("--undo and --show cannot be combined", hint="leave out one of them")
    refuse_unused(request, summariser, undo=undo, show=show)
    task = RequestTask.of(request)
    writer = None if summariser is None else by_command(summariser)
    with existing_chat(where, conversation) as chat:
        if show:
            recipe = task.recipe if "--recipe" in given(request) else None
            return list_summaries(chat, recipe, as_json=as_json)
        if undo:
            return undo_summary(chat, task.recipe, as_json=as_json)
        recipe, arguments = stored_arguments(task, chat)
        found = chat.summarise(recipe, **arguments, summariser=writer)
    if found is None:
        note("cw: nothing is left out")
    if as_json:
        say_json(found)
    elif found is not None:
        say(text_of(found))
    return 0


def refuse_unused(
    request: RequestOptions, summariser: str | None, *, undo: bool, show: bool
) -> None:
    """Refuse options that neither --undo nor --show looks at."""
    looked_at = ("--model", "--models", "--recipe")
    if undo or show:
        others = {name: one for name, one in given(request).items() if name not in looked_at}
        why = f"has no effect with {'--undo' if undo else '--show'}"
        refuse({**others, "--summariser": summariser}, why)


def undo_summary(chat: Chat, recipe: Recipe, *, as_json: bool) -> int:
    """Remove the newest summary of a recipe; --json prints what was removed."""
    found = chat.undo_summary(recipe)
    if as_json:
        say_json(found)
    if found is None:
        note("cw: there is no summary of this recipe")
        return 1
    note(f"cw: removed the summary of messages 1–{found.last}")
    return 0


def list_summaries(chat: Chat, recipe: Recipe | None, *, as_json: bool) -> int:
    """Print the stored summaries: all of them, or those of a recipe."""
    stored = chat.summaries()
    if recipe is not None:
        name = summary_policy(recipe).name
        stored = [one for one in stored if one.name == name]
    if as_json:
        say_json(stored)
        return 0
    for one in stored:
        say(f"{one.made}  {one.name}\n{text_of(one.summary)}\n")
    if not stored:
        note("cw: no summaries")
    return 0


def text_of(summary: Summary) -> str:
    """Return the whole summary as a model reads it."""
    message = summary.message(1, is_free)
    return message.text if message else summary.head


def is_free(message: Message) -> int:
    """Price all messages at 0, where tokens do not matter."""
    return 0


def by_command(command: str) -> Summariser:
    """Return a summariser that runs a program: prompt in, summary out."""
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--summariser {shown(command)}: {error}") from None
    if not arguments:
        raise UsageError("--summariser is empty", hint="--summariser 'llm -m gpt-4o-mini'")

    def ask(request: Request) -> str:
        done = subprocess.run(arguments, input=request.prompt.encode(), stdout=subprocess.PIPE)
        if done.returncode:
            raise SummaryError(f"{shown(arguments[0])} exited with {done.returncode}")
        return done.stdout.decode(errors="replace")

    return ask
