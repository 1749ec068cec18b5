"""From messages to a finished request."""
