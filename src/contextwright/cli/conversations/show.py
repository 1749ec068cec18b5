"""`cw show`: a conversation as people read it."""

from __future__ import annotations

from typing import Annotated

from contextwright import display
from contextwright.cli.options import (
    AsJson,
    At,
    FileOrConversation,
    Option,
    PayloadFormat,
    StoreOptions,
    refuse,
)
from contextwright.cli.output import note, paint, say, say_json, takes_colour
from contextwright.cli.requests.snapshots import Source, first_messages
from contextwright.formats import api
from contextwright.messages.conversation import Conversation
from contextwright.store.frames import conversation_of

__all__ = ["show"]


def show(
    file: FileOrConversation,
    where: StoreOptions,
    format: PayloadFormat = None,
    at: At = None,
    ascii: Annotated[
        bool, Option("--ascii", help="Mark lines with ASCII words, not with emoji.")
    ] = False,
    width: Annotated[
        int | None,
        Option("--width", min=1, metavar="N", help="Cut system text after N characters."),
    ] = None,
    color: Annotated[
        bool | None,
        Option("--color/--no-color", help="Use colours. Default: on a terminal."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Show a conversation as people read it.

    --json prints the conversation in this package's own format.

    \b
    cw show lunch
    cw show lunch --at 12
    cw show thread.json --format aya
    cw convert chat.json --to aya | cw show - --ascii
    """
    if as_json:
        colour = {"--color": color or None, "--no-color": color is False}
        refuse({"--ascii": ascii, "--width": width, **colour}, "has no effect with --json")
    source = Source(file, format, where)
    if source.is_file:
        conversation = first_messages(source.read(), at)
    else:
        with source.chat() as chat:
            conversation = first_messages(conversation_of(chat, timed=not as_json), at)
    if as_json:
        say_json(api.render(conversation, "contextwright").payload)
    else:
        print_conversation(conversation, ascii=ascii, width=width, color=color)
    for change in conversation.changes:
        note(f"cw: {change}")
    return 0


def print_conversation(
    conversation: Conversation, *, ascii: bool, width: int | None, color: bool | None
) -> None:
    """Print a conversation, in colour on a terminal or if `color` is True."""
    if takes_colour() if color is None else color:
        paint(
            lambda console: display.print_conversation(
                conversation, console=console, ascii=ascii, width=width
            ),
            colored=True,
        )
    else:
        say(display.show(conversation, ascii=ascii, width=width))
