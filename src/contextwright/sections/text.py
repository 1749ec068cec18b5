"""Text of the developer: plain, as a persona, or from a file."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath, PureWindowsPath

from contextwright.errors import UsageError, shown
from contextwright.sections.base import Section, SectionInput, Share, Volatility
from contextwright.text.fields import Checked, Natural
from contextwright.text.json import UNFIT
from contextwright.text.shorten import shortened

__all__ = ["File", "Instructions", "Persona", "Text"]

LARGEST_FILE = 256 * 1024


class Text(
    Section, Checked, frozen=True, tag="text", forbid_unknown_fields=True, omit_defaults=True
):
    """Text of the developer, unchanged."""

    text: str
    volatility: Volatility = "static"
    priority: int = 100
    budget: Share = None
    heading: str = ""

    def write(self, moment: SectionInput) -> str | None:
        """Return the text."""
        return self.text

    def absence(self, moment: SectionInput) -> str:
        """Say that the text is empty."""
        return "its text is empty"

    def shorten(self, text: str, longest: int) -> str:
        """Keep the beginning and end of the text."""
        return shortened(text, longest)


class Instructions(Text, frozen=True, tag="instructions"):
    """The same as `Text`, under a name that differs from the message part `Text`."""


class Persona(Text, frozen=True, tag="persona"):
    """The persona of the model."""

    text: str = ""
    heading: str = "# Persona"


class File(
    Section, Checked, frozen=True, tag="file", forbid_unknown_fields=True, omit_defaults=True
):
    """The text of a file, read whenever a context is built.

    The path must stay below `root`, also through links. A recipe file's root is its own folder.
    """

    path: str
    root: str | None = None
    """None: the current working directory."""
    largest: Natural = LARGEST_FILE
    """Maximum bytes; a larger file is refused."""
    volatility: Volatility = "static"
    priority: int = 100
    budget: Share = None
    heading: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        posix, windows = PurePosixPath(self.path), PureWindowsPath(self.path)
        outside = posix.is_absolute() or windows.drive or windows.root or ".." in windows.parts
        if outside or not posix.parts or UNFIT.search(self.path + (self.root or "")):
            raise UsageError(
                f"a section cannot read {shown(self.path)}", hint="a path below its root"
            )

    def write(self, moment: SectionInput) -> str | None:
        """Return the text of the file; None if it is blank."""
        content = self.content()
        if len(content) > self.largest:
            raise UsageError(f"{shown(self.path)}: more than {self.largest:,} bytes")
        try:
            return content.decode("utf-8-sig").strip() or None
        except UnicodeDecodeError as error:
            raise UsageError(f"{shown(self.path)}: not UTF-8") from error

    def content(self) -> bytes:
        """Return the bytes of the file, at most one more than it may have."""
        root = os.path.realpath(self.root or ".")
        try:
            # Not Path.resolve, which raises a RuntimeError for a link to itself.
            file = Path(os.path.realpath(os.path.join(root, self.path), strict=True))
            if not file.is_relative_to(root):
                raise UsageError(f"{shown(self.path)} leads out of its root")
            if not file.is_file():  # a pipe would be waited for
                raise UsageError(f"{shown(self.path)} is not a file")
            with file.open("rb") as opened:
                return opened.read(self.largest + 1)
        except OSError as error:
            raise UsageError(f"{shown(self.path)}: {error.strerror or 'unreadable'}") from error

    def absence(self, moment: SectionInput) -> str:
        """Say that the file is empty."""
        return f"{shown(self.path)} is empty"

    def shorten(self, text: str, longest: int) -> str:
        """Keep the beginning and end of the text."""
        return shortened(text, longest)
