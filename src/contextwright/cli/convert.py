"""`cw convert`: one document, or a stream of lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from contextwright import api, formats
from contextwright.changes import Change
from contextwright.cli.input import about
from contextwright.cli.output import indented, note, numbered, written
from contextwright.documents import read_document, read_lines
from contextwright.errors import ContextwrightError, ParseError
from contextwright.formats.base import Rendered
from contextwright.models import Model

__all__ = ["Task", "run", "run_lines"]


class Task(Struct, frozen=True):
    """What to turn into what, and how."""

    source: str
    target: str
    model: Model | None
    strict: bool
    list_changes: bool
    options: dict[str, Any]

    def convert(self, data: Any) -> Rendered:
        """One conversation in the target's shape."""
        return api.convert(
            data, self.source, self.target, model=self.model, strict=self.strict, **self.options
        )

    def require_formats(self) -> None:
        """Fail before anything is read if a format does not exist."""
        formats.find(self.source)
        formats.find(self.target)


def run(task: Task, file: str, output: str | None) -> int:
    """Convert the one conversation of a file."""
    task.require_formats()
    with about(file):
        rendered = task.convert(read_document(file))
    with written(output) as write:
        write(indented(rendered.json))
    report(rendered.changes, listed=task.list_changes)
    return 0


def run_lines(task: Task, file: str, output: str | None) -> int:
    """Convert each line of a file as it arrives; an error takes the place of its payload."""
    task.require_formats()
    failed = 0
    codes: Counter[str] = Counter()
    with about(file), written(output) as write:
        for number, data in read_lines(file):
            try:
                if isinstance(data, ParseError):
                    raise data
                rendered = task.convert(data)
                line = rendered.json
            except (ContextwrightError, RecursionError, MemoryError) as error:
                failed += 1
                line = msgspec.json.encode({"error": described(error, number)})
            else:
                codes.update(change.code for change in rendered.changes)
                if task.list_changes:
                    report(rendered.changes, listed=True, prefix=f"line {number}: ")
            write(line + b"\n")
    if not task.list_changes:
        summarise(codes)
    if failed:
        note(f"cw: {numbered(failed, 'line')} failed (see the error lines in the output)")
    return 1 if failed else 0


def described(error: BaseException, number: int) -> dict[str, Any]:
    """An error as the data of an error line."""
    if not isinstance(error, ContextwrightError):
        return {"line": number, "message": type(error).__name__, "hint": ""}
    path = error.path if isinstance(error, ParseError) else ""
    message = str(error.args[0])
    return {"line": number, "path": path, "message": message, "hint": error.hint}


def report(changes: Iterable[Change], *, listed: bool, prefix: str = "") -> None:
    """Say what is not as it came: every change, or how many of each kind."""
    if not listed:
        summarise(Counter(change.code for change in changes))
        return
    for change in changes:
        note(f"{prefix}{change}")


def summarise(codes: Counter[str]) -> None:
    """One line for all changes."""
    if codes:
        counted = ", ".join(f"{code} ×{number:,}" for code, number in sorted(codes.items()))
        number = numbered(codes.total(), "change")
        note(f"cw: {number}: {counted} (--changes lists them)")
