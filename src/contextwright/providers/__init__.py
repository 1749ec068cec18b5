"""Sends requests to providers and streams their answers (`pip install 'contextwright[ask]'`)."""

from contextwright.providers.base import AnyProvider
from contextwright.providers.hosts import HOSTS, Host, host_for
from contextwright.providers.http import HttpClient, HttpResponse
from contextwright.providers.offline import Echo, Script
from contextwright.providers.provider import Provider, connect, connect_sync
from contextwright.providers.retries import Retries
from contextwright.providers.sync import SyncProvider
from contextwright.providers.traced import TracedProvider

__all__ = [
    "AnyProvider",
    "Echo",
    "HOSTS",
    "Host",
    "HttpClient",
    "HttpResponse",
    "Provider",
    "Retries",
    "Script",
    "SyncProvider",
    "TracedProvider",
    "connect",
    "connect_sync",
    "host_for",
]
