"""`cw demo`: the request for the conversation in the package, with its explanation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import resources
from typing import TYPE_CHECKING, Any, cast

from contextwright import api, display
from contextwright.cli.output import harmless, numbered, paint
from contextwright.documents import read_document
from contextwright.formats.base import Conversation, Rendered
from contextwright.models import Model

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["run"]

WIDTH = 100


def run(model: Model) -> int:
    """Show the conversation, the request, what changed on the way, and the tokens."""
    data = resources.files("contextwright").joinpath("data/demo.json").read_bytes()
    conversation = api.parse(read_document(data), "contextwright")
    rendered = api.render(conversation, model.format, model=model)
    paint(lambda console: draw(console, conversation, model, rendered))
    return 0


def draw(console: Console, conversation: Conversation, model: Model, rendered: Rendered) -> None:
    """The four parts of the demonstration."""
    from rich.highlighter import JSONHighlighter

    heading(console, f"A conversation: {numbered(len(conversation.messages), 'message')}")
    display.print_conversation(conversation, console=console, width=60)

    heading(console, f"The request for {model.id}, as {model.format} wants it")
    console.print(JSONHighlighter()(harmless(flowing(rendered.payload))))

    heading(console, f"What is not as it came: {numbered(len(rendered.changes), 'change')}")
    for change in rendered.changes:
        console.print(display.safe(str(change), line=True))

    count = api.count(rendered.payload, model=model, format=model.format)
    problems = api.check(rendered.payload, model.format, model=model)
    heading(console, f"{count} of {model.max_input:,}, {numbered(len(problems), 'problem')}")


def heading(console: Console, title: str) -> None:
    """A line that tells the parts apart."""
    console.print(f"\n── {title} ".ljust(WIDTH, "─"), style="bold green")


def flowing(value: Any, indent: int = 0, column: int = 0) -> str:
    """JSON that fills its lines, as prose does; each object of a list begins a line of its own.

    `column` is where the value starts, `indent` where its further lines are aligned.
    """
    line = json.dumps(value, ensure_ascii=False)
    if column + len(line) <= WIDTH or not isinstance(value, dict | list) or not value:
        return line
    text, column, indent = line[0], column + 1, indent + 1
    for number, (key, item) in enumerate(items_of(cast("dict[str, Any] | list[Any]", value))):
        text += "," if number else ""
        size = len(key) + len(json.dumps(item, ensure_ascii=False))
        too_long = column + size + 2 > WIDTH and (indent == 1 or not in_rows(item))
        if in_rows(value) or (number and too_long):
            text, column = f"{text}\n{' ' * indent}", indent
        elif number:
            text, column = f"{text} ", column + 2
        piece = key + flowing(item, indent, column + len(key))
        text += piece
        column = column + len(piece) if "\n" not in piece else len(piece.rsplit("\n", 1)[1])
    return text + line[-1]


def in_rows(value: Any) -> bool:
    """Whether a value that does not fit is laid out row by row: a list of several objects."""
    return isinstance(value, list) and len(value) > 1 and isinstance(value[0], dict | list)  # pyright: ignore


def items_of(value: dict[str, Any] | list[Any]) -> Iterator[tuple[str, Any]]:
    """The items of a container, each with what stands before it."""
    if isinstance(value, list):
        yield from (("", item) for item in value)
    else:
        for key, item in value.items():
            yield f"{json.dumps(key, ensure_ascii=False)}: ", item
