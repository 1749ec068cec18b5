"""Messages and requests in single formats."""
