"""A conversation as windows read it: messages by their index, as many of them as are loaded."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence

from contextwright.messages.message import Message
from contextwright.messages.parts import Media, Text, ToolResult
from contextwright.windows.exchanges import Exchanges
from contextwright.windows.ruler import FRAME, bytes_of, length_of

__all__ = ["Log", "Unloaded", "is_question", "media_in"]


class Unloaded(Exception):
    """A message that is not loaded was needed; the loader must go further back."""


class Log:
    """Messages in order, which only ever grow in number; an index never changes its message.

    Of a long conversation only the end need be loaded, from `start` on, and what no window may
    drop before it. What a window decides does not depend on how much is loaded: it has what it
    needs, or it asks for more (`Unloaded`).
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self.start = 0
        """The index from which on every message is loaded."""
        self.messages: list[Message] = []
        """The messages from `start` on."""
        self.system: list[int] = []
        self.pinned: list[int] = []
        self.hidden: list[int] = []
        """Indexes of all messages that never reach a model, loaded or not."""
        self.erased: set[int] = set()
        """Those among them whose words are nowhere any more."""
        self.edited: set[int] = set()
        """Indexes of loaded messages that were edited."""
        self.questions: list[int] = []
        """Indexes of users' words; of those before `start`, the newest at least."""
        self.plain: list[int] = []
        """Those among them without results; likewise."""
        self.results: list[int] = []
        """Indexes of loaded messages where the results of an exchange begin."""
        self.pictured: list[int] = []
        """Indexes of loaded messages with media."""
        self.task: int | None = None
        """The first question, where an answered tool call followed: what an agent has to do."""
        self.exchanges = Exchanges()
        self._answered: int | None = None
        """Where the exchange of the last results begins."""
        self._apart: dict[int, Message] = {}
        self._begins: dict[int, int] = {}
        """Where the loaded messages before `start` begin on the ruler."""
        self._ends: list[int] = [0]
        """Where the loaded end begins on the ruler, and where each of its messages ends."""
        self.extend(messages)

    def __len__(self) -> int:
        return self.start + len(self.messages)

    def __getitem__(self, index: int) -> Message:
        if index >= self.start:
            return self.messages[index - self.start]
        try:
            return self._apart[index]
        except KeyError:
            raise Unloaded(index) from None

    def __contains__(self, index: int) -> bool:
        return self.start <= index < len(self) or index in self._apart

    @property
    def loaded(self) -> Sequence[Message]:
        """All messages that are loaded, in order."""
        return [*self._apart.values(), *self.messages] if self._apart else self.messages

    def begin(self, index: int) -> int:
        """Return where a message begins on the ruler."""
        if index >= self.start:
            return self._ends[index - self.start]
        try:
            return self._begins[index]
        except KeyError:
            raise Unloaded(index) from None

    def is_hidden(self, index: int) -> bool:
        """Whether a message never reaches a model."""
        place = bisect_left(self.hidden, index)
        return place < len(self.hidden) and self.hidden[place] == index

    # --- growing -----------------------------------------------------------------------------

    def extend(self, messages: Iterable[Message]) -> None:
        """Add messages behind the others."""
        ends, questions, plain = self._ends, self.questions, self.plain
        for index, message in enumerate(messages, len(self)):
            parts = message.parts
            if (
                len(parts) == 1
                and type(parts[0]) is Text
                and message.visibility == "public"
                and message.kind == "message"
                and message.role != "system"
                and not message.pinned
            ):
                # Nearly all messages of a long chat: noted without a call.
                self.messages.append(message)
                text = parts[0].text
                ends.append(ends[-1] + FRAME + (len(text) if text.isascii() else bytes_of(text)))
                if message.role == "user":
                    questions.append(index)
                    plain.append(index)
                continue
            self.append(message, end=ends[-1] + length_of(message))
            if self.task is None and index in self.exchanges:
                self._find_task(index)

    def append(self, message: Message, *, since: int | None = 0, end: int) -> None:
        """Add one message, which ends there on the ruler.

        `since` is the first message it can answer a call of, as in `Exchanges.add`.
        """
        index = len(self)
        self.messages.append(message)
        self._ends.append(end)
        self._note(message, index, since)

    def add_apart(self, index: int, message: Message, *, since: int | None, begin: int) -> None:
        """Add a message before the loaded end; all of them in order, before `begin_at`."""
        self._apart[index] = message
        self._begins[index] = begin
        self._note(message, index, since)

    def begin_at(self, start: int, length: int) -> None:
        """Let the loaded end begin at an index, at that place on the ruler."""
        self.start = start
        self._ends = [length]

    def _note(self, message: Message, index: int, since: int | None) -> None:
        """Note what windows look for."""
        if message.visibility != "public":
            if not self.is_hidden(index):
                insort(self.hidden, index)
            if message.visibility == "erased":
                self.erased.add(index)
            return
        if "edited" in message.meta:
            self.edited.add(index)
        if message.role == "system":
            self.system.append(index)
        elif message.pinned:
            self.pinned.append(index)
        parts = message.parts
        if len(parts) != 1 or type(parts[0]) is not Text:
            self.exchanges.add(message, index, since=since)
            if any(type(part) is ToolResult for part in parts):
                self._note_results(index)
            if media_in(message):
                self.pictured.append(index)
        if message.role == "user" and is_question(message):
            self.questions.append(index)
            if not message.results:
                self.plain.append(index)

    def _note_results(self, index: int) -> None:
        """Note where results begin; parallel ones, in messages of their own, begin once."""
        first = self.exchanges.first(index)
        if first == index or first != self._answered:
            self.results.append(index)
        self._answered = first if first != index else None

    def _find_task(self, index: int) -> None:
        """Note the first question as a task if a call that followed it was answered first."""
        first = self.plain[0] if len(self.plain) == 1 else len(self)
        if first < self.exchanges.first(index):
            self.task = first


def is_question(message: Message) -> bool:
    """Whether a message is the user's own, not only tool results; it may be empty."""
    return message.role == "user" and message.kind == "message" and not message.only_results


def media_in(message: Message) -> int:
    """Return the number of media in a message, those in results included."""
    count = 0
    for part in message.parts:
        if type(part) is Media:
            count += 1
        elif type(part) is ToolResult and isinstance(part.content, tuple):
            count += sum(type(piece) is Media for piece in part.content)
    return count
