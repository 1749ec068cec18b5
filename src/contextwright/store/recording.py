"""Writing recorded requests: figures, bodies, and what was said in them, each message once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from contextwright.context.prompt import Pricers, Prompt, prompt_of
from contextwright.context.receipt import Comparison
from contextwright.errors import StoreError
from contextwright.lru import LruCache
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message
from contextwright.models import as_model
from contextwright.store.engines.base import Connection
from contextwright.store.history import settings_of, title_of, without_marks
from contextwright.store.records import ConversationInfo
from contextwright.store.requests import (
    ForkReason,
    RecordedFork,
    RecordedRequest,
    RequestBodies,
)
from contextwright.store.rows import conversations, turns
from contextwright.store.rows.conversations import End
from contextwright.store.rows.recorded import bodies, places, requests, signatures
from contextwright.store.rows.recorded.places import Place, Trail
from contextwright.store.rows.recorded.requests import moment
from contextwright.store.rows.recorded.signatures import SignedAnswer
from contextwright.store.rows.validation import bodies_of, replace_invalid
from contextwright.store.state import State
from contextwright.text.json import decode_object, with_whole_characters

__all__ = ["BegunRequest", "EndedRequest", "RequestLog", "line_of", "recorded_prompt"]

MAX_LINES = 256
"""Clients, sessions and models whose last request is known."""
MAX_RECENT_BYTES = 16 << 20
"""Bytes of requests that are remembered, to compare the next ones with."""
FORKED = re.compile(r"~\d+$")
"""The end of a fork's name: the number of the request that made it."""
CAUSES: dict[ForkReason, str] = {
    "compaction": "the client compacted the history",
    "edit": "the client changed an earlier message",
    "rewind": "the client went back to an earlier message",
}


class BegunRequest(NamedTuple):
    """A request that is sent on."""

    record: RecordedRequest
    body: bytes | None
    """What the client sent; None if that is not to be kept."""
    owner: str = ""
    """Tells clients apart that name no session."""
    place: str | None = None
    """The digest of all that was said, if the answer may be signed for a client of another API."""


class EndedRequest(Struct, frozen=True, kw_only=True):
    """A request that is over, as far as it is known."""

    record: RecordedRequest
    bodies: RequestBodies
    payload: dict[str, Any]
    """The body that the upstream was sent."""
    owner: str = ""
    """Tells clients apart that name no session."""
    agent: str = ""
    """The agent of a session that it is from; empty for the session itself."""
    said: Conversation | None = None
    """What the client said; None if it cannot be read, or is not to be kept."""
    reply: Message | None = None
    """The whole answer; None if there is none."""
    signed: SignedAnswer | None = None
    """What the client cannot send back of it."""
    answer: str | None = None
    """A digest of the client and of the id by which it may go on from the answer, if it may."""


class Target(NamedTuple):
    """Where the messages of a request go."""

    id: str
    end: End
    known: int = 0
    """How many of its messages the conversation has already."""
    fork: RecordedFork | None = None
    parent: int | None = None
    """The conversation it was forked from."""


class Recent(NamedTuple):
    """A request that the next one of its history is compared with."""

    bodies: RequestBodies
    prompt: Prompt | None
    size: int
    """The bytes that it takes, about."""
    trail: Trail | None = None
    """What its client said."""

    @classmethod
    def of(cls, sent: RequestBodies, prompt: Prompt | None, trail: Trail | None = None) -> Recent:
        """Return a request of which the answer is not needed any more."""
        size = size_of(sent) + (0 if prompt is None else prompt.size)
        return cls(replace(sent, reply=None), prompt, size, trail)


NOTHING = Recent(RequestBodies(), None, 0)


class RequestLog:
    """Records requests in a store: begun before they are sent on, finished when they are over."""

    def __init__(self, state: State, process: str) -> None:
        self.state, self.process = state, process
        self.recent = LruCache[int, Recent](MAX_RECENT_BYTES)
        self.newest = LruCache[tuple[str, ...], int](MAX_LINES)
        """The last finished request of each client, session and model."""
        self.pricers = Pricers()
        self.compact: set[int] = set()
        """Open requests whose body is stored as a difference already."""

    def begin(self, begun: Sequence[BegunRequest]) -> list[int]:
        """Note requests that are sent on, all or none, and return their numbers."""
        return self.state.engine.write(lambda one: [self._begin(one, each) for each in begun])

    def finish(self, ended: Sequence[EndedRequest]) -> list[RecordedRequest]:
        """Store how requests ended, all or none, and what was said in them that is new."""
        return self.state.engine.write_alone(lambda connection: self.write(connection, ended))

    def write(self, connection: Connection, ended: Sequence[EndedRequest]) -> list[RecordedRequest]:
        """Store how requests ended in a transaction; other gateways wait with the same histories.

        Otherwise two that get one history by turns would each begin a conversation with it.
        """
        connection.lock(beginning_of(each, self.state.tenant) for each in ended)
        return [self._finish(connection, each) for each in ended]

    def _begin(self, connection: Connection, begun: BegunRequest) -> int:
        record, body = begun.record, begun.body
        number = requests.begin(connection, self.state.tenant, record, self.process)
        self.compact.discard(number)
        if begun.place is not None:
            signatures.expect(connection, number, begun.place)
        if body is not None:
            base = self.newest.get(line_of(record, begun.owner)) or 0
            old = self._in_memory(base).bodies.request
            if old and bodies.add_difference(connection, number, "request", body, base, old):
                self.compact.add(number)
            else:  # not compressed: the answer waits for this
                bodies.add(connection, number, "request", body)
        return number

    def _finish(self, connection: Connection, ended: EndedRequest) -> RecordedRequest:
        record, line = ended.record, line_of(ended.record, ended.owner)
        trail = self._trail(ended, line)
        digests = trail.followed_by([] if ended.reply is None else [ended.reply]).digests
        target = self._target(connection, ended, digests)
        if target is not None and ended.reply is not None:
            record = self._add(connection, ended, target, digests)
        previous = self._before(connection, record, target)
        before = NOTHING if previous is None else self._recalled(connection, previous)
        record = replace(record, previous=previous)
        prompt, record = compared(ended, record, before.prompt, self.pricers)
        sent = ended.bodies
        for kind in bodies.KINDS:
            body = getattr(sent, kind)
            if body is not None and not (kind == "request" and record.number in self.compact):
                base = None if kind == "reply" else record.previous
                old = getattr(before.bodies, kind)
                bodies.replace(connection, record.number, kind, body, base, old)
        self.compact.discard(record.number)
        self._remember(record.number, Recent.of(sent, prompt if prompt.is_whole else None, trail))
        self.newest.put(line, record.number)
        if record.mode == "translated":
            signatures.finish(connection, record.number, ended.signed)
        conversation = None if target is None else target.end.number
        requests.finish(connection, record, conversation, ended.answer)
        return record if target is None else replace(record, conversation=target.id)

    # --- which conversation ------------------------------------------------------------------

    def _target(
        self, connection: Connection, ended: EndedRequest, digests: Sequence[str]
    ) -> Target | None:
        """Return the conversation of a request; an answered one makes a conversation or a fork."""
        if ended.said is None:
            return None
        tenant, record = self.state.tenant, ended.record
        found = places.longest(connection, tenant, digests)
        if ended.reply is None:
            return None if found is None else Target(found.id, End(found.conversation))
        if found is None:
            left = self._left(connection, record)
            if left is None:
                return self._created(connection, ended)
            return self._forked(connection, record, RecordedFork(left, 0, "compaction"), 0)
        count, known = len(ended.said.messages) + 1, found.index + 1
        end = conversations.locked_end(connection, found.conversation)
        if end is None:
            raise conversations.unknown(found.id)
        if known == count or found.seq == end.last:
            return Target(found.id, end, known)
        if self._begins(connection, ended, known):
            return self._created(connection, ended)
        fork = RecordedFork(found.id, found.seq, reason_of(found, count))
        return self._forked(connection, record, fork, known)

    def _begins(self, connection: Connection, ended: EndedRequest, known: int) -> bool:
        """Whether a request is the first of an agent that was given the same task as another."""
        assert ended.said is not None
        if not ended.agent or any(map(is_answer, ended.said.messages[:known])):
            return False
        return requests.last_of_session(connection, self.state.tenant, ended.record) is None

    def _left(self, connection: Connection, record: RecordedRequest) -> str | None:
        """Return the conversation that a client leaves when its session begins another history."""
        if not record.session or not record.toolset:
            return None
        last = requests.last_of_session(connection, self.state.tenant, record)
        return None if last is None else last.conversation

    def _created(self, connection: Connection, ended: EndedRequest) -> Target:
        """Return a new conversation."""
        record, said = ended.record, ended.said
        assert said is not None
        id = f"{record.client.partition('/')[0] or 'client'}/{record.session or record.number}"
        info = ConversationInfo(id, 0, title_of(said), settings=settings_of(said))
        number = conversations.create(connection, self.state.tenant, info)
        if number is None:
            info = replace(info, id=f"{id}~{record.number}")
            conversations.create(connection, self.state.tenant, info)
            number = conversations.require(connection, self.state.tenant, info.id).number
        return Target(info.id, End(number))

    def _forked(
        self, connection: Connection, record: RecordedRequest, fork: RecordedFork, known: int
    ) -> Target:
        """Return a conversation that leaves another behind one of its messages."""
        tenant, id = self.state.tenant, f"{FORKED.sub('', fork.parent)}~{record.number}"
        head = turns.fork(connection, tenant, fork.parent, id, fork.at, None)
        end = conversations.locked_end(connection, head.number)
        assert end is not None
        return Target(id, end, known, fork, head.line[1][0])

    # --- what was said -----------------------------------------------------------------------

    def _add(
        self,
        connection: Connection,
        ended: EndedRequest,
        target: Target,
        digests: Sequence[str],
    ) -> RecordedRequest:
        """Add what is new to the conversation, as one turn."""
        assert ended.said is not None
        assert ended.reply is not None
        record = ended.record
        messages = [*ended.said.messages, ended.reply][target.known :]
        if not messages:
            return replace(record, fork=target.fork)
        clean, changes = replace_invalid([without_marks(one) for one in messages])
        turn = turns.EncodedTurn(clean, bodies_of(clean), f"request {record.number}")
        now = moment(datetime.now(UTC))
        seqs = turns.append(connection, target.end, turn, now)
        places.add(connection, target.end.number, seqs, digests[target.known :])
        return replace(
            record,
            fork=target.fork,
            first=seqs[0],
            last=seqs[-1],
            changes=(*record.changes, *changes),
        )

    def _before(
        self, connection: Connection, record: RecordedRequest, target: Target | None
    ) -> int | None:
        """Return the number of the request before one, in its conversation or the one it left."""
        if target is not None:
            line = target.end.number if target.parent is None else target.parent
            return requests.latest(connection, self.state.tenant, line, record.number)
        if not record.redacted or not record.session:
            return None
        last = requests.last_of_session(connection, self.state.tenant, record)
        return None if last is None else last.number

    # --- what is remembered ------------------------------------------------------------------

    def _trail(self, ended: EndedRequest, line: tuple[str, ...]) -> Trail:
        """Return the places of what was said, from the last request of its line if it goes on."""
        said = () if ended.said is None else ended.said.messages
        before = self._in_memory(self.newest.get(line) or 0).trail
        if before is None or not before.leads_to(said):
            before = Trail(seed_of(ended))
        return before.followed_by(said[len(before.messages) :])

    def _recalled(self, connection: Connection, number: int) -> Recent:
        """Return an earlier request, from memory or from the store."""
        known = self._in_memory(number)
        if known is NOTHING:
            record = requests.find(connection, self.state.tenant, number)
            try:
                sent = bodies.all_of(connection, number)
            except StoreError:  # it is damaged: the next one is stored whole
                return NOTHING
            prompt = recorded_prompt(record, sent)
            known = Recent.of(sent, prompt if prompt and prompt.is_whole else None)
            self._remember(number, known)
        return known

    def _in_memory(self, number: int) -> Recent:
        """Return an earlier request, if it is in memory."""
        return self.recent.get(number) or NOTHING

    def _remember(self, number: int, recent: Recent) -> None:
        """Keep a request in memory: the next one is stored as its difference to it."""
        self.recent.put(number, recent, recent.size)


def is_answer(message: Message) -> bool:
    """Whether the model said a message."""
    return message.role == "assistant"


def seed_of(ended: EndedRequest) -> str:
    """Return what keeps the histories of different clients apart."""
    session = ended.record.session
    return f"session {session}" if session else f"owner {ended.owner}"


def beginning_of(ended: EndedRequest, tenant: str) -> str:
    """Return a name for the history of a request that its later requests have too."""
    said = () if ended.said is None else ended.said.messages
    first = [message for message in said if message.role != "system"][:1]
    return " ".join((tenant, *Trail(seed_of(ended)).followed_by(first).digests))


def line_of(record: RecordedRequest, owner: str) -> tuple[str, ...]:
    """Return what the requests of one history have in common, before any of them is answered."""
    return record.session or owner, record.format, record.model


def recorded_prompt(
    record: RecordedRequest, sent: RequestBodies, previous: Prompt | None = None
) -> Prompt | None:
    """Return the prompt that the upstream was sent; None if it was not kept, or cannot be read."""
    body = sent.request if sent.upstream is None else sent.upstream
    if body is None or record.error == "damaged":
        return None
    payload = with_whole_characters(decode_object(body))
    if payload is None:
        return None
    return prompt_of(payload, record.upstream_format, as_model(record.sent_model), previous)


def size_of(sent: RequestBodies) -> int:
    """Return the bytes of what was sent."""
    return len(sent.request or b"") + len(sent.upstream or b"")


def compared(
    ended: EndedRequest, record: RecordedRequest, previous: Prompt | None, pricers: Pricers
) -> tuple[Prompt, RecordedRequest]:
    """Return the prompt of a request, and its record with what it shares with the one before it."""
    model = as_model(record.sent_model)
    prompt = prompt_of(ended.payload, record.upstream_format, model, previous, pricers)
    if previous is None or not prompt.is_whole:
        return prompt, record
    comparison = explained(prompt.compared_with(previous), record.fork)
    return prompt, replace(record, prefix=comparison)


def reason_of(found: Place, count: int) -> ForkReason:
    """Why a client left a conversation: by what it sent instead of what was there."""
    behind, there = count - found.index - 1, found.last - found.seq
    if behind > there:
        return "edit"
    return "rewind" if behind <= 2 else "compaction"


def explained(comparison: Comparison, fork: RecordedFork | None) -> Comparison:
    """Return a comparison that names what the client did as the cause of a turn that changed."""
    if fork is None or comparison.cause != f"{comparison.first_difference} changed":
        return comparison
    return replace(comparison, cause=CAUSES[fork.reason])
