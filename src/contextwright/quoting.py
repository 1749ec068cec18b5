"""Words of people in the system text: they are data there, and open nothing.

A heading, a list, a fence, a quotation begins at the beginning of a line; a tag with `<`; our own
marks with `[`. Words become one line, and what would open something is escaped as Markdown does.
"""

from __future__ import annotations

import re

from contextwright.graphemes import cut

__all__ = ["LONGEST_LINE", "NOTHING", "filled", "one_line", "quoted"]

LONGEST_LINE = 200
NOTHING = "(nothing)"
"""Stands for words that cannot be seen."""
JOINERS = "\u200c\u200d"
"""Persian words and many emoji are not the same without them."""
OPENING = re.compile(r"(?:#|>|=|~~~|\[|[-+*](?= |$)|[-_*][-_* ]*$)|(\d{1,9})[.)](?= |$)")
"""What begins a block where it stands first: a heading, a quotation, a list, a rule, a fence."""
MARK = re.compile(
    r"\[(?= ?(?:respond|reply to this|relevance|meta|speaker|media|image|video|audio|youtube|"
    r"document|attachment|session context|summarized|goal batch))",
    re.IGNORECASE,
)
"""Where words would pass for one of the marks the systems use."""
PLACE = re.compile(r"\{(\w+)\}")


def one_line(text: str, longest: int = LONGEST_LINE) -> str:
    """Words of people on one line, without a fence, a tag, a bold field or a mark; not too long."""
    # Cut before anything else is done to them: the words may be a megabyte.
    clean = text[: longest * 8 + 64]
    line = " ".join(clean.split())
    if not line.isprintable():
        line = " ".join("".join(map(visible, line)).split())
    line = line.replace("```", "'''").replace("<", "‹").replace(">", "›").replace("**", r"\*\*")
    line = MARK.sub("(", line)
    if len(line) > longest or len(text) > len(clean):
        line = cut(line, max(longest - 3, 0)) + "..."
    return line if line.strip(JOINERS) else NOTHING


def visible(letter: str) -> str:
    """A letter that can be seen, or a blank."""
    return letter if letter.isprintable() or letter in JOINERS else " "


def quoted(text: str, longest: int = LONGEST_LINE) -> str:
    """Words of people on one line that may begin a line or an entry of a list."""
    line = one_line(text, longest)
    opening = OPENING.match(line)
    if opening is None:
        return line
    number = opening[1] or ""
    return f"{number}\\{line[len(number) :]}"


def filled(pattern: str, **words: str) -> str:
    """A heading with words of people in its places, filled once: no word is filled again."""
    return PLACE.sub(lambda place: one_line(words.get(place[1], place[0])), pattern)
