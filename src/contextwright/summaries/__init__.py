"""Summaries of messages outside the window: excerpts (no model) or text written by a model."""

from typing import TYPE_CHECKING

from contextwright.lazy import lazily

if TYPE_CHECKING:
    from contextwright.summaries.clients import by_anthropic as by_anthropic
    from contextwright.summaries.clients import by_gemini as by_gemini
    from contextwright.summaries.clients import by_openai as by_openai
    from contextwright.summaries.policy import Request as Request
    from contextwright.summaries.policy import Summariser as Summariser
    from contextwright.summaries.policy import SummaryPolicy as SummaryPolicy
    from contextwright.summaries.summary import Summary as Summary
    from contextwright.summaries.summary import SummaryResult as SummaryResult
    from contextwright.summaries.summary import SummarySource as SummarySource
else:
    __all__, __getattr__, __dir__ = lazily(
        __name__,
        {
            "contextwright.summaries.clients": "by_anthropic by_gemini by_openai",
            "contextwright.summaries.policy": "Request Summariser SummaryPolicy",
            "contextwright.summaries.summary": "Summary SummaryResult SummarySource",
        },
    )
