"""Summaries of messages outside the window: excerpts (no model) or text written by a model."""

from contextwright.summaries.clients import by_anthropic, by_gemini, by_openai
from contextwright.summaries.policy import Request, Summariser, SummaryPolicy
from contextwright.summaries.summary import Summary, SummaryResult, SummarySource

__all__ = [
    "Request",
    "Summariser",
    "Summary",
    "SummaryPolicy",
    "SummaryResult",
    "SummarySource",
    "by_anthropic",
    "by_gemini",
    "by_openai",
]
