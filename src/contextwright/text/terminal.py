"""Text for a terminal: printed, never interpreted as control sequences."""

from __future__ import annotations

import re

__all__ = ["UNSAFE", "safe"]

UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and newline, delete, C1
    "\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"  # lone surrogates, tags and hidden variations
)


def safe(text: str, *, line: bool = False) -> str:
    """Return text that is safe to print on a terminal; with `line`, on one line."""
    text = UNSAFE.sub(lambda match: escaped(match[0]), text.replace("\r\n", "\n"))
    return text.replace("\n", "\\n").replace("\t", " ") if line else text


def escaped(character: str) -> str:
    """Return a character as its escape."""
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
