"""OpenAI Chat Completions and the hosts that speak it."""

from contextwright.formats.openai_chat.format import FORMAT

__all__ = ["FORMAT"]
