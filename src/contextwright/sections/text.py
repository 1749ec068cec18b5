"""Text of the developer: plain, as a persona, or from a file."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

from msgspec import Struct

from contextwright.errors import UsageError, shown
from contextwright.sections.base import Section, SectionInput, Share, Volatility
from contextwright.text.shorten import shortened

__all__ = ["File", "Instructions", "Persona", "Text"]

LARGEST_FILE = 256 * 1024


class Text(
    Section, Struct, frozen=True, tag="text", forbid_unknown_fields=True, omit_defaults=True
):
    """Text of the developer, as it is."""

    text: str
    volatility: Volatility = "static"
    priority: int = 100
    budget: Share = None
    heading: str = ""

    def write(self, moment: SectionInput) -> str | None:
        """The words."""
        return self.text

    def absence(self, moment: SectionInput) -> str:
        """No words."""
        return "its text is empty"

    def shorten(self, text: str, longest: int) -> str:
        """Beginning and end of the words."""
        return shortened(text, longest)


class Instructions(Text, frozen=True, tag="instructions"):
    """The same by the name the package exports: there, `Text` is a part of a message."""


class Persona(Text, frozen=True, tag="persona"):
    """The persona of the model."""

    text: str = ""
    heading: str = "# Persona"


class File(
    Section, Struct, frozen=True, tag="file", forbid_unknown_fields=True, omit_defaults=True
):
    """The text of a file, read whenever a context is built.

    The path leads down from `root` and never out of it, not through a link either. A recipe file
    has its own folder as the root.
    """

    path: str
    root: str | None = None
    """None: the folder the program runs in."""
    largest: int = LARGEST_FILE
    """Bytes; a larger file is refused."""
    volatility: Volatility = "static"
    priority: int = 100
    budget: Share = None
    heading: str = ""

    def __post_init__(self) -> None:
        posix, windows = PurePosixPath(self.path), PureWindowsPath(self.path)
        outside = posix.is_absolute() or windows.drive or windows.root or ".." in windows.parts
        if outside or not posix.parts or "\0" in self.path:
            raise UsageError(
                f"a section cannot read {shown(self.path)}", hint="a path below its root"
            )

    def write(self, moment: SectionInput) -> str | None:
        """Return the text of the file; None if it is blank."""
        root = Path(self.root or ".").resolve()
        try:
            file = (root / self.path).resolve(strict=True)
            if not file.is_relative_to(root):
                raise UsageError(f"{shown(self.path)} leads out of its root")
            with file.open("rb") as opened:
                content = opened.read(self.largest + 1)
            text = content.decode()
        except OSError as error:
            raise UsageError(f"{shown(self.path)}: {error.strerror or 'unreadable'}") from error
        except UnicodeDecodeError as error:
            raise UsageError(f"{shown(self.path)}: not UTF-8") from error
        if len(content) > self.largest:
            raise UsageError(f"{shown(self.path)}: more than {self.largest:,} bytes")
        return text.strip() or None

    def absence(self, moment: SectionInput) -> str:
        """An empty file."""
        return f"{shown(self.path)} is empty"

    def shorten(self, text: str, longest: int) -> str:
        """Beginning and end of the words."""
        return shortened(text, longest)
