"""OpenAI Responses."""

from contextwright.formats.openai_responses.format import FORMAT

__all__ = ["FORMAT"]
