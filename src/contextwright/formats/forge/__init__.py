"""Forge, a text protocol for tools."""

from contextwright.formats.forge.format import FORMAT

__all__ = ["FORMAT"]
