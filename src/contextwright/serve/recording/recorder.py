"""Recording: every request that passes is kept, off its way.

The event loop hands over what it saw; one thread reads and writes it. A request is noted before
the first byte of its answer goes on, so that none is forgotten when the gateway is killed.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from queue import Empty, SimpleQueue
from typing import NamedTuple

from msgspec.structs import replace

from contextwright.errors import StoreError
from contextwright.serve.calls import Call
from contextwright.serve.history.continuations import Continuations
from contextwright.serve.reading import Readings
from contextwright.serve.recording.metrics import Metrics
from contextwright.serve.recording.outcome import ended_request
from contextwright.serve.recording.passage import Passage
from contextwright.serve.recording.processes import is_running, process_name
from contextwright.serve.recording.spans import RequestSpans
from contextwright.serve.sessions import client_of, session_of
from contextwright.serve.settings import ECHO, Route
from contextwright.store.recording import RequestLog
from contextwright.store.requests import RecordedRequest
from contextwright.store.rows.recorded import requests
from contextwright.store.store import Store

__all__ = ["Recorder", "record_of"]

MAX_HELD_BYTES = 64 << 20
"""Bytes of requests and answers that are not written yet; while there are more, requests pass
unrecorded, and no more of an answer is kept.
"""
MAX_BACKLOG_BYTES = 16 << 20
"""Bytes of finished requests that may wait; beyond that, new ones wait for them."""
MAX_BATCH = 16
"""Requests that are written together."""
WARNING_SECONDS = 10.0
HOUR = 3_600.0

log = logging.getLogger("contextwright.serve")


class Step(NamedTuple):
    """A request that begins, or has ended, on its way to the thread that writes."""

    passage: Passage
    ended: bool


class Recorder:
    """Writes requests into a store, in a thread of its own."""

    def __init__(
        self,
        store: Store,
        *,
        redact: bool = False,
        keep_days: float | None = None,
        spans: RequestSpans | None = None,
    ) -> None:
        self.store, self.redact, self.keep_days = store, redact, keep_days
        self.spans = spans
        self.log = RequestLog(store.state, process_name())
        self.metrics = Metrics()
        self.readings = Readings()
        self.continuations = Continuations(None if redact else store)
        self.held_bytes = 0
        self._open: dict[Passage, list[Passage]] = {}
        """Requests that are not over, each with those behind its answer that are."""
        self._queue: SimpleQueue[Step | None] = SimpleQueue()
        self._begun: deque[Step] = deque()
        self._ended: deque[Step] = deque()
        self._unfinished: set[int] = set()
        """Requests whose end could not be stored, until they are marked."""
        self._thread = threading.Thread(target=self._run, name="contextwright-recorder")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._warned = float("-inf")

    def start(self) -> None:
        """Begin; requests that a gateway left open when it was killed are marked lost."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    def follow(self, call: Call, record: RecordedRequest, keys: Sequence[str]) -> Passage | None:
        """Follow a request; None if too much waits to be written.

        `keys` are never stored; the first is the client's own.
        """
        if self.held_bytes > MAX_HELD_BYTES:
            self._unrecorded("the store is too slow")
            return None
        started = requests.moment(datetime.now(UTC))
        record = replace(record, started=started, redacted=self.redact)
        passage = Passage(call, record, keys, self)
        self.held_bytes += passage.held_bytes
        self._open[passage] = []
        return passage

    def begin(self, passage: Passage) -> None:
        """Take a request that is about to be sent on."""
        self._queue.put(Step(passage, ended=False))

    def hold(self, size: int) -> bool:
        """Make room for a piece of an answer; False if there is none."""
        if self.held_bytes + size > MAX_HELD_BYTES:
            return False
        self.held_bytes += size
        return True

    def release(self, size: int) -> None:
        """Give room back."""
        self.held_bytes -= size

    def finish(self, passage: Passage) -> None:
        """Take a request that is over, after the one whose answer it goes on from.

        Some upstreams end an answer long after its last event, when the client has asked again.
        """
        followers = self._open.pop(passage)
        for other, waiting in self._open.items():
            if any(map(passage.goes_on_from, (other, *waiting))):
                waiting += [passage, *followers]
                return
        for each in (passage, *followers):
            self._queue.put(Step(each, ended=True))

    async def close(self) -> None:
        """Write what waits, and end the thread."""
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _written(self, steps: Sequence[Step], errors: Sequence[str]) -> None:
        """Back in the loop: something was written, or was not."""
        for (passage, ended), error in zip(steps, errors, strict=True):
            if not passage.begun.done():
                passage.begun.set_result(None)
            if not ended:
                continue  # what could not be noted is written with its end
            self.release(passage.held_bytes)
            if error:
                self._unrecorded(error)
            else:
                self.metrics.add(passage.record)

    def _unrecorded(self, reason: str) -> None:
        """Count a request that passes without a record; warn from time to time."""
        self.metrics.unrecorded += 1
        if time.monotonic() - self._warned > WARNING_SECONDS:
            self._warned = time.monotonic()
            log.warning("%s requests unrecorded: %s", self.metrics.unrecorded, reason)

    # --- in the thread -----------------------------------------------------------------------

    def _run(self) -> None:
        """Write until the end, what came together in one transaction.

        An answer waits for its request to be noted, so that goes first, unless too many finished
        ones wait already.
        """
        self._tend(starting=True)
        tended = time.monotonic()
        is_open = True
        while is_open or self._begun or self._ended:
            if time.monotonic() - tended > HOUR:
                self._tend()
                tended = time.monotonic()
            is_open = self._collect() and is_open
            waiting = self._ended if not self._begun or self._is_late() else self._begun
            if waiting:
                self._take([waiting.popleft() for _ in range(min(len(waiting), MAX_BATCH))])

    def _is_late(self) -> bool:
        """Whether too many finished requests wait to be written."""
        return sum(step.passage.held_bytes for step in self._ended) > MAX_BACKLOG_BYTES

    def _collect(self) -> bool:
        """Take what is in the queue; wait a while if there is nothing to do. False at the end."""
        block = not self._begun and not self._ended
        while True:
            try:
                step = self._queue.get(block, HOUR)
            except Empty:
                return True
            if step is None:
                return False
            (self._ended if step.ended else self._begun).append(step)
            block = False

    def _take(self, steps: list[Step]) -> None:
        """Write some steps, and tell the loop; if that fails, each alone."""
        error = self._attempt(partial(self._write, steps))
        errors = [error] * len(steps)
        if error and len(steps) > 1:
            errors = [self._attempt(partial(self._write, [step])) for step in steps]
        numbers = [step.passage.number for step in steps]  # 0: its beginning was not stored either
        failed = {number for number, error in zip(numbers, errors, strict=True) if error}
        self._unfinished |= failed - {0}
        if self._unfinished:
            self._attempt(self._give_up)
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._written, steps, errors)

    def _give_up(self) -> None:
        """Mark requests lost whose end could not be stored."""
        numbers = sorted(self._unfinished)
        self.store.engine.write(lambda connection: requests.mark_lost(connection, numbers))
        self._unfinished.clear()

    def _attempt(self, work: Callable[[], None]) -> str:
        """Do some work; return what went wrong, without a word of anybody's content."""
        try:
            work()
        except StoreError as error:
            return str(error)
        except Exception as error:
            trace = error.__traceback__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            place = f"{trace.tb_frame.f_code.co_qualname}:{trace.tb_lineno}" if trace else ""
            return f"{type(error).__name__} in {place}"
        return ""

    def _write(self, steps: list[Step]) -> None:
        fresh = [step.passage for step in steps if not step.passage.number]
        if fresh:
            numbers = self.log.begin([passage.begun_request() for passage in fresh])
            for passage, number in zip(fresh, numbers, strict=True):
                passage.number = number
        over = [step.passage for step in steps if step.ended]
        if over:
            transcripts = [each.transcript() for each in over]
            ended = [ended_request(each, self.readings, self.continuations) for each in transcripts]
            records = self.log.finish(ended)
            for passage, record in zip(over, records, strict=True):
                passage.record = record
            if self.spans is not None:
                for each in zip(transcripts, ended, records, strict=True):
                    error = self._attempt(partial(self.spans.send, *each))
                    if error:
                        log.warning("a span was not sent: %s", error)

    def _tend(self, starting: bool = False) -> None:
        """Mark requests lost whose gateway is gone, and remove old ones."""
        for work in (partial(self._mark_lost, starting), self._remove_old):
            error = self._attempt(work)
            if error:
                log.warning("recorded requests were not tidied up: %s", error)

    def _mark_lost(self, starting: bool) -> None:
        """Mark requests lost whose gateway is gone."""
        own = process_name()

        def goes_on(process: str, started: str) -> bool:
            # Requests open at the start were left by another process with the same number.
            return is_running(process, started) and not (starting and process == own)

        self.store.engine.write(lambda one: requests.give_up(one, goes_on) and None)

    def _remove_old(self) -> None:
        """Remove requests that are older than they are to be kept."""
        engine, tenant = self.store.engine, self.store.tenant
        if self.keep_days is not None:
            limit = datetime.now(UTC) - timedelta(days=self.keep_days)
            engine.write_alone(lambda one: requests.remove_before(one, tenant, limit) and None)


def record_of(call: Call, route: Route) -> RecordedRequest:
    """Return what is known of a request before it is sent on."""
    upstream_format = call.format if route.upstream == ECHO else route.host(call.format).format
    return RecordedRequest(
        session=session_of(call),
        client=client_of(call),
        format=call.format,
        upstream_format=upstream_format,
        upstream=route.upstream,
        mode="pass-through" if route.is_open(call.format) else "translated",
        model=call.model,
        sent_model=route.send_as or call.model,
        streams=call.streams,
        changes=call.changes,
    )
