"""Conversations from the files of other tools: exports of accounts, logs of agents, data sets.

```python
for conversation in importers.read("export.zip"):
    print(conversation.title, sum(1 for _ in conversation.messages))
```
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from contextwright import formats
from contextwright.errors import UnknownFormat

if TYPE_CHECKING:
    from contextwright.importers.base import Imported, Importer
    from contextwright.importers.files import Files

__all__ = ["NAMES", "detect", "find", "open_files", "read"]

MODULES = {
    "chatgpt": "chatgpt",
    "claude": "claude",
    "claude-code": "claude_code",
    "codex": "codex",
    "openai-finetuning": "finetuning",
    "port42": "port42",
    "slack": "slack",
    "telegram": "telegram",
}
NAMES = tuple(sorted({*MODULES, *formats.NAMES}))
"""All sources: files of other tools, and every format of the core."""


@cache
def find(name: str) -> Importer:
    """The importer of that name.

    Raises:
        UnknownFormat: the name is none of `NAMES`.
    """
    if name not in NAMES:
        raise UnknownFormat(name, NAMES)
    if name not in MODULES:
        return import_module(f"{__name__}.wire").importer(name)
    return import_module(f"{__name__}.{MODULES[name]}").IMPORTER


def open_files(source: str | Path) -> Files:
    """The file, folder or zip at a path; `-` is standard input."""
    from contextwright.importers.files import open_files

    return open_files(source)


def detect(files: Files) -> str:
    """The source that files come from, told by their content.

    Raises:
        ParseError: it cannot be told for certain.
    """
    from contextwright.importers.detection import detect

    return detect(files)


def read(
    source: str | Path | Files,
    format: str | None = None,
    *,
    branches: bool = False,
    replace: bool = False,
) -> Iterator[Imported]:
    """The conversations of a source, one by one, however many there are.

    Take the messages of each before asking for the next. Without a format the content tells it.
    With `branches`, what stands beside the last version of a conversation follows it as forks.
    With `replace`, halves of characters and NUL become U+FFFD; `Files.replaced` counts them.

    Raises:
        UsageError: the source cannot be opened.
        ParseError: it is broken, or not what the format says; it names file, line and field.
    """
    if isinstance(source, str | Path):
        files = open_files(source)
        try:
            yield from read(files, format, branches=branches, replace=replace)
        finally:
            files.close()
        return
    source.replace = replace
    importer = find(format or detect(source))
    source.replaced = 0  # looking at it is no reading
    yield from importer.read(source, branches)
