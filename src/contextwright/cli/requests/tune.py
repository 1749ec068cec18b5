"""`cw tune`: the window that is worth its price, found on your own logs."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

from contextwright import formats, importers
from contextwright.cli.arguments import find_model
from contextwright.cli.inputs import read_input
from contextwright.cli.options import (
    Argument,
    AsJson,
    InputFormat,
    Option,
    StoreOptions,
    TargetOptions,
    refuse,
)
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
from contextwright.cli.requests.frontier_plot import frontier_plot
from contextwright.cli.requests.simulate import conversation_lines
from contextwright.cli.stores import existing
from contextwright.context.explain import money
from contextwright.context.simulation.tuning import Trial, frontier, recommend, try_candidates
from contextwright.documents.read import read_lines
from contextwright.errors import UsageError
from contextwright.importers.detection import is_log
from contextwright.messages.conversation import Conversation
from contextwright.models import Model
from contextwright.store.frames import conversation_of

__all__ = ["tune"]

LINES = (".jsonl", ".ndjson")


def tune(
    target: TargetOptions,
    where: StoreOptions,
    logs: Annotated[
        list[str] | None,
        Argument("[LOGS…]", help="JSON, JSON Lines with a conversation per line, agents' logs."),
    ] = None,
    source: InputFormat = None,
    most: Annotated[
        int,
        Option("--most", min=1, metavar="N", help="Maximum number of conversations to replay."),
    ] = 100,
    min_kept: Annotated[
        float,
        Option(
            "--min-kept",
            min=0,
            max=100,
            metavar="PERCENT",
            help="Recommend only what keeps this share of all messages.",
        ),
    ] = 0,
    write: Annotated[
        str | None,
        Option("--write", metavar="FILE.toml", help="Write the recommended recipe to a file."),
    ] = None,
    plot: Annotated[
        str | None, Option("--plot", metavar="FILE.svg", help="Draw price against messages kept.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Find the window that is worth its price.

    Replays recorded conversations, of files or of a store, with windows that slide, that cut in
    steps, and that clear old tool results. Prints what each sends, keeps and costs with the
    provider's prompt cache; * marks those that no other beats. Recommends the one with the lowest
    price per message that a request holds whole.

    \b
    cw tune ~/.claude/projects/*/*.jsonl --model claude-sonnet-5-5 --budget 50000
    cw tune runs/*.jsonl --model claude-sonnet-5-5 --budget 8000 --write mine.toml
    cw tune --store chat.db --model gpt-5.6-sol --budget 20000 --min-kept 50 --plot frontier.svg
    """
    require_ending(write, ".toml")
    require_ending(plot, ".svg")
    model = find_model(target.model, target.models)
    formats.find(target.format or model.format)
    conversations, failed = recorded(logs or [], source, where, most)
    trials = replay_candidates(conversations, target, model)
    best = recommend(trials, min_kept=min_kept / 100)
    best_ones = frontier(trials)
    show(trials, best_ones, best, as_json=as_json)
    if plot is not None:
        write_text(plot, frontier_plot(trials, best_ones, best, model=model))
    if write is not None:
        write_text(write, recipe_file(best, target, len(conversations)))
    return 1 if failed else 0


def replay_candidates(
    conversations: list[Conversation], target: TargetOptions, model: Model
) -> list[Trial]:
    """Replay the conversations with every candidate, with a progress bar."""
    with progress("tune") as moved:
        return try_candidates(
            conversations,
            model=model,
            budget=target.budget,
            answer=target.max_output_tokens,
            format=target.format,
            progress=moved,
        )


def require_ending(name: str | None, ending: str) -> None:
    """Refuse a file name with another ending.

    Raises:
        UsageError: the name has another ending.
    """
    if name is not None and not name.endswith(ending):
        raise UsageError(f"{name!r} does not end in {ending}", hint=f"for example out{ending}")


def recorded(
    logs: list[str], source: str | None, where: StoreOptions, most: int
) -> tuple[list[Conversation], int]:
    """Return the conversations to replay, and the number of lines that could not be read.

    Raises:
        UsageError: neither files nor a store are named, or both.
    """
    if bool(logs) == where.is_named:
        hint = "cw tune logs.jsonl, or cw tune --store chat.db"
        raise UsageError("name either files or a store", hint=hint)
    if where.is_named:
        refuse({"--from": source}, "has no effect on a store: it is the format of files")
        return from_store(where, most), 0
    if source is not None:
        importers.find(source)
    of_tool = source is not None and source not in formats.NAMES
    found: list[Conversation] = []
    skipped: Counter[str] = Counter()
    failed = 0
    for file in logs:
        if file.endswith(LINES) and not of_tool and not is_log(read_lines(file)):
            conversations, wrong = conversation_lines(file, source)
            found += conversations
            failed += wrong
        else:
            input = read_input(file, source)
            found += input.all()
            skipped += input.skipped
    left_out(skipped)
    note_skipped(len(found), most)
    return found[:most], failed


def from_store(where: StoreOptions, most: int) -> list[Conversation]:
    """Return the conversations of a store that were active last."""
    with existing(where) as store:
        ids = [info.id for info in store.list()]
        note_skipped(len(ids), most)
        return [conversation_of(store.conversation(id)) for id in ids[:most]]


def note_skipped(found: int, most: int) -> None:
    """Say that not all conversations are replayed."""
    if found > most:
        note(f"cw: {numbered(most, 'conversation')} of {found:,} replayed (--most)")


def write_text(name: str, text: str) -> None:
    """Write a text file, whole or not at all."""
    with written(name) as out:
        out(text.encode())


COLUMNS = (
    "", "window", "kept", "fill", "in prefix", "breaks", "refused", "input price", "per message",
)  # fmt: skip


def show(trials: list[Trial], best_ones: list[Trial], best: Trial, *, as_json: bool) -> None:
    """Print what each candidate does, and the recommended one."""
    if as_json:
        say_json([figures(one, one in best_ones, one is best) for one in trials])
        return
    ordered = sorted(trials, key=lambda one: (one.cost, -one.whole))
    say(table([COLUMNS, *(cells(one, one in best_ones) for one in ordered)], numbers=2))
    if all(one.kept == 1 for one in trials):
        say("\nEvery request fits the budget whole, so no window differs: try a smaller --budget.")
    say(f"\nRecommended: {best.candidate.name}\n\n{best.candidate.toml()}".rstrip())


def cells(trial: Trial, is_best: bool) -> tuple[str, ...]:
    """Return the cells of a candidate."""
    row = trial.row
    priced = row.dollars is not None
    each = trial.cost / max(trial.whole, 1)
    return (
        "*" if is_best else "",
        trial.candidate.name,
        f"{trial.kept:.1%}",
        f"{row.fill:.1%}",
        f"{row.share:.1%}",
        f"{row.breaks:,}",
        f"{row.refused:,}",
        money(trial.cost) if priced else "-",
        f"${each:.8f}" if priced else f"{each:.1f} tokens",
    )


def figures(trial: Trial, is_best: bool, recommended: bool) -> dict[str, Any]:
    """Return a candidate's figures for programs."""
    return {
        "name": trial.candidate.name,
        "window": trial.candidate.window,
        "clearing": trial.candidate.clearing,
        "kept": round(trial.kept, 4),
        "whole": trial.whole,
        "on_frontier": is_best,
        "recommended": recommended,
        **{key: value for key, value in trial.row.summary().items() if key != "recipe"},
    }


def recipe_file(best: Trial, target: TargetOptions, conversations: int) -> str:
    """Return the recommended recipe as a file."""
    price = "" if best.row.dollars is None else f", input {money(best.row.dollars)}"
    budget = "" if target.budget is None else f"budget = {target.budget}\n"
    if target.max_output_tokens is not None:
        budget += f"answer = {target.max_output_tokens}\n"
    return (
        f"# Chosen by cw tune on {numbered(len(best.row.requests), 'request')} of "
        f"{numbered(conversations, 'conversation')}:\n"
        f"# {best.kept:.1%} of the messages kept, {best.row.share:.1%} in the prefix{price}.\n"
        f'title = "tuned on recorded conversations"\n{budget}\n{best.candidate.toml()}'
    ).rstrip() + "\n"
