"""The loop that answers a question: build, send, store, run the tools, repeat.

Whatever happens, the next request can be built from the store: the model's message is stored before
its calls run, every call has a result whether it ran or not, and an interrupted answer is marked.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import aclosing
from typing import Any, TypeVar

import msgspec

from contextwright.ask.calls import NOT_RUN, STOPPED, UNKNOWN, Running, refused
from contextwright.ask.events import Answer, AskEvent, StepEnd, StepStart, Stop, ToolEnd
from contextwright.ask.question import Question
from contextwright.ask.record import StepRecord, beside, most_expensive, record_of
from contextwright.ask.transcript import Transcript
from contextwright.context.context import Context
from contextwright.errors import Conflict, shown
from contextwright.formats.replies.events import Event, FinishReason, ReplyError
from contextwright.formats.replies.reply import CUT_OFF, ModelReply, gather_partial
from contextwright.formats.tools import restore_calls
from contextwright.messages.message import Message, Tool
from contextwright.messages.parts import ToolCall, ToolResult
from contextwright.messages.times import now_text
from contextwright.providers.base import AnyProvider
from contextwright.providers.provider import connect

__all__ = ["ask_events"]

Result = TypeVar("Result")
BROKEN: frozenset[str] = frozenset(("error", "interrupted"))
"""Finish reasons after which the same key asks again."""


async def ask_events(transcript: Transcript, question: Question) -> AsyncGenerator[AskEvent, None]:
    """Ask a question and yield the events; the last one is its answer.

    Closing the generator, or cancelling its task, stops the model and the tools; what arrived is
    stored as interrupted.

    Raises:
        BudgetError: the question does not fit the budget.
        ProviderError: the provider refused a request; the steps before it are stored.
        Conflict: the key was used for another question.
    """
    given = question.provider
    provider = given if isinstance(given, AnyProvider) else connect(given)
    try:
        asking = Asking(transcript, question, provider.in_conversation(transcript.id))
        async with aclosing(asking.events()) as events:
            async for event in events:
                yield event
    finally:
        if provider is not given:
            await provider.close()


class Asking:
    """The state of a question: the steps that are stored so far."""

    def __init__(self, transcript: Transcript, question: Question, provider: AnyProvider) -> None:
        self.transcript, self.question, self.provider = transcript, question, provider
        self.steps: list[StepRecord] = []
        self.seqs: list[int] = []
        self.message: Message | None = None
        self.number = 0
        """The last step that is stored."""
        self.sent = 0
        """Requests of this call; an earlier attempt had its own limit."""

    async def events(self) -> AsyncGenerator[AskEvent, None]:
        """Ask until there is an answer, or a limit is reached."""
        await self.add_question()
        finish = await self.resume()
        error: ReplyError | None = None
        while finish is None:
            if self.sent >= self.question.max_steps:
                finish = "max_steps"
                break
            context = await self.build()
            if self.is_too_expensive(context):
                finish = "max_price"
                break
            step = Step(self, context)
            async with aclosing(step.events()) as events:
                async for event in events:
                    yield event
            finish = step.finish
            error = step.reply.error if step.reply else None
        yield self.answer(finish, error)

    def answer(self, finish: FinishReason | Stop, error: ReplyError | None) -> Answer:
        """Return how the question ended."""
        return Answer(
            key=self.question.key,
            message=self.message,
            finish=finish,
            steps=tuple(self.steps),
            seqs=tuple(self.seqs),
            error=error,
        )

    # --- what is stored ----------------------------------------------------------------------

    async def add_question(self) -> None:
        """Store the question, unless an earlier attempt has stored it."""
        message, key = self.question.message, self.question.key
        if message is None:
            return
        found = await self.transcript.find(key)
        if not found:
            self.seqs += await self.add([message], key)
            return
        stored = found[0][1]
        same = msgspec.structs.replace(message, sent_at=stored.sent_at, meta=stored.meta)
        if len(found) > 1 or shown_as(stored) != shown_as(same):
            hint = "a key names one question; use a new one"
            raise Conflict(f"the key {shown(key)} was used for another question", hint=hint)
        self.seqs += [seq for seq, _ in found]

    async def add(self, messages: Sequence[Message], key: str) -> list[int]:
        """Store a turn, which nobody else may have stored meanwhile, also if cancelled."""
        try:
            return await kept(self.transcript.add(messages, key))
        except Conflict as error:
            hint = "ask again when that call has ended, or use a new key"
            reason = f"another call asks with the key {shown(self.question.key)} at the same time"
            raise Conflict(reason, hint=hint) from error

    async def resume(self) -> FinishReason | None:
        """Continue the steps of an earlier attempt; return its end if it had one.

        Hides an interrupted answer, because it is requested again. A call without a result is not
        run again, because it may have run.
        """
        while found := await self.transcript.find(self.step_key(self.number + 1)):
            self.number += 1
            self.seqs += [seq for seq, _ in found]
            message = found[0][1]
            record = record_of(message)
            self.steps += [record] if record else []
            finish: FinishReason = record.finish if record else "other"
            if finish in BROKEN:
                await self.transcript.hide([seq for seq, _ in found])
                continue
            self.message = message
            ours = [] if finish in CUT_OFF else self.calls_here(message)
            results = await self.transcript.find(self.results_key()) if ours else []
            self.seqs += [seq for seq, _ in results]
            if ours and not results:
                await self.add_results(results_of([refused(call, UNKNOWN) for call in ours]))
            end = self.end_of(message, finish)
            if end is not None:
                return end
        return None

    def end_of(self, message: Message, finish: FinishReason) -> FinishReason | None:
        """Return why a question ends with this message; None if the model is asked again."""
        if finish == "pause":
            return None
        if finish in CUT_OFF or not message.calls:
            return finish
        return None if len(self.calls_here(message)) == len(message.calls) else "tool_calls"

    def step_key(self, number: int) -> str:
        """Return the key of a step's message."""
        return f"{self.question.key}/{number}"

    def results_key(self) -> str:
        """Return the key of the last step's results."""
        return f"{self.step_key(self.number)}/results"

    def calls_here(self, message: Message) -> list[ToolCall]:
        """Return the calls of a message that run here, not those that the caller runs."""
        elsewhere = self.question.toolbox.elsewhere
        return [call for call in message.calls if call.name not in elsewhere]

    async def add_step(self, record: StepRecord, messages: Sequence[Message]) -> tuple[int, ...]:
        """Store the model's message."""
        seqs = await self.add(messages, self.step_key(record.step))
        self.number = record.step
        self.steps.append(record)
        self.message = messages[0]
        self.seqs += seqs
        return tuple(seqs)

    async def add_results(self, message: Message) -> None:
        """Store the results of the last step."""
        message, changes = self.transcript.storable(message)
        if changes:
            message = beside(message, {"changes": msgspec.to_builtins(changes)})
        self.seqs += await self.add([message], self.results_key())

    # --- what is sent ------------------------------------------------------------------------

    async def build(self) -> Context:
        """Build the next request. Tool results that do not fit are cut; a question is not."""
        question = self.question
        recipe = question.recipe
        if question.message is None or (self.message and self.message.calls):
            recipe = msgspec.structs.replace(recipe, oversize="cut")
        return await self.transcript.context(
            recipe,
            model=question.model,
            format=self.provider.format,
            tools=question.toolbox.tools,
            now=question.now,
            budget=question.budget,
            memories=question.memories,
        )

    def is_too_expensive(self, context: Context) -> bool:
        """Whether the request could cost more than what is left."""
        limit = self.question.max_price
        if limit is None:
            return False
        spent = sum(step.price or 0.0 for step in self.steps)
        most = most_expensive(context)
        return most is None or spent + most > limit


class Step:
    """One request, its answer, and the calls in it."""

    def __init__(self, asking: Asking, context: Context) -> None:
        self.asking, self.context = asking, context
        self.number = asking.number + 1
        self.finish: FinishReason | None = None
        """Why the question ends here; None if the model is asked again."""
        self.reply: ModelReply | None = None
        self.seen: list[Event] = []
        self.turn: tuple[StepRecord, list[Message]] | None = None
        self.seqs: tuple[int, ...] = ()
        self.open: list[ToolCall] = []
        """Stored calls that have no result yet."""
        self.running: Running | None = None
        self.started = 0.0

    async def events(self) -> AsyncGenerator[AskEvent, None]:
        """Send the request, store the answer, run its calls."""
        asking, model = self.asking, self.asking.question.model.id
        yield StepStart(self.number, model, self.context.ledger.tokens)
        asking.sent += 1
        self.started = time.monotonic()
        try:
            stream = asking.provider.stream(self.context.payload, model=model)
            async with aclosing(stream) as events:
                async for event in events:
                    self.seen.append(event)
                    yield event
            await self.store()
            if self.turn is not None:
                yield StepEnd(self.turn[0], self.seqs)
            async for ended in self.run():
                yield ended
        finally:
            # Also if cancelled anywhere above: what is stored must be complete.
            await self.store()
            await self.store_results()

    async def run(self) -> AsyncGenerator[ToolEnd, None]:
        """Run the calls that run here."""
        if self.open:
            question = self.asking.question
            self.running = Running(self.open, question.toolbox.functions, question.tool_timeout)
            async for index, result in self.running.finished():
                yield ToolEnd(self.open[index], result)

    async def store(self) -> None:
        """Store the answer as received, once; as interrupted if it is incomplete."""
        if self.reply is None:
            self.reply = self.read_reply()
            self.turn = self.turn_of(self.reply)
        if self.turn is None or self.seqs:
            return
        record, messages = self.turn
        self.seqs = await self.asking.add_step(record, messages)
        if len(messages) == 1:
            self.open = self.asking.calls_here(messages[0])
        if record.usage.input and not record.estimated:
            self.asking.transcript.learn(self.context, record.usage.input)
        self.finish = self.asking.end_of(messages[0], record.finish)

    def read_reply(self) -> ModelReply:
        """Return the answer as received, with its calls under the tools' own names."""
        reply = gather_partial(self.seen, self.context.format)
        names = {tool.name for tool in self.asking.question.toolbox.tools if isinstance(tool, Tool)}
        self.finish = reply.finish
        if all(call.name in names for call in reply.message.calls):
            return reply
        return restore_calls(reply, self.context.conversation, self.context.tool_names)

    def turn_of(self, reply: ModelReply) -> tuple[StepRecord, list[Message]] | None:
        """Return the answer as stored; None if nothing arrived.

        A call in an interrupted answer may be incomplete: it is not run, and its result says so.
        """
        if not reply.answer.parts and reply.finish in BROKEN:
            return None
        seconds = time.monotonic() - self.started
        message, changes = self.asking.transcript.storable(reply.message)
        record = StepRecord.of(self.number, self.context, reply, seconds, changes)
        message = msgspec.structs.replace(record.beside(message), sent_at=now_text())
        if not message.calls or reply.finish not in CUT_OFF:
            return record, [message]
        return record, [message, results_of([refused(call, NOT_RUN) for call in message.calls])]

    async def store_results(self) -> None:
        """Store a result for each call; stopped ones get an error."""
        calls, self.open = self.open, []
        if not calls:
            return
        if self.running is None:
            results = [refused(call, STOPPED) for call in calls]
        else:
            self.running.stop()
            results = self.running.results()
        await self.asking.add_results(results_of(results))


async def kept(work: Coroutine[Any, Any, Result]) -> Result:
    """Finish the work even if the caller is cancelled, and return its result."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        task.exception()
        raise cancelled
    return task.result()


def results_of(results: Sequence[ToolResult]) -> Message:
    """Return results as one message."""
    return Message("tool", tuple(results), sent_at=now_text())


def shown_as(message: Message) -> tuple[Any, ...]:
    """Return what distinguishes two questions."""
    return message.parts, message.author, message.reply_to
