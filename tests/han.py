"""Write which traditional Chinese characters are which simplified ones, as OpenCC says.

    uv run python tests/han.py

`text/terms.py` reads the file: the first line has traditional characters, the second the simplified
ones. It is a file, and not a dependency, because terms are stored: an index made with other
characters would not be found.
"""

import unicodedata
from pathlib import Path

FILE = Path(__file__).parents[1] / "src/contextwright/data/han.txt"
HAN = ((0x3400, 0x9FFF), (0x20000, 0x323AF))


def table() -> str:
    """The two lines."""
    from opencc import OpenCC

    simplify = OpenCC("t2s").convert
    pairs = [
        (one, simplify(simplify(one)))  # 薴 becomes 苧, which becomes 苎
        for first, last in HAN
        for one in map(chr, range(first, last + 1))
        if unicodedata.category(one) == "Lo"
    ]
    pairs = [(one, other) for one, other in pairs if one != other]
    return "".join(one for one, _ in pairs) + "\n" + "".join(other for _, other in pairs) + "\n"


if __name__ == "__main__":
    FILE.write_text(table(), encoding="utf-8")
