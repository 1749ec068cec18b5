"""A conversation as windows read it: messages by index, as many as are loaded."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Sequence

from contextwright.errors import require
from contextwright.messages.conversation import require_messages
from contextwright.messages.message import Message
from contextwright.messages.parts import Media, Text, Thinking, ToolCall, ToolResult
from contextwright.messages.validation import require_roles
from contextwright.windows.exchanges import Exchanges, Holder, Unloaded

__all__ = ["Log", "Unloaded", "first_from", "is_question", "last_before", "media_in"]


class Log:
    """Messages in order. The log only grows, and an index always means the same message.

    Of a long conversation only the end need be loaded, from `start` on, and earlier messages that
    no window may drop. Decisions do not depend on how much is loaded: a window has what it needs,
    or raises `Unloaded` to get more.
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self.start = 0
        """The index from which every message is loaded."""
        self.messages: list[Message] = []
        """The messages from `start` on."""
        self.system: list[int] = []
        self.pinned: list[int] = []
        self.hidden: list[int] = []
        """Indexes of all messages that are never sent to a model, loaded or not."""
        self.silent: set[int] = set()
        """Hidden and system messages: limits in messages do not count them."""
        self.erased: set[int] = set()
        """Those of the hidden indexes whose text is no longer stored anywhere."""
        self.edited: set[int] = set()
        """Indexes of loaded messages that were edited."""
        self.questions: list[int] = []
        """Indexes of messages with user text; before `start`, at least the newest."""
        self.plain: list[int] = []
        """Those of the questions without results; before `start`, at least the newest."""
        self.pictured: list[int] = []
        """Indexes of loaded messages with media."""
        self.media: dict[int, int] = {}
        """The number of media in the loaded messages up to each of these."""
        self.has_thinking = False
        """Whether a loaded message has thinking."""
        self.inexact: dict[int, Message] = {}
        """Messages of a list that may be written unlike their equals: 1 equals 1.0."""
        self.exchanges = Exchanges()
        self._task: int | None = None
        self._has_task_known = False
        self._apart: dict[int, Message] = {}
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
        """All loaded messages, in order."""
        return [*self._apart.values(), *self.messages] if self._apart else self.messages

    def media_before(self, place: int) -> int:
        """Return the number of media before a place in `pictured`."""
        return self.media[self.pictured[place - 1]] if place else 0

    def is_hidden(self, index: int) -> bool:
        """Whether a message is never sent to a model."""
        place = bisect_left(self.hidden, index)
        return place < len(self.hidden) and self.hidden[place] == index

    @property
    def results(self) -> list[int]:
        """Indexes of loaded messages where the results of an exchange begin."""
        return self.exchanges.results

    @property
    def task(self) -> int | None:
        """The first question, if an answered tool call followed: an agent's task."""
        if not self._has_task_known and self.plain:
            stop = self.plain[1] if len(self.plain) > 1 else len(self)
            if self.exchanges.is_answered(self.plain[0], stop):
                self._task = self.plain[0]
            self._has_task_known = self._task is not None or len(self.plain) > 1
        return self._task

    @task.setter
    def task(self, index: int | None) -> None:
        self._task, self._has_task_known = index, True

    # --- growing -----------------------------------------------------------------------------

    def hide(self, indexes: Sequence[int]) -> None:
        """Note which messages are never sent to a model, in order, before any is added."""
        self.hidden.extend(indexes)
        self.silent.update(indexes)

    def extend(self, messages: Iterable[Message]) -> None:
        """Add messages at the end. Calls are matched when a window asks for it."""
        start = len(self)
        require(messages, Iterable, "messages")
        added = messages if isinstance(messages, (list, tuple)) else list(messages)
        require_messages(added)
        require_roles(added)
        self.messages += added
        questions, plain, holders = self.questions, self.plain, list[Holder]()
        for index, message in enumerate(added, start):
            parts = message.parts
            # The common cases of a long history, inlined because they are hot.
            if (
                len(parts) == 1
                and message.visibility == "public"
                and not message.pinned
                and not message.meta
                and not message.extra
                and message.reply_to is None
                and message.role != "system"
            ):
                part = parts[0]
                if type(part) is Text and not part.extra:
                    if message.role == "user" and message.kind == "message":
                        questions.append(index)
                        plain.append(index)
                    continue
                if type(part) is ToolResult and not part.extra and type(part.content) is str:
                    holders.append((index, message, 0))
                    continue
            self.inexact[index] = message
            if self._note(message, index):
                holders.append((index, message, 0))
        self.exchanges.extend(holders)

    def append(self, message: Message, *, since: int | None) -> None:
        """Add one message.

        `since` is the first message whose calls it can answer; None if it answers none.
        """
        self.append_all([(message, since)])

    def append_all(self, messages: Iterable[tuple[Message, int | None]]) -> None:
        """Add messages, each with the first message whose calls it can answer."""
        holders: list[Holder] = []
        for index, (message, since) in enumerate(messages, len(self)):
            self.messages.append(message)
            if self._note(message, index):
                holders.append((index, message, since))
        self.exchanges.extend(holders)

    def add_apart(self, index: int, message: Message, *, since: int | None) -> None:
        """Add a message before the loaded end. Call it in order, before `start` is set."""
        self._apart[index] = message
        if self._note(message, index):
            self.exchanges.extend([(index, message, since)])

    def _note(self, message: Message, index: int) -> bool:
        """Record what windows look for; return whether the message holds calls or results."""
        if message.visibility != "public":
            if not self.is_hidden(index):
                insort(self.hidden, index)
                self.silent.add(index)
            if message.visibility == "erased":
                self.erased.add(index)
            return False
        if "edited" in message.meta:
            self.edited.add(index)
        if message.role == "system":
            self.system.append(index)
            self.silent.add(index)
        elif message.pinned:
            self.pinned.append(index)
        parts = message.parts
        if len(parts) == 1 and type(parts[0]) is Text:  # nearly all, so it is quick
            if message.role == "user" and message.kind == "message":
                self.questions.append(index)
                self.plain.append(index)
            return False
        kinds = set(map(type, parts))
        if Thinking in kinds:
            self.has_thinking = True
        if (Media in kinds or ToolResult in kinds) and (media := media_in(message)):
            self.media[index] = media + self.media_before(len(self.pictured))
            self.pictured.append(index)
        if is_question(message):
            self.questions.append(index)
            if ToolResult not in kinds:
                self.plain.append(index)
        return ToolCall in kinds or ToolResult in kinds


def is_question(message: Message) -> bool:
    """Whether a message is the user's own, not only tool results; it may be empty."""
    return message.role == "user" and message.kind == "message" and not message.only_results


def media_in(message: Message) -> int:
    """Return the number of media in a message, those in results included."""
    count = 0
    for part in message.parts:
        if type(part) is Text:
            continue
        if type(part) is Media:
            count += 1
        elif type(part) is ToolResult and isinstance(part.content, tuple):
            count += sum(type(piece) is Media for piece in part.content)
    return count


def last_before(indexes: list[int], count: int) -> int | None:
    """Return the last of the sorted indexes below `count`."""
    place = bisect_left(indexes, count)
    return indexes[place - 1] if place else None


def first_from(indexes: list[int], index: int) -> int | None:
    """Return the first of the sorted indexes that is at least `index`."""
    place = bisect_right(indexes, index - 1)
    return indexes[place] if place < len(indexes) else None
