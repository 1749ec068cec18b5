"""Port 42's session files, and the agents that speak in them."""

from contextwright.formats.port42.format import FORMAT

__all__ = ["FORMAT"]
