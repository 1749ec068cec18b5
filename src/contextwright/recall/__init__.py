"""Which of all that was said comes back: embedding, ranking, packing. No store is known here."""
