"""Anthropic Messages."""

from contextwright.formats.anthropic.format import FORMAT

__all__ = ["FORMAT"]
