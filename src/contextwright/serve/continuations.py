"""Histories that a client of Responses does not send again: it names the answer it goes on from."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from contextwright.errors import ProviderError, shown
from contextwright.formats.replies.reply import ModelReply
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message

__all__ = ["RESPONSES", "Continuations", "is_continuable"]

RESPONSES = "openai-responses"
PREVIOUS = "previous_response_id"
ELSEWHERE = ("conversation", "prompt")
"""Fields that name what only the provider has."""
MAX_BYTES = 32 << 20
"""Bytes of requests whose histories are remembered; those longest unused are forgotten."""


class Said(Struct, frozen=True):
    """All that was said up to an answer, and the answer."""

    messages: tuple[Message, ...]
    size: int
    """The bytes of its request."""


class Continuations:
    """What was said up to each answer, by the client and the answer's id."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._said: OrderedDict[tuple[str, str], Said] = OrderedDict()
        self._bytes, self._max_bytes = 0, max_bytes

    def keep(self, owner: str, said: Conversation, reply: ModelReply, size: int) -> None:
        """Remember an answer as its client read it; `size` is the bytes of its request."""
        id = reply.extra.get(RESPONSES, {}).get("id")
        if not is_continuable(said) or not isinstance(id, str):
            return
        self._drop(owner, id)
        self._said[owner, id] = Said((*said.messages, reply.message), size)
        self._bytes += size
        while self._bytes > self._max_bytes:
            self._drop(*next(iter(self._said)))

    def whole(self, owner: str, said: Conversation, *, elsewhere: bool) -> Conversation:
        """Return what a client said with the history that it goes on from.

        What is not known here is left to an upstream that may know it `elsewhere`.

        Raises:
            ProviderError: the history is not known, and the upstream cannot know it.
        """
        fields = said.extra.get(RESPONSES, {}) if said.source == RESPONSES else {}
        id = fields.get(PREVIOUS)
        known = self._said.get((owner, id)) if isinstance(id, str) else None
        if known is not None:
            rest = {name: value for name, value in fields.items() if name != PREVIOUS}
            messages = joined(known.messages, said.messages)
            return replace(said, messages=messages, extra={**said.extra, RESPONSES: rest})
        if not elsewhere:
            for name in (PREVIOUS, *ELSEWHERE):
                if fields.get(name):
                    raise unknown(name, fields[name])
        return said

    def _drop(self, owner: str, id: str) -> None:
        """Forget an answer, if it is here."""
        known = self._said.pop((owner, id), None)
        self._bytes -= known.size if known else 0


def is_continuable(said: Conversation) -> bool:
    """Whether a client may go on from the answer by its id: of Responses, if it may be stored."""
    return said.source == RESPONSES and said.settings.store is not False


def joined(earlier: Sequence[Message], new: Sequence[Message]) -> tuple[Message, ...]:
    """Return a history with what follows it; its instructions are those of the new request."""
    start = int(bool(new) and is_instructions(new[0]))
    behind = int(bool(earlier) and is_instructions(earlier[0]))
    return (*new[:start], *earlier[behind:], *new[start:])


def is_instructions(message: Message) -> bool:
    """Whether a message is the field `instructions`; one among the items has a role of its own."""
    return message.role == "system" and "role" not in message.extra.get(RESPONSES, {})


def unknown(name: str, value: object) -> ProviderError:
    """Return the error for a request whose history nobody here has."""
    return ProviderError(
        f"{name} {shown(value)} is not known here, and not to the upstream: send the whole input",
        kind="invalid",
        status=400,
    )
