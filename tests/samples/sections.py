"""Memories, and the moment of a question."""

from __future__ import annotations

from contextwright.sections import Section, SectionInput


def said(section: Section, moment: SectionInput) -> str | None:
    """What a section adds to the system text."""
    words = section.write(moment)
    return f"{section.title(moment)}\n{words}" if words else None
