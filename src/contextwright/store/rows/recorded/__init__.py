"""SQL statements of recorded requests: their bodies, places in a history, and signatures."""
