"""Search and recall in a store."""
