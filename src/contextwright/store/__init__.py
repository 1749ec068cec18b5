"""Where conversations live: durable, once, in order, from any number of processes."""

from contextwright.store.asynchronous import AsyncChat, AsyncStore
from contextwright.store.base import Chat, Store
from contextwright.store.hygiene import mended
from contextwright.store.records import Details, Stored, Turn

__all__ = ["AsyncChat", "AsyncStore", "Chat", "Details", "Store", "Stored", "Turn", "mended"]
