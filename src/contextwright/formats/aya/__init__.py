"""Aya, a Slack bot."""

from contextwright.formats.aya.format import FORMAT

__all__ = ["FORMAT"]
