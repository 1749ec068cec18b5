"""Durable conversations and memories, in an SQLite file or in PostgreSQL."""

from typing import TYPE_CHECKING

from contextwright.lazy import lazily

if TYPE_CHECKING:
    from contextwright.store.async_chat import AsyncChat as AsyncChat
    from contextwright.store.async_store import AsyncStore as AsyncStore
    from contextwright.store.chat import Chat as Chat
    from contextwright.store.records import ConversationInfo as ConversationInfo
    from contextwright.store.records import SearchHit as SearchHit
    from contextwright.store.records import SearchResult as SearchResult
    from contextwright.store.records import StoredMemory as StoredMemory
    from contextwright.store.records import StoredMessage as StoredMessage
    from contextwright.store.records import StoredSummary as StoredSummary
    from contextwright.store.records import Turn as Turn
    from contextwright.store.requests import RecordedRequest as RecordedRequest
    from contextwright.store.requests import RequestBodies as RequestBodies
    from contextwright.store.rows.validation import replace_invalid as replace_invalid
    from contextwright.store.store import Store as Store
else:
    __all__, __getattr__, __dir__ = lazily(
        __name__,
        {
            "contextwright.store.async_chat": "AsyncChat",
            "contextwright.store.async_store": "AsyncStore",
            "contextwright.store.chat": "Chat",
            "contextwright.store.records": (
                "ConversationInfo SearchHit SearchResult StoredMemory StoredMessage StoredSummary"
                " Turn"
            ),
            "contextwright.store.requests": "RecordedRequest RequestBodies",
            "contextwright.store.rows.validation": "replace_invalid",
            "contextwright.store.store": "Store",
        },
    )
