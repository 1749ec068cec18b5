"""gryag's system context block: the newest messages in a fence, the last one to be answered.

It replaces the history: the recipe keeps only the question, with the media of the message that it
replies to (`reply_media`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from urllib.parse import urlsplit

from contextwright.errors import UsageError, require
from contextwright.messages.message import Message
from contextwright.messages.parts import Media
from contextwright.messages.sender import META, format_metadata, metadata_of
from contextwright.sections.base import Section, SectionInput, Share, Volatility
from contextwright.sections.replies import (
    REPLY_REACH,
    SPEAKERS,
    answered,
    is_shown,
    named_by,
    place_of,
)
from contextwright.text.fields import Checked
from contextwright.text.quoting import one_line

__all__ = ["Transcript", "reply_media"]

FEWEST, MOST = 10, 200
LONGEST = 1_000
"""Maximum characters of one line."""
FENCE = "```"
TRIGGER, CUE = "[REPLY TO THIS]", "[RESPOND]"
MARKS = ("Image", "Video", "Audio", "YouTube", "Document", "Attachment")
YOUTUBE = ("youtube.com", "youtu.be")


class Transcript(
    Section, Checked, frozen=True, tag="transcript", forbid_unknown_fields=True, omit_defaults=True
):
    """The newest messages as plain lines, the one to answer at the end."""

    messages: int = 60
    """Maximum number of lines, from 10 to 200."""
    meta: bool = True
    """Whether to put the speaker, with ids, before each line."""
    volatility: Volatility = "turn"
    priority: int = 90
    budget: Share = None
    heading: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not FEWEST <= self.messages <= MOST:
            raise UsageError(f"a transcript has {FEWEST} to {MOST} messages, not {self.messages}")

    @property
    def fills(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether it gets all tokens that are left: unless it has a budget of its own."""
        return self.budget is None

    def write(self, moment: SectionInput) -> str | None:
        """Write header, fence, lines, and the cue to answer."""
        if moment.question is None:
            return None
        lines = self.lines(moment.messages, moment.question)
        header = f"The chat as it stands (last up to {self.messages} messages):"
        return "\n".join([header, "", FENCE, *lines, FENCE, "", CUE])

    def absence(self, moment: SectionInput) -> str:
        """Say that there is nothing to answer."""
        return "there is no question"

    def lines(self, messages: Sequence[Message], question: Message) -> list[str]:
        """Return the messages before the question, oldest first; an older parent comes last."""
        end = place_of(messages, question)
        target = answered(messages, question)
        room = self.messages - 1
        shown = [
            place
            for place in range(max(0, len(messages) - self.reach()), end)
            if is_shown(messages[place])
        ][-room:]
        outside = None if target is not None else named_by(question)
        if outside is not None:
            shown = shown[-(room - 1) :]
        elif target is not None and target not in shown:
            shown = [*shown[-(room - 1) :], target]
        lines = [self.line(messages[place], marked=place == target) for place in shown]
        if outside is not None:
            lines.append(self.line(outside, marked=True))
        return [*lines, f"{self.line(question, marked=True)} {TRIGGER}"]

    def line(self, message: Message, *, marked: bool) -> str:
        """Return one message as a line; only the question and its parent show their media."""
        head = SPEAKERS.get(message.role, message.role)
        if self.meta and (block := format_metadata(metadata_of(message))):
            head = f"{head} {META} {one_line(block.removeprefix(META), LONGEST)}"
        said = [one_line(message.text, LONGEST)] if message.text.strip() else []
        said.extend(marks(message) if marked else ())
        return f"{head}: {' '.join(said) or '(no content)'}"

    def reach(self) -> int:
        """Return more than the number of lines, because not every message has one."""
        return max(4 * self.messages, REPLY_REACH)

    def shorten(self, text: str, longest: int) -> str:
        """Keep the newest lines that fit, and always the last."""
        head, _, rest = text.partition(f"{FENCE}\n")
        body, _, tail = rest.rpartition(f"\n{FENCE}")
        lines = body.split("\n")
        room = longest - len(text) + len(body)
        while len(lines) > 1 and room < sum(map(len, lines)) + len(lines) - 1:
            lines.pop(0)
        return f"{head}{FENCE}\n" + "\n".join(lines) + f"\n{FENCE}{tail}"


def reply_media(messages: Sequence[Message], question: Message) -> list[Media]:
    """Return the media of the message that a question replies to, unless the question has them."""
    require(messages, Sequence, "messages")
    require(question, Message, "a question", "user() makes one")
    place = answered(messages, question)
    target = named_by(question) if place is None else messages[place]
    if target is None:
        return []
    held = {address(part) for part in question.parts if isinstance(part, Media)}
    found = [part for part in target.parts if isinstance(part, Media)]
    return [media for media in found if address(media) not in held]


def address(media: Media) -> tuple[str | None, str | None]:
    """Return the identity of a piece of media."""
    return media.mime, media.data or media.url or media.file_id


def marks(message: Message) -> list[str]:
    """Return marks for the media of a message: `[Image]`, `[Image x2]`, in a fixed order."""
    counted = Counter(mark_of(part) for part in message.parts if isinstance(part, Media))
    return [
        f"[{mark}]" if counted[mark] == 1 else f"[{mark} x{counted[mark]}]"
        for mark in MARKS
        if counted[mark]
    ]


def mark_of(media: Media) -> str:
    """Return the word for one of the media."""
    if media.kind == "video" and media.url and is_youtube(media.url):
        return "YouTube"
    if media.kind == "document" and media.mime is None:
        return "Attachment"  # a file of unknown type
    word = media.kind.capitalize()
    return word if word in MARKS else "Attachment"


def is_youtube(url: str) -> bool:
    """Whether a URL is a YouTube video."""
    try:
        host = (urlsplit(url).hostname or "").lower()
    except ValueError:
        return False
    return any(host == site or host.endswith(f".{site}") for site in YOUTUBE)
