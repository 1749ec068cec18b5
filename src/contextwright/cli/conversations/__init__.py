"""The commands that work on stored conversations."""
