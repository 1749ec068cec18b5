"""The terminal: input, and answers while they are written."""

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

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
REFRESH_PER_SECOND = 12
MAX_SHOWN_CHARS = 100


def prompt_session(earlier: Iterable[str]) -> PromptSession[str]:
    """Return an input line with history: Enter sends, Esc Enter and Ctrl-J start a new line.

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
    """Shows the events of one answer: Markdown while it is written, then its cost.

    Complete blocks are printed once; only the last block is redrawn.
    """

    def __init__(self, console: Console) -> None:
        from rich.live import Live

        self.console = console
        self.blocks = Blocks()
        self.status = ""
        """Shown while there is no text."""
        self.live: Live = Live(
            console=console,
            refresh_per_second=REFRESH_PER_SECOND,
            vertical_overflow="visible",
            transient=True,
            get_renderable=self.unfinished,
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
            self.status = ""
            for block in self.blocks.add(event.text):
                self.print_markdown(block)
        elif isinstance(event, ThinkingDelta):
            self.status = "thinking …"
        elif isinstance(event, CallStart):
            self.finish_text()
            self.status = f"calls {one_line(event.name, MAX_SHOWN_CHARS)} …"
        elif isinstance(event, ToolEnd):
            result = one_line(event.result.text, MAX_SHOWN_CHARS)
            self.note(f"{one_line(event.call.name)}: {result}")
        elif isinstance(event, StepStart):
            self.status = "…"
        elif isinstance(event, Answer):
            self.finish_text()
            if event.error is not None:
                self.note(f"broken off: {one_line(event.error.message, MAX_SHOWN_CHARS)}")
            self.note(receipt_line(event))

    def unfinished(self) -> Any:
        """Return what is redrawn: the last block, or what the model is doing."""
        tail = self.blocks.tail
        return self.markdown(tail) if tail.strip() else self.quiet(self.status)

    def finish_text(self) -> None:
        """Print the rest of the answer."""
        text, self.blocks, self.status = self.blocks.tail, Blocks(), ""
        if text.strip():
            self.print_markdown(text)

    def note(self, text: str) -> None:
        """Print one quiet line."""
        self.console.print(self.quiet(text), soft_wrap=True)

    def print_markdown(self, text: str) -> None:
        """Print a complete block of the answer."""
        self.console.print(self.markdown(text))
        self.console.print()

    def markdown(self, text: str) -> Any:
        """Return text as Markdown without control sequences, and with the URLs of links visible."""
        from rich.markdown import Markdown

        return Markdown(safe(text), hyperlinks=False)

    def quiet(self, text: str) -> Any:
        """Return text as one dim line."""
        from rich.text import Text

        return Text(safe(text, line=True), style="dim")


class Blocks:
    """Splits Markdown, while it is written, into blocks that later text cannot change.

    Each line is read once, when it is complete.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        """The complete lines of the current block."""
        self.line = ""
        self.fence = ""
        """The fence that opened the current code block."""

    @property
    def tail(self) -> str:
        """The unfinished text."""
        return "".join(self.lines) + self.line

    def add(self, text: str) -> list[str]:
        """Add a piece; return the blocks that it completes."""
        finished: list[str] = []
        *complete, rest = (self.line + text).split("\n") if "\n" in text else [self.line + text]
        for line in complete:
            self.lines.append(f"{line}\n")
            fence = FENCE.match(line)
            if fence and not self.fence:
                self.fence = fence[1]
            elif fence and fence[1].startswith(self.fence):
                self.fence = ""
            elif not line.strip() and not self.fence:
                finished.append("".join(self.lines))
                self.lines = []
        self.line = rest
        return [block for block in finished if block.strip()]
