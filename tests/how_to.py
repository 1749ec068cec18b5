"""Pages with an example: the first block of Python is its file, the first of text what it prints.

`python tests/how_to.py` writes both anew, after `WRITE_CASES=1 pytest tests/docs/test_examples.py`.
"""

from __future__ import annotations

import re
from pathlib import Path

from paths import DOCS, EXAMPLES, GOLDEN

CODE = re.compile(r"```python\n.*?```", re.DOTALL)
OUTPUT = re.compile(r"```text\n.*?```", re.DOTALL)
OTHERS = {
    "how-to/langchain.md": "with_langchain",
    "how-to/openai-agents.md": "with_openai_agents",
    "index.md": "first",
    "tutorial.md": "tutorial",
}


def pages() -> dict[Path, Path]:
    """Each page with its example."""
    found = {DOCS / page: EXAMPLES / f"{name}.py" for page, name in OTHERS.items()}
    for page in sorted((DOCS / "how-to").glob("*.md")):
        found.setdefault(page, EXAMPLES / "how_to" / f"{page.stem.replace('-', '_')}.py")
    return found


def written(page: Path, example: Path) -> str:
    """The page as it should be."""
    code = f"```python\n{example.read_text('utf-8')}```"
    output = f"```text\n{(GOLDEN / f'example-{example.stem}.txt').read_text('utf-8')}```"
    text = CODE.sub(lambda _: code, page.read_text("utf-8"), count=1)
    return OUTPUT.sub(lambda _: output, text, count=1)


if __name__ == "__main__":
    for page, example in pages().items():
        page.write_text(written(page, example), "utf-8")
