"""Texts in UTF-8: whether they can be written in it, and the bytes they take."""

from __future__ import annotations

__all__ = ["is_utf8", "utf8_length"]


def is_utf8(text: str) -> bool:
    """Whether a text has no lone surrogate, as file names that are not UTF-8 have."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def utf8_length(text: str) -> int:
    """Return the bytes of a text in UTF-8; lone surrogates count like other characters."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
