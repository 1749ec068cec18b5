"""The interface of everything that answers requests."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Self

from contextwright.formats.replies.events import Event
from contextwright.formats.replies.reply import ModelReply, gather

__all__ = ["AnyProvider", "BatchProvider"]


class AnyProvider:
    """Answers requests: a provider, or an offline model. Use it in `async with`."""

    format: str
    """The format of the payloads it takes."""

    @property
    def name(self) -> str:
        """The name of the host; of an offline model, that of its kind."""
        return type(self).__name__.lower()

    def without_key(self, text: str) -> str:
        """Return a text without the provider's key."""
        return text

    def in_conversation(self, id: str) -> AnyProvider:
        """Return a provider for the requests of one conversation; by default this one."""
        return self

    def stream(self, payload: Mapping[str, Any], *, model: str) -> AsyncGenerator[Event, None]:
        """Send a request and yield the events of the reply as they arrive.

        Closing the iterator, or cancelling its task, ends the request at the provider. An
        interrupted reply ends in `ErrorEvent` and `Finish`.

        Raises:
            ProviderError: the provider refused it, or could not be reached; nothing arrived.
        """
        raise NotImplementedError

    async def batches(
        self, payload: Mapping[str, Any], *, model: str
    ) -> AsyncGenerator[list[Event], None]:
        """Yield the same, with those events together that arrive together.

        Raises:
            ProviderError: the provider refused it, or could not be reached; nothing arrived.
        """
        async with aclosing(self.stream(payload, model=model)) as events:
            async for event in events:
                yield [event]

    async def send(self, payload: Mapping[str, Any], *, model: str) -> ModelReply:
        """Send a request and wait for the whole reply.

        Raises:
            ProviderError: the provider refused it, or could not be reached.
        """
        async with aclosing(self.stream(payload, model=model)) as events:
            return gather([event async for event in events], self.format)

    async def close(self) -> None:
        """Close the connections."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class BatchProvider(AnyProvider):
    """A provider that has its own `batches`; `stream` takes their events one by one."""

    async def stream(
        self, payload: Mapping[str, Any], *, model: str
    ) -> AsyncGenerator[Event, None]:
        """Send a request and yield the events of the reply as they arrive.

        Closing the iterator, or cancelling its task, ends the request at the provider. An
        interrupted reply ends in `ErrorEvent` and `Finish`.

        Raises:
            ProviderError: the provider refused it, or could not be reached; nothing arrived.
        """
        async with aclosing(self.batches(payload, model=model)) as batches:
            async for batch in batches:
                for event in batch:
                    yield event
