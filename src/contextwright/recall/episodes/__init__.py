"""A long conversation as episodes."""
