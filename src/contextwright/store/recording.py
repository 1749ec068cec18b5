"""Writing recorded requests: figures, bodies, and what was said in them, each message once."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from contextwright.context.prompt import Prompt, prompt_of
from contextwright.context.receipt import CACHE_MARKS, Comparison
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message
from contextwright.messages.parts import Opaque, Part, Text
from contextwright.models import as_model
from contextwright.store.engines.base import Connection
from contextwright.store.records import ConversationInfo
from contextwright.store.requests import (
    ForkReason,
    RecordedFork,
    RecordedRequest,
    RequestBodies,
)
from contextwright.store.rows import bodies, conversations, places, requests, turns
from contextwright.store.rows.places import Place
from contextwright.store.rows.requests import moment
from contextwright.store.rows.validation import bodies_of, replace_invalid
from contextwright.store.state import State
from contextwright.text.json import decode_object
from contextwright.text.quoting import one_line

__all__ = ["BegunRequest", "EndedRequest", "RequestLog", "recorded_prompt"]

MAX_PROMPTS = 256
"""Prompts that are remembered, to compare the next request with."""
MAX_RECENT_BYTES = 16 << 20
TITLE_CHARS = 60
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


class EndedRequest(Struct, frozen=True, kw_only=True):
    """A request that is over, as far as it is known."""

    record: RecordedRequest
    bodies: RequestBodies
    payload: dict[str, Any]
    """The body that the upstream was sent."""
    owner: str = ""
    """Tells clients apart that name no session."""
    said: Conversation | None = None
    """What the client said; None if it cannot be read, or is not to be kept."""
    reply: Message | None = None
    """The whole answer; None if there is none."""


class Target(NamedTuple):
    """Where the messages of a request go."""

    id: str
    number: int
    known: int
    """How many of its messages the conversation has already."""
    fork: RecordedFork | None = None
    parent: int | None = None
    """The conversation it was forked from."""


class RequestLog:
    """Records requests in a store: begun before they are sent on, finished when they are over."""

    def __init__(self, state: State, process: str) -> None:
        self.state, self.process = state, process
        self.prompts: OrderedDict[int, Prompt] = OrderedDict()
        self.prompt_bytes = 0
        self.recent: OrderedDict[int, RequestBodies] = OrderedDict()
        self.recent_bytes = 0
        self.newest: OrderedDict[tuple[str, ...], int] = OrderedDict()
        """The last finished request of each client, session and model."""
        self.compact: set[int] = set()
        """Open requests whose body is stored as a difference already."""

    def begin(self, begun: Sequence[BegunRequest]) -> list[int]:
        """Note requests that are sent on, all or none, and return their numbers."""
        return self.state.engine.write(lambda one: [self._begin(one, each) for each in begun])

    def finish(self, ended: Sequence[EndedRequest]) -> list[RecordedRequest]:
        """Store how requests ended, all or none, and what was said in them that is new."""
        return self.state.engine.write_alone(
            lambda connection: [self._finish(connection, each) for each in ended]
        )

    def _begin(self, connection: Connection, begun: BegunRequest) -> int:
        record, body = begun.record, begun.body
        number = requests.begin(connection, self.state.tenant, record, self.process)
        self.compact.discard(number)
        if body is not None:
            base = self.newest.get(line_of(record, begun.owner), 0)
            old = self._at_hand(base).request
            if old and bodies.add_difference(connection, number, "request", body, base, old):
                self.compact.add(number)
            else:  # not compressed: the answer waits for this
                bodies.add(connection, number, "request", body)
        return number

    def _finish(self, connection: Connection, ended: EndedRequest) -> RecordedRequest:
        record, digests = ended.record, digests_of(ended)
        target = self._target(connection, ended, digests)
        if target is not None and ended.reply is not None:
            record = self._add(connection, ended, target, digests)
        record = self._compared(connection, ended, record, target)
        sent = ended.bodies
        before = self._at_hand(record.previous or 0)
        for kind in bodies.KINDS:
            body = getattr(sent, kind)
            if body is not None and not (kind == "request" and record.number in self.compact):
                base = None if kind == "reply" else record.previous
                old = getattr(before, kind)
                bodies.replace(connection, record.number, kind, body, base, old)
        self.compact.discard(record.number)
        self._keep_at_hand(record.number, sent, line_of(record, ended.owner))
        requests.finish(connection, record, None if target is None else target.number)
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
            return None if found is None else Target(found.id, found.conversation, 0)
        if found is None:
            left = self._left(connection, record)
            if left is None:
                return self._created(connection, ended)
            return self._forked(connection, record, RecordedFork(left, 0, "compaction"), 0)
        count, known = len(ended.said.messages) + 1, found.index + 1
        head = conversations.require(connection, tenant, found.id)
        last = conversations.locked_length(connection, head)
        if known == count or found.seq == last:
            return Target(found.id, found.conversation, known)
        fork = RecordedFork(found.id, found.seq, reason_of(found, count))
        return self._forked(connection, record, fork, known)

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
        if conversations.find(connection, self.state.tenant, id) is not None:
            id = f"{id}~{record.number}"
        info = ConversationInfo(id, 0, title_of(said), settings=settings_of(said))
        conversations.create(connection, self.state.tenant, info)
        head = conversations.require(connection, self.state.tenant, id)
        return Target(id, head.number, 0)

    def _forked(
        self, connection: Connection, record: RecordedRequest, fork: RecordedFork, known: int
    ) -> Target:
        """Return a conversation that leaves another behind one of its messages."""
        tenant, id = self.state.tenant, f"{FORKED.sub('', fork.parent)}~{record.number}"
        turns.fork(connection, tenant, fork.parent, id, fork.at, None)
        head = conversations.require(connection, tenant, id)
        return Target(id, head.number, known, fork, head.line[1][0])

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
        writing = (target.id, clean, bodies_of(clean), f"request {record.number}")
        now = moment(datetime.now(UTC))
        seqs = turns.add(connection, self.state.tenant, writing, stored=now)
        places.add(connection, target.number, seqs, digests[target.known :])
        return replace(
            record,
            fork=target.fork,
            first=seqs[0],
            last=seqs[-1],
            changes=(*record.changes, *changes),
        )

    # --- the prefix --------------------------------------------------------------------------

    def _compared(
        self,
        connection: Connection,
        ended: EndedRequest,
        record: RecordedRequest,
        target: Target | None,
    ) -> RecordedRequest:
        """Return the record with what it shares with the request before it."""
        before = self._before(connection, record, target)
        previous = None if before is None else self._prompt(connection, before)
        model = as_model(record.sent_model)
        prompt = prompt_of(ended.payload, record.upstream_format, model, previous)
        self._remember(record.number, prompt)
        if previous is None:
            return replace(record, previous=before)
        comparison = explained(prompt.compared_with(previous), record.fork)
        return replace(record, previous=before, prefix=comparison)

    def _before(
        self, connection: Connection, record: RecordedRequest, target: Target | None
    ) -> int | None:
        """Return the number of the request before one, in its conversation or the one it left."""
        if target is not None:
            line = target.number if target.parent is None else target.parent
            return requests.latest(connection, self.state.tenant, line, record.number)
        if not record.redacted or not record.session:
            return None
        last = requests.last_of_session(connection, self.state.tenant, record)
        return None if last is None else last.number

    def _prompt(self, connection: Connection, number: int) -> Prompt | None:
        """Return the prompt of an earlier request."""
        known = self.prompts.get(number)
        if known is None:
            record = requests.find(connection, self.state.tenant, number)
            known = recorded_prompt(record, bodies.all_of(connection, number))
        if known is not None:
            self._remember(number, known)
        return known

    def _remember(self, number: int, prompt: Prompt) -> None:
        """Keep the prompts in memory that were last compared with."""
        if self.prompts.pop(number, None) is not None:
            self.prompt_bytes -= prompt.size
        self.prompts[number] = prompt
        self.prompt_bytes += prompt.size
        while len(self.prompts) > MAX_PROMPTS or self.prompt_bytes > MAX_RECENT_BYTES:
            self.prompt_bytes -= self.prompts.popitem(last=False)[1].size

    def _at_hand(self, number: int) -> RequestBodies:
        """Return the bodies of a request, if they are in memory."""
        if number not in self.recent:
            return RequestBodies()
        self.recent.move_to_end(number)
        return self.recent[number]

    def _keep_at_hand(self, number: int, sent: RequestBodies, line: tuple[str, ...]) -> None:
        """Keep the last bodies in memory: the next request is stored as its difference to one."""
        self.recent_bytes -= size_of(self.recent.pop(number, RequestBodies()))
        self.recent[number] = replace(sent, reply=None)
        self.recent_bytes += size_of(sent)
        while self.recent_bytes > MAX_RECENT_BYTES:
            self.recent_bytes -= size_of(self.recent.popitem(last=False)[1])
        self.newest.pop(line, None)
        self.newest[line] = number
        if len(self.newest) > MAX_PROMPTS:
            self.newest.popitem(last=False)


def line_of(record: RecordedRequest, owner: str) -> tuple[str, ...]:
    """Return what the requests of one history have in common, before any of them is answered."""
    return record.session or owner, record.format, record.model


def recorded_prompt(
    record: RecordedRequest, sent: RequestBodies, previous: Prompt | None = None
) -> Prompt | None:
    """Return the prompt that the upstream was sent; None if it was not kept, or cannot be read."""
    body = sent.request if sent.upstream is None else sent.upstream
    payload = None if body is None else decode_object(body)
    if payload is None:
        return None
    return prompt_of(payload, record.upstream_format, as_model(record.sent_model), previous)


def size_of(sent: RequestBodies) -> int:
    """Return the bytes of what was sent."""
    return len(sent.request or b"") + len(sent.upstream or b"")


def digests_of(ended: EndedRequest) -> list[str]:
    """Return the places of a request's messages, and of its answer."""
    said = () if ended.said is None else ended.said.messages
    answer = () if ended.reply is None else (ended.reply,)
    session = ended.record.session
    seed = f"session {session}" if session else f"owner {ended.owner}"
    return places.digests_of(seed, [*said, *answer])


def reason_of(found: Place, count: int) -> ForkReason:
    """Why a client left a conversation: by what it sent in the place of what was there."""
    behind, there = count - found.index - 1, found.last - found.seq
    if behind > there:
        return "edit"
    return "rewind" if behind <= 2 else "compaction"


def explained(comparison: Comparison, fork: RecordedFork | None) -> Comparison:
    """Return a comparison that names what the client did as the cause."""
    if fork is None or comparison.first_difference is None:
        return comparison
    return replace(comparison, cause=CAUSES[fork.reason])


def without_marks(message: Message) -> Message:
    """Return a message without its cache marks, which belong to one request."""
    return message.with_parts([unmarked(part) for part in message.parts])


def unmarked(part: Part) -> Part:
    """Return a part without cache marks."""
    if isinstance(part, Opaque) or not any(
        mark in held for held in part.extra.values() for mark in CACHE_MARKS
    ):
        return part
    rest = {
        format: {key: value for key, value in held.items() if key not in CACHE_MARKS}
        for format, held in part.extra.items()
    }
    return replace(part, extra={format: held for format, held in rest.items() if held})


def title_of(said: Conversation) -> str | None:
    """Return the beginning of the question, without what a client puts before it."""
    for message in reversed(said.messages):
        if message.role == "user" and message.text.strip():
            texts = [
                one.text for one in message.parts if isinstance(one, Text) and one.text.strip()
            ]
            return one_line(texts[-1], TITLE_CHARS)
    return None


def settings_of(said: Conversation) -> dict[str, Any]:
    """Return what a conversation says besides its messages: tools and model."""
    held = {"tools": said.tools, "model": said.model}
    return {name: msgspec.to_builtins(value) for name, value in held.items() if value}
