"""All routes of the API, in the order of the document."""

from __future__ import annotations

from contextwright.serve.api import (
    catalogue,
    conversations,
    events,
    memories,
    messages,
    recall,
    requests,
    tools,
    transfers,
)
from contextwright.serve.api.contexts import comparisons, contexts, flights, simulations
from contextwright.serve.http.api import Api, ApiLimits
from contextwright.serve.http.operation import Operation, operation
from contextwright.store.store import Store

__all__ = ["OPERATIONS", "api_of"]

CHAT = "/conversations/{conversation}"
LINES, BYTES, EVENTS = "application/x-ndjson", "application/octet-stream", "text/event-stream"
TEXT = "text/plain"

OPERATIONS: tuple[Operation, ...] = (
    operation("GET", "/conversations", conversations.list_conversations),
    operation("GET", CHAT, conversations.get_conversation),
    operation("PATCH", CHAT, conversations.update_conversation),
    operation("DELETE", CHAT, conversations.forget_conversation, status=204, conflicts=True),
    operation("GET", f"{CHAT}/messages", messages.list_messages),
    operation("GET", f"{CHAT}/messages/{{seq}}", messages.get_message),
    operation("POST", f"{CHAT}/turns", messages.add_turn, status=201, conflicts=True),
    operation("GET", f"{CHAT}/context", contexts.build_context),
    operation("POST", f"{CHAT}/context", contexts.build_context_with),
    operation("GET", f"{CHAT}/payload", contexts.get_payload),
    operation("GET", f"{CHAT}/compare", comparisons.compare_contexts),
    operation("GET", f"{CHAT}/flight", flights.fly),
    operation("GET", f"{CHAT}/export", transfers.export_conversation, media=BYTES),
    operation("GET", "/export", transfers.export_all, media=LINES),
    operation("POST", "/import", transfers.import_file, conflicts=True),
    operation("GET", "/requests", requests.list_requests),
    operation("GET", "/requests/{request}", requests.get_request),
    operation("GET", "/requests/{request}/body", requests.get_request_body, media=BYTES),
    operation("GET", "/requests/{request}/replay", requests.replay_request),
    operation("GET", "/requests/{request}/export", requests.export_request, media=TEXT),
    operation("GET", "/requests/{request}/compare", comparisons.compare_requests),
    operation("GET", "/events", events.listen, media=EVENTS),
    operation("GET", "/recall", recall.recall),
    operation("GET", "/search", recall.search),
    operation("GET", "/memories", memories.list_memories),
    operation("POST", "/memories", memories.add_memory, status=201),
    operation("PATCH", "/memories/{memory}", memories.update_memory),
    operation("DELETE", "/memories/{memory}", memories.forget_memory, status=204),
    operation("POST", "/simulate", simulations.simulate_recipes),
    operation("POST", "/convert", tools.convert_data),
    operation("POST", "/check", tools.check_payload),
    operation("POST", "/count", tools.count_tokens),
    operation("GET", "/recipes", catalogue.list_recipes),
    operation("GET", "/recipes/{recipe}", catalogue.get_recipe),
    operation("GET", "/formats", catalogue.list_formats),
    operation("GET", "/models", catalogue.list_models),
    operation("GET", "/models/{model}", catalogue.get_model),
)


def api_of(store: Store, *, token: str, limits: ApiLimits | None = None) -> Api:
    """Return the API of a store, for those who show the token."""
    listeners = events.Events(store)
    shared = {"store": store, "activity": conversations.Activity(), "events": listeners}
    return Api(OPERATIONS, shared, token=token, limits=limits, stop=listeners.close)
