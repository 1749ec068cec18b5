"""The parts that a request leaves out if they do not all fit."""

from __future__ import annotations

from itertools import takewhile

from msgspec import Struct

from contextwright.messages.changes import Change
from contextwright.sections.budget import FittedSection

__all__ = ["Relaxation"]


class Relaxation(Struct, frozen=True):
    """The parts left out so far."""

    sections: tuple[FittedSection, ...]
    changes: tuple[Change, ...] = ()
    absent: dict[str, str] = {}
    """Why sections have no words, by name."""
    note: bool = True
    """Whether a note on what is left out has room."""
    max_chars: int | None = None
    """Maximum characters of texts that must stay; None if they are not cut."""

    @property
    def system(self) -> list[str]:
        """The texts of the system message, what never changes first."""
        return [section.text for section in self._written if not section.beside]

    @property
    def static(self) -> list[str]:
        """The first texts of the system message that never change."""
        steady = (section for section in self._written if not section.beside)
        return [section.text for section in takewhile(lambda section: section.static, steady)]

    @property
    def volatile(self) -> str:
        """The text next to the newest question."""
        return "\n\n".join(section.text for section in self._written if section.beside)

    @property
    def share(self) -> int:
        """The tokens kept free for sections that are asked last."""
        return sum(section.share for section in self.sections)

    @property
    def _written(self) -> list[FittedSection]:
        """The sections that have a text."""
        return [section for section in self.sections if section.text]
