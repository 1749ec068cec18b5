"""Every request that passes is followed, read at its end, and written into a store."""
