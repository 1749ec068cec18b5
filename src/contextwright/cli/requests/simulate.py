"""`cw simulate`: what recipes would have sent and cost, on a recorded conversation."""

from __future__ import annotations

from typing import Annotated

import msgspec

from contextwright import formats, importers
from contextwright.cli import completion
from contextwright.cli.arguments import find_model
from contextwright.cli.inputs import parse_document, read_input
from contextwright.cli.options import AsJson, File, InputFormat, Option, TargetOptions
from contextwright.cli.output import (
    left_out,
    note,
    numbered,
    progress,
    say,
    say_json,
    table,
    written,
)
from contextwright.cli.requests.plot import plot as drawing
from contextwright.cli.requests.snapshots import recipe_of
from contextwright.context.explain import money
from contextwright.context.recipe import Recipe
from contextwright.context.simulation.simulate import Row, total
from contextwright.context.simulation.simulate import simulate as replay
from contextwright.documents.read import read_lines
from contextwright.errors import ContextwrightError, ParseError, UsageError
from contextwright.messages.conversation import Conversation
from contextwright.models import Model

__all__ = ["simulate"]

RecipeNames = Annotated[
    list[str] | None,
    Option(
        "--recipe",
        "-r",
        metavar="NAME|FILE",
        help="Recipe name or file. Repeat it to compare recipes. Default: default.",
        complete=completion.recipes,
    ),
]
MinCached = Annotated[
    float | None,
    Option(
        "--min-cached",
        min=0,
        max=100,
        metavar="PERCENT",
        help="Exit with 1 if a smaller share of the tokens repeats the previous request.",
    ),
]


def simulate(
    file: File,
    target: TargetOptions,
    source: InputFormat = None,
    recipe: RecipeNames = None,
    jsonl: Annotated[
        bool, Option("--jsonl", help="Read one conversation per line and add them up.")
    ] = False,
    plot: Annotated[
        str | None,
        Option("--plot", metavar="FILE.svg", help="Draw the tokens of every request."),
    ] = None,
    min_cached: MinCached = None,
    as_json: AsJson = False,
) -> int:
    """Replay a recorded conversation and price it.

    Each reply in the file answers one request: everything before it. Prints one row per recipe.
    Exits with 1 if a request could not be built, is invalid, is over budget or lacks the newest
    question.

    \b
    cw simulate run.json --model claude-sonnet-5-5 --budget 8000 \\
      --recipe default --recipe 013 --plot run.svg
    cw simulate logs.jsonl --jsonl --from anthropic --model claude-sonnet-5-5 --min-cached 90
    """
    model = find_model(target.model, target.models)
    recipes = [recipe_of(name, target.max_output_tokens) for name in recipe or ["default"]]
    formats.find(target.format or model.format)
    if source is not None:
        (formats if jsonl else importers).find(source)
    if plot is not None and not plot.endswith(".svg"):
        raise UsageError("a plot is an SVG file", hint="--plot out.svg")
    if jsonl:
        conversations, failed = conversation_lines(file, source)
    else:
        found, failed = read_input(file, source), 0
        left_out(found.skipped)
        conversations = found.all()
    rows = replay_all(conversations, recipes, model, target)
    if not any(row.requests or row.refused for row in rows):
        raise ContextwrightError(
            f"{'standard input' if file == '-' else file}: there is no request to replay",
            hint="a request is everything before a reply",
        )
    show(rows, as_json=as_json)
    if plot is not None:
        with written(plot) as write:
            write(drawing(rows, model=model, budget=target.budget).encode())
    return verdict(rows, failed, min_cached)


def replay_all(
    conversations: list[Conversation], recipes: list[Recipe], model: Model, target: TargetOptions
) -> list[Row]:
    """Replay every conversation; return one row per recipe, none if nothing was replayed."""
    played: list[list[Row]] = []
    for number, conversation in enumerate(conversations, 1):
        with progress(f"conversation {number} of {len(conversations)}") as moved:
            played.append(
                replay(
                    conversation,
                    recipes,
                    model=model,
                    budget=target.budget,
                    format=target.format,
                    progress=moved,
                )
            )
    return [total(rows) for rows in zip(*played, strict=True)]


def conversation_lines(file: str, source: str | None) -> tuple[list[Conversation], int]:
    """Return the conversations of a file, one per line, and the number of unreadable lines."""
    conversations: list[Conversation] = []
    failed = 0
    for number, data in read_lines(file):
        try:
            if isinstance(data, ParseError):
                raise data
            conversations.append(parse_document(data, source))
        except ContextwrightError as error:
            failed += 1
            where = "" if error is data else f"line {number}: "  # the error names its line
            name = "" if file == "-" else f"{file}: "
            note(f"cw: {name}{where}{error}")
    return conversations, failed


COLUMNS = (
    "recipe", "requests", "refused", "invalid", "over", "lost", "tokens sent", "fill", "in prefix",
    "uncached", "breaks", "input price",
)  # fmt: skip


def show(rows: list[Row], *, as_json: bool) -> None:
    """Print the rows."""
    if as_json:
        say_json([{**row.summary(), "each": msgspec.to_builtins(row.requests)} for row in rows])
    else:
        least = min((row.dollars for row in rows if row.dollars is not None), default=0.0)
        say(table([COLUMNS, *(cells(row, least) for row in rows)], numbers=1))


def cells(row: Row, least: float) -> tuple[str, ...]:
    """Return the cells of a row; `least` is the smallest price of all rows."""
    return (
        row.recipe,
        f"{len(row.requests) + row.refused:,}",
        f"{row.refused:,}",
        f"{row.invalid:,}",
        f"{row.over_budget:,}",
        f"{row.lost_questions:,}",
        f"{row.sent:,}",
        f"{row.fill:.1%}",
        f"{row.share:.1%}",
        f"{row.uncached:,}",
        f"{row.breaks:,}",
        "-" if row.dollars is None else money(row.dollars, least),
    )


def verdict(rows: list[Row], failed: int, min_cached: float | None) -> int:
    """Return the exit code: 1 if a line or a request failed, or if too little is cached."""
    bad = failed > 0
    for row in rows:
        if not row.sound:
            bad = True
            note(f"cw: {row.recipe}: {faults(row)}")
        if min_cached is not None and row.share * 100 < min_cached:
            bad = True
            note(f"cw: {row.recipe}: {row.share:.1%} cached, the minimum is {min_cached:g}%")
    if failed:
        note(f"cw: {numbered(failed, 'line')} failed")
    return 1 if bad else 0


def faults(row: Row) -> str:
    """Return the problems of a recipe's requests, counted."""
    counted = {
        "refused": row.refused,
        "invalid": row.invalid,
        "over budget": row.over_budget,
        "without the question": row.lost_questions,
    }
    parts = ", ".join(f"{number:,} {fault}" for fault, number in counted.items() if number)
    first = next((error for request in row.requests for error in request.errors), "")
    return f"{parts} ({first})" if first else parts
