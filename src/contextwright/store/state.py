"""`State`: what the store, its chats and its sources share."""

from __future__ import annotations

from msgspec import Struct

from contextwright.store.contexts.background import Background
from contextwright.store.contexts.builds import Builds
from contextwright.store.engines.base import Engine
from contextwright.store.recall.index import Index

__all__ = ["State"]


class State(Struct, frozen=True):
    """An open store as one tenant uses it; all tenants share everything but the name."""

    engine: Engine
    tenant: str
    index: Index
    builds: Builds
    background: Background
    """Writes summaries in the background."""
