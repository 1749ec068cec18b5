"""`cw batch`: an operation over a whole data set, on all cores or on a cluster."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from contextwright.cli import INTERRUPTED, completion
from contextwright.cli.arguments import named_model
from contextwright.cli.options import (
    Argument,
    AsJson,
    InputFormat,
    ModelName,
    ModelsFile,
    Option,
    OptionGroup,
)
from contextwright.cli.output import note, numbered, progress, say_json, say_line
from contextwright.cli.requests.convert import RenderOptions

if TYPE_CHECKING:  # an optional package, which the help does without
    from contextwright.batch import Manifest, Operation
    from contextwright.batch.operation import Kind

__all__ = ["batch"]


class OperationOptions(OptionGroup, frozen=True, kw_only=True):
    """What is done with each row."""

    source: InputFormat = None
    target: Annotated[
        str | None,
        Option(
            "--to",
            metavar="TARGET",
            help="A format (see cw formats), openai-batch, openai-finetuning, anthropic-batch or "
            "gemini-batch.",
            complete=completion.formats,
        ),
    ] = None
    model: ModelName = None
    models: ModelsFile = None
    recipe: Annotated[
        list[str] | None,
        Option(
            "--recipe",
            "-r",
            metavar="NAME|FILE",
            help="Recipe of build and simulate; repeat it to compare. Default: default.",
            complete=completion.recipes,
        ),
    ] = None
    budget: Annotated[
        int | None,
        Option("--budget", "-b", min=1, metavar="N", help="Token budget of each request."),
    ] = None
    strict: Annotated[bool, Option("--strict", help="Reject rows that need repair.")] = False


class FileOptions(OptionGroup, frozen=True, kw_only=True):
    """What is read and what is written."""

    column: Annotated[
        str | None,
        Option(
            "--column",
            metavar="NAME",
            help="Field or column with the conversation. "
            "Default: the whole row; in Parquet document, else messages.",
        ),
    ] = None
    id: Annotated[
        str | None,
        Option(
            "--id",
            metavar="NAME",
            help="Field or column with the row's id. Default: file number-offset.",
        ),
    ] = None
    output: Annotated[
        str,
        Option("--output", "-o", metavar="FOLDER|URL", help="Folder for the results."),
    ]
    container: Annotated[
        Literal["jsonl", "parquet"], Option("--files", help="Kind of files to write.")
    ] = "jsonl"
    shard_size: Annotated[
        int,
        Option("--shard-size", min=1, metavar="MB", help="Maximum size of a file, in megabytes."),
    ] = 100


class WorkerOptions(OptionGroup, frozen=True, kw_only=True):
    """Who does the work."""

    runner: Annotated[
        str,
        Option("--runner", metavar="RUNNER", help="local, ray, or ray://HOST:PORT."),
    ] = "local"
    workers: Annotated[
        int | None,
        Option("--workers", "-j", min=1, metavar="N", help="Processes. Default: one per core."),
    ] = None


def batch(
    operation: Annotated[
        Literal["convert", "build", "check", "count", "simulate", "recall"],
        Argument("OPERATION", help="convert, build, check, count, simulate or recall."),
    ],
    inputs: Annotated[
        list[str],
        Argument("INPUT…", help="Files, folders, wildcards or object-store URLs."),
    ],
    what: OperationOptions,
    files: FileOptions,
    rendering: RenderOptions,
    where: WorkerOptions,
    as_json: AsJson = False,
) -> int:
    """Run an operation over a whole data set.

    Reads JSON Lines (also .gz, .zst, .bz2), JSON documents and Parquet, one conversation per row.
    The folder gets part-00000.jsonl and so on in the order of the input, rejects.jsonl with the
    rows that failed and why, and manifest.json. A run that was stopped goes on if the same command
    is given again. Exits with 1 if rows were rejected, or if check or simulate found errors.

    \b
    cw batch convert logs/ --to openai-batch --model gpt-5.6-sol -o out
    cw batch build 'logs/*.jsonl' --model claude-sonnet-5-5 --budget 8000 --to anthropic-batch -o b
    cw batch count chats.parquet --column messages --model gpt-5.6-sol -o counts --files parquet
    cw batch check s3://bucket/requests/ --from anthropic -o problems --runner ray://head:10001
    """
    from contextwright.batch import Columns, Job, Place, run

    job = Job(
        operation=operation_from(operation, what, rendering),
        output=Place(files.output),
        columns=Columns(files.column, files.id),
        container=files.container,
        shard_bytes=files.shard_size * 1_000_000,
    )
    try:
        with progress(operation) as moved:
            done = run(job, inputs, runner=where.runner, workers=where.workers, progress=moved)
    except KeyboardInterrupt:
        if where.runner == "local":
            raise
        # Daft's threads still ask for the interpreter: one that shuts down now is aborted.
        os._exit(INTERRUPTED)
    report(done, files.output, as_json=as_json)
    return 1 if done.rejected or done.unsound else 0


def operation_from(kind: Kind, what: OperationOptions, rendering: RenderOptions) -> Operation:
    """Return the operation that options describe."""
    from contextwright.batch import operation_of

    if kind == "convert":
        rendering.require_target(what.target)
    usual = ["default"] if kind in ("build", "simulate") else []
    usual_options = msgspec.structs.asdict(RenderOptions())
    options = msgspec.structs.asdict(rendering).items() - usual_options.items()
    return operation_of(
        kind,
        source=what.source,
        target=what.target,
        model=named_model(what.model, what.models),
        recipes=tuple(what.recipe or usual),
        budget=what.budget,
        strict=what.strict,
        options=dict(sorted(options)),
    )


def report(done: Manifest, output: str, *, as_json: bool) -> None:
    """Print what a job did."""
    if as_json:
        say_json(done)
        return
    kept = done.rows - done.rejected
    say_line(f"{numbered(kept, 'row')} in {numbered(len(done.shards), 'file')} in {output}")
    if done.skipped:
        note(f"cw: {numbered(done.skipped, 'file')} with other endings not read")
    if done.changes:
        counted = ", ".join(f"{code} ×{number:,}" for code, number in done.changes.items())
        note(f"cw: {numbered(sum(done.changes.values()), 'change')}: {counted}")
    if done.unsound:
        note(f"cw: errors in {numbered(done.unsound, 'row')}")
    if done.rejected:
        from contextwright.batch import Place

        place = Place(output) / "rejects.jsonl"
        note(f"cw: {numbered(done.rejected, 'row')} rejected (see {place.name})")
