"""Titled pieces of the system prompt; each says how often it changes.

A section is a `Section`: a heading, a volatility, a priority, a budget, and a method `write` that
reads a `SectionInput`. People's text is data: a name is one line, longer text is quoted, and
neither can open a heading, a fence, a tag or a marker.
"""

from typing import TypeAlias

from contextwright.sections.base import Section, SectionInput, Share, Volatility
from contextwright.sections.events import Events
from contextwright.sections.memory import (
    Episodes,
    KeyFacts,
    Memories,
    UserProfile,
)
from contextwright.sections.past import PastExcerpts, PastMessages
from contextwright.sections.text import File, Instructions, Persona, Text
from contextwright.sections.transcript import Transcript, reply_media
from contextwright.sections.turn import CurrentTime, CurrentUser, ReplyTo
from contextwright.text.quoting import one_line, quoted

__all__ = [
    "BuiltIn",
    "CurrentTime",
    "CurrentUser",
    "Episodes",
    "Events",
    "File",
    "Instructions",
    "KeyFacts",
    "Memories",
    "PastExcerpts",
    "PastMessages",
    "Persona",
    "ReplyTo",
    "Section",
    "SectionInput",
    "Share",
    "Text",
    "Transcript",
    "UserProfile",
    "Volatility",
    "one_line",
    "quoted",
    "reply_media",
]

BuiltIn: TypeAlias = (
    Text
    | Instructions
    | Persona
    | File
    | CurrentTime
    | CurrentUser
    | ReplyTo
    | Memories
    | UserProfile
    | KeyFacts
    | PastMessages
    | PastExcerpts
    | Episodes
    | Events
    | Transcript
)
