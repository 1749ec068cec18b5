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

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
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
        self.blocks = Blocks()
        self.status = ""
        """Shown while there are no words."""
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
        """What is drawn again and again: the last block, or what the model does instead."""
        tail = self.blocks.tail
        return self.markdown(tail) if tail.strip() else self.quiet(self.status)

    def finish_text(self) -> None:
        """Print what is left of the answer."""
        text, self.blocks, self.status = self.blocks.tail, Blocks(), ""
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


class Blocks:
    """Markdown as it is written, cut where nothing that follows can change what came before.

    Each line is looked at once, when it is complete.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        """The complete lines of the block that is being written."""
        self.line = ""
        self.fence = ""
        """The fence that a block of code was opened with."""

    @property
    def tail(self) -> str:
        """What is not finished yet."""
        return "".join(self.lines) + self.line

    def add(self, text: str) -> list[str]:
        """Add a piece; return the blocks that it finishes."""
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
