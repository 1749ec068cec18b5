"""Conversations into a store and out of it: import, export."""

from __future__ import annotations

from typing import Annotated

import typer

from contextwright.cli.app import app
from contextwright.cli.options import AsJson, ModelName, ModelsFile, Output, StorePlace, Tenant

ListChanges = Annotated[
    bool, typer.Option("--changes", help="List every repair, loss and invention on stderr.")
]


@app.command(name="import")
def import_command(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Files, folders or zips; - is standard input."),
    ],
    format: Annotated[
        str | None,
        typer.Option(
            "--format", "-f", metavar="SOURCE", help="What it is. Default: what its content tells."
        ),
    ] = None,
    store: StorePlace = None,
    tenant: Tenant = "",
    id: Annotated[
        str | None, typer.Option("--as", metavar="ID", help="A name for its one conversation.")
    ] = None,
    branches: Annotated[
        bool, typer.Option("--branches", help="Edited and regenerated versions become forks.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read and check everything, store nothing.")
    ] = False,
    replace: Annotated[
        bool,
        typer.Option("--replace-bad-text", help="U+FFFD for characters that cannot be stored."),
    ] = False,
    changes: ListChanges = False,
    as_json: AsJson = False,
) -> int:
    """Store the conversations of other tools.

    Exports of ChatGPT, Claude, Slack and Telegram, logs of Claude Code and Codex, fine-tuning
    data, Port 42 sessions, and every format of cw formats as a document or JSON Lines. Each file
    is stored whole or not at all; the same file again stores nothing twice.

    \b
    cw import chatgpt-export.zip
    cw import ~/.claude/projects --dry-run
    cw import train.jsonl --format openai-finetuning --store data.db
    """
    from contextwright.cli import transfer as command
    from contextwright.importers.intake import Intake

    intake = Intake(format=format or "", id=id, branches=branches, replace=replace)
    return command.import_files(
        files, intake, store, tenant, dry_run=dry_run, list_changes=changes, as_json=as_json
    )


@app.command()
def export(
    conversation: Annotated[
        str | None, typer.Argument(metavar="[CONVERSATION]", help="Its id. Default: all.")
    ] = None,
    format: Annotated[
        str, typer.Option("--format", "-f", metavar="FORMAT", help="What it becomes.")
    ] = "contextwright",
    store: StorePlace = None,
    tenant: Tenant = "",
    output: Output = None,
    model: ModelName = None,
    models: ModelsFile = None,
    changes: ListChanges = False,
) -> int:
    """Write a conversation of the store in any format, or all of them as JSON Lines.

    \b
    cw export lunch --format gryag
    cw export --format openai-chat -o all.jsonl
    """
    from contextwright.cli import transfer as command
    from contextwright.cli.input import named_model

    facts = named_model(model, models)
    return command.export(
        conversation, format, store, tenant, output, model=facts, list_changes=changes
    )
