"""Requests that their own API refuses come back as ones it accepts, and every repair is said."""

import json
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw

DAMAGED = [
    json.loads(line) for line in Path(__file__).with_name("damaged.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize("case", DAMAGED, ids=lambda case: case["name"])
def test_comes_back_as_its_api_takes_it(case: dict[str, Any]) -> None:
    format, model, damaged, mended = (case[key] for key in ("format", "model", "damaged", "mended"))
    rendered = cw.convert(damaged, format, format, model=model)
    assert rendered.payload == mended
    assert [str(change) for change in rendered.changes] == case["said"]
    assert errors(damaged, format, model) != []
    assert errors(mended, format, model) == []
    again = cw.convert(mended, format, format, model=model)
    assert again.payload is mended
    assert again.changes == ()


def errors(payload: dict[str, Any], format: str, model: str) -> list[str]:
    found = cw.check(payload, format, model=model)
    return [str(problem) for problem in found if problem.level == "error"]
