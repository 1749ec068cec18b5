"""Conversations and payloads as they are: convert, check, count, show."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from contextwright.cli.app import app
from contextwright.cli.options import (
    AsJson,
    File,
    FormatName,
    ForModel,
    ModelName,
    ModelsFile,
    Output,
    Source,
    StorePlace,
    Tenant,
)
from contextwright.errors import UsageError


@app.command()
def convert(
    file: File,
    source: Source,
    target: Annotated[str, typer.Option("--to", metavar="FORMAT", help="What it becomes.")],
    model: ModelName = None,
    models: ModelsFile = None,
    output: Output = None,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="One conversation a line in, one payload a line out.")
    ] = False,
    changes: Annotated[
        bool, typer.Option("--changes", help="List every repair, loss and invention on stderr.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse what needs repair.")] = False,
    repair: Annotated[
        bool, typer.Option("--repair/--no-repair", help="Make the history legal for the target.")
    ] = True,
    speaker_prefix: Annotated[
        bool | None,
        typer.Option(
            "--speaker-prefix/--no-speaker-prefix",
            help="Write names before the words. Default: when several people speak.",
        ),
    ] = None,
    thinking: Annotated[
        Literal["keep", "drop", "text"],
        typer.Option("--thinking", help="Thinking: where it may travel, nowhere, or as text."),
    ] = "keep",
    include_results: Annotated[
        bool, typer.Option("--include-results", help="aya: keep tool results.")
    ] = False,
    turn_rule: Annotated[
        Literal["speaker", "exchange", "user"] | None,
        typer.Option("--turn-rule", help="aya: count turns anew by this rule."),
    ] = None,
    legacy_meta: Annotated[
        bool, typer.Option("--legacy-meta", help="gryag: write the old [meta] parts.")
    ] = False,
) -> int:
    """Turn a conversation from one format into another.

    The payload goes to standard output, changes to standard error. With --jsonl a line that
    fails becomes {"error": …} in its place, the rest goes on, and the exit code is 1.

    \b
    cw convert chat.json --from openai-chat --to anthropic --model claude-sonnet-5-5
    cw convert - --from aya --to gemini --changes < thread.json
    zcat logs.gz | cw convert - --from anthropic --to openai-chat --jsonl > out.jsonl
    """
    from contextwright.cli import convert as command
    from contextwright.cli.input import named_model

    task = command.Task(
        source,
        target,
        model=named_model(model, models),
        strict=strict,
        list_changes=changes,
        options={
            "repair": repair,
            "speaker_prefix": speaker_prefix,
            "thinking": thinking,
            "include_results": include_results,
            "turn_rule": turn_rule,
            "legacy_meta": legacy_meta,
        },
    )
    return command.run_lines(task, file, output) if jsonl else command.run(task, file, output)


@app.command()
def check(
    file: File,
    format: FormatName = None,
    model: ModelName = None,
    models: ModelsFile = None,
    as_json: AsJson = False,
) -> int:
    """List what a provider would refuse in a payload.

    One problem a line: its level, the rule's code, the path, and what is wrong. The exit code is
    1 if there is an error; warnings alone give 0.

    \b
    cw check payload.json --format anthropic
    cw check payload.json --model gpt-5.6-sol --json
    """
    from contextwright.cli import inspect as command
    from contextwright.cli.input import named_model

    facts = named_model(model, models)
    return command.check(file, format, model=facts, as_json=as_json)


@app.command()
def count(
    what: Annotated[
        str,
        typer.Argument(metavar="FILE|TEXT", help="A file, - for standard input, or plain text."),
    ],
    model: ForModel,
    format: FormatName = None,
    text: Annotated[
        bool, typer.Option("--text", help="Count the words themselves, even if they name a file.")
    ] = False,
    models: ModelsFile = None,
    as_json: AsJson = False,
) -> int:
    """Count the tokens of a payload or of plain text.

    Says whether the number is exact or how far off it may be. A file that starts with { or [ is
    a payload, any other is text.

    \b
    cw count payload.json --model gpt-5.6-sol
    cw count "Скільки тут токенів?" --model claude-sonnet-5-5
    """
    from contextwright.cli import inspect as command
    from contextwright.cli.input import find_model

    facts = find_model(model, models)
    return command.count(what, format, model=facts, as_text=text, as_json=as_json)


@app.command()
def show(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE|CONVERSATION",
            help="With --format a JSON file, or - for standard input; else one of the store.",
        ),
    ],
    format: Annotated[
        str | None,
        typer.Option("--format", "-f", metavar="FORMAT", help="What the file is: see cw formats."),
    ] = None,
    store: StorePlace = None,
    tenant: Tenant = "",
    ascii: Annotated[bool, typer.Option("--ascii", help="No emoji, no box lines.")] = False,
    width: Annotated[
        int | None, typer.Option("--width", min=1, metavar="N", help="Cut system lines after N.")
    ] = None,
    color: Annotated[
        bool | None,
        typer.Option("--color/--no-color", help="Colours. Default: on a terminal."),
    ] = None,
) -> int:
    """Show a conversation of the store, or of a file, as people read it.

    \b
    cw show lunch
    cw show thread.json --format aya
    cw convert chat.json --from openai-chat --to aya | cw show - --format aya --ascii
    """
    if format is None:
        from contextwright.cli import chats

        return chats.show(file, store, tenant, ascii=ascii, width=width, colored=color)
    if store is not None or tenant:
        hint = "leave out one of --format and --store"
        raise UsageError("a file, or a conversation of the store?", hint=hint)
    from contextwright.cli import inspect as command

    return command.show(file, format, ascii=ascii, width=width, colored=color)
