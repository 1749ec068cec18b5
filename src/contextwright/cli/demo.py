"""`cw demo`: a long conversation under a budget, cached, recalled and sent to two providers."""

from __future__ import annotations

import json
from importlib import resources
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, cast

import msgspec
from msgspec import Struct

from contextwright import display
from contextwright.cli import completion
from contextwright.cli.arguments import find_model
from contextwright.cli.conversations.recall import recall_fields
from contextwright.cli.options import AsJson, ModelsFile, Option
from contextwright.cli.output import harmless, numbered, paint, say_json, table
from contextwright.context.context import Context
from contextwright.context.explain import money
from contextwright.context.recipe import Recipe
from contextwright.context.simulation.simulate import Row, simulate
from contextwright.documents.read import read_document
from contextwright.errors import Problem
from contextwright.formats import api
from contextwright.messages.conversation import Conversation
from contextwright.models import Model
from contextwright.recall.packing import RecallResult
from contextwright.store.store import Store
from contextwright.windows.policies import KeepRecent

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["BUDGET", "demo", "demo_conversation"]

BUDGET = 4_000
WIDTH = 100
MAX_TEXT_CHARS = 80
"""Maximum characters of one text in a request that is shown."""
TURNS = ("messages", "input", "contents")
"""The field of a request that holds its turns, by format."""
CALL, ARGUMENT = "check_schedule", "change"
"""A tool of the conversation, and its argument."""


def demo(
    model: Annotated[
        str,
        Option(
            "--model",
            "-m",
            metavar="MODEL",
            help="Target model (see cw models).",
            complete=completion.models,
        ),
    ] = "claude-sonnet-5-5",
    models: ModelsFile = None,
    as_json: AsJson = False,
) -> int:
    """See a budget, a cached prefix and a recall at work.

    Everything is computed while you wait, on a conversation that comes with the package. Nothing
    is sent anywhere.

    \b
    cw demo
    cw demo --model gemini-3.5-flash
    """
    shown = play(find_model(model, models))
    if as_json:
        say_json(demo_fields(shown))
    else:
        paint(lambda console: draw(console, shown))
    return 0


class Demo(Struct, frozen=True):
    """Everything the demonstration shows."""

    conversation: Conversation
    whole: int
    """Tokens of a request with the whole conversation."""
    contexts: tuple[Context, Context]
    """The request for the model, and for another provider."""
    rows: tuple[Row, Row]
    """The run with the default window, and with a sliding one."""
    question: str
    recalled: RecallResult


def demo_conversation() -> Conversation:
    """Return the conversation that comes with the package."""
    data = resources.files("contextwright").joinpath("data/demo.json").read_bytes()
    return api.parse(read_document(data), "contextwright")


def play(model: Model) -> Demo:
    """Build, simulate and recall."""
    conversation = demo_conversation()
    stepped = Recipe(name="stepped (default)", budget=BUDGET)
    sliding = Recipe(name="sliding", budget=BUDGET, window=KeepRecent(), note=None)
    other = find_model(
        "claude-sonnet-5-5" if model.format.startswith("openai") else "gpt-5.6-sol", None
    )
    rows = simulate(conversation, [stepped, sliding], model=model)
    whole = api.count(
        api.render(conversation, model.format, model=model).payload,
        model=model,
        format=model.format,
    )
    question = conversation.messages[-1].text
    with TemporaryDirectory() as folder, Store(f"{folder}/demo.db", embedder=None) as store:
        chat = store.conversation("kitchen")
        chat.add(conversation.messages[:-1])
        recalled = chat.recall(question, limit=1)
    return Demo(
        conversation,
        whole.tokens,
        (stepped.build(conversation, model=model), stepped.build(conversation, model=other)),
        (rows[0], rows[1]),
        question,
        recalled,
    )


def problems_of(context: Context) -> list[Problem]:
    """Return what the provider would refuse."""
    return api.check(context.payload, context.format, model=context.model)


def demo_fields(shown: Demo) -> dict[str, Any]:
    """Return the demonstration for programs."""
    return {
        "messages": len(shown.conversation.messages),
        "tokens": shown.whole,
        "budget": BUDGET,
        "receipt": shown.contexts[0].receipt(),
        "windows": [row.summary() for row in shown.rows],
        "recall": recall_fields(shown.recalled, None),
        "requests": [
            {
                "model": context.model.id,
                "format": context.format,
                "problems": msgspec.to_builtins(problems_of(context)),
                "payload": context.payload,
            }
            for context in shown.contexts
        ],
    }


# --- for people ----------------------------------------------------------------------------------


def draw(console: Console, shown: Demo) -> None:
    """Print the demonstration in five steps."""
    messages = shown.conversation.messages
    heading(console, "1. A conversation that is too long")
    console.print(
        f"Maya and Tom renovate their kitchen with an assistant: {len(messages)} messages over "
        f"two months,\n{shown.whole:,} tokens. Each request may have {BUDGET:,}. The newest one:"
    )
    console.print(f"\n  Maya: {shown.question}", style="cyan")

    heading(console, "2. What the model sees, and why")
    display.print_explanation(shown.contexts[0], console=console)

    heading(console, "3. What a stable prefix saves")
    draw_windows(console, shown.rows)

    heading(console, "4. What left the window is not lost")
    console.print("cw recall finds what the question needs most in the whole conversation:\n")
    console.print("\n".join(f"  {line}" for line in shown.recalled.text.splitlines()), style="cyan")

    heading(console, "5. The same conversation for two providers")
    for context in shown.contexts:
        draw_request(console, context)

    heading(console, "Now with your own")
    console.print(
        f"  cw explain chat.json --model {shown.contexts[0].model.id} --budget 8000\n"
        '  cw import chatgpt-export.zip && cw recall "What did we decide about …?"\n'
        "  cw --help\n\n"
        "See this conversation, request by request, in your browser (needs the extra serve):\n\n"
        "  cw inspect --demo"
    )


def heading(console: Console, title: str) -> None:
    """Print a heading between the parts."""
    console.print(f"\n── {title} ".ljust(WIDTH, "─"), style="bold green")


def draw_windows(console: Console, rows: tuple[Row, Row]) -> None:
    """Print what the two windows send and cost over all requests of the conversation."""
    stepped, sliding = rows
    head = ("window", "requests", "tokens sent", "cached", "input price")
    cells = [
        (
            row.recipe,
            f"{len(row.requests)}",
            f"{row.sent:,}",
            f"{row.share:.0%}",
            "-" if row.dollars is None else money(row.dollars),
        )
        for row in rows
    ]
    console.print(table([head, *cells], numbers=1))
    console.print(
        "\nA sliding window drops a message with every turn, so the provider's prompt cache starts "
        "over.\nThe default window moves in steps and keeps the beginning of the request as it was."
    )
    if stepped.dollars and sliding.dollars:
        ratio = sliding.dollars / stepped.dollars
        console.print(f"Sliding costs {ratio:.1f} times as much.", style="bold")


def draw_request(console: Console, context: Context) -> None:
    """Print the outline of a request, and one tool call as this provider spells it."""
    from rich.highlighter import JSONHighlighter

    turns = next(
        cast("list[Any]", context.payload[name]) for name in TURNS if name in context.payload
    )
    problems = numbered(len(problems_of(context)), "problem")
    title = f"{context.model.id} ({context.format})"
    counted = f"{numbered(len(turns), 'turn')}, {context.ledger.tokens:,} tokens, {problems}"
    console.print(f"{title}: {counted}", style="bold")
    calls = (turn for turn in reversed(turns) if is_call(turn))
    text = json.dumps(shortened(next(calls)), ensure_ascii=False)
    console.print(JSONHighlighter()(f"  {harmless(text)}"))


def is_call(turn: Any) -> bool:
    """Whether a turn of a request is the tool call that is shown; its result has no argument."""
    text = json.dumps(turn)
    return CALL in text and ARGUMENT in text


def shortened(value: Any) -> Any:
    """Return a JSON value with long texts cut."""
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT_CHARS else f"{value[: MAX_TEXT_CHARS - 1]}…"
    if isinstance(value, dict):
        return {key: shortened(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [shortened(item) for item in cast("list[Any]", value)]
    return value
