"""Providers for programs without an event loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

from contextwright.errors import require
from contextwright.formats.replies.events import Event
from contextwright.formats.replies.reply import ModelReply, gather
from contextwright.providers.base import AnyProvider
from contextwright.providers.loop import OwnLoop

__all__ = ["SyncProvider"]


class SyncProvider:
    """A provider without an event loop: `for event in provider.stream(payload, model=…)`."""

    def __init__(self, provider: AnyProvider) -> None:
        require(provider, AnyProvider, "a provider", "connect() makes one")
        self.provider = provider
        self.format = provider.format
        self.loop = OwnLoop()

    def __repr__(self) -> str:
        return f"SyncProvider({self.provider!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self.loop.run(self.provider.close())
        self.loop.close()

    def send(self, payload: Mapping[str, Any], *, model: str) -> ModelReply:
        """Send a request and wait for the whole reply.

        Raises:
            ProviderError: the provider refused it, or could not be reached.
        """
        return gather(self.stream(payload, model=model), self.format)

    def stream(self, payload: Mapping[str, Any], *, model: str) -> Iterator[Event]:
        """Send a request and yield the events of the reply as they arrive.

        Nothing is read ahead; closing the iterator ends the request at the provider.
        """
        return self.loop.iterate(self.provider.stream(payload, model=model))
