"""Faults that no test can notice: what they change cannot be seen from outside."""

EQUIVALENT: dict[tuple[str, str, str], str] = {}
"""The file, the line and the fault of each, and why."""
