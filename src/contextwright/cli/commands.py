"""The commands of `cw`, their arguments and their help. What they do stands in the files beside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from contextwright.cli.build import Task

app = typer.Typer(
    help="Decides what a language model sees: builds, converts, checks, counts and shows requests.",
    epilog="Everywhere, - is standard input. Start with: cw demo",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

File = Annotated[str, typer.Argument(metavar="FILE", help="A JSON file, or - for standard input.")]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        metavar="FORMAT",
        help="What it is: see cw formats. Default: the model's own.",
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option("--model", "-m", metavar="MODEL", help="A model's name: see cw models."),
]
ModelsFile = Annotated[
    str | None,
    typer.Option(
        "--models", metavar="FILE", help="Your own model facts (TOML or JSON), over ours."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Source = Annotated[str, typer.Option("--from", metavar="FORMAT", help="What it is.")]
ForModel = Annotated[str, typer.Option("--model", "-m", metavar="MODEL", help="Who reads it.")]
RecipeName = Annotated[
    str,
    typer.Option("--recipe", "-r", metavar="NAME|FILE", help="A recipe: see cw recipes."),
]
Budget = Annotated[
    int | None,
    typer.Option(
        "--budget",
        "-b",
        min=1,
        metavar="N",
        help="Tokens of the whole request. Default: the recipe's, else what the model takes.",
    ),
]
Answer = Annotated[
    int | None,
    typer.Option("--answer", min=1, metavar="N", help="Tokens kept free for the answer."),
]
TargetFormat = Annotated[
    str | None,
    typer.Option(
        "--format", "-f", metavar="FORMAT", help="The API it is for. Default: the model's own."
    ),
]
Now = Annotated[
    str | None,
    typer.Option(
        "--now",
        metavar="TIME",
        help="What clocks tell (ISO 8601). Default: the time of the newest question.",
    ),
]
ToolsFile = Annotated[
    str | None,
    typer.Option("--tools", metavar="FILE", help="Tools (JSON) instead of the conversation's."),
]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="OUT", help="Write to this file.")
]


def print_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        from importlib.metadata import version

        typer.echo(f"contextwright {version('contextwright')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    """Options of `cw` itself."""


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
    file: File,
    format: Annotated[str, typer.Option("--format", "-f", metavar="FORMAT", help="What it is.")],
    ascii: Annotated[bool, typer.Option("--ascii", help="No emoji, no box lines.")] = False,
    width: Annotated[
        int | None, typer.Option("--width", min=1, metavar="N", help="Cut system lines after N.")
    ] = None,
    color: Annotated[
        bool | None,
        typer.Option("--color/--no-color", help="Colours. Default: on a terminal."),
    ] = None,
) -> int:
    """Show a conversation as people read it.

    \b
    cw show thread.json --format aya
    cw convert chat.json --from openai-chat --to aya | cw show - --format aya --ascii
    """
    from contextwright.cli import inspect as command

    return command.show(file, format, ascii=ascii, width=width, colored=color)


@app.command()
def build(
    file: File,
    source: Source,
    model: ForModel,
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
    """Make the best request within a budget.

    A recipe says what goes in; --format asks another API than the model's own. With --jsonl a line
    that fails becomes {"error": …} in its place, the rest goes on, and the exit code is 1.

    \b
    cw build chat.json --from openai-chat --model claude-sonnet-5-5 --budget 8000
    cw build thread.json --from aya --recipe aya --model gpt-5.6-sol --receipt
    cw build - --from anthropic --recipe mine.toml --model gpt-5.6-sol --jsonl < logs.jsonl
    """
    from contextwright.cli import build as command

    task = build_task(source, recipe, model, budget, answer, format, now, tools, models)
    run = command.build_lines if jsonl else command.build
    return run(task, file, output, receipt=receipt, list_changes=changes)


@app.command()
def explain(
    file: File,
    source: Source,
    model: ForModel,
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
    cw explain chat.json --from openai-chat --model claude-sonnet-5-5 --budget 8000
    """
    from contextwright.cli import build as command

    task = build_task(source, recipe, model, budget, answer, format, now, tools, models)
    return command.explain(task, file)


@app.command()
def diff(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE [FILE]", help="A conversation, or two.")
    ],
    source: Source,
    model: ForModel,
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

    Two moments of one conversation, or the newest requests of two files.

    \b
    cw diff chat.json --from openai-chat --model claude-sonnet-5-5 --at 40 --and 42
    cw diff before.json after.json --from anthropic --model claude-sonnet-5-5 --json
    """
    from contextwright.cli import build as command

    task = build_task(source, recipe, model, budget, answer, format, None, tools, models)
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
    source: str,
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
    )


@app.command()
def formats(as_json: AsJson = False) -> int:
    """List the formats."""
    from contextwright.cli import tables as command

    return command.formats(as_json=as_json)


@app.command(name="models")
def models_command(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="One model.")] = None,
    models: ModelsFile = None,
    as_json: AsJson = False,
) -> int:
    """List the known models, or all that is known about one.

    A name that is not in the table gets the facts of its longest known beginning or of its
    family, and says so.

    \b
    cw models
    cw models claude-sonnet-5-5
    cw models my-model --models my-models.toml --json
    """
    from contextwright.cli import tables as command

    return command.models(name, models, as_json=as_json)


@app.command()
def recipes(
    name: Annotated[str | None, typer.Argument(metavar="NAME|FILE", help="One recipe.")] = None,
    as_json: AsJson = False,
) -> int:
    """List the recipes that come with the package, or print one to start your own from.

    A file is read and checked first.

    \b
    cw recipes
    cw recipes gryag > mine.toml
    """
    from contextwright.cli import tables as command

    return command.recipes(name, as_json=as_json)


@app.command()
def demo(
    model: Annotated[
        str, typer.Option("--model", "-m", metavar="MODEL", help="Who the request is for.")
    ] = "claude-sonnet-5-5",
    models: ModelsFile = None,
) -> int:
    """Build the request for an example conversation and explain it.

    \b
    cw demo
    cw demo --model gemini-3.5-flash
    """
    from contextwright.cli import demo as command
    from contextwright.cli.input import find_model

    return command.run(find_model(model, models))
