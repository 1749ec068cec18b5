"""The inputs that fuzzing keeps: a file for each reader, a line for each input."""

import json
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "corpus"


def kept_inputs(reader: str) -> list[bytes]:
    """Return the inputs kept for a reader."""
    path = FOLDER / f"{reader}.jsonl"
    if not path.exists():
        return []
    return [json.loads(line).encode("latin-1") for line in path.read_text("ascii").splitlines()]


def write_inputs(reader: str, inputs: Sequence[bytes]) -> None:
    """Write the inputs to keep; each byte is one character of a JSON string."""
    lines = [json.dumps(data.decode("latin-1")) + "\n" for data in inputs]
    (FOLDER / f"{reader}.jsonl").write_text("".join(lines), "ascii")
