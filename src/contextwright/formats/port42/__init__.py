"""Port 42's session files, and the agents they name."""

from contextwright.formats.port42.format import FORMAT

__all__ = ["FORMAT"]
