"""Whole outputs beside files: `WRITE_CASES=1 pytest …` rewrites them; read the difference."""

import json
import os
from collections.abc import Iterable
from typing import Any

import contextwright as cw
from paths import GOLDEN


def compare(name: str, output: object) -> None:
    """The output as its file has it."""
    plain = isinstance(output, str)
    text = output if plain else json.dumps(output, ensure_ascii=False, indent=1)
    path = GOLDEN / f"{name}.{'txt' if plain else 'json'}"
    if os.environ.get("WRITE_CASES"):
        path.write_text(f"{text}\n", "utf-8")
    assert f"{text}\n" == path.read_text("utf-8"), "if it is meant: WRITE_CASES=1 pytest …"


def compare_problems(format: str, requests: Iterable[tuple[Any, str | None]]) -> None:
    """All that a check says of these payloads, each for a model."""
    problems = (one for body, model in requests for one in cw.check(body, format, model=model))
    compare(f"problems-{format}", "\n".join(map(str, problems)))
