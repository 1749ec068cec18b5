"""The terminal: what is typed, and answers as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from contextwright.ask.events import Answer, AskEvent, StepStart, ToolEnd
from contextwright.cli.chat.commands import COMMANDS
from contextwright.cli.chat.session import receipt_line
from contextwright.errors import MissingExtra
from contextwright.formats.replies.events import CallStart, TextDelta, ThinkingDelta
from contextwright.text.quoting import one_line
from contextwright.text.terminal import safe

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from rich.console import Console
    from rich.live import Live

__all__ = ["Screen", "prompt_session"]

FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
REFRESH_PER_SECOND = 12
MAX_SHOWN_CHARS = 100


def prompt_session(earlier: Iterable[str]) -> PromptSession[str]:
    """An input line with history and several lines: Enter sends, Esc Enter and Ctrl-J break.

    Raises:
        MissingExtra: prompt_toolkit is not installed.
    """
    try:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import WordCompleter
        from prompt_toolkit.history import InMemoryHistory
        from prompt_toolkit.key_binding import KeyBindings
    except ImportError as error:
        raise MissingExtra("cw chat on a terminal", "chat") from error
    keys = KeyBindings()

    def send(event: Any) -> None:
        event.current_buffer.validate_and_handle()

    def break_line(event: Any) -> None:
        event.current_buffer.insert_text("\n")

    keys.add("enter")(send)
    keys.add("escape", "enter")(break_line)
    keys.add("c-j")(break_line)
    commands = WordCompleter([f"/{name}" for name in COMMANDS], sentence=True)
    return PromptSession(
        "> ",
        multiline=True,
        prompt_continuation="  ",
        history=InMemoryHistory(list(earlier)),
        key_bindings=keys,
        completer=commands,
        complete_while_typing=False,
    )


class Screen:
    """Shows the events of one answer: Markdown while it is written, then what it cost.

    Blocks that are complete are printed for good; only the last one is drawn again and again.
    """

    def __init__(self, console: Console) -> None:
        from rich.live import Live

        self.console = console
        self.tail = ""
        self.live: Live = Live(
            console=console,
            refresh_per_second=REFRESH_PER_SECOND,
            vertical_overflow="visible",
            transient=True,
        )

    def __enter__(self) -> Screen:
        self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.finish_text()
        self.live.stop()

    def show(self, event: AskEvent) -> None:
        """Show one event."""
        if isinstance(event, TextDelta):
            self.write(event.text)
        elif isinstance(event, ThinkingDelta):
            self.live.update(self.quiet("thinking …"))
        elif isinstance(event, CallStart):
            self.finish_text()
            self.live.update(self.quiet(f"calls {one_line(event.name, MAX_SHOWN_CHARS)} …"))
        elif isinstance(event, ToolEnd):
            self.note(
                f"{one_line(event.call.name)}: {one_line(event.result.text, MAX_SHOWN_CHARS)}"
            )
        elif isinstance(event, StepStart):
            self.live.update(self.quiet("…"))
        elif isinstance(event, Answer):
            self.finish_text()
            if event.error is not None:
                self.note(f"broken off: {one_line(event.error.message, MAX_SHOWN_CHARS)}")
            self.note(receipt_line(event))

    def write(self, text: str) -> None:
        """Add a piece of the answer."""
        self.tail += text
        done = finished_blocks(self.tail)
        if done:
            block, self.tail = self.tail[:done], self.tail[done:]
            self.live.update("")
            self.print_markdown(block)
        self.live.update(self.markdown(self.tail))

    def finish_text(self) -> None:
        """Print what is left of the answer."""
        text, self.tail = self.tail, ""
        self.live.update("")
        if text.strip():
            self.print_markdown(text)

    def note(self, text: str) -> None:
        """Print one quiet line."""
        self.console.print(self.quiet(text), soft_wrap=True)

    def print_markdown(self, text: str) -> None:
        """Print a block of the answer for good."""
        self.console.print(self.markdown(text))
        self.console.print()

    def markdown(self, text: str) -> Any:
        """Text as Markdown; it can send nothing to the terminal, and hides no address in a link."""
        from rich.markdown import Markdown

        return Markdown(safe(text), hyperlinks=False)

    def quiet(self, text: str) -> Any:
        """Text as one dim line."""
        from rich.text import Text

        return Text(safe(text, line=True), style="dim")


def finished_blocks(text: str) -> int:
    """How many characters of a Markdown text are blocks that nothing can change any more."""
    end = text.rfind("\n\n")
    while end > 0:
        fences = FENCE.findall(text[:end])
        if len(fences) % 2 == 0:
            return end + 2
        end = text.rfind("\n\n", 0, end)
    return 0
