"""Asks a model until it answers: builds, sends, stores, and runs Python functions as tools."""

from contextwright.ask.events import Answer, AskEvent, StepEnd, StepStart, ToolEnd
from contextwright.ask.functions import AnyTool, tool_from
from contextwright.ask.question import AskOptions
from contextwright.ask.record import StepRecord, price_of, record_of

__all__ = [
    "Answer",
    "AnyTool",
    "AskEvent",
    "AskOptions",
    "StepEnd",
    "StepRecord",
    "StepStart",
    "ToolEnd",
    "price_of",
    "record_of",
    "tool_from",
]
