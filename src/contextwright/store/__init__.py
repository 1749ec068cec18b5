"""Where conversations live: durable, once, in order, from any number of processes."""
