"""All routes of the API, in the order of the document."""

from __future__ import annotations

from contextwright.serve.api.contexts import (
    build_context,
    build_context_with,
    compare_contexts,
    get_payload,
)
from contextwright.serve.api.conversations import (
    forget_conversation,
    get_conversation,
    list_conversations,
    update_conversation,
)
from contextwright.serve.api.flights import fly
from contextwright.serve.api.messages import add_turn, get_message, list_messages
from contextwright.serve.api.operation import Operation, operation

__all__ = ["OPERATIONS"]

CONVERSATION = "/conversations/{conversation}"

OPERATIONS: tuple[Operation, ...] = (
    operation("GET", "/conversations", list_conversations),
    operation("GET", CONVERSATION, get_conversation),
    operation("PATCH", CONVERSATION, update_conversation),
    operation("DELETE", CONVERSATION, forget_conversation, status=204, conflicts=True),
    operation("GET", f"{CONVERSATION}/messages", list_messages),
    operation("GET", f"{CONVERSATION}/messages/{{seq}}", get_message),
    operation("POST", f"{CONVERSATION}/turns", add_turn, status=201, conflicts=True),
    operation("GET", f"{CONVERSATION}/context", build_context),
    operation("POST", f"{CONVERSATION}/context", build_context_with),
    operation("GET", f"{CONVERSATION}/payload", get_payload),
    operation("GET", f"{CONVERSATION}/compare", compare_contexts),
    operation("GET", f"{CONVERSATION}/flight", fly),
)
