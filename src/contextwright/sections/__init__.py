"""Titled pieces of the system instruction; each knows how often it changes.

A section is a `Section`: a heading, a volatility, a priority, a budget, and a method `write`
that looks at a `Moment`. Words that come from people are data: a name is one clean line, longer
words are quoted, and neither can open a heading, a fence, a tag or a marker.
"""

from typing import TypeAlias

from contextwright.quoting import one_line, quoted
from contextwright.sections.base import Moment, Section, Share, Volatility
from contextwright.sections.recalled import (
    Episodes,
    KeyFacts,
    Memories,
    Recalled,
    Relevant,
    UserProfile,
)
from contextwright.sections.transcript import Transcript, reply_media
from contextwright.sections.turn import CurrentTime, CurrentUser, ReplyTo
from contextwright.sections.words import File, Instructions, Persona, Text

__all__ = [
    "BuiltIn",
    "CurrentTime",
    "CurrentUser",
    "Episodes",
    "File",
    "Instructions",
    "KeyFacts",
    "Memories",
    "Moment",
    "Persona",
    "Recalled",
    "Relevant",
    "ReplyTo",
    "Section",
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
    | Recalled
    | Relevant
    | Episodes
    | Transcript
)
