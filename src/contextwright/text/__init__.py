"""Strings: JSON, where text may be cut, quoting, terms, excerpts, terminals. Knows no message."""
