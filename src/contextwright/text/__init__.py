"""Strings: JSON, where to cut text, quoting, terms, excerpts, terminals. Knows no messages."""
