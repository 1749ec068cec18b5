"""Jobs over small data sets."""

from pathlib import Path
from typing import Any

from contextwright.batch import Job, Place, operation_of

SCRIPT = """
import sys
from contextwright.batch import inputs
from contextwright.cli import main
inputs.MIN_PIECE = 20_000
sys.exit(main(sys.argv[1:]))
"""
"""`cw`, with small pieces."""


def job(output: Path, target: str = "anthropic", **fields: Any) -> Job:
    operation = operation_of("convert", target=target)
    return Job(operation=operation, output=Place(str(output)), **fields)
