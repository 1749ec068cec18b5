"""Printing: results to standard output or a file, remarks to standard error.

Everything is UTF-8, whatever the locale. Text for a terminal has no characters that move the
cursor, hide text or change its direction; JSON for a pipe or a file is unchanged.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from io import StringIO, TextIOWrapper
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TextIO, TypeAlias

import msgspec

from contextwright.errors import ContextwrightError, ParseError, UsageError, shown, without_login
from contextwright.messages.changes import Change
from contextwright.text.terminal import UNSAFE, safe

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "complain",
    "count_changes",
    "discard_output",
    "error_fields",
    "harmless",
    "indented",
    "input_is_terminal",
    "list_changes",
    "note",
    "numbered",
    "on_terminal",
    "paint",
    "progress",
    "report_changes",
    "say",
    "say_json",
    "say_line",
    "table",
    "takes_colour",
    "use_utf8",
    "written",
]

Write: TypeAlias = Callable[[bytes], object]


def use_utf8() -> None:
    """Let the parser print its help in UTF-8 too, whatever the locale."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8")


def say(text: str) -> None:
    """Print lines for people on standard output."""
    emit(f"{safe(text)}\n".encode())


def say_line(text: str) -> None:
    """Print one line for people on standard output, whatever a name in it holds."""
    say(safe(text, line=True))


def say_json(value: Any) -> None:
    """Print a value as indented JSON on standard output."""
    with written(None) as write:
        write(indented(msgspec.json.encode(value)))


def note(text: str) -> None:
    """Print a remark: one line on standard error, if that can be written."""
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]
        return
    try:
        sys.stderr.buffer.write(f"{safe(text, line=True)}\n".encode())
        sys.stderr.buffer.flush()
    except OSError:  # on a full disk, or without a reader; the result must not be lost with it
        discard(sys.stderr)


def complain(text: str) -> None:
    """Print an error as one line on standard error, without passwords."""
    note(f"cw: {without_login(text)}")


def paint(draw: Callable[[Console], None], *, colored: bool | None = None) -> None:
    """Print what `draw` puts on a console, in colour on a terminal or if `colored` is True.

    The drawn text must be safe already, because escape sequences pass through.
    """
    from rich.console import Console

    colored = takes_colour() if colored is None else colored
    canvas = StringIO()
    console = Console(
        file=canvas,
        force_terminal=colored,
        color_system="standard" if colored else None,
        soft_wrap=True,
        highlight=False,
        markup=False,
        emoji=False,
    )
    draw(console)
    emit(canvas.getvalue().encode())


@contextmanager
def written(path: str | None) -> Generator[Write]:
    """Open standard output, or a file that appears whole or not at all, for JSON."""
    if path is None or path == "-":
        yield (lambda data: emit(harmless(data.decode()).encode())) if on_terminal() else emit
    elif not path or (os.path.exists(path) and not os.path.isfile(path)):
        with create(path, path, "wb") as stream:  # a pipe or a device cannot be replaced
            yield stream.write
    else:
        target = os.path.realpath(path)
        part = f"{target}.{os.getpid()}.part"
        try:
            with create(part, path, "xb") as stream:
                yield stream.write
            os.replace(part, target)
        finally:
            if os.path.exists(part):
                os.unlink(part)


def create(file: str, name: str, mode: Literal["wb", "xb"]) -> BinaryIO:
    """Open a file for writing; errors call it by the name that the user knows.

    Raises:
        UsageError: the system refuses.
    """
    try:
        return open(file, mode)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        hint = "name a file in a folder that exists and that you may write to"
        raise UsageError(f"cannot write {shown(name)}: {reason}", hint=hint) from None


def emit(data: bytes) -> None:
    """Write and flush, so that a reader in a pipe gets each line as soon as it is ready."""
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise UsageError("there is no standard output", hint="send it to a file or to /dev/null")
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def discard_output() -> None:
    """Discard what standard output cannot take, because Python would try again at its end."""
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
        return
    try:
        sys.stdout.flush()
    except OSError:
        discard(sys.stdout)


def discard(stream: TextIO) -> None:
    """Send what a stream has buffered, and all that follows, nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def on_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()  # pyright: ignore[reportUnnecessaryComparison]


def input_is_terminal() -> bool:
    """Whether standard input is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()  # pyright: ignore[reportUnnecessaryComparison]


def takes_colour() -> bool:
    """Whether standard output is a terminal that knows escape sequences."""
    return on_terminal() and os.environ.get("TERM") != "dumb"


def harmless(json: str) -> str:
    """Return JSON with the same value, without control characters for a terminal."""
    return UNSAFE.sub(lambda match: json_escape(match[0]), json)


def json_escape(character: str) -> str:
    """Return a character as a JSON escape."""
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


def indented(json: bytes) -> bytes:
    """Return JSON with line breaks and indentation."""
    return msgspec.json.format(json, indent=2) + b"\n"


def numbered(number: int, noun: str) -> str:
    """Return a number with its noun: `1 error`, `2 errors`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def report_changes(changes: Iterable[Change], *, listed: bool) -> None:
    """Print every change, or the number of each kind, on standard error."""
    if listed:
        list_changes(changes)
    else:
        count_changes(Counter(change.code for change in changes))


def list_changes(changes: Iterable[Change], *, prefix: str = "") -> None:
    """Print every change on standard error."""
    for change in changes:
        note(f"{prefix}{change}")


def count_changes(codes: Counter[str]) -> None:
    """Print the number of changes of each kind, on one line of standard error."""
    if codes:
        counted = ", ".join(f"{code} ×{number:,}" for code, number in sorted(codes.items()))
        note(f"cw: {numbered(codes.total(), 'change')}: {counted} (--changes lists them)")


def left_out(skipped: Counter[str]) -> None:
    """Print what was left out of a file, and why, on standard error."""
    for reason, number in skipped.most_common():
        note(f"cw: left out {number:,} × {reason}")


def error_fields(error: BaseException, number: int) -> dict[str, Any]:
    """Return an error as the data of an error line."""
    if not isinstance(error, ContextwrightError):
        return {"line": number, "message": type(error).__name__, "hint": ""}
    path = error.path if isinstance(error, ParseError) else ""
    message = str(error.args[0])
    return {"line": number, "path": path, "message": message, "hint": error.hint}


def table(rows: Sequence[Sequence[str]], *, numbers: int | None = None) -> str:
    """Return rows in aligned columns; columns from index `numbers` on are right-aligned.

    A cell is one line, whatever is in it: line breaks become spaces.
    """
    rows = [[" ".join(cell.splitlines()) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines: list[str] = []
    for row in rows:
        cells = [
            cell.ljust(width) if numbers is None or place < numbers else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


@contextmanager
def progress(title: str, *, in_bytes: bool = False) -> Generator[Callable[[int, int], None] | None]:
    """Show a progress bar on standard error if that is a terminal; else yield None."""
    if sys.stderr is None or not sys.stderr.isatty():  # pyright: ignore[reportUnnecessaryComparison]
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn

    words = TextColumn("{task.description}", markup=False)
    figures = DownloadColumn() if in_bytes else MofNCompleteColumn()
    columns = (words, BarColumn(), figures)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(safe(title, line=True))
        yield lambda done, total: bar.update(task, completed=done, total=total)
