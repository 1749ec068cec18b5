"""Histories that a client of Responses does not send again: it names the answer it continues.

Or it sends the history with the ids of items (`item_reference`) in their place.

Answers that are not in memory are looked up among the recorded requests, which include those of
other gateways and earlier starts. So the id of an answer of ours has the number of its request, and
a digest that only its own client can have got. Answers that pass as they are have ids of their
upstream; the store knows them by a digest of the client and the id.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from operator import attrgetter
from random import getrandbits
from typing import Any, NamedTuple

from msgspec.structs import replace

from contextwright.errors import ContextwrightError, ProviderError, StoreError, shown
from contextwright.formats import api
from contextwright.formats.replies.compactions import MARK, in_words
from contextwright.formats.replies.reply import ModelReply
from contextwright.formats.replies.whole import read_whole
from contextwright.formats.tools import restore_calls
from contextwright.lru import LruCache
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message
from contextwright.messages.parts import Opaque, Part
from contextwright.models import as_model
from contextwright.serve.calls import Call, with_body
from contextwright.serve.reading import with_whole_answers
from contextwright.serve.sessions import digest_of
from contextwright.store.engines.base import Connection
from contextwright.store.requests import RequestBodies
from contextwright.store.rows.recorded.bodies import all_of
from contextwright.store.rows.recorded.requests import LARGEST, answered_with
from contextwright.store.store import Store
from contextwright.text.json import decode_object, encode_json

__all__ = [
    "RESPONSES",
    "Continuations",
    "answer_digest",
    "id_of",
    "is_continuable",
    "is_own_item",
    "new_id",
    "number_in",
    "previous_of",
]

RESPONSES = "openai-responses"
PREVIOUS = "previous_response_id"
REFERENCE = "item_reference"
ELSEWHERE = ("conversation", "prompt")
"""Fields that name what only the provider has."""
MAX_BYTES = 32 << 20
"""Bytes of requests whose histories are remembered; those longest unused are forgotten."""


PATIENCE = 10.0
"""Seconds that a request waits for the answer before it to be recorded: it would be refused."""
BRIEFLY = 1.0
"""Seconds that it waits for one that nobody here may ever have seen."""
PAUSE = 0.02
"""Seconds between two looks for it."""
PREFIX = "resp_"
HEX = re.compile(r"[0-9a-f]{20}").fullmatch
OWN_ITEM = re.compile(r"[a-z]+_[0-9a-f]{32}_[0-9]+").fullmatch
"""Matches the id of an item of our answers: OpenAI's own have no number behind."""
OWN_NAME = re.compile(rb'"[a-z]+_[0-9a-f]{32}(?:_[0-9]+)?"').search
"""Finds the id of an answer of ours, or of an item in one."""
SPELLED_OUT = "earlier answers that the upstream cannot know are sent with it"
NUMBER_CHARS, START_CHARS = 12, 20
"""The end of the request's number in an answer's id, and of the random part behind it."""

log = logging.getLogger("contextwright.serve")


class RecordedAnswer(NamedTuple):
    """A recorded request and its answer."""

    number: int
    said: Conversation
    reply: ModelReply
    size: int
    """The bytes of the request."""


class Continuations:
    """The history up to each answer, by the client and the answer's id."""

    def __init__(self, store: Store | None = None, *, max_bytes: int = MAX_BYTES) -> None:
        self._store = store
        self._said = LruCache[tuple[str, str], tuple[Message, ...]](max_bytes)

    def keep(self, owner: str, said: Conversation, reply: ModelReply, size: int) -> None:
        """Remember an answer as its client read it; `size` is the bytes of its request."""
        id = id_of(reply)
        if not is_continuable(said) or not id:
            return
        self._said.put((owner, id), (*said.messages, reply.message), size)

    def recall_passed_on(self, owner: str, said: Conversation, number: int) -> None:
        """Remember the answers that a client continues, if they were recorded as they passed.

        `number` is that of its request. For a thread that may wait for the store.
        """
        chain: list[RecordedAnswer] = []
        id = previous_of(said)
        while self._store is not None and id and (owner, id) not in self._said:
            answer = passed_on(self._store, owner, id, number)
            if answer is None:
                break
            chain.append(answer)
            id, number = previous_of(answer.said), answer.number
        for answer in reversed(chain):
            whole = self.whole(owner, answer.said, elsewhere=True)
            self.keep(owner, whole, answer.reply, answer.size)

    async def recalled(self, owner: str, said: Conversation, *, elsewhere: bool) -> Conversation:
        """Return what a client said with what it goes on from, recalled if need be: see `whole`."""
        await self.recall(owner, said, elsewhere=elsewhere)
        return self.whole(owner, with_whole_answers(said), elsewhere=elsewhere)

    async def spelled_out(self, owner: str, call: Call) -> Call:
        """Return a request with the history of our own answers instead of their ids.

        A client that changes in mid-conversation to a model of OpenAI names them on, and OpenAI
        does not know them. Nor can it read compactions of ours.
        """
        is_own = OWN_NAME(call.body) is not None or MARK.encode() in call.body
        if call.format != RESPONSES or not is_own:
            return call
        try:
            payload = decode_object(call.body) or {}
            said = api.parse(payload, RESPONSES)
        except ContextwrightError:
            return call
        recalled = await self.recalled(owner, said, elsewhere=True)
        whole = in_words(recalled, RESPONSES)
        if whole is said:
            return call
        rendered = api.render(whole, RESPONSES, model=as_model(call.model))
        left_out = () if previous_of(whole) else (PREVIOUS,)
        rest = {name: value for name, value in payload.items() if name not in left_out}
        body = encode_json({**rest, "input": rendered.payload["input"]})
        repairs = [change for change in rendered.changes if change.path.startswith("messages")]
        known = [] if recalled is said else [Change("repair.history", "input", SPELLED_OUT)]
        own = whole.changes[len(recalled.changes) :]
        return with_body(call, body, [*known, *own, *repairs])

    async def recall(self, owner: str, said: Conversation, *, elsewhere: bool) -> None:
        """Remember the answers that a client names, and those before them, if recorded."""
        found: dict[str, RecordedAnswer] = {}
        names = answers_named(said)
        while names:
            id = names.pop()
            if id not in found and (owner, id) not in self._said:
                answer = await self._recorded(owner, id, elsewhere)
                if answer is not None:
                    found[id] = answer
                    names += answers_named(answer.said)
        for answer in sorted(found.values(), key=attrgetter("number")):
            whole = self.whole(owner, answer.said, elsewhere=True)
            if not previous_of(whole):
                self.keep(owner, whole, answer.reply, answer.size)

    async def _recorded(self, owner: str, id: str, elsewhere: bool) -> RecordedAnswer | None:
        """Return an answer from the store; None if its client is another, or it is not there.

        It may be about to be recorded, also by another gateway, so it is waited for.
        """
        store, number = self._store, number_in(owner, id)
        if store is None:
            return None
        if not number:
            return await self._passed_on(store, owner, id, 0.0 if elsewhere else BRIEFLY)
        try:
            async with asyncio.timeout(PATIENCE):
                while (await asyncio.to_thread(store.request, number)).state == "open":
                    await asyncio.sleep(PAUSE)
            bodies = await asyncio.to_thread(store.request_bodies, number)
        except TimeoutError:
            log.warning("an earlier answer was not recorded in time")
            return None
        except StoreError as error:
            log.warning("an earlier answer was not read: %s", error)
            return None
        return answer_in(bodies, id, number)

    async def _passed_on(
        self, store: Store, owner: str, id: str, patience: float
    ) -> RecordedAnswer | None:
        """Return an answer of OpenAI's that passed as it was; wait some seconds for its record."""
        end = time.monotonic() + patience
        while True:
            found = await asyncio.to_thread(passed_on, store, digest_of(owner), id, LARGEST)
            if found is not None or time.monotonic() > end:
                return found
            await asyncio.sleep(PAUSE)

    def whole(self, owner: str, said: Conversation, *, elsewhere: bool) -> Conversation:
        """Return what a client said with the history that it goes on from, and with items it names.

        What is not known here is left to an upstream that may know it `elsewhere`.

        Raises:
            ProviderError: the history is not known, and the upstream cannot know it.
        """
        said = self._with_items(owner, said, elsewhere)
        fields, id = fields_of(said), previous_of(said)
        known = self._said.get((owner, id)) if id else None
        if known is not None:
            rest = {name: value for name, value in fields.items() if name != PREVIOUS}
            messages = joined(known, said.messages)
            return replace(said, messages=messages, extra={**said.extra, RESPONSES: rest})
        if not elsewhere:
            for name in (PREVIOUS, *ELSEWHERE):
                if fields.get(name):
                    raise unknown(name, fields[name])
        return said

    def _with_items(self, owner: str, said: Conversation, elsewhere: bool) -> Conversation:
        """Return what a client said, with items of earlier answers instead of their ids."""
        if not references_in(said):
            return said
        messages: list[Message] = []
        is_known = False
        for message in said.messages:
            parts: list[Part] = []
            for part in message.parts:
                id = reference_in(part)
                found = self._item(owner, id) if id else ()
                if id and not found and not elsewhere:
                    raise unknown(REFERENCE, id)
                is_known = is_known or bool(found)
                parts += found or (part,)
            messages.append(message.with_parts(parts))
        return replace(said, messages=tuple(messages)) if is_known else said

    def _item(self, owner: str, id: str) -> Sequence[Part]:
        """Return the parts of an item of an answer; none if it is not known."""
        known = self._said.get((owner, answer_with(id)))
        parts = known[-1].parts if known else ()
        return [part for part in parts if own_fields(part).get("id") == id]


def fields_of(said: Conversation) -> Mapping[str, Any]:
    """Return the fields of a request that only Responses has."""
    return said.extra.get(RESPONSES, {}) if said.source == RESPONSES else {}


def previous_of(said: Conversation) -> str:
    """Return the id of the answer that a client continues; empty if it names none."""
    id = fields_of(said).get(PREVIOUS)
    return id if isinstance(id, str) else ""


def answers_named(said: Conversation) -> list[str]:
    """Return the ids of the answers that a client continues, or takes items from."""
    answers = dict.fromkeys(map(answer_with, references_in(said)))
    return [*filter(None, [previous_of(said)]), *answers]


def references_in(said: Conversation) -> list[str]:
    """Return the ids of the items that a client names."""
    messages = said.messages if said.source == RESPONSES else ()
    found = (reference_in(part) for message in messages for part in message.parts)
    return [id for id in found if id]


def reference_in(part: Part) -> str:
    """Return the id of the item that a part stands for; empty if it is something else."""
    if type(part) is not Opaque or part.format != RESPONSES:
        return ""
    id = part.data.get("id")
    return id if part.data.get("type", REFERENCE) == REFERENCE and isinstance(id, str) else ""


def answer_with(item: str) -> str:
    """Return the id of the answer that has an item: `resp_A` of `fc_A_1`."""
    return PREFIX + item.partition("_")[2].rpartition("_")[0]


def own_fields(part: Part) -> Mapping[str, Any]:
    """Return the fields of an item that only Responses has."""
    return {} if isinstance(part, Opaque) else part.extra.get(RESPONSES, {})


def id_of(reply: ModelReply) -> str:
    """Return the id by which a client may continue an answer; empty if it has none."""
    id = reply.extra.get(RESPONSES, {}).get("id")
    return id if isinstance(id, str) else ""


def passed_on(store: Store, owner: str, id: str, before: int) -> RecordedAnswer | None:
    """Return an answer that passed as it was, from before a request; None if it is not there.

    The `owner` is a digest of the client's key.
    """

    def find(connection: Connection) -> tuple[int | None, RequestBodies]:
        number = answered_with(connection, store.tenant, answer_digest(owner, id), before)
        return number, RequestBodies() if number is None else all_of(connection, number)

    try:
        number, found = store.engine.read(find)
    except StoreError as error:
        log.warning("an earlier answer was not read: %s", error)
        return None
    return None if number is None else answer_in(found, id, number)


def answer_digest(owner: str, id: str) -> str:
    """Return the name in a store of an answer that passed as it was, for one client."""
    return blake2b(encode_json([owner, id]), digest_size=16).hexdigest()


def answer_in(bodies: RequestBodies, id: str, number: int) -> RecordedAnswer | None:
    """Return what was said and answered in a recorded request; None if that is another answer."""
    asked, answered = bodies.request or b"", bodies.reply or b""
    payload, whole = decode_object(asked), decode_object(answered)
    reply = api.parse_reply(whole, RESPONSES) if whole else read_whole(answered, RESPONSES)
    if payload is None or id_of(reply) != id:
        return None
    said = api.parse(payload, RESPONSES)
    return RecordedAnswer(number, said, restore_calls(reply, said), len(asked))


def new_id(owner: str, number: int) -> str:
    """Return an id for the answer to a recorded request; `number` is 0 if it is not recorded."""
    start = f"{number:0{NUMBER_CHARS}x}{getrandbits(32):08x}"
    return start + seal(owner, start)


def number_in(owner: str, id: str) -> int:
    """Return the number of the request that an answer's id has; 0 if it is not its client's."""
    plain = id.removeprefix(PREFIX)
    start = plain[:START_CHARS]
    if not HEX(start) or plain[START_CHARS:] != seal(owner, start):
        return 0
    return int(start[:NUMBER_CHARS], 16)


def is_own_item(id: object) -> bool:
    """Whether an id is that of an item in an answer of ours."""
    return isinstance(id, str) and OWN_ITEM(id) is not None


def seal(owner: str, start: str) -> str:
    """Return the end of an id, which nobody but the owner can know."""
    key = blake2b(owner.encode(errors="surrogatepass")).digest()
    return blake2b(start.encode(), key=key, digest_size=6).hexdigest()


def is_continuable(said: Conversation) -> bool:
    """Whether a client may continue the answer by its id: of Responses, if it may be stored."""
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
        f"{name} {shown(value)} is known neither here nor to the upstream: send the whole input",
        kind="invalid",
        status=400,
    )
