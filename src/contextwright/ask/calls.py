"""Runs tool calls: concurrently, each with a time limit; errors become results."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncGenerator, Awaitable, Sequence
from contextvars import copy_context
from typing import Any

import msgspec

from contextwright.ask.functions import FunctionTool
from contextwright.errors import ContextwrightError, in_one_line, shown, words_of
from contextwright.messages.make import as_result
from contextwright.messages.parts import Media, Opaque, Text, ToolCall, ToolResult
from contextwright.messages.validation import refuse
from contextwright.text.json import json_text, require_json
from contextwright.text.shorten import shortened

__all__ = ["Running", "refused"]

NOT_RUN = "not run: the answer broke off before the call was complete"
STOPPED = "stopped before it was finished; it may have had effects"
MAX_ERROR_CHARS = 4_000
UNKNOWN = "interrupted; it is not known whether it ran"


class Running:
    """The running calls of one reply."""

    def __init__(
        self, calls: Sequence[ToolCall], functions: dict[str, FunctionTool], seconds: float | None
    ) -> None:
        self.calls = calls
        self.tasks = [
            asyncio.create_task(run_call(call, functions.get(call.name), seconds)) for call in calls
        ]

    async def finished(self) -> AsyncGenerator[tuple[int, ToolResult], None]:
        """Yield the results as they arrive, with the index of their call."""
        waiting = set(self.tasks)
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for index in sorted(map(self.tasks.index, done)):
                yield index, self.tasks[index].result()

    def stop(self) -> None:
        """Stop the calls that still run; a thread cannot be stopped, only abandoned."""
        for task in self.tasks:
            task.cancel()

    def results(self) -> list[ToolResult]:
        """Return the results in call order; missing ones become errors."""
        return [
            task.result() if has_result(task) else refused(call, STOPPED)
            for call, task in zip(self.calls, self.tasks, strict=True)
        ]


def has_result(task: asyncio.Task[ToolResult]) -> bool:
    """Whether a task has ended by itself, not by Ctrl-C."""
    return task.done() and not task.cancelled() and task.exception() is None


def refused(call: ToolCall, reason: str) -> ToolResult:
    """Return the error result of a call."""
    return ToolResult(call.id, reason, call.name, is_error=True)


async def run_call(call: ToolCall, known: FunctionTool | None, seconds: float | None) -> ToolResult:
    """Run one call; any failure becomes its result."""
    if known is None:
        return refused(call, f"there is no tool {shown(call.name)}")
    try:
        arguments = known.read(call.arguments)
    except msgspec.ValidationError as error:
        if call.arguments.keys() == {"_raw"}:
            return refused(call, f"not a JSON object: {shown(call.arguments['_raw'])}")
        return refused(call, f"the arguments do not fit: {error}")
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            value = await called(known, arguments)
    except Exception as error:
        late = limit.expired()
        return refused(call, f"no result within {seconds:g} seconds" if late else reason_of(error))
    try:
        result = ToolResult(call.id, content_of(value), call.name)
        if isinstance(result.content, tuple):
            refuse(result, ToolResult, "result", None)
    except (TypeError, ValueError, RecursionError, ContextwrightError) as error:
        return refused(call, f"the result is not JSON: {in_one_line(error)}")
    return result


async def called(known: FunctionTool, arguments: dict[str, Any]) -> Any:
    """Call a function: await it if it is asynchronous, else run it in a thread."""
    if inspect.iscoroutinefunction(known.function):
        return await ended(known.function(**arguments))
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = copy_context()

    def settle(value: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    def work() -> None:
        value, failure = None, None
        try:
            value = context.run(known.function, **arguments)
        except BaseException as error:  # also SystemExit: a tool must not end the program
            is_plain = isinstance(error, Exception) and not isinstance(error, StopIteration)
            failure = error if is_plain else as_error(error)
        try:
            loop.call_soon_threadsafe(settle, value, failure)
        except RuntimeError:
            pass  # the loop is closed, so nobody is waiting

    # A daemon, because a tool that hangs must not keep the program from ending.
    threading.Thread(target=work, name=f"tool {known.tool.name}", daemon=True).start()
    value = await future
    return await ended(value) if inspect.isawaitable(value) else value


async def ended(work: Awaitable[Any]) -> Any:
    """Wait for a function; what it raises to end the program, or its task, becomes an error.

    Ctrl-C, and cancelling the question, end it.
    """
    try:
        return await work
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        raise as_error(error) from None


def as_error(error: BaseException) -> RuntimeError:
    """Return what must not pass through a task as an ordinary error of the same name."""
    return RuntimeError(type(error).__name__)


def reason_of(error: Exception) -> str:
    """Return an exception as text for the model."""
    kind, text = type(error).__name__, words_of(error)
    return shortened(f"{kind}: {text}" if text else kind, MAX_ERROR_CHARS)


def content_of(value: object) -> str | dict[str, Any] | tuple[Text | Media | Opaque, ...]:
    """Return a function's return value as the content of a result."""
    if value is None:
        return ""
    if isinstance(value, str | Text | Media | Opaque):
        return as_result(value)
    if isinstance(value, list | tuple) and value:
        parts = [item for item in value if isinstance(item, Text | Media | Opaque)]  # pyright: ignore
        if len(parts) == len(value):  # pyright: ignore[reportUnknownArgumentType]
            return tuple(parts)
    plain = msgspec.to_builtins(value, str_keys=True)
    if isinstance(plain, str):
        return plain
    text = json_text(plain)
    try:
        require_json(plain)
    except ContextwrightError:  # NaN, or nested deeper than objects may be
        return text
    return plain if isinstance(plain, dict) else text  # pyright: ignore[reportUnknownVariableType]
