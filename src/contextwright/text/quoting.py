"""Quoting: people's text as data in the system prompt, so that it cannot open structure.

Headings, lists, fences and quotations begin at the start of a line; tags and special tokens with
`<`; marks with `[`. Text becomes one line, and only what would open something at its position is
changed.
"""

from __future__ import annotations

import re

from contextwright.errors import require
from contextwright.text.graphemes import cut

__all__ = ["LONGEST_LINE", "NOTHING", "filled", "labelled", "one_line", "quoted", "quoted_lines"]

LONGEST_LINE = 200
NOTHING = "(nothing)"
"""Placeholder for invisible text."""
JOINERS = "\u200c\u200d"
"""Kept, because Persian words and many emoji differ without them."""
OPENING = re.compile(
    r"(?:#+(?= |$)|>|=+ *$|~~~|<(?=[^>]*> *$)|[-+*](?= |$)|[-_*][-_* ]*$"
    r"|\[(?=(?:[^\]\\]|\\.)*(?:\]:|\\?$)))"
    r"|(\d{1,9})[.)](?= |$)"
)
"""Starts of a block: a heading, a quotation, a list, a rule, a fence, or the definition of a link,
whose label may end on a later line.
"""
TAG = re.compile(r"<(?=[A-Za-z_/!?|\uff5c])")
"""Starts of a tag or a special token."""
BARE = re.compile(r"</?(?:b|br|code|em|i|small|strong|sub|sup|u) ?/?>", re.IGNORECASE)
"""A typographic tag without attributes: harmless if the line has no other tag."""
BULLET = re.compile(r"\s*[-+*] ")
MARK = re.compile(
    r"\[(?= ?/?(?:respond|reply to this|relevance|meta|speaker|media|image|video|audio|youtube|"
    r"document|attachment|session context|summarized|goal batch|"
    r"(?:inst|sys|system_prompt|available_tools|tool_calls|tool_results|tool_content|args|"
    r"call_id|s?gmask|think|img|prefix|suffix|middle|bos|eos|control_\d+) ?\])|(?=e~\[))"
    r"|\](?=~!?b[\]\[]|<\])",
    re.IGNORECASE,
)
"""Text that looks like a mark of one of the systems, or of a model's chat template."""
PLACE = re.compile(r"\{(\w+)\}")


def one_line(text: str, longest: int = LONGEST_LINE) -> str:
    """Return people's text on one line, without a fence, tag, bold field or mark."""
    if type(text) is not str or type(longest) is not int:
        require(text, str, "text")
        require(longest, int, "longest")
    # Truncate first, because the text may be a megabyte.
    clean = text[: longest * 8 + 64]
    line = " ".join(clean.split())
    if not line.isprintable():
        line = " ".join("".join(map(visible, line)).split())
    line = line.replace("```", "'''").replace("**", r"\*\*")
    if "<" in line and TAG.search(BARE.sub("", line)):
        line = TAG.sub("‹", line)
    if "[" in line or "]" in line:  # most lines have neither, and the pattern looks at every letter
        line = MARK.sub("(", line)
    if len(line) > longest or len(text) > len(clean):
        line = cut(line, max(longest - 3, 0)) + "..."
    return line if line.strip(JOINERS) else NOTHING


def visible(letter: str) -> str:
    """Return a visible letter, or a blank."""
    return letter if letter.isprintable() or letter in JOINERS else " "


def quoted(text: str, longest: int = LONGEST_LINE) -> str:
    """Return people's text on one line that may begin a line or an entry of a list."""
    return escaped(one_line(text, longest))


def labelled(label: str, line: str) -> str:
    """Return people's text as a label before their words, both on one line: `label: line`."""
    return escaped(f"{one_line(label)}: {line}")


def escaped(line: str) -> str:
    """Return a line with a backslash before what would open a block at its start."""
    opening = OPENING.match(line)
    if opening is None:
        return line
    number = opening[1] or ""
    return f"{number}\\{line[len(number) :]}"


def quoted_lines(text: str, longest: int) -> str:
    """Return people's text on several lines that open no structure, cut to a length in total.

    Blank lines are left out, and the bullets of a list become `•`.
    """
    lines: list[str] = []
    for line in text[: longest * 8 + 64].splitlines():
        if line.strip() and longest > len(NOTHING):
            lines.append(quoted(BULLET.sub("• ", line, count=1), longest))
            longest -= len(lines[-1]) + 1
    return "\n".join(lines) or NOTHING


def filled(pattern: str, **words: str) -> str:
    """Return a heading with people's text in its placeholders, filled in one pass."""
    return PLACE.sub(lambda place: one_line(words.get(place[1], place[0])), pattern)
