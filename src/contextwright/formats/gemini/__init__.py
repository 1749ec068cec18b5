"""Gemini generateContent."""

from contextwright.formats.gemini.format import FORMAT

__all__ = ["FORMAT"]
