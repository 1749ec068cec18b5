"""Our own HTTP API: conversations, contexts, memories and tools as JSON."""
