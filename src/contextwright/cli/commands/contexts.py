"""What a recipe makes of a conversation: build, explain, diff, simulate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from contextwright.cli.app import app
from contextwright.cli.options import (
    Answer,
    AsJson,
    Budget,
    File,
    FileFormat,
    FileOrConversation,
    ForModel,
    ModelsFile,
    Now,
    Output,
    RecipeName,
    Source,
    StorePlace,
    TargetFormat,
    Tenant,
    ToolsFile,
)
from contextwright.errors import UsageError

if TYPE_CHECKING:
    from contextwright.cli.build import Task


@app.command()
def build(
    file: FileOrConversation,
    model: ForModel,
    source: FileFormat = None,
    store: StorePlace = None,
    tenant: Tenant = "",
    recipe: RecipeName = "default",
    budget: Budget = None,
    answer: Answer = None,
    format: TargetFormat = None,
    now: Now = None,
    tools: ToolsFile = None,
    models: ModelsFile = None,
    output: Output = None,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="One conversation a line in, one payload a line out.")
    ] = False,
    receipt: Annotated[
        bool, typer.Option("--receipt", help='Print {"payload": …, "receipt": …}.')
    ] = False,
    changes: Annotated[
        bool, typer.Option("--changes", help="List every repair, loss and invention on stderr.")
    ] = False,
) -> int:
    """Make the best request within a budget, for a conversation of the store or of a file.

    A recipe says what goes in; --format asks another API than the model's own. With --jsonl a line
    that fails becomes {"error": …} in its place, the rest goes on, and the exit code is 1.

    \b
    cw build lunch --model claude-sonnet-5-5 --budget 8000
    cw build chat.json --from openai-chat --model claude-sonnet-5-5 --budget 8000
    cw build thread.json --from aya --recipe aya --model gpt-5.6-sol --receipt
    cw build - --from anthropic --recipe mine.toml --model gpt-5.6-sol --jsonl < logs.jsonl
    """
    from contextwright.cli import build as command

    task = build_task(
        source, store, tenant, recipe, model, budget, answer, format, now, tools, models
    )
    run = command.build_lines if jsonl else command.build
    return run(task, file, output, receipt=receipt, list_changes=changes)


@app.command()
def explain(
    file: FileOrConversation,
    model: ForModel,
    source: FileFormat = None,
    store: StorePlace = None,
    tenant: Tenant = "",
    recipe: RecipeName = "default",
    budget: Budget = None,
    answer: Answer = None,
    format: TargetFormat = None,
    now: Now = None,
    tools: ToolsFile = None,
    models: ModelsFile = None,
) -> int:
    """Show what a request holds: what stayed, what went, why, the tokens, the price.

    \b
    cw explain lunch --model claude-sonnet-5-5 --budget 8000
    cw explain chat.json --from openai-chat --model claude-sonnet-5-5 --budget 8000
    """
    from contextwright.cli import build as command

    task = build_task(
        source, store, tenant, recipe, model, budget, answer, format, now, tools, models
    )
    return command.explain(task, file)


@app.command()
def diff(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|CONVERSATION...",
            help="One and two moments of it, or two. With --from files.",
        ),
    ],
    model: ForModel,
    source: FileFormat = None,
    store: StorePlace = None,
    tenant: Tenant = "",
    at: Annotated[
        int | None,
        typer.Option("--at", min=1, metavar="N", help="The first request: after N messages."),
    ] = None,
    and_at: Annotated[
        int | None,
        typer.Option("--and", min=1, metavar="N", help="The second request: after N messages."),
    ] = None,
    recipe: RecipeName = "default",
    budget: Budget = None,
    answer: Answer = None,
    format: TargetFormat = None,
    now: Annotated[
        list[str] | None,
        typer.Option("--now", metavar="TIME", help="What clocks tell; twice: one for each."),
    ] = None,
    tools: ToolsFile = None,
    models: ModelsFile = None,
    as_json: AsJson = False,
) -> int:
    """Compare two requests: what the cache keeps of the first, where they part, why, the price.

    Two moments of one conversation (--at 40 --and 42: after so many messages), or the newest
    requests of two.

    \b
    cw diff lunch --model claude-sonnet-5-5 --at 40 --and 42
    cw diff chat.json --from openai-chat --model claude-sonnet-5-5 --at 40 --and 42
    cw diff before.json after.json --from anthropic --model claude-sonnet-5-5 --json
    """
    from contextwright.cli import build as command

    if source is not None and source.isdecimal():
        raise UsageError("--from names the format of a file", hint=f"--at {source} --and N")
    task = build_task(
        source, store, tenant, recipe, model, budget, answer, format, None, tools, models
    )
    nows = [command.read_now(time) for time in now or ()]
    return command.diff(task, files, (at, and_at), nows=nows, as_json=as_json)


@app.command()
def simulate(
    file: File,
    source: Source,
    model: ForModel,
    recipe: Annotated[
        list[str] | None,
        typer.Option(
            "--recipe", "-r", metavar="NAME|FILE", help="A recipe; name several to compare them."
        ),
    ] = None,
    budget: Budget = None,
    answer: Answer = None,
    format: TargetFormat = None,
    models: ModelsFile = None,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="One conversation a line; their figures are added up.")
    ] = False,
    plot: Annotated[
        str | None,
        typer.Option("--plot", metavar="OUT.svg", help="Draw the tokens of every request."),
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(
            "--share",
            min=0,
            max=100,
            metavar="PERCENT",
            help="Fail if less of all tokens lies in the previous request's prefix.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Play a recorded conversation request by request, and say what each recipe would have cost.

    Every reply answered a request: everything before it. The exit code is 1 if one of them could
    not be made, is not legal, is over budget or lacks the newest question.

    \b
    cw simulate run.json --from openai-chat --model claude-sonnet-5-5 --budget 8000 \\
      --recipe default --recipe 013 --plot run.svg
    cw simulate logs.jsonl --jsonl --from anthropic --model claude-sonnet-5-5 --share 90
    """
    from contextwright.cli import build as building
    from contextwright.cli import simulate as command
    from contextwright.cli.input import find_model

    return command.run(
        file,
        source,
        [building.recipe_of(name, answer) for name in recipe or ["default"]],
        model=find_model(model, models),
        format=format,
        budget=budget,
        jsonl=jsonl,
        plot_file=plot,
        least_share=share,
        as_json=as_json,
    )


def build_task(
    source: str | None,
    store: str | None,
    tenant: str,
    recipe: str,
    model: str,
    budget: int | None,
    answer: int | None,
    format: str | None,
    now: str | None,
    tools: str | None,
    models: str | None,
) -> Task:
    """What the options that building commands share mean."""
    from contextwright.cli import build as command
    from contextwright.cli.input import find_model

    return command.Task(
        source=source,
        recipe=command.recipe_of(recipe, answer),
        model=find_model(model, models),
        format=format,
        budget=budget,
        now=None if now is None else command.read_now(now),
        tools=None if tools is None else command.read_tools(tools),
        place=store,
        tenant=tenant,
    )
