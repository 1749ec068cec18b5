"""`cw simulate`: what recipes would have sent and cost, on a recorded conversation."""

from __future__ import annotations

import msgspec

from contextwright import formats
from contextwright.api import parse
from contextwright.cli.input import about
from contextwright.cli.output import note, numbered, progress, say, say_json, table, written
from contextwright.cli.plot import plot
from contextwright.documents import read_document, read_lines
from contextwright.errors import ContextwrightError, ParseError, UsageError
from contextwright.explaining import money
from contextwright.formats.base import Conversation
from contextwright.models import Model
from contextwright.recipe import Recipe
from contextwright.simulation import Row, simulate, total

__all__ = ["run"]


def run(
    file: str,
    source: str,
    recipes: list[Recipe],
    *,
    model: Model,
    format: str | None,
    budget: int | None,
    jsonl: bool,
    plot_file: str | None,
    least_share: float | None,
    as_json: bool,
) -> int:
    """Play every conversation with every recipe and print one row a recipe."""
    formats.find(source)
    formats.find(format or model.format)
    if plot_file is not None and not plot_file.endswith(".svg"):
        raise UsageError("a plot is an SVG file", hint="--plot out.svg")
    with about(file):
        conversations, failed = read(file, source, jsonl=jsonl)
    played: list[list[Row]] = []
    for number, conversation in enumerate(conversations, 1):
        title = f"conversation {number} of {len(conversations)}" if jsonl else "requests"
        with progress(title) as told:
            played.append(
                simulate(
                    conversation, recipes, model=model, budget=budget, format=format, progress=told
                )
            )
    rows = [total([found[place] for found in played]) for place in range(len(recipes))]
    if not rows or not any(row.requests or row.refused for row in rows):
        raise ContextwrightError(
            f"{'standard input' if file == '-' else file}: there is no request to play",
            hint="a request is what stands before a reply",
        )
    show(rows, as_json=as_json)
    if plot_file is not None:
        with written(plot_file) as write:
            write(plot(rows, model=model, budget=budget).encode())
    return verdict(rows, failed, least_share)


def read(file: str, source: str, *, jsonl: bool) -> tuple[list[Conversation], int]:
    """The conversations of a file, and how many lines of it could not be read."""
    if not jsonl:
        return [parse(read_document(file), source)], 0
    conversations: list[Conversation] = []
    failed = 0
    for number, data in read_lines(file):
        try:
            if isinstance(data, ParseError):
                raise data
            conversations.append(parse(data, source))
        except ContextwrightError as error:
            failed += 1
            note(f"cw: line {number}: {error}")
    return conversations, failed


COLUMNS = (
    "recipe", "requests", "refused", "invalid", "over", "lost", "tokens sent", "in prefix",
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
    """A row as people read it; `least` is the smallest price of all."""
    return (
        row.recipe,
        f"{len(row.requests) + row.refused:,}",
        f"{row.refused:,}",
        f"{row.invalid:,}",
        f"{row.over_budget:,}",
        f"{row.lost_questions:,}",
        f"{row.sent:,}",
        f"{row.share:.1%}",
        f"{row.uncached:,}",
        f"{row.breaks:,}",
        "-" if row.dollars is None else money(row.dollars, least),
    )


def verdict(rows: list[Row], failed: int, least_share: float | None) -> int:
    """1 if a recipe made a request that is not sound, or shares less than it has to."""
    bad = failed > 0
    for row in rows:
        if not row.sound:
            bad = True
            note(f"cw: {row.recipe}: {faults(row)}")
        if least_share is not None and row.share * 100 < least_share:
            bad = True
            note(f"cw: {row.recipe}: {row.share:.1%} in the prefix, asked for {least_share:g} %")
    if failed:
        note(f"cw: {numbered(failed, 'line')} failed")
    return 1 if bad else 0


def faults(row: Row) -> str:
    """What was wrong with the requests of a recipe."""
    counted = {
        "refused": row.refused,
        "invalid": row.invalid,
        "over budget": row.over_budget,
        "without the question": row.lost_questions,
    }
    said = ", ".join(f"{number:,} {fault}" for fault, number in counted.items() if number)
    first = next((error for request in row.requests for error in request.errors), "")
    return f"{said} ({first})" if first else said
