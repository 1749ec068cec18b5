"""What left the window, in few words: summarise."""

from __future__ import annotations

from typing import Annotated

import typer

from contextwright.cli.app import app
from contextwright.cli.commands.contexts import build_task
from contextwright.cli.options import (
    AsJson,
    Budget,
    Conversation,
    ForModel,
    ModelsFile,
    RecipeName,
    StorePlace,
    TargetFormat,
    Tenant,
    ToolsFile,
)
from contextwright.errors import UsageError


@app.command()
def summarise(
    conversation: Conversation,
    model: ForModel,
    recipe: RecipeName,
    budget: Budget = None,
    using: Annotated[
        str | None,
        typer.Option(
            "--using",
            metavar="COMMAND",
            help="A program that reads what to summarise and prints it, where the recipe names a "
            "model. Without one, excerpts are picked.",
        ),
    ] = None,
    undo: Annotated[
        bool, typer.Option("--undo", help="Remove the newest summary of this recipe instead.")
    ] = False,
    show: Annotated[bool, typer.Option("--show", help="Print those that are stored.")] = False,
    format: TargetFormat = None,
    tools: ToolsFile = None,
    models: ModelsFile = None,
    store: StorePlace = None,
    tenant: Tenant = "",
    as_json: AsJson = False,
) -> int:
    """Write the summary of what a request would leave out, store it and print it.

    The recipe says how (summary = true, or a table with tokens and model). Requests tell it from
    then on; until there is one they say how many messages are left out.

    \b
    cw summarise lunch --recipe mine.toml --model claude-sonnet-5-5
    cw summarise lunch --recipe mine.toml --model claude-sonnet-5-5 --using 'llm -m gpt-4o-mini'
    cw summarise lunch --recipe mine.toml --model claude-sonnet-5-5 --undo
    """
    from contextwright.cli import summaries as command

    if undo and show:
        raise UsageError("--undo or --show?", hint="leave out one of them")
    task = build_task(None, store, tenant, recipe, model, budget, None, format, None, tools, models)
    if show:
        return command.list_all(task, conversation, as_json=as_json)
    if undo:
        return command.undo(task, conversation, as_json=as_json)
    return command.summarise(task, conversation, using, as_json=as_json)
