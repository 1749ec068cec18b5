"""Finding and telling what was said long ago: pure functions of texts, without a store."""
