"""Sends requests to providers and streams their answers (`pip install 'contextwright[ask]'`)."""

from contextwright.providers.base import AnyProvider
from contextwright.providers.hosts import HOSTS, Host, host_for
from contextwright.providers.offline import Echo, Script
from contextwright.providers.provider import Provider, SyncProvider, connect, connect_sync
from contextwright.providers.retries import Retries

__all__ = [
    "AnyProvider",
    "Echo",
    "HOSTS",
    "Host",
    "Provider",
    "Retries",
    "Script",
    "SyncProvider",
    "connect",
    "connect_sync",
    "host_for",
]
