"""The span of time that a question speaks of."""
