"""gryag, a Telegram bot on Gemini."""

from contextwright.formats.gryag.format import FORMAT

__all__ = ["FORMAT"]
