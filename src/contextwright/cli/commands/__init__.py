"""The commands of `cw`, their arguments and their help. What they do stands in the files above."""

from __future__ import annotations

# Imported in the order in which `cw --help` lists them.
from contextwright.cli.app import app

from contextwright.cli.commands import (  # isort: skip
    conversations,
    contexts,
    stores,
    transfer,
    streams,
    recall,
    memories,
    summaries,
    tables,
)

__all__ = [
    "app",
    "contexts",
    "conversations",
    "memories",
    "recall",
    "stores",
    "streams",
    "summaries",
    "tables",
    "transfer",
]
